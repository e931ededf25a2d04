"""Slurm's schedulers, as its sources have them."""
