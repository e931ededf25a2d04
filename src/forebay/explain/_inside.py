"""What the log shows of shared nodes: which job had how much of which node, from when to when."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from forebay.algorithms.waiting import HOLD
from forebay.explain._where import Asks, Machine, Wheres, wheres_of
from forebay.results import Result, first_ids

if TYPE_CHECKING:
    from forebay.explain._log import Log

CORES, MEMORY, GPUS = range(3)
_START, _DOWN, _UP = 2, 8, 9  # places of kinds in the log, see _replay
ALONE, PACKED, SPREAD, TOGETHER = "alone", "alone together", "spread", "together"
"""How parts are placed: see `engine.results.tables`."""


class Inside(NamedTuple):
    """Shares of nodes, a row each in no order; and what waits ask of nodes, a row each."""

    machine: Machine
    job: np.ndarray  # int64
    node: np.ndarray
    first: np.ndarray  # instant
    last: np.ndarray  # instant at which it is given back
    amount: np.ndarray  # int64[share, cores memory gpus]
    parts: np.ndarray  # int64[wait]; 0 = nothing
    each: np.ndarray  # int64[wait, cores memory gpus], of a part
    placing: list[str]  # of each wait
    where: Wheres  # of each wait
    down: np.ndarray  # int64[change, 3]: instant, node, and 1 or -1 as it fails or is back


def totals_of(amounts: np.ndarray, resources: list[str]) -> np.ndarray:
    """Cores, memory and GPUs of whatever type, of rows of amounts by resource; int64[row, 3]."""
    gpus = [r for r, name in enumerate(resources) if name == "gpus" or name.startswith("gpus_")]
    memory = [r for r, name in enumerate(resources) if name == "memory"]
    return np.stack([amounts[:, 0], amounts[:, memory].sum(axis=1), amounts[:, gpus].sum(axis=1)], axis=1)


def inside_of(
    result: Result,
    log: "Log",
    holds: np.ndarray,
    took: np.ndarray,
    waits: np.ndarray,
    needs: np.ndarray,
    at: np.ndarray,
) -> Inside | None:
    """All that is known of shared nodes; None where nodes are not shared, or a run lacks the placing of parts.

    `took` is what the start in each row of the log took of each resource, `at` the row of each job in the job table.
    """
    ids = first_ids(result)
    if ids is None or "placing" not in result.jobs.columns or not result.jobs.height:
        return None
    resources, machine = list(result.resources), Machine(result)
    job, node, cores, row = _shares(result, log, ids)
    # A start and what it holds of the first resource have job and instant in common.
    mine = holds[(holds["resource"] == 0) & (holds["last"] > holds["first"])]
    n = int(log.instant.max(initial=0)) + 2
    keys = mine["job"] * n + mine["first"]
    order = np.argsort(keys, kind="stable")
    started = log.job[row] * n + log.instant[row]
    place = np.minimum(np.searchsorted(keys[order], started), max(len(keys) - 1, 0))
    there = keys[order][place] == started if len(keys) else np.zeros(len(started), bool)
    job, node, cores, row, place = (values[there] for values in (job, node, cores, row, place))
    total = totals_of(took[log.row[row]], resources)
    placing = result.jobs["placing"].cast(pl.String).to_list()
    alone = np.array([one in (ALONE, PACKED) for one in placing])[np.maximum(at[job], 0)]
    part = cores[:, None] * total // np.maximum(total[:, :1], 1)
    amount = np.where(alone[:, None], machine.full[node], part)
    parts, each, how = _asked(result, at[waits["job"]], needs)
    where = wheres_of(result, machine, Asks(at[waits["job"]], each))
    first, last = log.instant[row], mine["last"][order][place]
    failed = np.flatnonzero(np.isin(log.kind, (_DOWN, _UP)))
    down = np.stack([log.instant[failed], log.amount[failed], np.where(log.kind[failed] == _DOWN, 1, -1)], axis=1)
    return Inside(machine, job, node, first, last, amount, parts, each, how, where, down)


def _shares(result: Result, log: "Log", ids: np.ndarray) -> tuple[np.ndarray, ...]:
    """Job, node, cores and place in the log of each share of a node that a start took."""
    placed = result.placements.select(pl.all().cast(pl.Int64))
    row, low, high = (placed[name].to_numpy() for name in ("row", "low", "high"))
    at = np.minimum(np.searchsorted(log.row, row), max(len(log.row) - 1, 0))
    starts = (log.row[at] == row) & (log.kind[at] == _START) if len(log.row) else np.zeros(len(row), bool)
    at, low, high = at[starts], low[starts], high[starts]
    first, last = (np.searchsorted(ids, edge, side="right") - 1 for edge in (low, high))
    across = last - first + 1
    which = np.repeat(np.arange(len(at)), across)
    node = np.repeat(first - np.concatenate([[0], np.cumsum(across)[:-1]]).astype(np.int64), across) + np.arange(
        int(across.sum())
    )
    cores = np.minimum(high[which] + 1, ids[node + 1]) - np.maximum(low[which], ids[node])
    return log.job[at[which]], node, cores, at[which]


def _asked(result: Result, row: np.ndarray, needs: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """How many parts each wait is for, what each takes, and how they are placed. A leg may have none."""
    given = result.jobs["placing"].cast(pl.String).to_list()
    how = [given[place] if place >= 0 else TOGETHER for place in row.tolist()]

    def column(name: str) -> np.ndarray:
        known = name in result.jobs.columns
        return result.jobs[name].cast(pl.Int64).to_numpy()[np.maximum(row, 0)] if known else np.zeros_like(row)

    parts = column("parts")
    total = np.stack([column("requested_number_of_resources"), column("memory"), column("gpus")], axis=1)
    each = -(-total // np.maximum(parts, 1)[:, None])
    return np.where((row >= 0) & (needs[:, 0] > 0), parts, 0), each, how


class Bound(NamedTuple):
    """A resource more: what the nodes of a set have of one thing."""

    dimension: int
    capacity: int
    need: np.ndarray  # int64[wait]
    holds: np.ndarray  # HOLD, of no resource yet


def bounds_of(inside: Inside) -> list[Bound]:
    """Cores, memory and GPUs of each set of nodes that is not all nodes, as far as some wait is for them.

    A machine with GPUs of several types counts them by type: a job that takes any type waits for GPUs of all types. A
    job that needs nodes to itself waits for idle ones, see _room.
    """
    found, where = [], inside.where
    shares_nodes = np.array([one in (SPREAD, TOGETHER) for one in inside.placing], bool)
    types = {one.get("gpu") for one in inside.machine.classes if one.get("gpus")}
    for k, nodes in enumerate(where.sets):
        concerned = (where.of == k) & (inside.parts > 0) & shares_nodes
        shares = nodes[inside.node]
        for d in (CORES, MEMORY, GPUS):
            need = np.where(concerned, inside.parts * inside.each[:, d], 0)
            capacity = int(inside.machine.full[nodes, d].sum())
            unknown = d == MEMORY and any(one.get("memory") is None for one in inside.machine.classes)
            if not need.any() or unknown or (k == 0 and (d != GPUS or len(types) < 2)):
                continue
            found.append(Bound(d, capacity, need, _together(inside, shares & (inside.amount[:, d] > 0), d)))
    return found


def _together(inside: Inside, chosen: np.ndarray, d: int) -> np.ndarray:
    """What each job has of some shares of nodes at once, as one hold."""
    keys, at = np.unique(
        np.stack([inside.job[chosen], inside.first[chosen], inside.last[chosen]]), axis=1, return_inverse=True
    )
    found = np.zeros(keys.shape[1], HOLD)
    found["job"], found["first"], found["last"] = keys
    np.add.at(found["amount"], at.reshape(-1), inside.amount[chosen, d])
    return found
