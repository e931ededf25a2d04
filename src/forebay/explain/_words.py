"""The reasons for which jobs wait: their names, Slurm's words for them, and sentences with the numbers in."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from forebay.algorithms.waiting import BEHIND, CHUNKS, DOWN, FITS, HELD, LACKS, SAID
from forebay.core.atoms import ATOM
from forebay.core.kinds import LARGE
from forebay.core.units import format_bytes, format_seconds
from forebay.explain._places import PLACE
from forebay.explain._policy import Front
from forebay.explain._replay import UNKNOWN, Scene
from forebay.results import Result

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

_NODE_TIERS = ("node_local",)


def reason_of_resources(result: Result) -> dict[str, str]:
    """What it is called when a resource is short, by its name."""
    told = result.facts.get("platform")
    tiers = told.get("tiers", []) if isinstance(told, dict) else []
    kinds = {tier["name"]: tier.get("kind") for tier in tiers}

    def reason(name: str) -> str:
        kind = kinds.get(name.removesuffix(LARGE))
        shared = is_shared(result) and kind is None
        if name == result.unit or name.startswith(ATOM) or kind in _NODE_TIERS or shared:
            return "nodes"
        return "pool" if kind == "pool" else "burst_buffer"

    return {name: reason(name) for name in result.resources}


def is_shared(result: Result) -> bool:
    """Whether jobs share nodes."""
    return result.unit == "cores"


def _texts(values: np.ndarray, write: Callable[[Any], str]) -> pl.Series:
    """Values as text; each different one is written once."""
    numbers = pl.Series(values)
    different = numbers.unique()
    texts = pl.Series([write(value) for value in different.to_list()], dtype=pl.String)
    return numbers.replace_strict(different, texts, return_dtype=pl.String) if len(numbers) else texts


def counts_things(name: str, reasons: dict[str, str]) -> bool:
    """Whether a resource is so many of something, and not bytes."""
    if name == "nodes" or name.startswith((ATOM, PLACE)):
        return True
    return name.endswith(LARGE) or reasons[name] == "pool"


def amounts(values: np.ndarray, resource: np.ndarray, result: Result, reasons: dict[str, str]) -> pl.Series:
    """Amounts of resources, which have a reason each, in bytes where these are of storage; -1 is no resource."""
    shared = [is_shared(result) and name.startswith(("cores", "gpus")) for name in reasons]
    plain = np.array(
        [counts_things(name, reasons) or inside for name, inside in zip(reasons, shared, strict=True)] + [True]
    )
    of_counts = plain[resource]
    counts = _texts(np.where(of_counts, values, 0), "{:,}".format)
    sizes = _texts(np.where(of_counts, 0, np.maximum(values, 0)), format_bytes)
    return pl.select(pl.when(pl.Series(of_counts)).then(counts).otherwise(sizes)).to_series()


def table_of(result: Result, found: Scene, pieces: np.ndarray, front: Front) -> pl.DataFrame:
    """The pieces of all waits in words."""
    names, reasons = found.names, reason_of_resources(result)
    reasons |= dict.fromkeys(names[len(reasons) :], "nodes")  # those of sets of atoms
    cause, what, other, wait = (pieces[name] for name in ("cause", "what", "other", "wait"))
    short = np.isin(cause, (LACKS, CHUNKS))
    resource = np.where(short | (cause == DOWN), what, -1)
    holds = found.replay.holds
    hold = np.where(short & (other >= 0), other, -1)
    by_hold = hold >= 0
    blocker = np.where(short, -1, other)
    blocker[by_hold] = holds["job"][hold[by_hold]]
    held, until = np.zeros(len(pieces), np.int64), np.zeros(len(pieces))
    held[by_hold] = holds["amount"][hold[by_hold]]
    ends = np.append(found.replay.times, np.inf)
    until[by_hold] = ends[holds["last"][hold[by_hold]]]
    ids = found.ids[blocker] if len(found.ids) else np.zeros(0, np.int64)
    need = found.replay.needs[wait, resource] if len(pieces) else np.zeros(0, np.int64)
    waits = found.waits.table[wait]
    frame = pl.DataFrame(
        {
            "job_id": found.ids[waits["job"]],
            "leg": found.waits.leg[wait],
            "start": pieces["start"],
            "end": pieces["end"],
            "blocker": ids,
            "cause": cause,
            "free": amounts(pieces["free"], resource, result, reasons),
            "need": amounts(need, resource, result, reasons),
            "held": amounts(held, resource, result, reasons),
            "until": _texts(until, format_seconds),
            "resource": pl.Series([*names, ""], dtype=pl.String).gather(np.where(resource < 0, len(names), resource)),
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
    of_resource = pl.col("resource").replace_strict(reasons | {"": "nodes"}, return_dtype=pl.String)
    named = {
        LACKS: of_resource,
        CHUNKS: of_resource,
        DOWN: pl.lit("node_down"),
        BEHIND: pl.lit("reserved" if front.reserves else "order"),
        FITS: pl.lit("policy"),
        HELD: pl.col("limit").list.get(0),
        SAID: pl.lit("said"),
        UNKNOWN: pl.lit("unknown"),
    }
    reason, detail = (_chosen(part) for part in (named, _details(result, front)))
    return frame.select(
        "job_id",
        "leg",
        "start",
        "end",
        seconds=pl.col("end") - pl.col("start"),
        reason=reason,
        slurm=pl.when(pl.col("cause") == HELD).then(pl.col("limit").list.get(1)),
        detail=detail,
        blocker=pl.when("known").then("blocker"),
    )


def _above(found: Scene, job: np.ndarray, blocker: np.ndarray) -> pl.Series:
    """Of who goes first by the tier of its partition: which that is; empty where that is not why."""
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
    what = pl.col("resource").str.replace_all("_", " ")
    # Amounts do not tell whether they lie together: a job may wait though all that it asks for is free somewhere.
    would_fit = "enough is free in all" if is_shared(result) else "it would fit"
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
        DOWN: pl.format("nodes: {} of {} are free; those that have failed would do", "free", "need"),
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
            f"{would_fit}, {not_taken}"
            if is_shared(result)
            else "it would fit, and nobody goes first: the policy did not take it"
        ),
        HELD: pl.col("limit").list.get(2),
        UNKNOWN: pl.lit("its leg was withdrawn before it began: nothing tells what it would have taken"),
        SAID: pl.when("known").then(pl.format("{} (behind job {})", "said", "blocker")).otherwise("said"),
    }
