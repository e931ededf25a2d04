"""Predictions held against what came, beside what Slurm itself had said.

Of each job its first prediction counts, made when it was first seen waiting: later ones are of the same wait. Slurm's
answer is held against ours of the same moment, the first at which it had one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from forebay._live.jobs import LiveJob
from forebay._predict._calibration import Calibration
from forebay._predict._quantiles import BANDS, LEVELS, MEDIAN

KEPT = 5000
"""Scores that reliability rests on, the last ones."""
_CALIBRATING = 1000
SLACK = 1.0
"""Seconds by which a start may lie outside an interval: Slurm's times are whole seconds."""
ALL = "all"


@dataclass
class Guess:
    """The first prediction of a job, and of the first moment with one of Slurm's."""

    made: float
    partition: str
    drawn: np.ndarray
    bands: np.ndarray
    said_at: float | None = None
    said: float | None = None  # by Slurm, in seconds from then
    then: float | None = None  # our median then


class Score(NamedTuple):
    """What came of it."""

    name: str
    partition: str
    made: float
    start: float
    bands: tuple[float, ...]
    expected: float
    share: float
    said_at: float | None
    said: float | None
    then: float | None

    @property
    def row(self) -> list[Any]:
        """As a table has it."""
        return [*self[:4], *self.bands, *self[5:]]


def score_of(row: Sequence[Any]) -> Score:
    """Out of a table's row."""
    n = 4 + len(LEVELS)
    name, partition, made, start = row[:4]
    return Score(name, partition, made, start, tuple(row[4:n]), *row[n:])


@dataclass
class Scores:
    """Guesses that are open, and the last scores."""

    open: dict[str, Guess] = field(default_factory=dict)
    done: list[Score] = field(default_factory=list)
    lost: int = 0

    def calibration(self) -> Calibration:
        """What intervals are made by: the last scores."""
        last = self.done[-_CALIBRATING:]
        return Calibration([one.expected for one in last], [one.share for one in last])

    def settle(self, jobs: Iterable[LiveJob]) -> list[Score]:
        """Score those that have started since; forget those that will not start."""
        by_name = {job.called: job for job in jobs}
        arrays = {job.array for job in jobs if job.waits and job.tasks}
        made = []
        for name, guess in list(self.open.items()):
            job = by_name.get(name)
            if job is None:
                array = name.partition("_")[0]
                if "_" in name and int(array) in arrays:
                    continue  # it is a task of an array that waits as one
            elif job.waits:
                continue
            del self.open[name]
            if job is None or not has_started(job) or job.start < guess.made - SLACK:
                self.lost += 1
                continue
            made.append(_scored(name, guess, job.start))
        self.done = [*self.done, *made][-KEPT:]
        return made

    def take(
        self, now: float, names: Sequence[str], partitions: Mapping[str, str], drawn: np.ndarray, bands: np.ndarray
    ) -> list[str]:
        """First predictions of jobs of which there is none; gives their names."""
        new = []
        for name, draws, band in zip(names, drawn, bands, strict=True):
            if name not in self.open:
                self.open[name] = Guess(now, partitions.get(name, ""), draws.astype(np.float32), band)
                new.append(name)
        return new

    def hear(self, now: float, said: Mapping[str, float], medians: Mapping[str, float]) -> None:
        """What Slurm says, where it had not before."""
        for name, seconds in said.items():
            guess = self.open.get(name)
            if guess is not None and guess.said is None and name in medians:
                guess.said_at, guess.said, guess.then = now, seconds, medians[name]


def has_started(job: LiveJob) -> bool:
    """Slurm gives jobs that were cancelled as they waited a start, too: that of their end."""
    return job.start > 0 and not (job.state == "CANCELLED" and job.end <= job.start)


def _scored(name: str, guess: Guess, start: float) -> Score:
    wait = max(start - guess.made, 0.0)
    one = Calibration()
    one.add(guess.drawn, wait)
    bands = tuple(float(one) for one in guess.bands)
    said = (guess.said_at, guess.said, guess.then)
    return Score(name, guess.partition, guess.made, start, bands, one.expected[0], one.shares[0], *said)


class Reliability(NamedTuple):
    """How good predictions of a partition have been."""

    partition: str
    jobs: int
    coverage: dict[float, float]  # by the share that intervals are to cover
    error: float  # s, the median of how far medians were off
    both: int  # jobs of which Slurm had said something
    ours: float  # s, the same of these
    slurm: float


def reliability(done: Sequence[Score]) -> list[Reliability]:
    """By partition, all of them first."""
    if not done:
        return []
    names = sorted({one.partition for one in done})
    groups = [(ALL, list(done))]
    if len(names) > 1:
        groups += [(name, [one for one in done if one.partition == name]) for name in names]
    return [_reliability(name, mine) for name, mine in groups]


def _reliability(name: str, done: Sequence[Score]) -> Reliability:
    waits = np.array([max(one.start - one.made, 0.0) for one in done])
    bands = np.array([one.bands for one in done])
    inside = {
        share: float(((bands[:, low] - SLACK <= waits) & (waits <= bands[:, high] + SLACK)).mean())
        for share, (low, high) in BANDS.items()
    }
    both = [one for one in done if one.said is not None and one.said_at is not None and one.then is not None]
    left = np.array([max(one.start - (one.said_at or 0.0), 0.0) for one in both])
    ours, slurm = (
        float(np.median(np.abs(np.array(said) - left))) if both else float("nan")
        for said in ([one.then for one in both], [one.said for one in both])
    )
    error = float(np.median(np.abs(bands[:, MEDIAN] - waits)))
    return Reliability(name, len(done), inside, error, len(both), ours, slurm)
