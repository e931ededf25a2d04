"""The schedules of runs as packed columns: what is the same in all of them once, and of each what it made of that."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from forebay.explain._reasons import longest
from forebay.figures import _steps
from forebay.figures._schedule import FILES, READS, WRITES, has_phases, is_gpus, rectangles
from forebay.metrics.machine import usage
from forebay.metrics.power import power
from forebay.report._columns import pack
from forebay.results import Result

SHOWN = 50_000
"""Jobs of a schedule; of more, those of the most node-seconds are drawn."""
BOXES = 200_000
"""Rectangles of a schedule, likewise."""
STEPS = 100_000
"""Steps of a lane; of more, means over as many intervals are kept."""
EXPLAINED = 10_000
"""Jobs whose reasons are shown: with more of them a long queue has millions of pieces, and takes gigabytes."""
_REASONS = 3
"""Reasons of a job's wait that are shown, the longest."""


WATTS = "W"


@dataclass(frozen=True)
class Lane:
    """A step function below the schedule: its name, unit (bytes, bytes/s, W or jobs), and the most there is, or 0."""

    name: str
    unit: str
    capacity: float


@dataclass(frozen=True)
class Chosen:
    """Which jobs are drawn: those in these rows of the job table, in its order."""

    rows: np.ndarray
    ids: np.ndarray
    total: int


def choose(result: Result) -> Chosen:
    """All jobs, or of many those of the most node-seconds."""
    jobs, boxes = result.jobs, max(result.placements.height, 1)
    most = min(SHOWN, int(BOXES * jobs.height / boxes) if boxes > BOXES else SHOWN)
    rows = np.arange(jobs.height)
    if jobs.height > most:
        area = (jobs["requested_number_of_resources"] * jobs["execution_time"]).fill_null(0).to_numpy()
        rows = np.sort(np.argsort(-area, kind="stable")[:most])
    return Chosen(rows, jobs["job_id"].to_numpy()[rows], jobs.height)


def lanes_of(results: Sequence[Result]) -> list[Lane]:
    """Burst buffers, the file system, power, the queue: those that any of the runs has."""
    resources = {name: capacity for one in results for name, capacity in one.resources.items() if name != one.unit}
    gpus = {name for one in results for name in one.resources if is_gpus(one, name)}
    lanes = [Lane(name, "GPUs" if name in gpus else "bytes", float(held)) for name, held in resources.items()]
    if any(map(has_phases, results)):
        lanes += [Lane(f"{FILES} {way}", "bytes/s", 0.0) for way in ("read", "write")]
    if any(len(power(one)) for one in results):
        lanes.append(Lane("power", WATTS, 0.0))
    return [*lanes, Lane("queue", "jobs", 0.0)]


def shared(result: Result, chosen: Chosen) -> tuple[str, dict[str, Any]]:
    """What all runs say of the jobs, packed; and the words for what is packed as numbers."""
    jobs = result.jobs[chosen.rows.tolist()] if chosen.rows.size < result.jobs.height else result.jobs
    buffers = [name for name in result.resources if name != result.unit and name in jobs.columns]
    columns = {
        "id": jobs["job_id"].to_numpy(),
        "submit": jobs["submission_time"].to_numpy().astype(float),
        "walltime": jobs["requested_time"].cast(pl.Float64).to_numpy(),
        "nodes": jobs["requested_number_of_resources"].to_numpy(),
        **{f"buffer-{k}": jobs[name].fill_null(0).to_numpy().astype(np.float32) for k, name in enumerate(buffers)},
    }
    if columns["id"].min(initial=0) < 0:
        columns["id"] = columns["id"].astype(float)
    users = jobs["user"].fill_null(-1) if "user" in jobs.columns else pl.Series([-1] * jobs.height)
    columns["user"] = np.maximum(users.cast(pl.Int64).to_numpy(), -1) + 1  # 0: unknown
    named = [{"name": name, "counts": is_gpus(result, name)} for name in buffers]
    return pack(columns), {"buffers": named, "users": _busiest(columns["user"])}


def _busiest(users: np.ndarray) -> list[int]:
    """Users with the most jobs: each has a colour of its own."""
    known, counts = np.unique(users[users > 0], return_counts=True)
    return [int(user) for user in known[np.argsort(-counts, kind="stable")][:7]]


