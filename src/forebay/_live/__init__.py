"""Beside a live Slurm: what its commands say as a snapshot, predictions from it, and an agent that orders its queue.

Only Slurm's own commands are called, never a shell, each with a time limit. What they print was partly written by
users: it is data here, and is never put into a command.
"""
