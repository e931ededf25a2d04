"""What the jobs of a run consumed, put into its job table before there is a result."""

from collections.abc import Mapping

import polars as pl

from forebay.metrics.power import consumed_energy
from forebay.platforms.platform import Platform
from forebay.results import Result


def with_energy(frames: Mapping[str, pl.DataFrame], platform: Platform) -> dict[str, pl.DataFrame]:
    """The tables of a run that is about to be a Result, with `consumed_energy` among those of jobs."""
    resources = dict(zip(platform.resources, platform.capacities, strict=True))
    result = Result(**frames, resources=resources, facts={"platform": platform.describe()})
    return {**frames, "jobs": result.jobs.with_columns(consumed_energy(result))}
