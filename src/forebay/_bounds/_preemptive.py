"""One machine that all jobs share and any may interrupt: the schedules behind the bounds by squashed areas.

Squashed, a job of n of N nodes is one that takes n / N of its seconds on a single machine. Whatever a real schedule
does, this machine could do as well, at the same moments.
"""

from heapq import heappop, heappush, heapreplace

import numpy as np


def least_busy_moment(ready: np.ndarray, load: np.ndarray, weight: np.ndarray) -> float:
    """The least sum of weight x mean busy time, over all schedules that may interrupt and share.

    The mean busy time of a job is the mean of the moments at which it runs. Best is to run, at any moment, the job with
    the largest weight / load of those that are ready (Goemans 1996): what is left of it does not count.

    Parameters
    ----------
    ready
        float64[job]: seconds before which it cannot run.
    load
        float64[job]: seconds that it takes, alone on the machine; one that takes none runs when it is ready.
    weight
        float64[job], from 0 up.
    """
    still = float((weight * ready)[load <= 0].sum())
    busy = np.flatnonzero((load > 0) & (weight > 0))  # those without weight can always stand back
    if not len(busy):
        return still
    origin = float(ready[busy].min())
    ratio = weight[busy] / load[busy]
    rank = np.empty(len(busy), np.int64)
    by_ratio = np.argsort(-ratio, kind="stable")
    rank[by_ratio] = np.arange(len(busy))
    left, value = load[busy][by_ratio].tolist(), ratio[by_ratio].tolist()
    order = np.argsort(ready[busy], kind="stable")
    arrivals = (ready[busy][order] - origin).tolist()
    total = _by_rank([*arrivals, np.inf], [*rank[order].tolist(), -1], left, value)
    return still + total + origin * float(weight[busy].sum())


def _by_rank(arrivals: list[float], ranks: list[int], left: list[float], value: list[float]) -> float:
    """What the schedule costs that runs, at any moment, who is first in rank of those that have arrived.

    `left` is what a rank still has to run, and `value` its weight of a second.
    """
    waiting: list[int] = []
    now = total = 0.0
    for arrival, job in zip(arrivals, ranks, strict=True):
        while waiting and now < arrival:
            first = waiting[0]
            runs = left[first]
            if now + runs <= arrival:
                heappop(waiting)
            else:
                runs = arrival - now
                left[first] -= runs
            total += value[first] * runs * (now + runs / 2)
            now += runs
        now = max(now, arrival)
        if job >= 0:
            heappush(waiting, job)
    return total


def least_completion(ready: np.ndarray, load: np.ndarray) -> float:
    """The least sum of completion times, over all schedules that may interrupt: the shortest rest first (Schrage 1968).

    Parameters
    ----------
    ready
        float64[job]: seconds before which it cannot run.
    load
        float64[job]: seconds that it takes, alone on the machine.
    """
    still = float(ready[load <= 0].sum())
    busy = np.flatnonzero(load > 0)
    if not len(busy):
        return still
    origin = float(ready[busy].min())
    order = busy[np.argsort(ready[busy], kind="stable")]
    arrivals, loads = (ready[order] - origin).tolist(), load[order].tolist()
    waiting: list[float] = []  # what is left of each: jobs that have as much left are alike
    now = total = 0.0
    for arrival, seconds in zip([*arrivals, np.inf], [*loads, 0.0], strict=True):
        while waiting and now < arrival:
            rest = waiting[0]
            if now + rest <= arrival:
                heappop(waiting)
                now += rest
                total += now
            else:
                heapreplace(waiting, rest - (arrival - now))
                now = arrival
        now = max(now, arrival)
        if seconds > 0:
            heappush(waiting, seconds)
    return still + total + origin * len(busy)
