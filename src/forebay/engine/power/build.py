"""From a platform's power to the tables of a run."""

import dataclasses

import numpy as np
import polars as pl

from forebay.errors import InputError, brief
from forebay.platforms.platform import Platform
from forebay.workload.workload import Workload

JOB_WATTS = "power"
"""The column of the job table in which jobs may say what each of their nodes draws."""


def with_watts(workload: Workload, platform: Platform) -> Workload:
    """The workload with what its jobs draw as a column of numbers that is no demand, where the machine counts it."""
    if platform.power is None or JOB_WATTS not in workload.jobs.columns:
        return workload
    column = workload.jobs[JOB_WATTS]
    if JOB_WATTS in platform.resources:
        raise InputError(
            f"{platform.name}: a tier is called {JOB_WATTS}, as the column in which jobs say what they draw; rename it"
        )
    if not column.dtype.is_numeric():
        raise InputError(
            f"{workload.name}: the column {JOB_WATTS} is {brief(column[0])} in the first row, not the watts of a node; "
            "write numbers, or rename it"
        )
    watts = column.cast(pl.Float64).fill_null(np.nan).to_numpy()
    bad = ~((watts >= 0) & np.isfinite(watts))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"{workload.name}: job {workload.jobs['id'][row]} draws {watts[row]:g} W a node ({JOB_WATTS}); "
            "write watts from 0 up, or leave the column out"
        )
    if column.dtype == pl.Float64:
        return workload
    return dataclasses.replace(workload, jobs=workload.jobs.with_columns(column.cast(pl.Float64)))
