"""The bound by prices: what jobs pay at least, for waiting and for what they hold, less what there is to hold.

Time is cut into cells, and a unit of each resource has a price in each. A schedule holds no more than there is, so what
its jobs pay for holding is no more than all of the machine is worth: their waiting is worth at least the rest. Whatever
the prices, that holds when each job starts where it pays least (Lagrange; Christofides, Alvarez-Valdes & Tamarit 1987).
Prices are raised where more is held than there is, and lowered where less is, as long as that helps.
"""

import numpy as np

from forebay._bounds._found import Found
from forebay._bounds._jobs import Jobs
from forebay._bounds._objective import MAKESPAN, objectives

NAME = "prices"
STEPS = 60
MOST_CELLS = 16_384


def prices(jobs: Jobs, metric: str, steps: int = STEPS) -> list[Found]:
    """One by all resources."""
    if metric == MAKESPAN or not len(jobs):
        return []
    found = []
    for objective in objectives(jobs, metric):
        delay, worth = ascend(jobs, objective.weight, steps)
        which = np.flatnonzero(worth > 0.1 * worth.sum())
        found.append(Found(metric, NAME, objective.value(delay), " + ".join(jobs.resources[int(r)] for r in which)))
    return found


def ascend(jobs: Jobs, weight: np.ndarray, steps: int = STEPS) -> tuple[float, np.ndarray]:
    """The largest sum of weight x delay that was proved, and what the machine was worth of each resource."""
    from forebay.algorithms.prices import least_cost

    use = (jobs.held > 0).any(axis=0) & (jobs.capacity > 0)
    used = np.flatnonzero(use)
    none = np.zeros(len(jobs.resources))
    span = _span(jobs)
    if not len(used) or span <= 0:
        return 0.0, none
    n_cells = int(np.clip(4 * len(jobs), 256, MOST_CELLS))
    cell, origin = span / n_cells, float(jobs.ready.min())
    ready = np.ascontiguousarray((jobs.ready - origin) / cell)
    lasts = np.ascontiguousarray(jobs.seconds / cell)
    held = np.ascontiguousarray(jobs.held[:, used])
    # In shares of the machine all resources weigh alike.
    capacity = jobs.capacity[used].astype(float)
    price = np.zeros((len(used), n_cells))
    held_now = np.zeros_like(price)
    paid = np.zeros((len(used), n_cells + 1))
    weight = np.ascontiguousarray(weight, dtype=float)
    best, worth, hope, since = 0.0, np.zeros(len(used)), 0.0, 0
    kept = price
    for step in range(steps):
        np.cumsum(price / capacity[:, None], axis=1, out=paid[:, 1:])
        value = float(least_cost(ready, lasts, held, weight, paid, held_now)) - float(price.sum())
        over = held_now / capacity[:, None] - 1.0
        if step == 0:
            hope = _guess(weight, over, price, float(lasts.mean()))
            if hope <= 0:
                break
        elif value > best:
            since = 0
            hope = max(hope, 0.5 * (value - best))
            best, worth, kept = value, price.sum(axis=1), price
        else:
            since += 1
            if since >= 4:
                hope, since, price = hope / 2, 0, kept
        # Where a price is 0 and less is held than there is, nothing is to be gained.
        slope = np.where((price > 0) | (over > 0), over, 0.0)
        length = float((slope**2).sum())
        if length == 0:
            break
        price = np.maximum(price + (best - value + hope) / length * slope, 0.0)
    result = none
    result[used] = worth
    return best * cell, result


def _guess(weight: np.ndarray, over: np.ndarray, price: np.ndarray, lasts: float) -> float:
    """How much there may be to prove: what is held beyond the machine has to wait about as long as a job lasts."""
    too_much = float(np.maximum(over, 0.0).sum(axis=1).max())
    return too_much * float(weight.mean()) * max(lasts, 1.0)


def _span(jobs: Jobs) -> float:
    """Seconds in which the machine may be full: until a squashed one would be done, and some more."""
    load = (jobs.held * jobs.seconds[:, None] / np.maximum(jobs.capacity, 1)).sum(axis=0).max(initial=0.0)
    first, last = float(jobs.ready.min()), float((jobs.ready + jobs.seconds).max())
    return max(last - first, float(load)) + float(jobs.seconds.max())
