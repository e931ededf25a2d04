"""The job table in the words of workloads: short names, waits and slowdowns worked out."""

import polars as pl

from forebay.results._waits import RUN_ALONE, WAIT, completed

_NAMES = {
    "job_id": "id",
    "submission_time": "submit",
    "requested_number_of_resources": "",  # what is counted of the machine: nodes, or cores
    "requested_time": "walltime",
    "starting_time": "start",
    "finish_time": "end",
    "execution_time": "run_time",
    "turnaround_time": "turnaround",
    "final_state": "state",
}
"""Batsim's names, which tables of results have, and those of workloads for the same."""

_LEFT_OUT = ("workload_name", "profile", "success", "waiting_time", "stretch", "metadata")
"""Batsim's columns that say nothing more, or that `wait` and `slowdown` say for jobs that are interrupted, too."""


def short(jobs: pl.DataFrame, unit: str) -> pl.DataFrame:
    """The table of `Result.table`."""
    names = _NAMES | {"requested_number_of_resources": unit}
    alone = pl.when(RUN_ALONE > 0).then(pl.col("turnaround_time") / RUN_ALONE)  # one of no length has no slowdown
    measures = completed(jobs.lazy(), jobs.columns).select(wait=WAIT, slowdown=alone).collect()
    more = [name for name in jobs.columns if name not in {*names, *_LEFT_OUT}]
    named = jobs.select(*(pl.col(old).alias(new) for old, new in names.items()), *measures, *more)
    first = ("id", "submit", unit, "walltime", "start", "end", "run_time", "wait", "turnaround", "slowdown", "state")
    return named.select(*first, *more)
