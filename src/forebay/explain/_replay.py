"""From the tables of a result to what the replay needs: who waited for what, and who held what, from when to when."""

from typing import Any, NamedTuple

import numpy as np
import polars as pl

from forebay.algorithms.waiting import CHANGE, WAIT, Replay
from forebay.core.atoms import set_apart
from forebay.core.kinds import large_of
from forebay.explain._holds import holds_of
from forebay.explain._inside import Inside, inside_of
from forebay.explain._log import KINDS, Log, of_kinds, places_of, read_log, took_of
from forebay.explain._places import Thing, with_inside, with_places
from forebay.explain._policy import Front
from forebay.explain._tiers import Ranks, ranks_of
from forebay.explain._where import Wheres
from forebay.results import Result, n_ids

_OPENS, _CLOSES = ("submit", "queue", "eligible"), ("start", "cancel", "reject")
_JOINS = ("submit", "eligible")
"""How a job that has not begun joins the queue: as it is submitted, or when others are done that it waits for."""


class Waits(NamedTuple):
    """Waits that have a length, with what each is about."""

    table: np.ndarray  # WAIT
    needs: np.ndarray
    leg: np.ndarray
    short: np.ndarray  # bool: over in the instant in which it began
    known: np.ndarray  # bool: whether it is known what the leg needed


class Scene(NamedTuple):
    """A run, ready to be gone through."""

    replay: Replay
    waits: Waits
    ids: np.ndarray  # of jobs
    texts: list[str]  # that the policy said
    limits: list[tuple[str, str, str]]  # that held jobs back: in a word, in Slurm's, and in a sentence
    things: list[Thing]  # the resources, see _places
    where: Wheres  # waits' jobs may run
    inside: Inside | None  # of shared nodes
    tiers: Ranks  # of jobs, see _tiers


def scene(result: Result, front: Front) -> Scene:
    """All that is to be known of a run."""
    resources = list(result.resources)
    ids = result.log.filter(pl.col("kind") == "submit")["job"].cast(pl.Int64).to_numpy()
    said = result.said.sort("time", maintain_order=True)
    held = result.held.sort("time", maintain_order=True)
    log, times = read_log(result, ids, resources, np.concatenate([said["time"].to_numpy(), held["time"].to_numpy()]))
    jobs, tiers = _jobs_of(result, ids), _tiers_of(result, ids)
    jobs["tier"] = tiers.tier
    chunked = _chunked(result, resources)
    waits = _waits(log, jobs, resources, chunked, front)
    holds, stores = holds_of(log, result.chunks, chunked, len(times))
    down, at = _down(result, log), places_of(result.jobs["job_id"].cast(pl.Int64).to_numpy(), ids)
    inside = inside_of(result, log, holds, took_of(log, len(resources)), waits.table, waits.needs, at)
    if inside is None:
        allowed, row = (values[waits.table["job"]] for values in (jobs["allowed"], at))
        places = with_places(result, waits.needs, allowed, holds, row, len(down) > 0)
    else:
        places = with_inside(result, waits.needs, inside, holds, len(down) > 0)
    limits = held.select("reason", "slurm", "detail").filter(pl.col("reason") != "").unique(maintain_order=True).rows()
    texts = said["reason"].unique(maintain_order=True).to_list()
    replay = Replay(
        times=times,
        capacity=places.capacity,
        waits=waits.table,
        needs=places.needs,
        holds=places.holds,
        by_end=np.argsort(places.holds["last"], kind="stable"),
        stores=stores,
        room=_room(result, resources, chunked),
        chunked=chunked,
        held=_held(held, limits, ids, times),
        down=down,
        said=_said(said, texts, ids, times),
        n_jobs=len(ids),
        by_start=front.by_start,
    )
    return Scene(replay, waits, ids, texts, limits, places.things, places.where, inside, tiers)


def _tiers_of(result: Result, ids: np.ndarray) -> Ranks:
    """The priority tiers of jobs, a row for each id; those that a window left out are of the lowest."""
    at, ranks = places_of(result.jobs["job_id"].cast(pl.Int64).to_numpy(), ids), ranks_of(result)
    if not len(ranks.tier):
        return Ranks(np.zeros(len(ids), np.int64), [""] * len(ids))
    tier = np.where(at >= 0, ranks.tier[at], ranks.tier.min())
    return Ranks(tier, [ranks.partition[place] if place >= 0 else "" for place in at.tolist()])


def _jobs_of(result: Result, ids: np.ndarray) -> dict[str, np.ndarray]:
    """Columns of the job table, a row for each id: the part of a run that a window leaves may lack some."""
    at, filled = places_of(result.jobs["job_id"].cast(pl.Int64).to_numpy(), ids), dict[str, np.ndarray]()
    for name in (*_WANTED, *list(result.resources)[1:]):
        column = result.jobs[name].cast(pl.Float64).fill_null(0).to_numpy() if name in result.jobs.columns else None
        filled[name] = np.where(at >= 0, column[at], 0.0) if column is not None and len(column) else np.zeros(len(ids))
    filled["allowed"] = np.full(len(ids), -1, np.int64)
    if "allowed" in result.jobs.columns and len(result.jobs):
        filled["allowed"] = np.where(at >= 0, result.jobs["allowed"].cast(pl.Int64).fill_null(-1).to_numpy()[at], -1)
    filled["outside"] = np.zeros(len(ids), bool)
    if "eligible_time" in result.jobs.columns and len(result.jobs):
        filled["outside"] = (at >= 0) & result.jobs["eligible_time"].is_null().to_numpy()[at]
    return filled | {"id": ids}


_WANTED = ("requested_number_of_resources", "requested_time", "user", "group", "queue", "priority", "n_legs")


