"""A user submits a job, or withdraws one, wherever it is by then."""

from forebay._numba.jit import kernel
from forebay.engine.arrival import enter
from forebay.engine.dependencies.joining import withdraws_early
from forebay.engine.legs import cancel
from forebay.engine.limits.outside import stays_outside, withdraws_outside


@kernel
def arrive(state, truth, j):
    """Job `j` is submitted."""
    time = truth.jobs[j]["submit"]
    if not stays_outside(state, truth, j, time):
        enter(state, truth, j, time, True)


@kernel
def withdraw(state, truth, j, time):
    """The user of job `j` withdraws it, which may not have joined the queue yet."""
    if not withdraws_outside(state, truth, j, time) and not withdraws_early(state, truth, j, time):
        cancel(state, truth, j, time)
