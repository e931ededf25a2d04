"""Run the compiled loop: to the end, or step by step, with a record of what happened."""
