"""When jobs of a moment will start, by what was seen of earlier ones."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from forebay._live.snapshot import Moment
from forebay._predict import _outlook, _snapshot
from forebay._predict._asking import ask, rng_of
from forebay._predict._calibration import Calibration
from forebay._predict._futures import present
from forebay._predict._quantiles import LEVELS
from forebay._predict._world import Learned

Floats = np.ndarray


class Forecast(NamedTuple):
    """Of each job that waits for its turn, by what users call it."""

    names: list[str]
    drawn: Floats  # a row a job: seconds until it starts, in each future
    bands: Floats  # the same at the usual levels, calibrated
    outlook: pl.DataFrame | None = None
    waits: pl.DataFrame | None = None
    rhythm: float = 0.0  # of newcomers: 0 = none are expected


def forecast(
    found: Moment, past: Iterable[Mapping[str, Any]], calibration: Calibration, futures: int, seed: int
) -> Forecast:
    """Play futures of a moment. `past` are rows of jobs that ended and that Slurm has forgotten."""
    document = with_past(found, past)
    if not document["jobs"]:
        return Forecast([], np.empty((0, futures)), np.empty((0, len(LEVELS))))
    world, now = _snapshot.world_of("the queue", document, None, None, seed)
    learned = Learned(world, "survival")
    here = present(learned, now)
    ids = here.waiting
    by_number = {number: name for name, number in found.ids.items()}
    asked = ask(here, learned, rng_of(seed, int(now)), futures)
    drawn = asked.starts(ids) if len(ids) else np.empty((0, futures))
    bands = np.array([calibration.quantiles(one) for one in drawn]).reshape(-1, len(LEVELS))
    ahead = _outlook.outlook(asked.played, world.site.platform.nodes)
    waits = _outlook.waits(asked.played, world.workload.names)
    return Forecast([by_number[int(one)] for one in ids], drawn, bands, ahead, waits, here.past.rhythm)


def with_past(found: Moment, past: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The snapshot with jobs that ended before, as long as none has taken their number."""
    here = {row["id"] for row in found.document["jobs"]}
    kinds = set(found.site.tiers.values())
    older = [_known(row, kinds) for row in past if row["id"] not in here and row["end"] <= found.now]
    return found.document | {"jobs": [*older, *found.document["jobs"]]}


_KEYS = frozenset(
    [
        "id",
        "submit",
        "nodes",
        "start",
        "end",
        "walltime",
        "exclusive",
        "name",
        "user",
        "partition",
        "account",
        "qos",
        "features",
        "cores",
        "memory",
        "gpus",
    ]
)


def _known(row: Mapping[str, Any], tiers: set[str]) -> dict[str, Any]:
    """Without licences and buffers that the machine no longer has."""
    return {key: value for key, value in row.items() if key in _KEYS or key in tiers}
