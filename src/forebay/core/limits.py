"""What stands around any policy: what a site lets a user ask for and have running at a time, and how it is asked."""

import math
from dataclasses import dataclass, fields
from typing import Annotated, NamedTuple

from forebay._support.input_limits import LONGEST, too_long
from forebay.core.units import parse_seconds
from forebay.errors import InputError, nearest

NO_LIMIT = 2**53  # a count that no machine reaches


@dataclass(frozen=True)
class Limits:
    """Rules of a site (ADMIRE D3.3, section 2.1.2). Jobs whose user is unknown are under the first alone."""

    run_time: Annotated[float, parse_seconds] = math.inf  # s; a job that asks for more is rejected
    user_jobs: int = NO_LIMIT  # of one user, begun and not ended
    user_nodes: int = NO_LIMIT  # of one user's jobs together; a job that asks for more by itself is rejected
    over: str = "hold"  # a user at the limit: "hold" further jobs in the queue, or "reject" what is submitted then

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by the limit's name."""
        if not self.run_time > 0:
            raise InputError(f"run_time is {self.run_time:g} s; give a time above 0, such as 12h")
        if LONGEST < self.run_time < math.inf:
            raise InputError(f"run_time: {too_long(self.run_time)}")
        for name in ("user_jobs", "user_nodes"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; give a count from 1 up")
        if self.over not in ("hold", "reject"):
            raise InputError(f"over is {self.over!r}: {nearest(self.over, ('hold', 'reject'))}")

    def describe(self) -> dict[str, float | int | str]:
        """The limits that are set, as JSON can hold them."""
        unset = Limits()
        return {
            one.name: value for one in fields(self) if (value := getattr(self, one.name)) != getattr(unset, one.name)
        }


PLACES = ("ids", "contiguous", "one-group", "fewest-groups", "spread", "random")
"""Rules by which the engine chooses nodes, see `engine.placing`."""


IO_SCHEDULERS = ("fair", "calciom", "fcfs-io", "io-exclusive-by-remaining", "io-priority", "set-10")
"""Who decides which jobs read and write, see `engine.io_schedulers`; their places there are the codes of kernels."""


class Manner(NamedTuple):
    """How the engine goes about a policy's decisions."""

    every: float = 0.0  # seconds: decisions are made at whole multiples of it alone; 0 = whenever something happens
    place: str = PLACES[0]  # how nodes are chosen
    io: str = ""  # who decides which jobs read and write; none = links are shared fairly
    io_known: str = ""  # how much it knows of their I/O; nothing said = as much as the policy, or all

    def describe(self) -> dict[str, float | str]:
        """What differs from the usual, as JSON can hold it."""
        return {name: value for name, value in self._asdict().items() if value != getattr(USUAL, name)}


USUAL = Manner()
