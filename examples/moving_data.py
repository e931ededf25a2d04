"""Covers: jobs that stage, checkpoint and drain over shared links; the phases in the log; bytes by link.

Scenario: two jobs of four nodes stage 10 GB each into the burst buffer of a Dragonfly, at the same time and over one
file system link of 5 GB/s. What does sharing cost, and what if the servers' own ports count?
"""

import polars as pl

import forebay as fb
from forebay.workload.workload import job_table

GB = 10**9
jobs = job_table(
    {
        "id": [1, 2],
        "submit": [0.0, 0.0],
        "walltime": [9000.0, 9000.0],
        "run_time": [7200.0, 3600.0],
        "nodes": [4, 4],
        "burst_buffer": [10 * GB, 10 * GB],
    }
)
for machine in ("dragonfly-96", "dragonfly-96-nic"):
    result = fb.simulate(fb.Workload("two", jobs), machine, "fcfs-bb")
    print(f"{machine}: stage-in {result.jobs['stage_in_time'].to_list()} s, I/O {result.jobs['io_time'].to_list()} s")

print("\njob 1, phase by phase:")
rows = result.log.filter((pl.col("job") == 1) & pl.col("kind").is_in(["begin_phase", "end_phase"]))
for time, kind, reason, amount in rows.select("time", "kind", "reason", "amount").iter_rows():
    moved = f", {amount / GB:g} GB moved" if amount else ""
    print(f"{time:8.1f} s  {reason} {'begins' if kind == 'begin_phase' else 'ends'}{moved}")

print("\nlinks that carried anything:")
for link, size in result.links.filter(pl.col("bytes") > 0).select("link", "bytes").iter_rows():
    print(f"{link:18} {size / GB:g} GB")
