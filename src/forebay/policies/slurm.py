"""Slurm's scheduler as it is: a main scheduler at events, in order of priority, and sched/backfill at intervals.

SchedMD, Scheduling Configuration Guide and slurm.conf (slurm.schedmd.com/sched_config.html). Pools and burst buffers
count as licences.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from forebay._support.input_limits import LONGEST, too_long
from forebay.core.atoms import set_apart
from forebay.core.kinds import large_of
from forebay.core.units import parse_seconds
from forebay.errors import InputError
from forebay.policies._base import Policy, lay, one_of
from forebay.policies._families.multifactor import Weighted, parse_table
from forebay.policies._families.preempt import Preempting
from forebay.policies._families.slurm_scheduler import Sched
from forebay.policies._orders import ALL

_IN_SECONDS = {"bf_window": 60.0, "bf_window_linear": 1.0, "bf_yield_interval": 1e-6, "bf_yield_sleep": 1e-6}
"""What times are counted in that are bare numbers."""


@dataclass(frozen=True)
class Slurm(Weighted, Preempting, Policy):
    """Parameters of SchedulerParameters have Slurm's names and defaults; 0 means no limit where it does there."""

    compiled: ClassVar[str] = "slurm.scheduler.slurm"

    PriorityType: str = "basic"  # "basic": in order of arrival; "multifactor": by the weights
    default_queue_depth: int = 100  # jobs that the main scheduler tries at an event
    partition_job_depth: int = 0  # of a partition
    sched_interval: Annotated[float, parse_seconds] = 60.0  # s after which the main scheduler tries all jobs
    batch_sched_delay: Annotated[float, parse_seconds] = 3.0  # s between runs of the main scheduler at events
    bf_interval: Annotated[float, parse_seconds] = 30.0  # s between backfill cycles
    bf_window: float = 1440.0  # min into the future within which jobs hold reservations
    bf_resolution: Annotated[float, parse_seconds] = 60.0  # s to which reservations are rounded
    bf_window_linear: float = 0.0  # s by which the precision of expected ends decreases; 0 = from 30 s on it doubles
    bf_max_job_test: int = 500  # jobs that a backfill cycle tests
    bf_max_job_user: int = 0  # of a user
    bf_max_job_part: int = 0  # of a partition
    bf_max_job_start: int = 0  # jobs that a cycle starts
    bf_min_age_reserve: Annotated[float, parse_seconds] = 0.0  # s that a job has waited before it holds a reservation
    bf_licenses: bool = False  # whether reservations hold licences
    bf_continue: bool = False  # whether a cycle goes on after it has let others at the locks
    bf_yield_interval: float = 2e6  # us after which it does
    bf_yield_sleep: float = 5e5  # us for which it does
    bf_max_time: Annotated[float, parse_seconds] = 0.0  # s that a cycle may take; 0 = bf_interval
    reservations: str = "pinned"  # "pinned" fixes a reservation's nodes, as Slurm does; "counted" their number
    look_every: Annotated[float, parse_seconds] = 1.0  # s between two looks for work; 0 = at every event
    test_time: Annotated[float, parse_seconds] = 0.0  # s that it takes to test a job, on the site's controller
    defer: bool = False  # accepted; changes nothing, as jobs are never tried when they are submitted

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        self.check_weights()
        self.check_preemption()
        if self.preempts:  # in a room of its own, which others need not compile
            object.__setattr__(self, "compiled", "slurm.preemption.slurm")
        one_of(self, PriorityType=("basic", "multifactor"), reservations=("counted", "pinned"))
        for name in ("default_queue_depth", "bf_max_job_test"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; give a count from 1 up")
        for name in ("bf_interval", "bf_resolution", "bf_window", "sched_interval", "bf_yield_interval"):
            if not 0 < getattr(self, name) < np.inf:
                raise InputError(f"{name} is {getattr(self, name):g}; give a number above 0")
        for name, unit in _IN_SECONDS.items():
            if LONGEST < unit * getattr(self, name) < np.inf:
                raise InputError(f"{name}: {too_long(getattr(self, name))}")
        for name in (
            "partition_job_depth", "batch_sched_delay", "bf_window_linear", "bf_max_job_user", "bf_max_job_part",
            "bf_max_job_start", "bf_min_age_reserve", "bf_max_time", "bf_yield_sleep", "look_every", "test_time",
        ):  # fmt: skip
            if not 0 <= getattr(self, name) < np.inf:
                raise InputError(f"{name} is {getattr(self, name):g}; give a number from 0 up")

    @property
    def _tests(self) -> int:
        """Jobs that a cycle tests. Something always changes: without bf_continue it ends as it yields.

        With it, time for which it sleeps counts too.
        """
        if self.test_time == 0:
            return min(self.bf_max_job_test, ALL)
        seconds = self.bf_yield_interval / 1e6
        if self.bf_continue:
            turns, rest = divmod(self.bf_max_time or self.bf_interval, seconds + self.bf_yield_sleep / 1e6)
            seconds = turns * seconds + min(rest, seconds)
        return max(1, min(self.bf_max_job_test, int(seconds / self.test_time)))

    def params(self) -> np.ndarray:
        """The row of numbers that the kernel reads on a machine of nodes alone."""
        return self.params_on(("nodes",))

    def params_on(self, resources: tuple[str, ...]) -> np.ndarray:
        """The same where resources behind the nodes are licences, but for those that are parts of nodes."""
        large = large_of(resources)
        last = min(large if large >= 0 else len(resources), set_apart(resources))
        for r, name in enumerate(resources):
            if r > 0 and (name in ("memory", "gpus") or name.startswith("gpus_")):
                last = min(last, r)
        held = self.bf_licenses or last == 1
        row = lay(
            Sched,
            multifactor=self.PriorityType == "multifactor",
            queue_depth=self.default_queue_depth,
            partition_depth=self.partition_job_depth,
            batch_delay=self.batch_sched_delay,
            sched_interval=self.sched_interval,
            bf_interval=self.bf_interval,
            bf_window=60.0 * self.bf_window,
            bf_resolution=self.bf_resolution,
            bf_linear=self.bf_window_linear,
            bf_max_test=self._tests,
            bf_max_user=self.bf_max_job_user,
            bf_max_part=self.bf_max_job_part,
            bf_max_start=self.bf_max_job_start,
            bf_min_age=self.bf_min_age_reserve,
            reserved=ALL if held else 1,
            first_license=1,
            last_license=last,
            pinned=self.reservations == "pinned",
            look_every=self.look_every,
        )
        displaced = self.preemption(parse_table("qos", self.qos, {})) if self.preempts else np.zeros(0)
        return np.concatenate([row, self.weights(), displaced])

    def with_names(self, names: Mapping[str, Mapping[int, str]]) -> Self:
        """The same with the workload's numbers instead of names."""
        found: dict[str, Any] = {**self.in_codes(names)}
        return replace(super().with_names(names), **found)

    def strangers(self, names: Mapping[str, Mapping[int, str]]) -> dict[str, list[str]]:
        """Names that no job has, by column."""
        found = super().strangers(names)
        known = names.get(self.named_column, {}).values()
        found[self.named_column] += [name for name in self.named() if name not in known]
        return found

    def memory(self, n_jobs: int, n_resources: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Usage and priorities, who was counted, and when what is due; who leaves, and for whom."""
        (n, n_integers), (_, n_numbers) = self.remembered(n_jobs, self.preempts)
        return (n, n_integers + self.preempts), (n, n_numbers + self.preempts)
