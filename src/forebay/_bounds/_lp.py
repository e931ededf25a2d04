"""The bound by a linear program: jobs may be cut in pieces, but all resources count at once, and no piece is squashed.

Time is cut into intervals. A job puts a share of its run into each; no more than the interval is long, and never before
it is ready. What all jobs hold in an interval fits the machine. The mean busy time of a job is half its seconds after
its start, and follows from its intervals (Dyer & Wolsey 1990). Blocks of jobs are solved by themselves, as if no others
were there: their least delays add up to no more than the least delay of all.

What a solver says is not taken on trust: from its prices of capacity the bound is recomputed, and holds for any
prices, also those of a solver that was stopped.
"""

import time
from functools import partial
from typing import NamedTuple

import numpy as np

from forebay._bounds._aside import aside
from forebay._bounds._found import Found
from forebay._bounds._jobs import Jobs
from forebay._bounds._objective import MAKESPAN, Objective, objectives

NAME = "linear program"
BLOCK = 250  # jobs that are solved together
INTERVALS = 150  # of a block


class Grid(NamedTuple):
    """Intervals of time; the last has no end, and room for all."""

    edges: np.ndarray  # float64[interval]: where each begins
    open: np.ndarray  # float64[job, interval]: seconds of it in which a job may run
    middle: np.ndarray  # float64[job, interval]: seconds that its run there lies after `ready`, in the mean
    less: np.ndarray  # float64[job]: by which the mean of these may be too late
    length: np.ndarray  # float64[interval]: of all but the last


def linear(jobs: Jobs, metric: str, limit: float, block: int = BLOCK, intervals: int = INTERVALS) -> list[Found]:
    """One bound by all resources; `limit` are the seconds that solvers may take in all."""
    if metric == MAKESPAN or not len(jobs):
        return []
    ends, found = time.perf_counter() + limit, []
    for objective in objectives(jobs, metric):
        delay, stopped, prices = 0.0, 0, np.zeros(len(jobs.resources))
        order = np.argsort(jobs.ready, kind="stable")
        blocks = [order[k : k + block] for k in range(0, len(order), block)]
        for number, rows in enumerate(blocks):
            share = (ends - time.perf_counter()) / (len(blocks) - number)
            some = jobs.rows(rows)
            grid = _grid(some, intervals)
            paid, in_time = _prices(some, objective.weight[rows], grid, share)
            delay += max(proved(some, objective.weight[rows], grid, paid), 0.0)
            stopped += not in_time
            prices += (paid * grid.length).sum(axis=1) * jobs.capacity
        text = f"{len(blocks) - stopped} of {len(blocks)} blocks solved to the end" if stopped else ""
        found.append(Found(metric, NAME, objective.value(delay), _binding(jobs, prices), text))
    return found


def _binding(jobs: Jobs, prices: np.ndarray) -> str:
    """The resources that cost anything: a tenth of all prices or more."""
    return " + ".join(jobs.resources[int(r)] for r in np.flatnonzero(prices > 0.1 * prices.sum()))