def of_run(result: Result, chosen: Chosen, lanes: Sequence[Lane], spans: tuple[float, float]) -> str:
    """What a run made of the jobs, packed; so are the words that it tells of them: tiers and reasons, a line each."""
    jobs = result.jobs
    rows = chosen.rows.tolist()
    start, end = (
        jobs[name].cast(pl.Float64).fill_null(np.nan).to_numpy()[rows] for name in ("starting_time", "finish_time")
    )
    columns: dict[str, np.ndarray] = {"start": start, "end": end}
    columns |= _boxes(result, chosen, start, end)
    words: list[str] = []
    if "tier" in jobs.columns:
        columns["tier"] = _coded(jobs["tier"].cast(pl.String).fill_null("none").to_list(), words)[rows]
    for place, lane in enumerate(lanes):
        times, values = _thin(_steps_of(result, lane), spans)
        columns[f"lane-{place}-time"], columns[f"lane-{place}-value"] = times, values.astype(np.float32)
    columns |= _reasons(result, chosen, words)
    lines = "\n".join(" ".join(word.split()) for word in words)
    return pack(columns | {"words": np.frombuffer(lines.encode(errors="replace"), np.uint8)})


def _boxes(result: Result, chosen: Chosen, start: np.ndarray, end: np.ndarray) -> dict[str, np.ndarray]:
    """Rectangles of the jobs that are drawn; their times only where they are not those of the job."""
    boxes = rectangles(result)
    order = np.argsort(chosen.ids, kind="stable")
    place = np.minimum(np.searchsorted(chosen.ids[order], boxes["job"].to_numpy()), max(order.size - 1, 0))
    job = order[place] if order.size else np.zeros(0, int)
    kept = chosen.ids[job] == boxes["job"].to_numpy()
    job, boxes = job[kept], boxes.filter(pl.Series(kept))
    first = np.argsort(job, kind="stable")
    job, boxes = job[first], boxes[first.tolist()]
    columns = {"box-job": job, "box-low": boxes["first_node"].to_numpy(), "box-high": boxes["last_node"].to_numpy()}
    begins, ends = boxes["start"].to_numpy(), boxes["end"].to_numpy()
    if not (np.array_equal(begins, start[job]) and np.array_equal(ends, end[job])):
        columns |= {"box-start": begins, "box-end": ends}
    return columns


def _steps_of(result: Result, lane: Lane) -> _steps.Steps:
    if lane.unit in ("bytes", "GPUs"):
        if lane.name not in result.resources:
            return np.zeros(0), np.zeros(0)
        steps = usage(result, lane.name)
        return steps["time"].to_numpy(), steps["amount"].to_numpy().astype(float)
    if lane.unit == WATTS:
        steps = power(result)
        return steps["time"].to_numpy(), steps["amount"].to_numpy()
    if lane.unit == "bytes/s":
        return _steps.transfers(result, READS if lane.name.endswith("read") else WRITES)
    waited = result.jobs.filter(pl.col("starting_time").is_not_null())
    begin, end = (waited[name].to_numpy().astype(float) for name in ("submission_time", "starting_time"))
    ones = np.ones(begin.size)
    return _steps.summed(np.concatenate([begin, end]), np.concatenate([ones, -ones]))


def _thin(steps: _steps.Steps, span: tuple[float, float]) -> _steps.Steps:
    if steps[0].size <= STEPS:
        return steps
    return _steps.averaged(steps, *span, (span[1] - span[0]) / STEPS)


def _coded(names: Sequence[str], words: list[str]) -> np.ndarray:
    """Names as places in `words`, to which new ones are added."""
    places = {word: place for place, word in enumerate(words)}
    for name in dict.fromkeys(names):
        if name not in places:
            places[name] = len(words)
            words.append(name)
    return np.array([places[name] for name in names], int)


def _reasons(result: Result, chosen: Chosen, words: list[str]) -> dict[str, np.ndarray]:
    """Why jobs waited, the longest reasons of each; nothing where that is not known."""
    if len(result.jobs) > EXPLAINED:
        return {}
    reasons = longest(result, _REASONS).with_columns(pl.col("detail").fill_null(""))
    rows = pl.DataFrame({"job_id": chosen.ids, "place": np.arange(chosen.ids.size)})
    reasons = reasons.join(rows, on="job_id", how="inner", maintain_order="left").sort("place", maintain_order=True)
    return {
        "reason-job": reasons["place"].to_numpy(),
        "reason-word": _coded(reasons["reason"].to_list(), words),
        "reason-detail": _coded(reasons["detail"].to_list(), words),
        "reason-seconds": reasons["seconds"].to_numpy().astype(np.float32),
    }
