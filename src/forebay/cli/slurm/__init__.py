"""`forebay slurm`: commands beside a live Slurm, one a file."""
