"""Covers: a policy that sees what running jobs do (`needs`), and reads a column of the workload's own.

Scenario: jobs read, write checkpoints and write results over one file system. Their users have said how many bytes a
second they move on average. While the file system's links are busy, jobs that move much are passed by: nodes go to jobs
that compute. Transfers end without a call, so the policy wakes itself as long as it holds anybody back.
"""

import polars as pl

import forebay as fb
from forebay.workload import models


class HoldIo(fb.Policy):
    """In order of arrival, whoever fits; but who would load the links beyond `most` of what they carry waits."""

    needs = ("io",)

    def __init__(self, most: float = 0.5):
        self.most = most

    def decide(self, view, act):
        moves, links = view.column("io_rate"), view.links.values()
        carries, load = min(link.capacity for link in links), max(link.load for link in links)
        held = False
        for job in view.queue:
            busy = load > 0 and load + moves[job] > self.most * carries
            if busy:
                held = True
            elif act.fits(job):
                act.start(job)
                load += moves[job]
        if held:
            act.wake(view.now + 60)


def workload():
    """400 jobs on 64 nodes, 40 % of whose time is I/O when they are alone; and what their users say of it."""
    jobs = models.attach(models.generate("lublin99:nodes=64,load=0.9", 1, jobs=400), ["io-share:io=0.4,pfs=20GB/s"], 1)
    moved = jobs.phases.group_by("job").agg(pl.col("bytes").sum())
    rate = jobs.jobs.join(moved, left_on="id", right_on="job", how="left", maintain_order="left")
    rate = rate.select(io_rate=pl.col("bytes").fill_null(0.0) / pl.col("walltime"))
    return fb.Workload("io", jobs.jobs.hstack(rate), phases=jobs.phases)


if __name__ == "__main__":
    jobs = workload()
    for most in (1e9, 1.0, 0.5, 0.25):
        found = fb.summary(fb.simulate(jobs, "flat:nodes=64,pfs=20GB/s", HoldIo(most)))
        wait, turnaround = (found[f"mean_{name}_time"] / 3600 for name in ("waiting", "turnaround"))
        name = f"up to {most:.0%}" if most <= 1 else "no limit"
        print(f"{name:10} mean wait {wait:.2f} h, turnaround {turnaround:.2f} h, running {turnaround - wait:.2f} h")
