"""Workloads and an estimator of which tests know what is to come."""

import numpy as np

import forebay as fb
from forebay._predict._arrivals import DAY
from forebay.learn import Likely

QUICK = {"futures": 6, "calibration": 0}


class Exact:
    """An estimator that believes walltimes: where they are right, only newcomers are left to chance."""

    def learn(self, asked, seconds):
        pass

    def likely(self, asked):
        return Likely.of([asked.walltime])


def workload(rows, **more):
    """Rows of (submit, walltime, run time, nodes)."""
    submit, walltime, run_time, nodes = zip(*rows, strict=True)
    columns = {"id": range(1, len(rows) + 1), "submit": submit, "walltime": walltime, "run_time": run_time}
    return fb.Workload("made", fb.workload.job_table({**columns, "nodes": nodes, **more}))


QUEUE = workload([(0, 600, 600, 4), (10, 300, 300, 4), (20, 100, 100, 2), (30, 50, 50, 4)])
"""On four nodes, in order: 0 to 600, to 900, to 1000, to 1050."""


def random_jobs(seed, n=150):
    rng = np.random.default_rng(seed)
    walltime = rng.choice([600.0, 3600.0, 7200.0], n)
    columns = np.sort(rng.uniform(0, 2 * DAY, n)), walltime, walltime * rng.uniform(0.5, 1, n), rng.integers(1, 9, n)
    jobs = [(float(a), float(b), float(c), int(d)) for a, b, c, d in zip(*columns, strict=True)]
    return jobs, {"user": rng.integers(1, 5, n).tolist()}
