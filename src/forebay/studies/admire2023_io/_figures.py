"""The figures of the text, by their numbers there, each with its data as CSV. All are of the first workload."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from forebay.studies._frame import Finished
from forebay.studies.admire2023_io._series import Series

Drawings = dict[str, Callable[[Path], list[Path]]]

_TERA, _GIB, _HOUR = 1e12, 2.0**30, 3600.0
STEPS = 500
"""Steps of a curve over time, at most: means over intervals."""


def published(runs: Finished, series: Mapping[str, Series]) -> Drawings:
    """Figs 4.9 to 4.13."""
    measures = {run.tags["policy"]: record.measures for run, record in runs if record.measures}
    first = next(iter(series.values()))
    return {
        "fig-4.9-workload": partial(_workload, first),
        "fig-4.10-intensities": partial(_intensities, series),
        "fig-4.11-utilisation": partial(_utilisation, series),
        "fig-4.12-admissions": partial(_admissions, series),
        "fig-4.13a-turnaround-and-queue-times": partial(_times, measures),
        "fig-4.13b-checkpoint-times": partial(_checkpoints, measures),
    }


def _workload(series: Series, path: Path) -> list[Path]:
    """Loads of a round: computing and writing."""
    import polars as pl

    from forebay.figures.panels import density

    assert series.workload.applications is not None
    amounts = series.workload.applications.amounts.join(
        series.workload.jobs.select(job="id", nodes="nodes"), on=["job", "nodes"]
    )
    each = amounts.group_by("job").agg(
        compute=(pl.col("flop") * pl.col("nodes")).sum() / _TERA, checkpoint=pl.col("bytes").sum() / _GIB
    )
    labels = {"compute": "computing (TFLOP)", "checkpoint": "checkpoint (GiB)", "job": "job"}
    return density.draw(each.sort("job"), path, labels)


def _intensities(series: Mapping[str, Series], path: Path) -> list[Path]:
    from forebay.figures.panels.timelines import over_time

    panels = {}
    for policy, one in series.items():
        found = one.intensities
        panels[policy] = {
            "workload": _thin((found.time, found.workload)),
            "system": _thin((found.time, found.system)),
        }
    return over_time.draw(panels, path, "I/O intensity")


def _utilisation(series: Mapping[str, Series], path: Path) -> list[Path]:
    from forebay.figures.panels.timelines import over_time

    panels = {
        policy: {"CPU": _thin(one.cpu, 100), "file system": _thin(one.files, 100)} for policy, one in series.items()
    }
    return over_time.draw(panels, path, "in use (%)")


def _thin(steps: tuple[np.ndarray, np.ndarray], scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Means over intervals of a round length."""
    from forebay.figures import _steps

    start, end = float(steps[0][0]), float(steps[0][-1])
    times, values = _steps.averaged(steps, start, end, _steps.width_for(start, end, STEPS))
    return times, scale * values


def _admissions(series: Mapping[str, Series], path: Path) -> list[Path]:
    from forebay.figures.panels.timelines import admissions

    columns = {"submit": "submission_time", "start": "starting_time", "end": "finish_time"}
    tables = {policy: one.result.jobs.select(job="job_id", **columns) for policy, one in series.items()}
    return admissions.draw(tables, path)


def _times(measures: Mapping[str, Mapping[str, np.ndarray]], path: Path) -> list[Path]:
    from forebay.figures.panels import spreads

    groups = {
        "turnaround time": {policy: mine["turnaround_time"] / _HOUR for policy, mine in measures.items()},
        "queue time": {policy: mine["waiting_time"] / _HOUR for policy, mine in measures.items()},
    }
    return spreads.draw(groups, path, "hours")


def _checkpoints(measures: Mapping[str, Mapping[str, np.ndarray]], path: Path) -> list[Path]:
    from forebay.figures.panels import spreads

    groups = {"checkpoint time": {policy: mine["io_time"] for policy, mine in measures.items()}}
    return spreads.draw(groups, path, "checkpoint time of a job (s)")
