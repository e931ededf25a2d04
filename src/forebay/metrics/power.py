"""What the machine draws: watts over time, joules of the whole and of each job. From the log alone, and who had which
nodes when.

A node draws its idle watts while no job has it, its busy watts, or what the job says, while one has; and what a node
draws that is off from so long after its last job as the platform says. See docs/reference/power.md.
"""

from typing import Any

import numpy as np
import polars as pl

from forebay.metrics._metric import metric
from forebay.metrics._table import is_warm, span
from forebay.metrics.stays import stays
from forebay.results import Result

JOB_WATTS = "power"
"""The column of the job table in which jobs may say what each of their nodes draws."""


def _given(result: Result) -> Any:
    """What the platform says of it; None where it says nothing."""
    facts = result.facts.get("platform")
    return facts.get("power") if isinstance(facts, dict) else None


def _is_known(result: Result) -> bool:
    return _given(result) is not None


def _nodes(result: Result) -> tuple[np.ndarray, np.ndarray]:
    """What each node draws, idle and busy."""
    given = _given(result)
    classes = result.facts["platform"].get("classes") or [{"nodes": result.resources[result.unit]}]
    many = [one["nodes"] for one in classes]
    idle, busy = ([one.get(name, given[name]) for one in classes] for name in ("idle", "busy"))
    return np.repeat(np.asarray(idle, float), many), np.repeat(np.asarray(busy, float), many)


def _boxes(result: Result) -> tuple[pl.DataFrame, np.ndarray, np.ndarray]:
    """Who had which nodes when; what these drew, and what they would have drawn idle. NaN where that is not known."""
    boxes, (idle, busy) = stays(result), _nodes(result)
    low, behind = boxes["first_node"].to_numpy(), boxes["last_node"].to_numpy() + 1
    below_idle, below_busy = (np.concatenate([[0.0], np.cumsum(one)]) for one in (idle, busy))
    drawn = below_busy[behind] - below_busy[low]
    if JOB_WATTS in result.jobs.columns:
        by_job = result.jobs.select(job=pl.col("job_id").cast(pl.Int64), watts=JOB_WATTS)
        watts = boxes.join(by_job, on="job", how="left", maintain_order="left")["watts"]
        drawn = watts.cast(pl.Float64).fill_null(np.nan).to_numpy() * (behind - low)
    return boxes, drawn, below_idle[behind] - below_idle[low]


def power(result: Result) -> pl.DataFrame:
    """What the machine draws over time: `amount` watts from each `time` on. No rows where that is not known.

    That is where its platform says nothing of it; and in a window, where jobs say what they draw: it lacks others.

    Examples
    --------
    >>> machine = fb.Platform(name="mine", nodes=4, power={"idle": "100 W", "busy": "300 W"})
    >>> jobs = fb.workload.job_table({"id": [1], "submit": [0], "walltime": [60], "run_time": [60], "nodes": [2]})
    >>> fb.metrics.power(fb.simulate(fb.Workload("one", jobs), machine)).rows()
    [(0.0, 800.0), (60.0, 400.0)]
    """
    nothing = pl.DataFrame(schema={"time": pl.Float64, "amount": pl.Float64})
    submits = result.log.filter(pl.col("job").is_not_null())["time"]
    if not _is_known(result) or submits.is_empty():
        return nothing
    boxes, drawn, idle = _boxes(result)
    if np.isnan(drawn).any():
        return nothing
    begin, end = 0.0 if is_warm(result) else float(submits.min()), float(submits.max())  # type: ignore[arg-type]
    starts, ends = boxes["start"].to_numpy(), boxes["end"].fill_null(np.inf).to_numpy()
    times = [np.array([begin]), starts, ends]
    changes = [np.array([_nodes(result)[0].sum()]), drawn - idle, idle - drawn]
    given = _given(result)
    if given.get("shutdown"):
        since, until, saved = _off(result, boxes, begin)
        times, changes = [*times, since, until], [*changes, -saved, saved]
    return _steps(np.maximum(np.concatenate(times), begin), np.concatenate(changes), end)


