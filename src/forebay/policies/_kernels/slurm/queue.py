"""The line of jobs that Slurm's schedulers go down, read from the queue no further than they go.

In order of arrival most looks end with the first jobs, and the queue may be thousands long: read to its end at every
look it was 30 % of a run of 12,000 jobs that came at once.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from forebay._numba.jit import allocating_kernel, inlined_kernel


class Line(NamedTuple):
    """Jobs in the order in which they are tried; -1 = it starts."""

    jobs: NDArray[np.int64]
    known: NDArray[np.int64]  # how many of them have been read, and up to which place of the queue


@allocating_kernel
def whole_line(jobs):
    """A line that is known to its end."""
    known = np.zeros(2, np.int64)
    known[0] = len(jobs)
    return Line(jobs, known)


@allocating_kernel
def in_arrival(state):
    """The queue as it is, without holes."""
    counts, known = state.counts[0], np.zeros(2, np.int64)
    known[1] = counts["queue_first"]
    return Line(np.empty(counts["n_queued"], np.int64), known)


@inlined_kernel
def job_at(state, line, i):
    """The job at place `i`, where all before it have been read."""
    while line.known[0] <= i:
        j = state.queue[line.known[1]]
        line.known[1] += 1
        if j >= 0:
            line.jobs[line.known[0]] = j
            line.known[0] += 1
    return line.jobs[i]


@allocating_kernel
def all_of_line(state, line):
    """All jobs of the line."""
    if len(line.jobs) > 0:
        job_at(state, line, len(line.jobs) - 1)
    return line.jobs