def _grid(jobs: Jobs, intervals: int) -> Grid:
    """Edges at moments at which jobs become ready, and evenly up to when a squashed machine would be done."""
    load = (jobs.held * jobs.seconds[:, None] / np.maximum(jobs.capacity, 1)).max(axis=1, initial=0.0)
    first, last = float(jobs.ready.min()), float(jobs.ready.max())
    done = max(last, first + float(load.sum())) + float(jobs.seconds.max())
    ready = np.unique(jobs.ready)
    some = ready[np.unique(np.linspace(0, len(ready) - 1, min(len(ready), intervals // 2)).astype(int))]
    edges = np.unique(np.concatenate([some, np.linspace(first, done, intervals - len(some) + 1)]))
    stop = np.append(edges[1:], np.inf)
    begins = np.maximum(edges[None, :], jobs.ready[:, None])
    room = np.maximum(stop[None, :] - begins, 0.0)
    # A run in one piece fills all intervals but its first, of which it has the end, and its last, of which it has the
    # beginning: q seconds of the last of L are a q / 2 too early for a middle at a L / 2, and (a L)^2 / 8 at most.
    finite = np.where(np.isfinite(room), room, 0.0)
    longest, seconds = finite.max(axis=1), np.maximum(jobs.seconds, 1e-300)
    part = np.minimum(1.0, np.divide(2 * jobs.seconds, longest, out=np.ones_like(longest), where=longest > 0))
    less = (part * longest) ** 2 / (8 * seconds)
    middle = begins - jobs.ready[:, None] + part[:, None] * finite / 2
    return Grid(edges, room, middle, np.where(jobs.seconds > 0, less, 0.0), np.diff(edges))


def _prices(jobs: Jobs, weight: np.ndarray, grid: Grid, limit: float) -> tuple[np.ndarray, bool]:
    """What a unit of each resource is worth in each interval but the last, and whether the solver was done."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    used = np.flatnonzero((jobs.held > 0).any(axis=0) & (jobs.capacity > 0))
    none = np.zeros((len(jobs.resources), len(grid.length)))
    if limit <= 0 or not len(used):
        return none, not len(used)
    job, k = np.nonzero(grid.open > 0)
    job, k = job[(takes := jobs.seconds[job] > 0)], k[takes]
    if not len(job):
        return none, True
    cost = weight[job] * grid.middle[job, k]
    most = np.minimum(grid.open[job, k] / jobs.seconds[job], 1.0)
    inside = np.flatnonzero(k < len(grid.length))
    rows, columns, values, room = [], [], [], []
    for place, r in enumerate(used):
        rows.append(place * len(grid.length) + k[inside])
        columns.append(inside)
        # In shares of the machine and of the interval: numbers near 1 are kind to solvers.
        values.append((jobs.held[:, r] * jobs.seconds / jobs.capacity[r])[job[inside]] / grid.length[k[inside]])
        room.append(np.ones(len(grid.length)))
    shape = (len(used) * len(grid.length), len(job))
    holds = csr_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=shape)
    whole = np.unique(job, return_inverse=True)[1]
    once = csr_array((np.ones(len(job)), (whole, np.arange(len(job)))), shape=(whole.max() + 1, len(job)))
    scale = max(float(cost.max()), 1e-9)
    solve = partial(
        linprog,
        cost / scale,
        A_ub=holds,
        b_ub=np.concatenate(room),
        A_eq=once,
        b_eq=np.ones(once.shape[0]),
        bounds=np.column_stack([np.zeros(len(job)), most]),
        method="highs",
        options={"time_limit": limit},
    )
    answer = aside(solve)
    marginals = getattr(getattr(answer, "ineqlin", None), "marginals", None)
    if marginals is None or len(np.atleast_1d(marginals)) != shape[0] or not np.isfinite(marginals).all():
        return none, False
    paid = np.maximum(-np.asarray(marginals), 0.0).reshape(len(used), -1) * scale
    none[used] = paid / (jobs.capacity[used, None] * grid.length)
    return none, bool(answer.status == 0)


def proved(jobs: Jobs, weight: np.ndarray, grid: Grid, paid: np.ndarray) -> float:
    """The least weighted sum of delays, by any prices: jobs pay for what they hold, and the machine pays it back.

    Each job then puts its run into its cheapest intervals, whatever others do, and what that costs in all less what
    there is to hold is no more than any schedule has (Lagrange).
    """
    price = np.zeros((len(jobs), len(grid.edges)))
    price[:, :-1] = jobs.held @ paid
    lasts = np.maximum(jobs.seconds, 1e-300)[:, None]
    cost = weight[:, None] * grid.middle + price * jobs.seconds[:, None]
    share = np.minimum(grid.open / lasts, 1.0)
    order = np.argsort(np.where(share > 0, cost, np.inf), axis=1, kind="stable")
    cost, share = np.take_along_axis(cost, order, axis=1), np.take_along_axis(share, order, axis=1)
    before = np.cumsum(share, axis=1) - share
    part = np.clip(1 - before, 0.0, share)
    least = np.where(part > 0, part * cost, 0.0).sum(axis=1)
    # A job that runs in one piece begins half its seconds before its mean busy time.
    runs = float(least.sum() - (paid * grid.length * jobs.capacity[:, None]).sum())
    return runs - float((weight * (grid.less + jobs.seconds / 2)).sum())


def of(jobs: Jobs, objective: Objective, limit: float = 60.0, intervals: int = INTERVALS) -> float:
    """The bound of one block, as a number."""
    grid = _grid(jobs, intervals)
    paid, _ = _prices(jobs, objective.weight, grid, limit)
    return objective.value(max(proved(jobs, objective.weight, grid, paid), 0.0))
