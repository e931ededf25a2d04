"""Run times as an estimator of `forebay.learn` sees them, kept up to date while a run goes on, for policies that plan.

A waiting job is expected to run for the mean of what is likely; it is asked for at its submission, and again whenever a
job of its user has ended. A running job is expected to end at its walltime or, if ends are predicted, as those do that
ran for so long: one that outlives what was expected of it is expected to run on, for a time that grows with its age.
"""

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np

from forebay.core.codes import JobState
from forebay.learn import Asked, Estimator, Likely, load

if TYPE_CHECKING:
    from forebay.core.tables import State

RECENT = "recent"
"""Not an estimator: the mean of the last run times of a user, as `predicted` has it, compiled."""
_ENDED = (JobState.COMPLETED, JobState.WALLTIME_REACHED)
_SURE = 1e-9  # a share of jobs below which none is left, but for rounding


class Ahead:
    """What is likely of one job, laid out so that its mean beyond an age is a matter of looking it up."""

    def __init__(self, likely: Likely, walltime: float):
        self.likely, self.walltime = likely, walltime
        self._seconds = likely.seconds.tolist()
        self._left = np.cumsum(likely.weights[::-1])[::-1].tolist()
        self._sums = np.cumsum((likely.seconds * likely.weights)[::-1])[::-1].tolist()

    def mean(self, elapsed: float = -1.0) -> float:
        """How long it will take in all, given that it goes on after so many seconds; never beyond its walltime."""
        place = bisect_right(self._seconds, elapsed)
        if place < len(self._seconds) and self._left[place] > _SURE:
            return float(max(min(self._sums[place] / self._left[place], self.walltime), 1.0))
        later = self.likely.beyond(elapsed, self.walltime)
        return min(float(later.seconds @ later.weights), self.walltime)


class Learning:
    """An estimator at work in a run: it is shown what ends, and `seconds` says what is expected of each job."""

    def __init__(self, spec: Any, state: "State", ends: bool = False):
        self._estimator: Estimator = load(spec)
        self._ends = ends
        self.seconds = np.zeros((1, len(state.jobs)))  # 0: nothing is expected, its walltime counts
        self._come, self._followed, self._asked = 0, list[int](), dict[int, Asked]()
        self._ahead, self._same = dict[int, Ahead](), dict[Asked, Ahead]()

    def update(self, state: "State") -> None:
        """Learn from what has ended since the last decision, and expect again what that may have changed."""
        users = self._learn(state)
        self._follow(state)
        if users:
            self._same = {asked: ahead for asked, ahead in self._same.items() if asked.user not in users}
        jobs, now, seconds = state.jobs, float(state.clock[0]["now"]), self.seconds[0]
        for j in self._followed:
            waits = jobs[j]["state"] == JobState.QUEUED
            if j not in self._ahead or (waits and self._asked[j].user in users):
                self._ahead[j] = self._expected(self._asked[j])
                seconds[j] = self._ahead[j].mean()
            if not waits and not self._ends:
                seconds[j] = 0.0
            elif not waits:
                elapsed = now - float(jobs[j]["leg_start"])
                seconds[j] = max(self._ahead[j].mean(elapsed), elapsed)

    def _learn(self, state: "State") -> set[int]:
        """The users of whom something was learned. Followed on are those that wait or run."""
        jobs, users, followed = state.jobs, set[int](), list[int]()
        for j in self._followed:
            now_is = jobs[j]["state"]
            if now_is in (JobState.QUEUED, JobState.RUNNING):
                followed.append(j)
                continue
            if now_is in _ENDED:
                self._estimator.learn(self._asked[j], float(jobs[j]["finish"] - jobs[j]["start"]))
                users.add(self._asked[j].user)
            del self._asked[j]
            self._ahead.pop(j, None)
        self._followed = followed
        return users

    def _follow(self, state: "State") -> None:
        """Jobs of one leg that have come; those of several keep their walltimes."""
        jobs = state.jobs
        while self._come < len(jobs) and jobs[self._come]["state"] != JobState.UNSUBMITTED:
            job = jobs[self._come]
            if job["leg"] == job["last_leg"]:
                walltime = float(state.legs[job["leg"]]["walltime"])
                self._asked[self._come] = Asked(user=int(job["user"]), nodes=int(job["nodes"]), walltime=walltime)
                self._followed.append(self._come)
            self._come += 1

    def _expected(self, asked: Asked) -> Ahead:
        """Users submit many jobs of one kind: these are looked up once, until one of theirs has ended."""
        if asked not in self._same:
            self._same[asked] = Ahead(self._estimator.likely(asked), asked.walltime)
        return self._same[asked]
