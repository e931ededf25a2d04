"""EASY around one reservation, of all resources: what a chosen job that does not fit leaves for others."""

from collections.abc import Iterable

import numpy as np

from forebay.core.actions import Actions
from forebay.core.view import View


def backfill(view: View, act: Actions, head: int, started: Iterable[int] = ()) -> list[int]:
    """Start all that does not delay `head`, which waits, in order of arrival; returns it.

    `started` are the jobs that this decision has started before: they run, and nobody sees it yet.
    """
    shadow, spare = _reservation(view, act, head, started)
    taken = set(started) | {head}
    found = []
    for job in view.queue.tolist():
        if job in taken or not act.fits(job):
            continue
        demand = view.demand(job)
        if view.now + view.walltime(job) > shadow:
            if (demand > spare).any():
                continue
            spare = spare - demand
        act.start(job)
        found.append(job)
    return found


def _reservation(view: View, act: Actions, head: int, started: Iterable[int]) -> tuple[float, np.ndarray]:
    """When `head` could start, as far as walltimes tell, and what is left beside it then."""
    ends = [(float(row["end"]), view.releases[row["leg"]]) for row in view.running]
    ends += [(view.now + view.walltime(job), view.demand(job)) for job in started]
    free, need, shadow = np.array(act.free, np.int64), view.demand(head), view.now
    for end, given_back in sorted(ends, key=lambda one: one[0]):
        if (need <= free).all():
            break
        free, shadow = free + given_back, max(end, view.now)
    return (np.inf if (need > free).any() else shadow), free - need
