"""The policy of `shortest.py`, compiled: the same starts."""

import numpy as np

import forebay as fb
from forebay.kernels import ALL, ORDERS, backfill, line_of

WALLTIME = ORDERS.index("walltime")


@fb.policy_kernel
def decide(state, params, memory, rng):
    by_walltime = line_of(state, WALLTIME, 1.0)  # waiting jobs; -1 where somebody has left
    line, n, now = np.empty(len(by_walltime), np.int64), 0, state.clock[0]["now"]
    for i in range(state.counts[0]["queue_first"], state.counts[0]["queue_last"]):
        job = state.queue[i]  # in order of arrival
        if job >= 0 and now - state.jobs[job]["submit"] >= params[0]:
            line[n] = job
            n += 1
    for job in by_walltime:
        if job >= 0 and now - state.jobs[job]["submit"] < params[0]:
            line[n] = job
            n += 1
    backfill(state, line[:n], 1, ALL)  # one reservation, of all resources


class Shortest(fb.Policy):
    def __init__(self, patience: float = 24.0):
        self.patience = patience

    def kernel(self):
        return decide

    def params(self):
        return np.array([3600 * self.patience])
