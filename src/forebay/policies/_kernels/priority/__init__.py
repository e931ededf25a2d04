"""Slurm's multifactor priorities, and the fair shares behind them."""
