"""What nodes draw: idle, busy and off; how much the machine may draw; and when nodes are switched off.

All in watts. A class of nodes may draw otherwise than the rest: see `forebay.platforms.NodeClass`.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Protocol, TypeVar

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, InstanceOf, ValidationInfo, field_validator

from forebay.core.units import format_seconds
from forebay.errors import InputError, brief
from forebay.platforms._declared.problems import Problems
from forebay.platforms._fields import FROM_FILE, Duration, Model

M = TypeVar("M", bound=Model)


class Kind(Protocol):
    """Nodes that are alike: what a class of a platform says of this."""

    name: str
    nodes: int
    idle: float | None
    busy: float | None


_SIZES = {"W": 1.0, "kW": 1e3, "MW": 1e6}
_MOST = 1e12
"""More than all power stations deliver; so many milliwatts can be counted."""
_EXAMPLE = 'write watts such as "300 W" or "40 kW"'
_QUANTITY = re.compile(r"\s*(-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,2})?)\s*([^\d\s.].*?)?\s*", re.ASCII)


def parse_watts(text: str) -> float:
    """Watts of "300 W", "0.3 kW" or "40 MW"; "mW" reads as milliwatts and is refused."""
    found = _QUANTITY.fullmatch(text)
    if not found:
        raise InputError(f"{brief(text)} is not a number with a unit; {_EXAMPLE}")
    if not found[2]:
        raise InputError(f"{brief(text)} has no unit; {_EXAMPLE}")
    if found[2] not in _SIZES:
        raise InputError(f"{brief(text)}: {brief(found[2])} is not a unit of power (W, kW or MW); {_EXAMPLE}")
    return float(found[1]) * _SIZES[found[2]]


def format_watts(watts: float) -> str:
    """Watts to read: "300 W", "40 kW"."""
    unit = next((unit for unit in ("MW", "kW") if abs(watts) >= _SIZES[unit]), "W")
    return f"{watts / _SIZES[unit]:.6g} {unit}"


def _watts(value: Any, info: ValidationInfo) -> float | None:
    if value is None:
        return None
    if info.context == FROM_FILE and isinstance(value, int | float) and not isinstance(value, bool):
        value = brief(value)
    if isinstance(value, str):
        try:
            value = parse_watts(value)
        except InputError as error:
            raise ValueError(str(error)) from None
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise ValueError(f"{brief(value)} is no power; {_EXAMPLE}")
    if not 0 <= value <= _MOST:
        what = "below 0" if value < 0 else "no power that a machine can draw"
        raise ValueError(f"{brief(value)} W is {what}; {_EXAMPLE}")
    return float(value)


Watts = Annotated[float, BeforeValidator(_watts), Field(examples=["300 W"])]
WattsOrNone = Annotated[float | None, BeforeValidator(_watts), Field(examples=["300 W"])]


def _part(value: Any, info: ValidationInfo, model: type[M], example: str) -> M | None:
    """A part that is a table of its own, or one complaint with all that is wrong with it."""
    if value is None or isinstance(value, model):
        return value
    if not isinstance(value, Mapping):
        raise ValueError(f"must be a table: write {example}")
    problems = Problems("")
    made = problems.check(model, value, context=info.context or "python")
    if made is None:
        raise ValueError("; ".join(problems.lines))
    return made


class Shutdown(Model):
    """Nodes that are switched off when they are idle for long enough.

    Parameters
    ----------
    after
        How long a node is idle before it is switched off.
    boot
        How long it takes to come back.
    off_watts
        What a node draws that is off.

    Examples
    --------
    >>> off = {"after": "10 min", "boot": "2 min", "off_watts": "5 W"}
    >>> fb.Platform(name="mine", nodes=4, power={"idle": 100, "busy": 300, "shutdown": off}).power.shutdown.boot
    120.0
    """

    after: Annotated[Duration, Field(examples=["10 min"])]
    boot: Annotated[Duration, Field(examples=["2 min"])]
    off_watts: Annotated[Watts, Field(examples=["5 W"])]

    def __str__(self) -> str:
        after, boot = format_seconds(self.after or 0.0), format_seconds(self.boot or 0.0)
        return f"off after {after} at {format_watts(self.off_watts)}, back in {boot}"


_AN_OFF = 'shutdown = {after = "10 min", boot = "2 min", off_watts = "5 W"}'


def _shutdown(value: Any, info: ValidationInfo) -> Shutdown | None:
    return _part(value, info, Shutdown, _AN_OFF)


class Power(Model):
    """What the nodes of a machine draw.

    Parameters
    ----------
    idle
        A node that no job has, in watts, or as text: "100 W".
    busy
        A node that a job has, unless the job says what it draws.
    cap
        What all nodes may draw together: no job starts that would lift them above. Without it, any amount.
    shutdown
        When idle nodes are switched off: `Shutdown`, or a table of its values. Without it, never.

    Examples
    --------
    >>> print(fb.Platform(name="mine", nodes=4, power={"idle": "100 W", "busy": "300 W", "cap": "1 kW"}))
    mine (4 nodes of 1 Gflop/s; power: 100 W idle, 300 W busy, cap 1 kW)
    """

    idle: Annotated[Watts, Field(examples=["100 W"])]
    busy: Watts
    cap: Annotated[WattsOrNone, Field(examples=["40 kW"])] = None
    shutdown: Annotated[InstanceOf[Shutdown] | None, BeforeValidator(_shutdown)] = None

    @field_validator("busy")
    @classmethod
    def _more_than_idle(cls, busy: float, info: ValidationInfo) -> float:
        check_pair(info.data.get("idle", 0.0), busy)
        return busy

    @field_validator("shutdown")
    @classmethod
    def _less_than_idle(cls, shutdown: Shutdown | None, info: ValidationInfo) -> Shutdown | None:
        if shutdown is not None and shutdown.off_watts > info.data.get("idle", math.inf):
            raise ValueError(
                f"a node that is off would draw {format_watts(shutdown.off_watts)}, and an idle one "
                f"{format_watts(info.data['idle'])}; write less for off_watts"
            )
        return shutdown

    def __str__(self) -> str:
        parts = [f"{format_watts(self.idle)} idle", f"{format_watts(self.busy)} busy"]
        parts += [] if self.cap is None else [f"cap {format_watts(self.cap)}"]
        return ", ".join(parts + ([] if self.shutdown is None else [str(self.shutdown)]))

    def watts(self, one: Kind | None) -> tuple[float, float]:
        """What a node of a class draws, idle and busy."""
        idle = None if one is None else one.idle
        busy = None if one is None else one.busy
        return self.idle if idle is None else idle, self.busy if busy is None else busy

    def described(self) -> dict[str, Any]:
        """Its values, for descriptions."""
        found: dict[str, Any] = {"idle": self.idle, "busy": self.busy}
        found |= {} if self.cap is None else {"cap": self.cap}
        return found | ({} if self.shutdown is None else {"shutdown": self.shutdown.described()}) | {"text": str(self)}


def check_pair(idle: float | None, busy: float | None) -> None:
    """Refuse a node that draws less while it is busy."""
    if idle is not None and busy is not None and busy < idle:
        raise ValueError(
            f"a busy node would draw {format_watts(busy)}, and an idle one {format_watts(idle)}; write more for busy"
        )


def _power(value: Any, info: ValidationInfo) -> Power | None:
    return _part(value, info, Power, '[power] and below it idle = "100 W"')


def _of_machine(power: Power | None, info: ValidationInfo) -> Power | None:
    """Refuse what its machine cannot be. Whatever is wrong with the rest of that is reported by itself."""
    if not {"nodes", "classes", "sharing"} <= info.data.keys():
        return power
    nodes, classes = info.data["nodes"], info.data["classes"]
    if power is not None:
        if info.data["sharing"]:
            raise ValueError("is known of nodes that jobs have to themselves: leave sharing out, or power")
        _check_watts(power, nodes, classes)
        return power
    for one in classes:
        if one.idle is not None or one.busy is not None:
            raise ValueError(f"class {one.name} says what its nodes draw; write [power] with idle and busy of all")
    return power


Drawing = Annotated[
    InstanceOf[Power] | None, BeforeValidator(_power), AfterValidator(_of_machine), Field(validate_default=True)
]
"""A platform's power: it stands behind all that it is checked against."""


def _check_watts(power: Power, nodes: int, classes: Sequence[Kind]) -> None:
    """Refuse a cap below the idle machine, and classes that contradict."""
    of_nodes = [(one.name, one.nodes, *power.watts(one)) for one in classes] or [("", nodes, power.idle, power.busy)]
    for name, _, idle, busy in of_nodes:
        try:
            check_pair(idle, busy)
        except ValueError as error:
            raise ValueError(f"class {name}: {error}") from None
        if power.shutdown is not None and power.shutdown.off_watts > idle:
            raise ValueError(f"class {name}: a node that is off would draw more than an idle one; write less off_watts")
    total = sum(many * idle for _, many, idle, _ in of_nodes)
    if power.cap is not None and power.cap < total:
        raise ValueError(
            f"cap: {format_watts(power.cap)} is less than the {format_watts(total)} that the machine draws idle; "
            "write more, or less for idle"
        )
