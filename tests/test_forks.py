"""Forks leave nothing behind."""

import gc
import resource
import tracemalloc

import numpy as np
import pytest

import forebay as fb


class Plain:
    """With something to copy."""

    def setup(self, view):
        self.seen = np.zeros(1000)

    def decide(self, view, act):
        for job in view.queue:
            if act.fits(job):
                act.start(job)


@pytest.mark.parametrize(("n_forks", "most"), [(200, 5_000_000), pytest.param(1000, 1_000_000, marks=pytest.mark.full)])
@pytest.mark.parametrize("policy", ["fcfs-bb", "python"])
def test_forks_leave_nothing_behind(policy, n_forks, most):
    """Without the help of the collector of cycles: a fork goes with the last name for it."""
    sim = fb.open("table1", policy=Plain() if policy == "python" else policy).run(until=120)

    def some(n):
        for _ in range(n):
            fork = sim.fork()
            fork.step()
            fork.snapshot()

    some(20)
    gc.collect()
    gc.disable()
    try:
        resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        tracemalloc.start()
        some(n_forks // 2)  # what is kept once, whatever follows
        before = tracemalloc.get_traced_memory()[0]
        some(n_forks)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
        gc.enable()
    assert grown < most  # the tables of one fork have more than 100 kB, so of 200 of them 20 MB
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - resident < 60_000  # kB
