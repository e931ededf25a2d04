"""The order in which a policy would start what waits: by walltimes, as of now."""

from typing import Any, NamedTuple

import numpy as np

from forebay._live.snapshot import Moment
from forebay._predict import _snapshot
from forebay._predict._futures import present
from forebay._predict._playing import Played, play
from forebay._predict._world import Learned
from forebay.errors import InputError

_NEVER = 30 * 86400.0


class Plan(NamedTuple):
    """What waits, in order, with the seconds until each starts; and what the order costs users."""

    order: list[int]  # numbers of jobs as Slurm has them, an array once
    starts: dict[int, float]
    harm: dict[str, float]  # of users whose mean wait grows: by which share


def plan_of(found: Moment, policy: Any) -> Plan:
    """The order of a policy, beside the site's own."""
    waiting = {row["id"] for row in found.document["jobs"] if "start" not in row and not row.get("held")}
    if not waiting:
        return Plan([], {}, {})
    world, now = _snapshot.world_of("the queue", found.document, None, None, 0)
    future = present(Learned(world, "walltime"), now)
    site, w = world.site_at(now), future.requested()
    planned, own = play(w, site, policy), play(w, site)
    starts = _starts(found, planned, waiting)
    order = sorted(starts, key=lambda job: (starts[job], job))
    return Plan(order, starts, _harm(found, starts, _starts(found, own, waiting)))


def _starts(found: Moment, played: Played, waiting: set[int]) -> dict[int, float]:
    """When each starts; of an array that waits, its first task."""
    numbers = {number: int(name.partition("_")[0]) for name, number in found.ids.items()}
    own = {job.id for job in found.jobs if job.waits}
    starts: dict[int, float] = {}
    for number, start in zip(played.ids.tolist(), played.start, strict=True):
        if number in waiting:
            job = number if number in own else numbers[number]
            starts[job] = min(starts.get(job, np.inf), _NEVER if np.isnan(start) else float(start))
    return starts


def _harm(found: Moment, planned: dict[int, float], own: dict[int, float]) -> dict[str, float]:
    """Users whose mean wait, until now and from now on, grows, and by which share."""
    waits: dict[str, list[tuple[float, float]]] = {}
    for job in found.jobs:
        if job.waits and job.id in planned:
            so_far = found.now - job.submit
            waits.setdefault(job.user, []).append((so_far + own[job.id], so_far + planned[job.id]))
    harm = {}
    for user, pairs in waits.items():
        before, after = np.mean(pairs, axis=0)
        if after > before:
            harm[user] = float((after - before) / max(before, 60.0))
    return harm


def check_policy(policy: str) -> None:
    """Refuse a policy that there is not, before anything is read."""
    from forebay import policies

    try:
        policies.load(policy)
    except InputError as error:
        raise InputError(f"--policy {policy}: {error}") from None
