"""How any policy is asked: `plan-2+every=60s` by the clock alone, `fcfs+place=spread` on other nodes."""

import re
from dataclasses import dataclass
from typing import Any

from forebay._support.input_limits import LONGEST, too_long
from forebay.core.limits import PLACES, USUAL, Manner
from forebay.core.units import parse_seconds
from forebay.errors import InputError, nearest

_MARKS = re.compile(r"\+(every|place)=([^+]*)")


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
    <Result of Placed: 3,000 jobs on 96 nodes, mean wait 3.6 h>
    """

    policy: Any
    place: str

    def __post_init__(self) -> None:
        """Refuse what is no rule."""
        if self.place not in PLACES:
            raise InputError(f"place is {self.place!r}: {nearest(self.place, PLACES)}")


def loaded_with(spec: str, policy: Any) -> Any:
    """A policy that is asked as its spec says behind it."""
    found = _MARKS.findall(spec)
    for name, text in found:
        if sum(name == other for other, _ in found) > 1:
            raise InputError(f"policy {spec!r}: {name} is given twice; keep one")
        try:
            policy = Every(policy, parse_seconds(text)) if name == "every" else Placed(policy, text.strip())
        except (InputError, ValueError) as error:
            raise InputError(f"policy {spec!r}: {error}") from None
    return policy


def bare(spec: str) -> str:
    """A spec without what it says of how the policy is asked, right or wrong."""
    return _MARKS.sub("", spec)


def marks_of(spec: str, own: str = "") -> str:
    """What a spec says of that, as it stands there, and what `own` says besides."""
    every = dict(_MARKS.findall(own)) | dict(_MARKS.findall(spec))
    return "".join(f"+{name}={text}" for name, text in every.items())


def unwrap(policy: Any, manner: Manner = USUAL) -> tuple[Any, Manner]:
    """A policy without what is around it of this kind, and how it is asked."""
    while isinstance(policy, Every | Placed):
        if isinstance(policy, Every):
            manner = manner._replace(every=policy.seconds)
        else:
            manner = manner._replace(place=policy.place)
        policy = policy.policy
    return policy, manner
