"""The users whose jobs held what a job lacked, while it lacked it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from forebay.explain._chain import check_job
from forebay.explain._log import places_of
from forebay.explain._policy import front_of
from forebay.explain._reasons import reasons
from forebay.explain._replay import Scene, scene
from forebay.explain._room_words import room_text
from forebay.results import Result

SHORT = ("nodes", "burst_buffer", "pool")
"""Reasons for waits for something that other jobs hold."""
COLUMNS = ("user", "account", "jobs", "amount", "share")


def holders(result: Result, job: int, why: pl.DataFrame | None = None) -> pl.DataFrame:
    """The holders of what a job lacked for longest: a row for each user and account, the one with most first.

    Columns: `missing` (what it lacked), `user` and `account` (their names, or null where none is known), `jobs` (how
    many of their jobs held some), `amount` (held on average while the job lacked it) and `share` (of all that was held
    then). No rows if nothing was short.

    Parameters
    ----------
    job
        Its number.
    why
        What `reasons` gave; computed if it is not given.

    Examples
    --------
    >>> result = fb.simulate("table1", policy="fcfs-easy")
    >>> fb.explain.holders(result, 3).select("missing", "jobs", "share").rows()
    [('burst buffer', 3, 1.0)]
    """
    check_job(result, job)
    return Holders(result).main(job, reasons(result) if why is None else why)


_KINDS: tuple[Any, ...] = (pl.String, pl.String, pl.Int64, pl.Float64, pl.Float64)
_SCHEMA = dict(zip(COLUMNS, _KINDS, strict=True))


class Holders:
    """All that was held in a run, ready for questions."""

    def __init__(self, result: Result):
        self._scene: Scene = scene(result, front_of(result))
        replay = self._scene.replay
        ends = np.append(replay.times, np.inf)
        holds = replay.holds
        self._from, self._to = (ends[np.minimum(holds[name], len(replay.times))] for name in ("first", "last"))
        at = places_of(result.jobs["job_id"].cast(pl.Int64).to_numpy(), self._scene.ids)
        self._who = {name: _names(result, name, at) for name in ("user", "account")}
        self._known: dict[Any, pl.DataFrame] = {}

    def main(self, job: int, why: pl.DataFrame) -> pl.DataFrame:
        """The holders of what a job lacked for longest, see `holders`; `why` is what `reasons` gave."""
        mine = why.filter(pl.col("job_id") == job, pl.col("missing").is_not_null(), pl.col("reason").is_in(SHORT))
        total = mine.group_by("missing", maintain_order=True).agg(pl.col("seconds").sum())
        if total.is_empty():
            return pl.DataFrame(schema={"missing": pl.String} | _SCHEMA)
        missing = total.sort("seconds", descending=True, maintain_order=True)["missing"][0]
        found = self.of(job, missing, mine.filter(pl.col("missing") == missing).select("start", "end").rows())
        return found.select(pl.lit(missing).alias("missing"), *COLUMNS)

    def of(self, job: int, missing: str, spans: Sequence[tuple[float, float]]) -> pl.DataFrame:
        """The holders of what a job lacks in these spans of time: a row for each user, see `holders`."""
        place = int(places_of(self._scene.ids, np.array([job]))[0])
        waits = np.flatnonzero(self._scene.waits.table["job"] == place)
        found = self._find(waits, missing)
        if found is None:
            return pl.DataFrame(schema=_SCHEMA)
        key = (*found, tuple(spans))
        if key not in self._known:
            self._known[key] = self._together(*found, spans)
        return self._known[key]

    def _find(self, waits: np.ndarray, missing: str) -> tuple[str, int] | None:
        """What is called so: a resource, or the room in a set of nodes."""
        scene = self._scene
        for w in waits.tolist():
            for r in np.flatnonzero(scene.replay.needs[w] > 0).tolist():
                if scene.things[r].text(w, scene.where) == missing:
                    return "resource", r
            if scene.inside is not None and scene.inside.parts[w] > 0 and room_text(scene, w) == missing:
                return "set", int(scene.where.of[w])
        return None

    def _together(self, kind: str, which: int, spans: Sequence[tuple[float, float]]) -> pl.DataFrame:
        scene = self._scene
        if kind == "resource":
            chosen = scene.replay.holds["resource"] == which
            job, amount = (scene.replay.holds[name][chosen] for name in ("job", "amount"))
            first, last = self._from[chosen], self._to[chosen]
            weight = amount * _overlap(first, last, spans)
        else:
            inside, ends = scene.inside, np.append(scene.replay.times, np.inf)
            assert inside is not None
            chosen = scene.where.sets[which][inside.node]
            job, part = inside.job[chosen], inside.amount[chosen]
            first, last = (ends[np.minimum(one[chosen], len(ends) - 1)] for one in (inside.first, inside.last))
            shared = _overlap(first, last, spans)
            used = (part * shared[:, None]).sum(axis=0)
            # Of what is in nodes, what they have least of left is what is short.
            there = np.maximum(inside.machine.full[scene.where.sets[which]].sum(axis=0), 1)
            weight = part[:, int(np.argmax(used / there))] * shared
        return self._by_user(job[weight > 0], weight[weight > 0], sum(end - start for start, end in spans))

    def _by_user(self, job: np.ndarray, weight: np.ndarray, seconds: float) -> pl.DataFrame:
        frame = pl.DataFrame({"job": job, "weight": weight} | {n: s.gather(job) for n, s in self._who.items()})
        return (
            frame.group_by("user", "account", maintain_order=True)
            .agg(jobs=pl.col("job").n_unique().cast(pl.Int64), amount=pl.col("weight").sum() / seconds)
            .with_columns(share=pl.col("amount") / pl.col("amount").sum())
            .sort("amount", "user", "account", descending=[True, False, False], nulls_last=True)
            .select(COLUMNS)
        )


def _overlap(first: np.ndarray, last: np.ndarray, spans: Sequence[tuple[float, float]]) -> np.ndarray:
    """How long each hold lasts within some spans of time."""
    total = np.zeros(len(first))
    for start, end in spans:
        total += np.maximum(np.minimum(last, end) - np.maximum(first, start), 0.0)
    return total


def _names(result: Result, name: str, at: np.ndarray) -> pl.Series:
    """The user or account of each job, by the names of the trace, else by number; null where unknown."""
    column = f"{name}_name" if f"{name}_name" in result.jobs.columns else name
    if column not in result.jobs.columns or not result.jobs.height:
        return pl.Series([None] * len(at), dtype=pl.String)
    values = result.jobs[column].cast(pl.String)
    values = values.set(values == "-1", None)
    return pl.select(pl.when(pl.Series(at >= 0)).then(values.gather(np.maximum(at, 0)))).to_series()
