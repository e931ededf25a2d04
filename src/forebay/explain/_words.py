"""The reasons for which jobs wait: their names, Slurm's words for them, and sentences with the numbers in."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from forebay.algorithms.waiting import BEHIND, CHUNKS, DOWN, FITS, HELD, LACKS, SAID
from forebay.core.units import format_bytes, format_seconds
from forebay.explain._causes import UNKNOWN
from forebay.explain._places import Thing, is_shared
from forebay.explain._policy import Front
from forebay.explain._replay import Scene
from forebay.explain._room import ROOM, ROOM_DOWN
from forebay.explain._room_words import last_of, parts_of, room_text, scarce
from forebay.results import Result
from forebay.workload.dates import date_text

REASONS = {
    "nodes": "Resources",
    "burst_buffer": "BurstBufferResources",
    "pool": "Licenses",
    "node_down": "ReqNodeNotAvail",
    "reserved": "Priority",
    "order": "Priority",
    "policy": "None",
    "user_jobs": "QOSMaxJobsPerUserLimit",
    "user_nodes": "QOSMaxNodePerUserLimit",
    "limit": "QOSResourceLimit",
    "reservation": "ReqNodeNotAvail",
    "partition": "PartitionDown",
    "dependency": "Dependency",
    "said": "None",
    "stage_in": "BurstBufferStageIn",
    "unknown": "None",
}
"""Why a job waits, and what `squeue` of Slurm would show in its column REASON; of a limit, its own name there."""


def _texts(values: np.ndarray, write: Callable[[Any], str]) -> pl.Series:
    """Values as text; each different one is written once."""
    numbers = pl.Series(values)
    different = numbers.unique()
    texts = pl.Series([write(value) for value in different.to_list()], dtype=pl.String)
    return numbers.replace_strict(different, texts, return_dtype=pl.String) if len(numbers) else texts


def amounts(values: np.ndarray, resource: np.ndarray, things: list[Thing]) -> pl.Series:
    """Amounts of resources, in bytes where these are of storage; -1 is no resource."""
    of_counts = np.array([thing.counts for thing in things] + [True])[resource]
    counts = _texts(np.where(of_counts, values, 0), "{:,}".format)
    sizes = _texts(np.where(of_counts, 0, np.maximum(values, 0)), format_bytes)
    return pl.select(pl.when(pl.Series(of_counts)).then(counts).otherwise(sizes)).to_series()


def _in_the_way(
    found: Scene, pieces: np.ndarray, short: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Whether a job in the way holds what is short; its row, or -1; how much it holds, and until when."""
    other, holds = pieces["other"], found.replay.holds
    hold = np.where(short & (other >= 0), other, -1)
    by_hold, in_way = hold >= 0, pieces["cause"] == ROOM
    blocker = np.where(short, -1, other)
    blocker[by_hold] = holds["job"][hold[by_hold]]
    held, until = np.zeros(len(pieces), np.int64), np.zeros(len(pieces))
    held[by_hold] = holds["amount"][hold[by_hold]]
    ends = np.append(found.replay.times, np.inf)
    until[by_hold] = ends[holds["last"][hold[by_hold]]]
    until[in_way] = ends[last_of(found, pieces[in_way])]
    return by_hold, blocker, held, until


def _facts_of(found: Scene, pieces: np.ndarray, written: Callable[[float], str]) -> pl.DataFrame:
    """What sentences about the pieces of waits are made of; `written` says a time."""
    cause, what, wait = (pieces[name] for name in ("cause", "what", "wait"))
    short = np.isin(cause, (LACKS, CHUNKS))
    resource = np.where(short | (cause == DOWN), what, -1)
    by_hold, blocker, held, until = _in_the_way(found, pieces, short)
    roomless = np.isin(cause, (ROOM, ROOM_DOWN))
    ids = found.ids[blocker] if len(found.ids) else np.zeros(0, np.int64)
    need = found.replay.needs[wait, resource] if len(pieces) else np.zeros(0, np.int64)
    waits = found.waits.table[wait]
    return pl.DataFrame(
        {
            "job_id": found.ids[waits["job"]],
            "leg": found.waits.leg[wait],
            "start": pieces["start"],
            "end": pieces["end"],
            "blocker": ids,
            "cause": cause,
            "free": amounts(pieces["free"], resource, found.things),
            "need": amounts(np.where(roomless, parts_of(found, wait), need), resource, found.things),
            "held": amounts(held, resource, found.things),
            "until": _texts(until, written),
            "missing": _missing(found, wait, resource, roomless),
            "of_resource": pl.Series([thing.reason for thing in found.things] + ["nodes"]).gather(
                np.where(resource < 0, len(found.things), resource)
            ),
            "scarce": scarce(found, wait, np.where(roomless, what, -1)),
            "chunk": _texts(waits["chunk"], format_bytes),
            "chunks": waits["n_chunks"],
            "said": pl.Series([*found.texts, ""], dtype=pl.String).gather(
                np.where(cause == SAID, what, len(found.texts))
            ),
            "limit": pl.Series([*found.limits, ("", "", "")], dtype=pl.List(pl.String)).gather(
                np.where(cause == HELD, what, len(found.limits))
            ),
            "above": _above(found, waits["job"], np.where(cause == BEHIND, blocker, -1)),
            "by_hold": by_hold,
            "known": blocker >= 0,
        }
    )


