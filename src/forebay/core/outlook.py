"""What a policy in plain Python may ask of the future, and the building blocks that answer it."""

from typing import Protocol

import numpy as np

from forebay.core.views.naming import Naming
from forebay.core.views.profile import Profile, Space
from forebay.errors import BadActionError, brief


class Blocks(Protocol):
    """The kernels of the built-in policies, for those in plain Python. The caller that runs a policy hands them in."""

    def backfill(
        self, order: str | np.ndarray, descending: bool, reserve: str, depth: int | None, expected: np.ndarray
    ) -> tuple[np.ndarray, int]:
        """Write the starts of a line of jobs; returns what they leave, and the place of a wrong one (-1: none is).

        A depth of None is conservative: all hold a reservation.
        """

    def earliest(self, job: int) -> float: ...
    def fits_at(self, job: int, time: float) -> bool: ...
    def profile(self, reserve: str) -> Space: ...
    def victims(self, job: int, candidates: np.ndarray) -> np.ndarray: ...
    def plan_with(
        self, params: np.ndarray, memory: tuple[np.ndarray, np.ndarray], rng: np.random.Generator
    ) -> None: ...
    def window_points(
        self, name: str, params: np.ndarray, memory: tuple[np.ndarray, np.ndarray], rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...
    def window_starts(
        self, name: str, jobs: np.ndarray, params: np.ndarray, memory: tuple[np.ndarray, np.ndarray]
    ) -> None: ...


class Outlook(Naming):
    """The part of a View that looks ahead: running jobs, and those that this decision has started, end as expected."""

    _blocks: Blocks | None

    def _kernels(self) -> Blocks:
        if self._blocks is None:
            raise BadActionError(f"{self._when} has no building blocks here; run it by forebay.simulate")
        return self._blocks

    def earliest(self, job: int) -> float:
        """When the waiting job could start if nobody else does; inf if nothing known makes room for it.

        Counts what this decision has started, nodes that are down, and reservations of the site. The job must find what
        it needs for all of its walltime.

        Parameters
        ----------
        job
            Its row, as in `view.queue`.

        Examples
        --------
        >>> class Tells(fb.Policy):
        ...     def decide(self, view, act):
        ...         act.backfill()
        ...         if view.now == 180:
        ...             print([view.earliest(job) for job in view.queue])
        >>> result = fb.simulate("table1", policy=Tells())
        [600.0, 300.0, 300.0]
        """
        return self._kernels().earliest(self._waiting(job, "for the earliest start of"))

    def fits_at(self, job: int, time: float) -> bool:
        """Whether the waiting job, started at `time`, would find all that it needs for all of its walltime.

        Parameters
        ----------
        job
            Its row, as in `view.queue`.
        time
            Seconds, not before now.

        Examples
        --------
        >>> class Tells(fb.Policy):
        ...     def decide(self, view, act):
        ...         act.backfill()
        ...         if view.now == 180:
        ...             print([view.fits_at(job, 300) for job in view.queue])
        >>> result = fb.simulate("table1", policy=Tells())
        [False, True, True]
        """
        try:
            seconds = float(time)
        except (TypeError, ValueError):
            seconds = float("nan")
        if not seconds >= self._state.clock[0]["now"]:
            raise BadActionError(
                f"{self._when} asked whether a job fits at {brief(time)}; give seconds from view.now on"
            )
        return self._kernels().fits_at(self._waiting(job, "whether there is room for"), seconds)

    def profile(self, reserve: str = "all") -> Profile:
        """What will be free when, as walltimes tell, after what this decision has started; reservations go into it.

        Parameters
        ----------
        reserve
            What these hold: "all" resources, or "nodes" alone.

        Examples
        --------
        >>> class Tells(fb.Policy):
        ...     def decide(self, view, act):
        ...         act.backfill()
        ...         if view.now == 0:
        ...             print(view.profile().times, view.profile().free[:, 0])
        >>> result = fb.simulate("table1", policy=Tells())
        [  0. 240. 600.] [2 3 4]
        """
        return Profile(self, self._kernels().profile(self._reserve(reserve)))
