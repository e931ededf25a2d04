"""Ways to say how long a job will run, one a file."""