def table_of(result: Result, found: Scene, pieces: np.ndarray, front: Front) -> pl.DataFrame:
    """The pieces of all waits in words."""
    frame = _facts_of(found, pieces, moment_of(result))
    return frame.select(
        "job_id",
        "leg",
        "start",
        "end",
        seconds=pl.col("end") - pl.col("start"),
        reason=_chosen(_reasons(front)),
        slurm=pl.when(pl.col("cause") == HELD).then(pl.col("limit").list.get(1)),
        missing=pl.when(pl.col("missing") != "").then("missing"),
        detail=_chosen(_details(result, front)),
        blocker=pl.when("known").then("blocker"),
    )


def _reasons(front: Front) -> dict[int, pl.Expr]:
    """A word for every cause."""
    return {
        LACKS: pl.col("of_resource"),
        CHUNKS: pl.col("of_resource"),
        ROOM: pl.lit("nodes"),
        ROOM_DOWN: pl.lit("node_down"),
        DOWN: pl.lit("node_down"),
        BEHIND: pl.lit("reserved" if front.reserves else "order"),
        FITS: pl.lit("policy"),
        HELD: pl.col("limit").list.get(0),
        SAID: pl.lit("said"),
        UNKNOWN: pl.lit("unknown"),
    }


def _missing(found: Scene, wait: np.ndarray, resource: np.ndarray, roomless: np.ndarray) -> pl.Series:
    """What is short in each piece; empty where nothing is. Each different text is made once."""
    place = np.where(roomless, -2, resource)
    known: dict[tuple[int, int], str] = {}
    for key in dict.fromkeys(zip(place.tolist(), wait.tolist(), strict=True)):
        r, w = key
        known[key] = room_text(found, w) if r == -2 else "" if r < 0 else found.things[r].text(w, found.where)
    texts = [known[key] for key in zip(place.tolist(), wait.tolist(), strict=True)]
    return pl.Series(texts, dtype=pl.String)


def moment_of(result: Result) -> Callable[[float], str]:
    """How times of a run are shown: as a date where its trace has dates, else in seconds after its first job."""
    epoch = result.facts.get("epoch")
    if not isinstance(epoch, int | float):
        return format_seconds
    return lambda seconds: date_text(float(epoch) + seconds) or format_seconds(seconds)


def _above(found: Scene, job: np.ndarray, blocker: np.ndarray) -> pl.Series:
    """The partition and tier of a job that goes first because of them; empty where that is not why."""
    tier, names = found.tiers
    if not len(job) or not (tier != tier[:1]).any():
        return pl.Series([""] * len(job), dtype=pl.String)
    higher = (blocker >= 0) & (tier[blocker] > tier[job])
    words = [
        f" by the priority tier of partition {names[other]}, {tier[other]}" if goes else ""
        for other, goes in zip(blocker.tolist(), higher.tolist(), strict=True)
    ]
    return pl.Series(words, dtype=pl.String)


def _chosen(by_cause: dict[int, pl.Expr]) -> pl.Expr:
    """One expression that has a value of its own for every cause."""
    chain: Any = pl
    for cause, value in by_cause.items():
        chain = chain.when(pl.col("cause") == cause).then(value)
    expression: pl.Expr = chain
    return expression


def _details(result: Result, front: Front) -> dict[int, pl.Expr]:
    """A sentence for every cause."""
    holder = pl.when("by_hold").then(pl.format("; job {} holds {} until {}", "blocker", "held", "until"))
    what = pl.col("missing")
    # Without the placing of parts only amounts are known: they may be free, but scattered over nodes.
    apart = is_shared(result) and "placing" not in result.jobs.columns
    would_fit = "enough is free in total" if apart else "it would fit"
    not_taken = "but not together on nodes that it may have, or the policy did not take it"
    reserved = {"nodes": "the nodes are reserved for", "all": "all is reserved for"}
    return {
        LACKS: pl.format("{}: {} of {} are free{}", what, "free", "need", holder.otherwise(pl.lit(""))),
        CHUNKS: pl.format(
            "{}: {} are free, but servers lack room for {} {} of {}{}",
            what,
            "free",
            "chunks",
            pl.when(pl.col("chunks") == 1).then(pl.lit("chunk")).otherwise(pl.lit("chunks")),
            "chunk",
            holder.otherwise(pl.lit("")),
        ),
        ROOM: pl.format(
            "{}: {} of {}{}{}",
            what,
            "free",
            "need",
            "scarce",
            pl.when("known").then(pl.format("; job {} is there until {}", "blocker", "until")).otherwise(pl.lit("")),
        ),
        ROOM_DOWN: pl.format("{}: {} of {}; nodes that have failed would do", what, "free", "need"),
        DOWN: pl.format("{}: {} of {} are free; nodes that have failed would do", what, "free", "need"),
        BEHIND: pl.format(
            f"{would_fit}, but {reserved[front.reserves]} job {{}}, which goes first{{}}"
            if front.reserves
            else f"{would_fit}, but job {{}} starts first{{}}"
            if front.by_start
            else f"{would_fit}, but job {{}} goes first{{}}",
            "blocker",
            "above",
        ),
        FITS: pl.lit(
            f"{would_fit}, {not_taken}" if apart else "it would fit, and no job goes first: the policy did not take it"
        ),
        HELD: pl.col("limit").list.get(2),
        UNKNOWN: pl.lit("its leg was withdrawn before it began: what it would have taken is unknown"),
        SAID: pl.when("known").then(pl.format("{} (behind job {})", "said", "blocker")).otherwise("said"),
    }
