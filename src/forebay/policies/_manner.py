"""What stands around any policy: `plan-2+every=60s` decides by the clock alone, `fcfs+place=spread` on other nodes;
beside `fcfs-bb+io:set-10` an I/O scheduler orders transfers."""

import inspect
import re
from dataclasses import dataclass
from typing import Any

from forebay._plugins import parse_spec, values
from forebay._support.input_limits import LONGEST, too_long
from forebay.core.codes import KNOWN
from forebay.core.limits import IO_SCHEDULERS, PLACES, USUAL, Manner
from forebay.core.units import parse_seconds
from forebay.errors import InputError, nearest

_MARKS = re.compile(r"\+(every=|place=|io:)([^+]*)")


@dataclass(frozen=True)
class Every:
    """A policy as it is, which decides at whole multiples of a time alone, counted from the run's 0.

    Parameters
    ----------
    policy
        An object, as `load` gives it.
    seconds
        How long it is from one decision to the next.

    Examples
    --------
    >>> from forebay.policies import Every, load
    >>> result = fb.simulate("table1", policy=Every(load("fcfs"), 90))
    >>> sorted(set(result.jobs["starting_time"] % 90))
    [0.0]
    """

    policy: Any
    seconds: float

    def __post_init__(self) -> None:
        """Refuse what is no time between decisions."""
        if not self.seconds > 0:
            raise InputError(f"{self.seconds:g} s is no time between decisions; give a time above 0, such as every=60s")
        if self.seconds > LONGEST:
            raise InputError(f"every: {too_long(self.seconds)}")


@dataclass(frozen=True)
class Placed:
    """A policy as it is; which nodes a job gets follows a rule, on a machine whose network has groups.

    Parameters
    ----------
    policy
        An object, as `load` gives it.
    place
        "ids", "contiguous", "one-group", "fewest-groups", "spread" or "random".

    Examples
    --------
    >>> from forebay.policies import Placed, load
    >>> fb.simulate("default", policy=Placed(load("fcfs-bb"), "spread"))  # doctest: +SKIP
    <Result of Placed(policy=FcfsBb(order='arrival',...: 3,000 jobs on 96 nodes, mean wait 3.2 h>
    """

    policy: Any
    place: str

    def __post_init__(self) -> None:
        """Refuse what is no rule."""
        if self.place not in PLACES:
            raise InputError(f"place is {self.place!r}: {nearest(self.place, PLACES)}")


@dataclass(frozen=True)
class IoScheduled:
    """A policy as it is, which starts jobs; beside it an I/O scheduler decides which of them read and write.

    Parameters
    ----------
    policy
        An object, as `load` gives it.
    io
        "fair", "fcfs-io", "set-10", "io-exclusive-by-remaining", "io-priority" or "calciom".
    known
        What "set-10" knows of jobs' I/O: "exact", "stated" or "learned"; empty = as much as the policy, or all.

    Examples
    --------
    >>> from forebay.policies import IoScheduled, load
    >>> fb.simulate("default", policy=IoScheduled(load("fcfs-bb"), "fcfs-io"))  # doctest: +SKIP
    <Result of IoScheduled(policy=FcfsBb(order='arri...: 3,000 jobs on 96 nodes, mean wait 3.19 h>
    """

    policy: Any
    io: str
    known: str = ""

    def __post_init__(self) -> None:
        """Refuse what is no scheduler, or nothing that can be known."""
        if self.io not in IO_SCHEDULERS:
            raise InputError(f"io is {self.io!r}: {nearest(self.io, IO_SCHEDULERS)}")
        if self.known and self.io != _KNOWS:
            raise InputError(f"io:{self.io} goes by nothing that is known of jobs before; leave known out")
        if self.known and self.known not in KNOWN:
            raise InputError(f"io:{self.io}: known is {self.known!r}: {nearest(self.known, KNOWN)}")


_KNOWS = "set-10"
"""The scheduler that goes by what is known of jobs before they run."""


def _io_scheduled(policy: Any, text: str) -> IoScheduled:
    """A policy with the scheduler of a spec: `set-10:known=learned`."""
    name, given = parse_spec(text)
    parameters = inspect.signature(IoScheduled).parameters
    allowed = {"known": parameters["known"]} if name == _KNOWS else {}
    return IoScheduled(policy, name, **values(f"io:{name}", given, allowed))


_MADE = {
    "every=": lambda policy, text: Every(policy, parse_seconds(text)),
    "place=": lambda policy, text: Placed(policy, text.strip()),
    "io:": _io_scheduled,
}
"""What makes of a policy one with a mark behind it."""


def loaded_with(spec: str, policy: Any) -> Any:
    """A policy with what its spec says behind it."""
    found = _MARKS.findall(spec)
    for mark, text in found:
        if sum(mark == other for other, _ in found) > 1:
            raise InputError(f"policy {spec!r}: {mark[:-1]} is given twice; keep one")
        try:
            policy = _MADE[mark](policy, text)
        except (InputError, ValueError) as error:
            raise InputError(f"policy {spec!r}: {error}") from None
    return policy


def bare(spec: str) -> str:
    """A spec without what it says of how the policy is asked, right or wrong."""
    return _MARKS.sub("", spec)


def marks_of(spec: str, own: str = "") -> str:
    """What a spec says of that, as it stands there, and what `own` says besides."""
    found = dict(_MARKS.findall(own)) | dict(_MARKS.findall(spec))
    return "".join(f"+{mark}{text}" for mark, text in found.items())


def unwrap(policy: Any, manner: Manner = USUAL) -> tuple[Any, Manner]:
    """A policy without what is around it of this kind, and how it is asked."""
    while isinstance(policy, Every | Placed | IoScheduled):
        if isinstance(policy, Every):
            manner = manner._replace(every=policy.seconds)
        elif isinstance(policy, Placed):
            manner = manner._replace(place=policy.place)
        else:
            manner = manner._replace(io=policy.io, io_known=policy.known)
        policy = policy.policy
    return policy, manner
