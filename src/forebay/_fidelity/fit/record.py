"""What the trace tells of jobs that waited: at some moments of each wait, whether the machine had room for the job."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from forebay._fidelity._use import Floats, Steps, Use, at, summed
from forebay.workload.names import Names

SHORT = 60.0
"""Seconds for which a scheduler may leave a job waiting before it looks at it."""
MOMENTS = 32
"""Moments of each wait that are looked at, in the middle of stretches of equal length."""
MOST = 0.9
"""The share of its moments beside room that a guess must explain to explain a job."""


@dataclass(frozen=True)
class Record:
    """Jobs that started, those of them that waited, and the moments of their waits: a row a job."""

    jobs: pl.DataFrame  # with `start` and `amount`, what a job held of the machine
    waiting: pl.DataFrame
    moments: Floats
    room: NDArray[np.bool_]
    use: Use
    names: Names
    per_node: int  # cores of a node, where these are counted

    @property
    def hours(self) -> float:
        """Of all recorded waiting."""
        return float(self.waiting["wait"].sum()) / 3600

    def explained(self, held: NDArray[np.bool_]) -> tuple[float, tuple[int, ...]]:
        """Hours of waiting beside room while a job was `held`; and jobs that were so at nearly all such moments."""
        both = self.room & held
        hours = float((self.waiting["wait"].to_numpy() * both.mean(axis=1)).sum()) / 3600
        mine = self.room.any(axis=1) & (both.sum(axis=1) >= MOST * self.room.sum(axis=1))
        return hours, tuple(self.waiting["id"].filter(pl.Series(mine)).to_list())


def record(jobs: pl.DataFrame, amount: pl.Series, use: Use, names: Names, per_node: int) -> Record:
    """Jobs that are known to have started when they had been submitted."""
    known = jobs.with_columns(amount=amount).filter(pl.col("recorded_start").is_not_nan() & (pl.col("run_time") > 0))
    known = known.with_columns(start="recorded_start", wait=pl.col("recorded_start") - pl.col("submit"))
    waiting = known.filter(pl.col("wait") > SHORT)
    parts = (np.arange(MOMENTS) + 0.5) / MOMENTS
    moments = waiting["submit"].to_numpy()[:, None] + waiting["wait"].to_numpy()[:, None] * parts
    room = at(use.recorded, moments) + waiting["amount"].to_numpy()[:, None] <= use.capacity
    return Record(known, waiting, moments, room, use, names, per_node)


def level(jobs: pl.DataFrame, of: str) -> Steps:
    """How many of these jobs ran at a time, or what they held."""
    begin, run = jobs["start"].to_numpy(), jobs["run_time"].to_numpy()
    amount = np.ones(len(jobs)) if of == "jobs" else jobs["amount"].to_numpy().astype(np.float64)
    return summed(np.concatenate([begin, begin + run]), np.concatenate([amount, -amount]))
