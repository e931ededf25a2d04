"""Timers of jobs: slot 2j rings when the phase of job j ends, 2j + 1 when its walltime is up."""

from forebay._numba.jit import kernel
from forebay.algorithms.queues.heap import push, remove


@kernel
def set_timer(truth, slot, time):
    """Let a timer ring."""
    cursor = truth.cursor[0]
    cursor["n_timers"] = push(truth.timers, truth.where, cursor["n_timers"], time, cursor["seq"], slot)
    cursor["seq"] += 1


@kernel
def cancel_timer(truth, slot):
    """Forget a timer, if it is set."""
    if truth.where[slot] >= 0:
        cursor = truth.cursor[0]
        cursor["n_timers"] = remove(truth.timers, truth.where, cursor["n_timers"], slot)
