"""What sites can hand over: slurm.conf, and what Slurm's commands print, each read into the same records."""
