"""Predictions of a world's past, in order of time: each made without what came later, each held against what came."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from forebay._predict import _baselines
from forebay._predict._asking import ask, rng_of
from forebay._predict._calibration import Calibration
from forebay._predict._futures import present
from forebay._predict._quantiles import LEVELS, MEDIAN
from forebay._predict._world import Learned, World


class Guess(NamedTuple):
    """A prediction, made when the job had been submitted and did not start at once."""

    job: int
    time: float
    waits: np.ndarray  # drawn
    found: np.ndarray  # at the usual levels
    slurm: float
    similar: np.ndarray
    recent: np.ndarray


class How(NamedTuple):
    """How much is played, and what run times are learned by."""

    futures: int
    estimator: object
    seed: int


def moments_of(world: World, number: int, since: float, until: float, seed: int) -> np.ndarray:
    """Jobs to ask for, in order of submission: any of those that had to wait, each as likely."""
    submit, start = world.submit, world.start
    with np.errstate(invalid="ignore"):
        waited = (np.isnan(start) & np.isnan(world.left)) | (start > submit)
    rows = np.flatnonzero(waited & (submit >= since) & (submit <= until))
    if len(rows) > number:
        rows = np.sort(rng_of(seed, 0).choice(rows, number, replace=False))
    return rows


def guesses(
    world: World, jobs: np.ndarray, how: How, calibration: Calibration, watch: Callable[[int], None] = lambda _: None
) -> list[Guess]:
    """Predict each when it was submitted. What came true in the meantime calibrates those after it."""
    learned, waits = Learned(world, how.estimator), _baselines.Waits(world)
    made: list[Guess] = []
    open_ones: list[Guess] = []
    for count, j in enumerate(jobs):
        time = float(world.submit[j])
        open_ones = settle(world, open_ones, time, calibration)
        known = present(learned, time)
        asked = ask(known, learned, rng_of(how.seed, 1, int(j)), how.futures)
        ids = world.workload.jobs["id"].to_numpy()[[j]]
        drawn = asked.starts(ids)[0]
        similar = waits.similar(int(j), time)
        mean = float(similar.mean()) if len(similar) else 0.0
        guess = Guess(
            int(j),
            time,
            drawn,
            calibration.quantiles(drawn),
            float(asked.slurm(ids)[0]),
            _baselines.levels_of(similar, mean),
            _baselines.levels_of(waits.recent(time)),
        )
        made.append(guess)
        open_ones.append(guess)
        watch(count + 1)
    settle(world, open_ones, np.inf, calibration)
    return made


def settle(world: World, open_ones: list[Guess], time: float, calibration: Calibration) -> list[Guess]:
    """Note predictions that have come true by a time; returns the others."""
    rest = []
    for one in open_ones:
        start = world.start[one.job]
        if start <= time:
            calibration.add(one.waits, float(start - one.time))
        elif np.isnan(world.left[one.job]):
            rest.append(one)
    return rest


def measures(found: np.ndarray, truth: np.ndarray) -> dict[str, object]:
    """Shares within the intervals, and how far the median is off."""
    from forebay._predict._quantiles import BANDS

    inside = {
        f"{share:g}": float(((found[:, low] <= truth) & (truth <= found[:, high])).mean())
        for share, (low, high) in BANDS.items()
    }
    off = np.abs(found[:, MEDIAN] - truth)
    ratio = np.abs(np.log((found[:, MEDIAN] + 60) / (truth + 60)))
    return {
        "coverage": inside,
        "median_absolute_error": float(np.median(off)),
        "mean_absolute_error": float(off.mean()),
        "median_factor": float(np.exp(np.median(ratio))),
    }


def at_once(wait: float) -> np.ndarray:
    """A single time at all levels."""
    return np.full(len(LEVELS), wait)
