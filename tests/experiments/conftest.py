"""Runs small enough for the compiler to be off: the eight jobs of table1."""

import pytest

from forebay.experiments.execution.executor import attempt
from forebay.experiments.runs import Added, Jobs, Run


@pytest.fixture
def runs():
    """Each of three policies on the jobs as they are, and with seconds added."""
    found = []
    for policy in ("fcfs", "fcfs-bb", "filler"):
        for replica in range(3):
            found.append(
                Run(
                    name=f"{policy} replica {replica}",
                    jobs=Jobs("table1"),
                    platform="table1",
                    policy=policy,
                    job_model="alloc-only:kill=false",
                    added=Added(60.0, (replica, 7)) if replica else None,
                    keep=("waiting_time",) if policy == "fcfs" else (),
                    tags={"section": "toy", "policy": policy, "replica": replica, "seed": 0},
                )
            )
    return found


@pytest.fixture
def here():
    """An executor in this process, which may stop after some runs as if Ctrl-C was pressed."""

    def executor(stop_after=None):
        def execute(runs, done):
            for count, run in enumerate(runs):
                if count == stop_after:
                    raise KeyboardInterrupt
                done(run, attempt(run))

        return execute

    return executor
