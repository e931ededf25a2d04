"""The optimum of a few jobs, with run times known before: CP-SAT of OR-Tools, the extra `ortools`.

CP-SAT counts in whole steps of time. Where all times of the jobs are multiples of a step, the optimum in steps is the
optimum. Else times are rounded down, ready times and seconds both: jobs that then overlap in a step ran together in the
real schedule just before its end, so what is left is still a bound. Blocks of jobs are solved as if no others were
there: their optima add up to no more than the optimum of all, and the longest of them is the least makespan.
"""

import math
import time
from typing import Any, NamedTuple

import numpy as np

from forebay._bounds._alone import beginning
from forebay._bounds._aside import aside
from forebay._bounds._found import Found
from forebay._bounds._jobs import Jobs
from forebay._bounds._objective import MAKESPAN, SLOWDOWNS, objectives
from forebay._bounds._prices import ascend
from forebay._bounds._serial import schedule
from forebay.errors import InputError

MOST = 40
"""Jobs of a block, beyond which a proof may take for ever."""
_FINEST = 2**20  # steps that a block may span, where times have no common step
_LARGEST = 2**50  # that the sum of all costs may reach


class Optimum(NamedTuple):
    """Of one block: the sum of costs is between these."""

    least: float
    best: float
    done: bool


def check() -> None:
    """Refuse where OR-Tools is missing."""
    try:
        import ortools.sat.python.cp_model  # noqa: F401
    except ImportError:
        raise InputError(
            'the exact optimum needs OR-Tools, which is not installed; pip install "forebay[ortools]"'
        ) from None


def exact(jobs: Jobs, metric: str, window: int, limit: float) -> list[Found]:
    """The optimum of blocks of `window` jobs in order of arrival; `limit` are the seconds for all of them."""
    if not len(jobs):
        return []
    check()
    ends = time.perf_counter() + limit
    order = np.argsort(jobs.ready, kind="stable")
    blocks = [order[k : k + window] for k in range(0, len(order), window)]
    optima = []
    for number, rows in enumerate(blocks):
        share = max((ends - time.perf_counter()) / (len(blocks) - number), 0.01)
        optima.append(solve(jobs.rows(rows), metric, share))
    alone = len(blocks) == 1
    stopped = sum(not one.done for one in optima)
    if metric == MAKESPAN:
        start = beginning(jobs)
        least = max(one.least for one in optima) - start
        best = optima[0].best - start if alone else None
    else:
        value = _means(jobs, metric)
        least = value(sum(one.least for one in optima))
        best = value(optima[0].best) if alone else None
    name = _name(jobs, len(blocks), stopped, optima)
    text = f"{len(blocks) - stopped} of {len(blocks)} windows solved to the end" if stopped else ""
    return [Found(metric, name, least, "", text, best)]


def _name(jobs: Jobs, blocks: int, stopped: int, optima: list[Optimum]) -> str:
    """An optimum is one only if nothing was left out and it was proved."""
    if blocks > 1:
        return f"optimum of {blocks:,} windows"
    tight = not stopped and optima[0].best - optima[0].least <= 1e-6 * max(abs(optima[0].best), 1.0)
    return "optimum" if tight and not jobs.relaxed else "optimum, relaxed"


def _means(jobs: Jobs, metric: str) -> Any:
    """From a sum of costs to the metric."""
    if metric in SLOWDOWNS:
        return lambda cost: (len(jobs) + jobs.uncertain + cost) / (len(jobs) + jobs.uncertain)
    return objectives(jobs, metric)[0].value


