"""Parts of what a policy in plain Python sees: names of jobs, and what will be free when."""
