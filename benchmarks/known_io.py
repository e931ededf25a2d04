"""What policies that weigh I/O gain on jobs without applications, by what they know of it: exact, stated, learned."""

import dataclasses
import sys
import time

import forebay as fb
from forebay.workload import models

KNOWN = ("exact", "stated", "learned")


SHARES = "io-share:io=0.3,spread=1,node=1e9,pfs=8e9"
"""Of a job's time 0 to 60 % is I/O, whoever its user is."""


def table(workload: fb.Workload, platform: str | None, reference: tuple[str, ...]) -> None:
    """Mean wait, mean bounded slowdown, makespan of policies."""
    for name in (*reference, *(f"{one}:known={known}" for one in ("io-bb", "io-intensity") for known in KNOWN)):
        begun = time.perf_counter()
        found = fb.summary(fb.simulate(workload, platform, name))
        took = time.perf_counter() - begun
        hours, days = found["mean_wait"] / 3600, found["makespan"] / 86400
        slowdown = next(value for key, value in found.items() if key.startswith("mean_bounded_slowdown"))
        print(
            f"{name:28} wait {hours:8.3f} h  slowdown {slowdown:8.2f}  makespan {days:8.3f} d  {took:6.2f} s",
            flush=True,
        )


if __name__ == "__main__":
    print("default")
    table(fb.read("default"), None, ("fcfs-bb",))
    print("KTH-SP2, the first 5,000 jobs")
    whole = fb.read(sys.argv[1])
    trace = models.attach(dataclasses.replace(whole, jobs=whole.jobs.head(5000)), (SHARES,), 1)
    table(trace, "flat:nodes=100,pfs=8GB/s,burst_buffer=100TB", ("fcfs-bb",))
