"""Runs in which nodes fail, for `bench.py`: a month of Mira, and one job that fails millions of times."""

import resource
from collections.abc import Callable
from functools import partial

import numpy as np

import forebay as fb
from forebay.core.failures import Failures
from forebay.engine.build.tables import build, make_program
from forebay.engine.driver.stepper import Stepper
from forebay.engine.failures.build import draws
from forebay.policies import load
from forebay.workload import models
from forebay.workload.workload import job_table

JOBS = 2500  # of the model: about 20 days
FAILURES = "mtbf=20min,downtime=1h,checkpoint=300s"
POLICIES = ("conservative", "sfsj")


def one_job(n_failures: int) -> dict[str, float]:
    """A job on one node that fails about so often, once a minute; without a log, which would take all the memory."""
    work = 60.0 * n_failures * 0.8  # the rest of the time it saves, recovers, is down, and works in vain
    columns = {"id": [1], "submit": [0.0], "walltime": [np.inf], "run_time": [work], "nodes": [1]}
    job = fb.Workload("long", job_table({name: np.array(values) for name, values in columns.items()}))
    machine = fb.platform("flat:nodes=1")
    failures = Failures(mtbf=60.0, downtime=1.0, checkpoint=1.0, period=10.0)
    state, truth, _ = build(job, machine, make_program(job, machine, "alloc-only"), None, failures)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    draw = draws(truth, failures, 1, 1)
    n_blocks = [0]

    def counted() -> None:
        n_blocks[0] += 1
        draw()

    stepper = Stepper(state, truth, machine.resources, np.random.default_rng(0), counted, keep=False)
    stepper.take(load("fcfs"))
    stepper.finish()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    met = n_blocks[0] * len(truth.resilience.failures) + int(truth.cursor["next_failure"][0])
    return {"failures": met, "seconds": stepper.record().seconds, "MB": grown / 1e3}


def measure(best: Callable[..., float], say: Callable[..., None]) -> None:
    """Lines of the table: see `bench`."""
    month = models.generate(f"mira:jobs={JOBS}", 1)
    days = float(month.jobs["submit"].max()) / 86400
    for policy in POLICIES:
        run = partial(fb.simulate, month, None, policy, failures=FAILURES)
        failed = int((run().log["kind"] == "node_down").sum())
        say(f"mira, {policy}", best(run, 3), f"{JOBS:,} jobs in {days:.0f} days, {failed:,} failures")
    long = one_job(1_000_000)
    say("one job that fails and fails", long["seconds"], f"{long['failures']:,} failures, {long['MB']:.0f} MB more")