def _waits(log: Log, jobs: dict[str, np.ndarray], resources: list[str], chunked: int, front: Front) -> Waits:
    rows = np.flatnonzero(of_kinds(log, *_OPENS, *_CLOSES))
    rows = rows[np.argsort(log.job[rows], kind="stable")]
    before, after = rows[:-1], rows[1:]
    waits = of_kinds(log, *_OPENS)[before] & of_kinds(log, *_CLOSES)[after] & (log.job[before] == log.job[after])
    waits &= log.time[after] > log.time[before]
    waits &= ~(of_kinds(log, "submit")[before] & jobs["outside"][log.job[before]])  # it never joined the queue
    opened, closed = before[waits], after[waits]
    order = np.lexsort((opened, log.instant[opened]))
    opened, closed = opened[order], closed[order]
    job = log.job[opened]
    needs, known = _needs(log, jobs, resources, opened, closed)
    table = np.zeros(len(opened), WAIT)
    submitted = of_kinds(log, *_JOINS)[opened]
    table["since"], table["until"] = log.time[opened], log.time[closed]
    table["first"], table["last"], table["job"] = log.instant[opened], log.instant[closed], job
    if chunked >= 0:
        table["n_chunks"] = np.maximum(jobs["requested_number_of_resources"][job], 1)
        table["chunk"] = needs[:, chunked] // table["n_chunks"]
    table["place"][front.line(jobs, table, needs, submitted)] = np.arange(len(table))
    return Waits(table, needs, log.leg[opened], table["first"] == table["last"], known)


def _needs(
    log: Log, jobs: dict[str, np.ndarray], resources: list[str], opened: np.ndarray, closed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What each wait was for: what its start took; of a job that did not start, what it asked for or had before.

    And whether that is known: a leg that never began has left no trace, unless it is its job's only one.
    """
    needs = np.zeros((len(opened), len(resources)), np.int64)
    took = took_of(log, len(resources))
    started = log.kind[closed] == KINDS.index("start")
    needs[started] = took[log.row[closed[started]]]
    known = started.copy()
    for w in np.flatnonzero(~started):
        job, leg = log.job[opened[w]], log.leg[opened[w]]
        earlier = np.flatnonzero(of_kinds(log, "start") & (log.job == job) & (log.leg == leg))
        if len(earlier):
            needs[w], known[w] = took[log.row[earlier[-1]]], True
        elif jobs["n_legs"][job] == 1:
            known[w] = True
            asked = [jobs[name][job] for name in resources[1:]]
            nodes = {"submit": log.amount[opened[w]], "eligible": jobs["requested_number_of_resources"][job]}
            needs[w] = [int(nodes.get(KINDS[log.kind[opened[w]]], 0)), *map(int, asked)]
    if (large := large_of(resources)) >= 0:  # a start may take large nodes where small ones would do
        needs[:, large] = np.where(needs[:, large] == needs[:, 0], needs[:, large], 0)
    # Of the nodes of an atom a job needs any only if it may run nowhere else.
    first, allowed = set_apart(resources), jobs["allowed"][log.job[opened]]
    for a, column in enumerate(range(first, len(resources))):
        needs[:, column] = np.where(allowed == 1 << a, needs[:, 0], 0)
    return needs, known


def _tiers(result: Result) -> dict[str, Any]:
    facts = result.facts.get("platform")
    tiers = facts.get("tiers", []) if isinstance(facts, dict) else []
    return {tier["name"]: tier for tier in tiers}


def _chunked(result: Result, resources: list[str]) -> int:
    if not result.chunks.height:
        return -1
    names = [name for name, tier in _tiers(result).items() if tier.get("placement") == "chunked"]
    return resources.index(names[0]) if names and names[0] in resources else -1


def _room(result: Result, resources: list[str], chunked: int) -> np.ndarray:
    """Bytes of each server. A capacity that does not divide evenly leaves the rest unused."""
    if chunked < 0:
        return np.zeros(0, np.int64)
    last = int(result.chunks["server"].max()) + 1  # type: ignore[arg-type]
    servers = max(last, int(_tiers(result)[resources[chunked]].get("servers") or last))
    return np.full(servers, result.resources[resources[chunked]] // servers, np.int64)


def _down(result: Result, log: Log) -> np.ndarray:
    rows = np.flatnonzero(of_kinds(log, "node_down", "node_up"))
    table = np.zeros(len(rows), CHANGE)
    table["instant"] = log.instant[rows]
    table["nodes"] = np.where(log.kind[rows] == KINDS.index("node_down"), 1, -1) * n_ids(result, log.amount[rows])
    return table


def _said(said: pl.DataFrame, texts: list[str], ids: np.ndarray, times: np.ndarray) -> np.ndarray:
    table, places = np.zeros(said.height, CHANGE), {text: place for place, text in enumerate(texts)}
    if said.height:
        table["instant"] = np.searchsorted(times, said["time"].to_numpy())
        table["subject"] = places_of(ids, said["job"].cast(pl.Int64).to_numpy())
        table["what"] = [places[text] if text else -1 for text in said["reason"].to_list()]
        table["nodes"] = places_of(ids, said["behind"].cast(pl.Int64).fill_null(-1).to_numpy())
    return table[table["subject"] >= 0]


def _held(held: pl.DataFrame, limits: list[tuple[str, str, str]], ids: np.ndarray, times: np.ndarray) -> np.ndarray:
    table, places = np.zeros(held.height, CHANGE), {limit: place for place, limit in enumerate(limits)}
    if held.height:
        table["instant"] = np.searchsorted(times, held["time"].to_numpy())
        table["subject"] = places_of(ids, held["job"].cast(pl.Int64).to_numpy())
        table["what"] = [places.get(row, -1) for row in held.select("reason", "slurm", "detail").iter_rows()]
    return table[table["subject"] >= 0]
