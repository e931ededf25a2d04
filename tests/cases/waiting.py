"""What must hold of every run in which jobs wait for others, whatever the policy."""

import math

import polars as pl


def check_waits(result, workload):
    """No job starts before what it waits for has happened; who waits for what never happens is rejected."""
    jobs = {row["job_id"]: row for row in result.jobs.to_dicts()}
    over = {job: row["finish_time"] for job, row in jobs.items()}
    ends = result.log.filter(pl.col("kind").cast(pl.String).is_in(["reject", "cancel"]))
    over |= {job: time for job, time in ends.select("job", "time").iter_rows() if over[job] is None}
    for (job, either), edges in workload.dependencies.group_by("job", "any"):
        start, times = jobs[job]["starting_time"], []
        for edge in edges.to_dicts():
            parent, kind = jobs[edge["parent"]], edge["kind"]
            well = parent["final_state"] == "COMPLETED_SUCCESSFULLY"
            never = (kind == "afterok" and not well) or (kind == "afternotok" and well)
            begun = kind == "after" and parent["starting_time"] is not None
            time = math.inf if never else (parent["starting_time"] if begun else over[edge["parent"]]) + edge["delay"]
            if kind == "think":
                assert jobs[job]["submission_time"] >= time - 1e-6
            else:
                times.append(time)
        if not times:
            continue
        free = min(times) if either else max(times)
        if start is None:
            continue
        assert start >= free - 1e-6, (job, start, free)
