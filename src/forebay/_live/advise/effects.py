"""What another order of the queue changes: the same futures, played by Slurm's schedulers in either order."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from forebay._live.snapshot import Moment
from forebay._live.watch.forecast import with_past
from forebay._predict import _snapshot
from forebay._predict._asking import ask, rng_of
from forebay._predict._futures import Present, present
from forebay._predict._world import Learned
from forebay._run.labels import with_parameters

ALL = "all that wait"
_SHARES = (0.1, 0.5, 0.9)


class Change(NamedTuple):
    """Of waits from now on, in seconds: means over jobs and futures; 80 % of differences lie in between."""

    who: str
    jobs: int
    before: float
    after: float
    low: float
    high: float


class Effect(NamedTuple):
    """On all that wait, and on users whose jobs wait longer."""

    all: Change
    losers: list[Change]
    futures: int


def effect(
    found: Moment, past: Sequence[Mapping[str, Any]], orders: tuple[list[int], list[int]], futures: int, seed: int
) -> Effect:
    """Of the second order against the first; numbers are Slurm's, an array's the one that waits."""
    document = with_past(found, past)
    world, now = _snapshot.world_of("the queue", document, None, _by_arrival(found.site.policy), seed)
    learned = Learned(world, "survival")
    here = present(learned, now)
    ids = here.waiting
    owners = _owners(found)
    starts = []
    for order in orders:
        place = {number: k for k, number in enumerate(order)}
        turn = [place.get(owners.get(int(one), (0, ""))[0], len(order)) for one in ids]
        starts.append(ask(_in_order(here, turn), learned, rng_of(seed, 7, int(now)), futures).starts(ids))
    users = np.array([owners.get(int(one), (0, ""))[1] for one in ids])
    losers = [_change(user, *(rows[users == user] for rows in starts)) for user in dict.fromkeys(users.tolist())]
    losers = sorted((one for one in losers if one.after - one.before > 1), key=lambda one: one.before - one.after)
    return Effect(_change(ALL, *starts), losers, futures)


def _change(who: str, before: np.ndarray, after: np.ndarray) -> Change:
    difference = after.mean(axis=0) - before.mean(axis=0)
    low, _, high = np.quantile(difference, _SHARES)
    return Change(who, len(before), float(before.mean()), float(after.mean()), float(low), float(high))


def _by_arrival(policy: str) -> str:
    """The site's scheduler, taking jobs as they come: the order is put into when they came."""
    return with_parameters(policy, {"PriorityType": "basic"}) if policy.startswith("slurm") else policy


def _owners(found: Moment) -> dict[int, tuple[int, str]]:
    """By the number in a snapshot: the number in Slurm of what waits there, and whose it is."""
    owners: dict[int, tuple[int, str]] = {}
    arrays = {job.array: job for job in found.jobs if job.waits and job.tasks}
    by_id = {job.id: job for job in found.jobs}
    for name, number in found.ids.items():
        job = by_id.get(number) or arrays.get(int(name.partition("_")[0]))
        if job is not None:
            owners[number] = (job.id, job.user)
    return owners


def _in_order(here: Present, turn: Sequence[int]) -> Present:
    """The same moment, in which jobs that wait came one after another in this order; those that may not start stay."""
    submit = here.table["submit"].to_numpy().copy()
    waiting = submit[here.running :]
    free = np.flatnonzero(waiting <= 0)
    order = free[np.argsort(np.array(turn)[free], kind="stable")]
    waiting[order] = -np.arange(len(order), 0, -1, dtype=float)
    submit[here.running :] = waiting
    return replace(here, table=here.table.with_columns(submit=pl.Series(submit)))
