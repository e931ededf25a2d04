"""From the final tables to a Result."""