def solve(jobs: Jobs, metric: str, limit: float) -> Optimum:
    """One block. Costs are weighted delays; of a slowdown only what is above 1, of a makespan the last end."""
    from ortools.sat.python import cp_model

    step, origin = _step(jobs), float(jobs.ready.min())
    ready = np.floor((jobs.ready - origin) / step * (1 + 1e-12)).astype(np.int64)
    lasts = np.floor(jobs.seconds / step * (1 + 1e-12)).astype(np.int64)
    first = schedule(jobs, np.argsort(jobs.ready, kind="stable"))
    horizon = int(ready.max() + lasts.sum()) + 1
    model = cp_model.CpModel()
    starts = [model.new_int_var(int(ready[j]), horizon, f"start {j}") for j in range(len(jobs))]
    pieces = [model.new_fixed_size_interval_var(starts[j], int(lasts[j]), f"run {j}") for j in range(len(jobs))]
    for r in range(len(jobs.resources)):
        users = [j for j in range(len(jobs)) if jobs.held[j, r] > 0 and lasts[j] > 0]
        if users:
            unit = math.gcd(*(int(jobs.held[j, r]) for j in users))
            room = int(jobs.capacity[r]) // unit
            model.add_cumulative([pieces[j] for j in users], [int(jobs.held[j, r]) // unit for j in users], room)
    scale, constant = _costs(model, cp_model, jobs, metric, starts, (ready, lasts, step, origin))
    for j in range(len(jobs)):
        model.add_hint(starts[j], int((first[j] - origin) // step))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = limit
    solver.parameters.num_workers = 8  # ways to search side by side: those that find schedules rarely prove them
    solver.parameters.random_seed = 0
    status = aside(lambda: solver.solve(model))
    alone = _proved_before(jobs, metric)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Optimum(alone, cost_of(jobs, metric, first), False)
    order = np.argsort([solver.value(start) for start in starts], kind="stable")
    found = min(cost_of(jobs, metric, schedule(jobs, order)), cost_of(jobs, metric, first))
    least = constant + solver.best_objective_bound * scale
    return Optimum(min(max(least, alone), found), found, status == cp_model.OPTIMAL)


def _proved_before(jobs: Jobs, metric: str) -> float:
    """What is known of the costs without any search; of starts, what prices prove."""
    alone = cost_of(jobs, metric, jobs.ready)
    if metric == MAKESPAN or metric in SLOWDOWNS:
        return alone
    return max(alone, ascend(jobs, objectives(jobs, metric)[0].weight)[0])


def _costs(
    model: Any, cp_model: Any, jobs: Jobs, metric: str, starts: list[Any], grid: tuple[Any, ...]
) -> tuple[float, float]:
    """Tell the model what to keep low; gives the worth of its unit, and what comes on top."""
    ready, lasts, step, origin = grid
    if metric == MAKESPAN:
        tail = np.floor(jobs.rest / step * (1 + 1e-12)).astype(np.int64)
        end = model.new_int_var(0, int(ready.max() + lasts.sum() + tail.max()) + 1, "end")
        for j, start in enumerate(starts):
            model.add(end >= start + int(tail[j]))
        model.minimize(end)
        return step, origin
    slow = metric in SLOWDOWNS
    weight = 1 / np.maximum(jobs.total, SLOWDOWNS[metric]) if slow else objectives(jobs, metric)[0].weight
    # Weights in whole numbers, rounded down; so large that rounding is far below what is shown.
    horizon = int(ready.max() + lasts.sum()) + 1
    most = _LARGEST / (horizon * max(len(jobs), 1) * max(float(weight.max()), 1e-300))
    exactly = bool((weight == np.rint(weight)).all())
    unit = 1.0 if exactly else min(most, 2.0**40)
    whole = np.floor(weight * unit * (1 + 1e-12)).astype(np.int64)
    grace = np.zeros(len(jobs), np.int64)
    if slow:
        # A short job may wait until its time reaches the bound, and costs nothing. What it has waited, it has waited.
        free = np.maximum(np.maximum(jobs.total, SLOWDOWNS[metric]) - jobs.total, 0.0) - (jobs.ready - jobs.submit)
        grace = np.ceil(np.maximum(free, 0.0) / step * (1 - 1e-12)).astype(np.int64)
    terms = []
    for j, start in enumerate(starts):
        if grace[j] > 0:
            late = model.new_int_var(0, horizon, f"late {j}")
            model.add(late >= start - int(ready[j] + grace[j]))
            terms.append(int(whole[j]) * late)
        else:
            terms.append(int(whole[j]) * (start - int(ready[j])))
    model.minimize(cp_model.LinearExpr.sum(terms))
    already = cost_of(jobs, metric, jobs.ready) if slow else 0.0
    # Rounding both down, a job is said to wait up to one step longer than it does.
    loss = 0.0 if _is_whole(jobs, step) else float((weight * step).sum())
    return step / unit, already - loss


def cost_of(jobs: Jobs, metric: str, starts: np.ndarray) -> float:
    """What a schedule costs."""
    if metric == MAKESPAN:
        return float((starts + jobs.rest).max())
    if metric in SLOWDOWNS:
        bound = np.maximum(jobs.total, SLOWDOWNS[metric])
        return float(np.maximum((starts - jobs.submit + jobs.total) / bound - 1, 0.0).sum())
    return float((objectives(jobs, metric)[0].weight * (starts - jobs.ready)).sum())


def _is_whole(jobs: Jobs, step: float) -> bool:
    times = np.concatenate([jobs.ready - jobs.ready.min(), jobs.seconds, jobs.rest]) / step
    return bool((np.abs(times - np.rint(times)) < 1e-9 * np.maximum(times, 1.0)).all())


def _step(jobs: Jobs) -> float:
    """The largest step of which all times are multiples; without one, a step so fine that little is lost."""
    times = np.concatenate([jobs.ready - jobs.ready.min(), jobs.seconds, jobs.rest])
    for unit in (1.0, 1e-3):
        if _is_whole(jobs, unit):
            return unit * max(math.gcd(*(int(one) for one in np.rint(times / unit))), 1)
    span = float(jobs.ready.max() - jobs.ready.min() + jobs.seconds.sum())
    return max(span / _FINEST, 1e-6)
