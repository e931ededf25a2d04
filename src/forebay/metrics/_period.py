"""Periods that end somewhere."""

import math
from typing import Any

from forebay.results import Result


def closed(period: tuple[float, float], result: Result) -> tuple[float, float]:
    """A period with an end: use of the machine is averaged up to the last finish at most."""
    if math.isfinite(period[1]):
        return period
    ends: Any = result.jobs.select("submission_time", "finish_time").max().row(0)
    last = max((end for end in ends if end is not None), default=0.0)
    return period[0], math.nextafter(max(last, period[0]), math.inf)
