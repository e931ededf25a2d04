"""What the profiles of policies in plain Python are made of: tables that kernels lay reservations into."""

from collections.abc import Callable
from typing import Any

import numpy as np

from forebay.policies._kernels.availability.reserving import LOOKS, RESOURCES, SERVERS, N

Kernels = Callable[[str], Any]
"""The kernel of a name, ready to be called."""


class Amounts:
    """Amounts over time, with room on servers and nodes of each class and partition: jobs have nodes to themselves."""

    def __init__(self, kernels: Kernels, times: np.ndarray, ahead: np.ndarray, facts: np.ndarray):
        self._kernels, self._times, self._ahead, self._facts = kernels, times, ahead, facts
        self._columns = int(facts[RESOURCES] + facts[SERVERS])
        self._kept: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        """Jobs, their spans, and what they take then, as they were laid."""

    def amounts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times, free resources and free room of servers."""
        n, R, ahead = int(self._facts[N]), int(self._facts[RESOURCES]), self._ahead
        if self._facts[LOOKS]:
            ahead = self._kernels("without_windows")(self._times, ahead, self._facts)
        return self._times[:n].copy(), ahead[:n, :R].copy(), ahead[:n, R : self._columns].copy()

    def lay(self, jobs: np.ndarray, spans: np.ndarray, only: bool, keeps: bool) -> int:
        """Find a time for each job in turn; with `keeps` it holds what it takes then."""
        if keeps:
            self._make_room(2 * len(jobs))
        taken = np.zeros((len(jobs), self._columns), np.int64)
        wrong = int(self._kernels("lay")(self._times, self._ahead, self._facts, jobs, spans, taken, only, keeps))
        if keeps and wrong < 0:
            self._kept.append((jobs, spans, taken))
        return wrong

    def give_back(self, job: int) -> None:
        """Add what a job took to the segments that it took it from."""
        jobs, spans, taken = next(one for one in reversed(self._kept) if job in one[0])
        at, times = int(np.flatnonzero(jobs == job)[0]), self._times[: self._facts[N]]
        first, last = np.searchsorted(times, spans[at])
        self._ahead[first:last, : self._columns] += taken[at]

    def start(self, job: int) -> np.ndarray | None:
        """Write the start of a job where it has room, and hold that."""
        self._make_room(1)
        left, fits = self._kernels("beside")(self._times, self._ahead, self._facts, job)
        return left if fits else None

    def copy(self) -> "Amounts":
        """The same tables once more."""
        made = Amounts(self._kernels, self._times.copy(), self._ahead.copy(), self._facts.copy())
        made._kept = self._kept.copy()
        return made

    def _make_room(self, n_more: int) -> None:
        """Have rows for so many more segments."""
        n = int(self._facts[N])
        if n + n_more > len(self._times):
            rows = 2 * (n + n_more)
            times, ahead = np.empty(rows), np.empty((rows, self._columns), np.int64)
            times[:n], ahead[:n] = self._times[:n], self._ahead[:n]
            self._times, self._ahead = times, ahead
