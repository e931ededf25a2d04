"""Waiting times of a result as plain numbers."""

import numpy as np

from forebay.metrics._table import counted, measure
from forebay.results import Result


def waiting_times(result: Result) -> np.ndarray:
    """Seconds from submission to first start of each job that counts: it began."""
    waits = counted(result).select(measure("waiting_time").drop_nulls()).collect().to_series()
    return waits.to_numpy().astype(float)
