"""A part of a run: the jobs submitted in it, without the warm-up before and the drain after."""

import math
from dataclasses import replace
from numbers import Real
from typing import Any

import polars as pl

from forebay.errors import InputError, wrong_type
from forebay.results import Result


def window(result: Result, start: float, end: float) -> Result:
    """A part of a run: the jobs submitted in it; use of the machine counts in that time alone.

    The log stays whole, because jobs from before the window hold the machine in it too. A window of a window is what
    they share.

    Parameters
    ----------
    start
        Seconds.
    end
        Seconds; jobs submitted just then are out.

    Examples
    --------
    >>> fb.metrics.window(fb.simulate("table1"), 0, 60)
    <Result of fcfs-bb: 2 jobs on 4 nodes, mean wait 0 s>
    """
    moments: tuple[Any, Any] = start, end
    for moment in moments:
        if not isinstance(moment, Real):
            raise wrong_type("a window's start or end", moment, "seconds, such as 0 or 86400")
    if "window" in result.facts:
        start, end = max(start, result.facts["window"][0]), min(end, result.facts["window"][1])
    if not start < end:
        raise InputError(f"the window from {start} s to {end} s is empty; its start must come before its end")
    submitted = pl.col("submission_time").is_between(start, end, closed="left")
    return replace(result, jobs=result.jobs.filter(submitted), facts={**result.facts, "window": [start, end]})


def window_by_fraction(result: Result, start: float, end: float) -> Result:
    """The window between two fractions of the time over which jobs arrive.

    Parameters
    ----------
    start
        0.1 drops a tenth at the beginning.
    end
        0.9 drops a tenth at the end.

    Examples
    --------
    >>> fb.metrics.window_by_fraction(fb.simulate("table1"), 0.1, 0.9)
    <Result of fcfs-bb: 4 jobs on 4 nodes, mean wait 4.25 min>
    """
    if not 0 <= start < end <= 1:
        raise InputError(f"a window from {start} to {end} makes no sense; write fractions such as 0.1 and 0.9")
    arrivals = result.jobs["submission_time"]
    if arrivals.is_empty():
        return result
    first, last = float(arrivals.min()), float(arrivals.max())  # type: ignore[arg-type]
    # Windows leave out their end; the last arrival belongs to a window that goes up to 1.
    stop = math.nextafter(last, math.inf) if end == 1 else first + end * (last - first)
    return window(result, first + start * (last - first), stop)
