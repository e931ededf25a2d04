"""Predictions at many moments of a trace, scored."""

from typing import Any, Unpack

import numpy as np
import polars as pl

from forebay._predict import _given
from forebay._predict._calibration import Calibration
from forebay._predict._given import How
from forebay._predict._quantiles import BANDS, LEVELS, MEDIAN
from forebay._predict._scored import Reliability
from forebay._predict._scoring import Guess, at_once, guesses, measures, moments_of
from forebay._predict._scoring import How as Played
from forebay._predict._world import World
from forebay._support.progress import following
from forebay.errors import InputError
from forebay.workload.names import called

FUTURES = 30
_WARM = 0.1
"""The first part of a trace is to learn from."""
_SIZES = (1, 2, 8, 32, 128, 512)


def reliability(
    workload: Any,
    platform: Any = None,
    policy: Any = None,
    moments: int = 200,
    **how: Unpack[How],
) -> Reliability:
    """Predict at many moments of a trace, never looking ahead, and hold it against what came.

    Each moment is the submission of a job that had to wait; the first tenth of the trace is to learn from. Predictions
    that have come true by a moment calibrate those made then.

    Parameters
    ----------
    workload
        A trace.
    platform
        The machine, as `forebay.simulate` takes it.
    policy
        Who decides, as `forebay.simulate` takes it.
    moments
        How many waits are predicted.
    **how
        As for `forebay.predict`: `recorded`, `futures` (30 for each moment), `estimator`, `seed`, `job_model`,
        `progress`.

    Examples
    --------
    >>> fb.reliability("table1", policy="fcfs", moments=2, futures=5).facts["moments"]
    2
    """
    manner = _given.manner(dict(how), FUTURES)
    _given.count(moments, "moments", 1)
    world = _given.world_of(workload, platform, policy, manner, None)
    first, last = float(world.submit[0]), float(world.submit[-1])
    jobs = moments_of(world, moments, first + _WARM * (last - first), last, manner.seed)
    if not len(jobs):
        raise InputError(f"{world.workload.name}: no job had to wait under this policy: there is nothing to predict")
    with following(manner.progress, "score", len(jobs)) as call:
        watch = (lambda n: call(n, len(jobs))) if call is not None else (lambda _: None)
        made = guesses(world, jobs, Played(manner.futures, manner.estimator, manner.seed), Calibration(), watch)
    known = [one for one in made if not np.isnan(world.start[one.job])]
    if not known:
        raise InputError(f"{world.workload.name}: none of these jobs ever started: there is nothing to score")
    return _scored(world, known, manner)


def _scored(world: World, made: list[Guess], how: _given.Manner) -> Reliability:
    truth = np.array([world.start[one.job] - one.time for one in made])
    every = {
        "predicted": np.stack([one.found for one in made]),
        "slurm": np.stack([at_once(one.slurm) for one in made]),
        "similar": np.stack([one.similar for one in made]),
        "recent": np.stack([one.recent for one in made]),
    }
    ours, *others = (measures(found, truth) for found in every.values())
    w, site = world.workload, world.site
    facts = {
        "workload": w.name,
        "platform": site.platform.name,
        "policy": site.policy if isinstance(site.policy, str) else type(site.policy).__name__,
        "recorded": how.recorded,
        "moments": len(made),
        "futures": how.futures,
        "seed": how.seed,
    }
    numbers = {**ours, "baselines": dict(zip(list(every)[1:], others, strict=True))}
    shares = [float((truth <= every["predicted"][:, place]).mean()) for place in range(len(LEVELS))]
    levels = pl.DataFrame({"level": LEVELS, "observed": shares})
    return Reliability(numbers, _by(world, made, every, truth), levels, _rows(world, made, truth), facts)


def _rows(world: World, made: list[Guess], truth: np.ndarray) -> pl.DataFrame:
    jobs = np.array([one.job for one in made])
    found = np.stack([one.found for one in made])
    columns = {"job_id": world.workload.jobs["id"].to_numpy()[jobs], "time": [one.time for one in made], "wait": truth}
    columns |= {f"p{level * 100:02.0f}": found[:, place] for place, level in enumerate(LEVELS)}
    columns |= {"slurm": [one.slurm for one in made]}
    columns |= {name: np.stack([getattr(one, name) for one in made])[:, MEDIAN] for name in ("similar", "recent")}
    return pl.DataFrame(columns)


def _by(world: World, made: list[Guess], every: dict[str, np.ndarray], truth: np.ndarray) -> dict[str, pl.DataFrame]:
    """Tables by size and by queue."""
    rows = np.array([one.job for one in made])
    jobs = world.workload.jobs
    nodes, queue = jobs["nodes"].to_numpy()[rows], jobs["queue"].to_numpy()[rows]
    place = np.searchsorted(_SIZES, nodes, "right") - 1
    words = [_size(one) for one in range(len(_SIZES))]
    tables = {"size": [(words[one], place == one) for one in np.unique(place)]}
    if len(np.unique(queue)) > 1:
        names = world.workload.names
        tables["queue"] = [(called(names, "queue", int(one)), queue == one) for one in np.unique(queue)]
    return {
        name: pl.DataFrame([_group(name, word, every, truth, mine) for word, mine in some])
        for name, some in tables.items()
    }


def _size(place: int) -> str:
    """Nodes of a class: "2 to 7"."""
    low = _SIZES[place]
    if place + 1 == len(_SIZES):
        return f"{low} or more"
    high = _SIZES[place + 1] - 1
    return f"{low}" if low == high else f"{low} to {high}"


def _group(name: str, word: str, every: dict[str, np.ndarray], truth: np.ndarray, mine: np.ndarray) -> dict[str, Any]:
    ours, slurm = (measures(every[kind][mine], truth[mine]) for kind in ("predicted", "slurm"))
    coverage: Any = ours["coverage"]
    inside = {f"in_{100 * share:.0f}": coverage[f"{share:g}"] for share in BANDS}
    errors = {"median_error": ours["median_absolute_error"], "slurm_median_error": slurm["median_absolute_error"]}
    return {name: word, "waits": int(mine.sum()), **inside, **errors}