def _steps(times: np.ndarray, changes: np.ndarray, end: float) -> pl.DataFrame:
    """The step function that jumps by `changes` at `times`, up to an end."""
    moments, place = np.unique(times, return_inverse=True)
    amount = np.cumsum(np.bincount(place, changes, len(moments))).round(6) + 0.0
    kept = (moments <= end) & np.append(True, amount[1:] != amount[:-1])
    return pl.DataFrame({"time": moments[kept], "amount": amount[kept]})


def _off(result: Result, boxes: pl.DataFrame, begin: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """When nodes are off, from, to, and what that saves: a row for each time of a node. The last ones never end."""
    shutdown, idle = _given(result)["shutdown"], _nodes(result)[0]
    low, many = boxes["first_node"].to_numpy(), (boxes["last_node"] - boxes["first_node"] + 1).to_numpy()
    every = np.arange(len(idle))
    within = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
    node = np.concatenate([every, np.repeat(low, many) + within])
    start = np.concatenate([np.full(len(idle), -np.inf), np.repeat(boxes["start"].to_numpy(), many)])
    end = np.concatenate([np.full(len(idle), begin), np.repeat(boxes["end"].fill_null(np.inf).to_numpy(), many)])
    order = np.lexsort((start, node))
    node, start, since = node[order], start[order], end[order]
    until = np.append(np.where(np.diff(node) == 0, start[1:], np.inf), np.inf)
    off = np.isfinite(since) & (until - np.where(np.isfinite(since), since, 0.0) >= shutdown["after"])
    return since[off] + shutdown["after"], until[off], idle[node[off]] - shutdown["off_watts"]


@metric("energy", "mean_power", "max_power", unit=lambda name: "J" if name == "energy" else "W", group="machine",
        needs=_is_known)  # fmt: skip
def _energy(result: Result) -> dict[str, float | None]:
    """Joules of the whole machine over the time over which use is averaged; watts on average, and at most."""
    steps, during = power(result), span(result)
    if steps.is_empty() or during is None or during[0] >= during[1]:
        return dict.fromkeys(("energy", "mean_power", "max_power"))
    amount, edges = steps["amount"].to_numpy(), np.append(np.clip(steps["time"].to_numpy(), *during), during[1])
    joules, length = float(amount @ np.diff(edges)), during[1] - during[0]
    return {
        "energy": joules,
        "mean_power": joules / length,
        "max_power": float(amount[np.diff(edges) > 0].max(initial=0.0)),
    }


def energy(result: Result) -> float | None:
    """Joules of the machine, idle nodes too, from the first submission to the last finish, or over the window.

    None where its platform does not say what nodes draw.

    Examples
    --------
    >>> machine = fb.Platform(name="mine", nodes=4, power={"idle": "100 W", "busy": "300 W"})
    >>> jobs = fb.workload.job_table({"id": [1], "submit": [0], "walltime": [60], "run_time": [60], "nodes": [2]})
    >>> fb.metrics.energy(fb.simulate(fb.Workload("one", jobs), machine))
    48000.0
    """
    return _energy(result)["energy"] if _is_known(result) else None


def consumed_energy(result: Result) -> pl.Series:
    """Joules that the nodes of each job drew while it had them, by row of `result.jobs`; -1 where that is not known.

    The same is the column `consumed_energy` of results.

    Examples
    --------
    >>> fb.metrics.consumed_energy(fb.simulate("table1"))[0]
    -1.0
    """
    jobs = result.jobs.select(job=pl.col("job_id").cast(pl.Int64))
    if not _is_known(result):
        return pl.Series("consumed_energy", np.full(jobs.height, -1.0))
    boxes, drawn, _ = _boxes(result)
    joules = drawn * (boxes["end"].fill_null(np.inf) - boxes["start"]).to_numpy()
    by_job = pl.DataFrame({"job": boxes["job"], "joules": joules})
    by_job = by_job.group_by("job", maintain_order=True).agg(pl.col("joules").sum())
    found = jobs.join(by_job, on="job", how="left", maintain_order="left")["joules"].fill_null(0.0)
    return pl.select(pl.when(found.is_finite()).then(found).otherwise(-1.0)).to_series().alias("consumed_energy")
