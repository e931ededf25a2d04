"""An agent that puts the queue of a live Slurm in the order of a plan, and does nothing else.

It writes priorities, or site factors, of jobs that wait. Nothing is held, released or cancelled, so no job depends on
the agent: without it Slurm starts all of them, in its own order once that is restored.
"""
