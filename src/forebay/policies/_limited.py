"""Any policy under limits. `fcfs-bb:depth=3+limits:user_jobs=4,user_nodes=64,run_time=12h` names one."""

import inspect
from dataclasses import dataclass
from typing import Any

from forebay import _plugins
from forebay.core.limits import Limits, Manner
from forebay.errors import InputError
from forebay.policies._manner import unwrap

MARK = "+limits"


@dataclass(frozen=True)
class Limited:
    """A policy as it is; the engine holds back what the limits forbid before and after each of its decisions.

    Parameters
    ----------
    policy
        An object, as `load` gives it.
    limits
        What a site lets a user ask for and have running at a time.

    Examples
    --------
    >>> from forebay.policies import Limited, Limits, load
    >>> result = fb.simulate("table1", policy=Limited(load("fcfs"), Limits(run_time=300)))
    >>> fb.summary(result)["n_rejected"]
    1
    """

    policy: Any
    limits: Limits


def apart(policy: Any) -> tuple[Any, Limits | None]:
    """A policy without what is around it, and its limits."""
    plain, limits, _ = _taken_apart(policy)
    return plain, limits


def manner_of(policy: Any) -> Manner:
    """How a policy is asked."""
    return _taken_apart(policy)[2]


def _taken_apart(policy: Any) -> tuple[Any, Limits | None, Manner]:
    plain, manner = unwrap(policy)
    limits = None
    while isinstance(plain, Limited):
        limits = plain.limits
        plain, manner = unwrap(plain.policy, manner)
    return plain, limits, manner


def parse_limits(text: str) -> Limits:
    """Limits from the part of a spec behind the policy: `limits:user_jobs=4,run_time=12h`."""
    _, given = _plugins.parse_spec(text)
    known = inspect.signature(Limits).parameters
    if not given:
        raise InputError(f"{text!r}: name a limit, such as limits:user_jobs=4; there are {', '.join(known)}")
    return Limits(**_plugins.values(f"{text!r}", given, known))
