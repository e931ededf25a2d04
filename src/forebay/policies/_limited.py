"""Any policy under limits. `fcfs-bb:depth=3+limits:user_jobs=4,user_nodes=64,run_time=12h` names one."""

from dataclasses import dataclass, fields
from typing import Any

from forebay._plugins import parse_spec
from forebay.core.limits import Limits
from forebay.core.units import parse_seconds
from forebay.errors import InputError, nearest

MARK = "+limits"


@dataclass(frozen=True)
class Limited:
    """A policy as it is; the engine holds back what the limits forbid before and after each of its decisions."""

    policy: Any
    limits: Limits


def apart(policy: Any) -> tuple[Any, Limits | None]:
    """A policy without its limits, and these."""
    return (policy.policy, policy.limits) if isinstance(policy, Limited) else (policy, None)


def parse_limits(text: str) -> Limits:
    """Limits from the part of a spec behind the policy: `limits:user_jobs=4,run_time=12h`."""
    _, given = parse_spec(text)
    known = {field.name: field for field in fields(Limits)}
    values: dict[str, Any] = {}
    for key, word in given.items():
        if key not in known:
            raise InputError(f"{text!r}: there is no limit {key!r}; {nearest(key, known)}")
        if key == "run_time":
            values[key] = parse_seconds(word)
        elif key == "over":
            values[key] = word
        elif word.removeprefix("-").isdecimal():  # below 0, Limits says so
            values[key] = int(word)
        else:
            raise InputError(f"{text!r}: {key}={word!r} is not a whole number")
    if not given:
        raise InputError(f"{text!r}: name a limit, such as limits:user_jobs=4; there are {', '.join(known)}")
    return Limits(**values)
