"""The kinds of value a platform is made of, as pydantic fields: each takes text with a unit or a number in SI units.

Numbers are for Python callers. A file must name its units: `capacity = 10` may be a slip for bytes, GB or TB.
"""

import re
import sys
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from forebay._plugins import TRUTH
from forebay._support.input_limits import LONGEST, short_enough, too_long
from forebay.core.failures import Failures
from forebay.core.units import INT64_MAX, parse_bytes, parse_flops, parse_rate, parse_seconds
from forebay.errors import InputError, brief
from forebay.platforms import failures
from forebay.platforms._declared.problems import Problems

FROM_FILE = "from file"
"""Validation context under which a bare number is refused where a unit exists."""

_FLOAT_MAX = sys.float_info.max
_DIGITS = 1000  # of a whole number; what is kept of a longer one is beyond all bounds too

_PARTS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # of a second
_A_LATENCY = 'write a time such as "50 us" or "0.5 ms"'

NAME = r"^[A-Za-z0-9_][A-Za-z0-9_.+-]*$"
"""A name that can stand in a list: no comma, space, & or |, which mean something where jobs ask for it."""

AUTO: Literal["auto"] = "auto"
"""A capacity that the workload decides."""


class Model(BaseModel):
    """Base of every declared part: no unknown keys, and never changed once made."""

    # Checks are built when first used: a start imports bases, and kinds of tiers, that check nothing (15 ms).
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    @model_validator(mode="wrap")
    @classmethod
    def _in_our_words(cls, values: Any, make: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        """One InputError with all that is wrong where Python calls the class.

        What reads files and specs has a context, and tells of a part as one of the whole.
        """
        try:
            return make(values)
        except ValidationError as error:
            if info.context is not None or not isinstance(values, dict):
                raise
            problems = Problems(cls.__name__, equals="=")
            problems.take(error, cls)
            raise problems.error() from None

    told_if_set: ClassVar[tuple[str, ...]] = ()
    """Keys that descriptions leave out where they have no value."""

    def described(self) -> dict[str, Any]:
        """Its values, for descriptions."""
        return {
            name: value
            for name, value in self.model_dump().items()
            if value is not None or name not in self.told_if_set
        }


def _parse(parse: Callable[[str], Any], value: Any, info: ValidationInfo) -> Any:
    """Text through `parse`, and so bare numbers of files, which earns them its complaint of a missing unit."""
    if info.context == FROM_FILE and not isinstance(value, bool) and isinstance(value, int | float):
        value = brief(value)
    if not isinstance(value, str):
        return value
    try:
        return parse(value)
    except InputError as error:
        # pydantic gathers ValueErrors of all fields; anything else would stop at the first.
        raise ValueError(str(error)) from None


def _positive_int(value: Any, hint: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ValueError(f"{brief(value)} is not a whole number; {hint}")
    if value <= 0:
        raise ValueError(f"{brief(value)} is not above 0; {hint}")
    if value > INT64_MAX:
        raise ValueError(f"{brief(value)} is too large to count; {hint}")
    return int(value)


def _positive_float(value: Any, what: str, hint: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise ValueError(f"{brief(value)} is not a {what}; {hint}")
    if value > _FLOAT_MAX or not value > 0:
        raise ValueError(f"zero {what} is refused; {hint}" if value == 0 else f"{brief(value)} is no {what}; {hint}")
    return float(value)


def _whole(text: str) -> int | str:
    """The number that a text of digits is. Python reads thousands of them at most; more are too large anyway."""
    return int(text[:_DIGITS]) if text.isdecimal() else text


def _count(value: Any) -> int:
    return _positive_int(_whole(value) if isinstance(value, str) else value, "write a number such as 100")


def _count_or_zero(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value < 0:
        raise ValueError(f"{brief(value)} is below 0; write a number such as 1")
    return 0 if value in (0, "0") and not isinstance(value, bool) else _count(value)


def _bytes(value: Any, info: ValidationInfo) -> int:
    return _positive_int(_parse(parse_bytes, value, info), 'write a size such as "10 TB", or leave the tier out')


def _memory(value: Any, info: ValidationInfo) -> int | None:
    hint = 'write a size such as "256 GB", or leave it out'
    return None if value is None else _positive_int(_parse(parse_bytes, value, info), hint)


def _bytes_or_zero(value: Any, info: ValidationInfo) -> int:
    parsed = 0 if value == "0" else _parse(parse_bytes, value, info)
    if isinstance(parsed, int) and not isinstance(parsed, bool) and parsed == 0:
        return 0
    return _positive_int(parsed, 'write a size such as "10 TB", or 0 for none')


def _ratio(value: Any) -> float:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise ValueError(f"{value!r} is not a number; write one such as 5") from None
    return _positive_float(value, "ratio", "write a number such as 5")


def _capacity(value: Any, info: ValidationInfo) -> int | str:
    return AUTO if isinstance(value, str) and value.strip() == AUTO else _bytes(value, info)


def _units(value: Any, info: ValidationInfo) -> int:
    if isinstance(value, str):
        value = _whole(value) if value.isdecimal() else _parse(parse_bytes, value, info)
    return _positive_int(value, 'write whole units such as 12, or a size such as "64 GB"')


def _pools(value: Any, info: ValidationInfo) -> tuple[int, ...]:
    if isinstance(value, str):
        value = [part.strip() for part in value.split("/")]
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"{value!r} is not a list of capacities; write 5000/200")
    return tuple(_units(part, info) for part in value)


def _rate(value: Any, info: ValidationInfo) -> float:
    return _positive_float(_parse(parse_rate, value, info), "bandwidth", 'write a rate such as "5 GB/s"')


def _latency(value: Any, info: ValidationInfo) -> float:
    parsed = _parse(parse_latency, value, info)
    if isinstance(parsed, bool) or not isinstance(parsed, int | float | np.integer | np.floating):
        raise ValueError(f"{brief(value)} is not a latency; {_A_LATENCY}")
    if not 0 <= parsed <= 1:
        raise ValueError(f"{brief(value)} is no latency from 0 to 1 s; {_A_LATENCY}")
    return float(parsed)


def parse_latency(text: str) -> float:
    """Seconds of "50 us"."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*(s|ms|us|ns)\s*", text)
    if not found:
        raise InputError(f"{brief(text)} is not a latency; {_A_LATENCY}")
    return float(found[1]) / _PARTS[found[2]]


def format_latency(seconds: float) -> str:
    """A latency to read: "50 us"."""
    unit = next((unit for unit, parts in _PARTS.items() if seconds * parts >= 1), "ns")
    return f"{seconds * _PARTS[unit]:.4g} {unit}"


def _duration(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            value = parse_seconds(value)
        except InputError as error:
            raise ValueError(str(error)) from None
    if value is None:
        return None
    seconds = _positive_float(value, "time", 'write a time such as "4 d" or "1 h 30 min"')
    if seconds > LONGEST:
        raise ValueError(str(too_long(value)))
    return seconds


def _name(word: Any) -> str:
    # Not by `pattern`: what users read of a parameter is no place for one.
    if not isinstance(word, str) or not re.fullmatch(NAME, word):
        raise ValueError(f"{brief(word)} cannot be a name: letters, digits, _ . + and - only")
    return short_enough(word)


def _words(value: Any) -> tuple[str, ...]:
    """Names in a list, or in one text with / or , between them, as the command line has it."""
    words = re.split("[,/]", value) if isinstance(value, str) else value
    if not isinstance(words, list | tuple):
        raise ValueError(f'{brief(value)} is not a list of names; write ["cpu", "gpu"]')
    for word in words:
        _name(word)
    twice = next((word for word in words if words.count(word) > 1), None)
    if twice is not None:
        raise ValueError(f"{brief(twice)} stands there twice; keep one")
    return tuple(words)


def _flag(value: Any) -> bool:
    found = TRUTH.get(value.lower()) if isinstance(value, str) else value
    if not isinstance(found, bool):
        raise ValueError(f"{brief(value)} is not true or false")
    return found


def _flops(value: Any, info: ValidationInfo) -> float:
    return _positive_float(_parse(parse_flops, value, info), "speed", 'write a speed such as "1 Gflop/s"')


def _spec(text: str | None) -> str | None:
    if text is not None and not text.strip():
        raise ValueError('is empty; write a policy such as "fcfs-bb", or leave the key out')
    return text


def _failing(value: Any) -> Failures | None:
    try:
        return None if value is None else failures.load(value)
    except InputError as error:
        # The field's name stands before it already.
        raise ValueError(re.sub("^failures:? ", "", str(error))) from None


Count = Annotated[int, BeforeValidator(_count), Field(examples=[100])]
CountOrZero = Annotated[int, BeforeValidator(_count_or_zero), Field(examples=[1])]
Bytes = Annotated[int, BeforeValidator(_bytes), Field(examples=["10 TB"])]
Capacity = Annotated[int | Literal["auto"], BeforeValidator(_capacity), Field(examples=["10 TB"])]
BytesOrZero = Annotated[int, BeforeValidator(_bytes_or_zero), Field(examples=["10 TB"])]
Memory = Annotated[int | None, BeforeValidator(_memory), Field(examples=["256 GB"])]
Ratio = Annotated[float, BeforeValidator(_ratio), Field(examples=[5.0])]
Units = Annotated[int, BeforeValidator(_units), Field(examples=[12])]
Rate = Annotated[float, BeforeValidator(_rate), Field(examples=["5 GB/s"])]
Latency = Annotated[float, BeforeValidator(_latency), Field(examples=["50 us"])]
Flops = Annotated[float, BeforeValidator(_flops), Field(examples=["1 Gflop/s"])]
Flag = Annotated[bool, BeforeValidator(_flag), Field(examples=[True])]
Duration = Annotated[float | None, BeforeValidator(_duration), Field(examples=["4 d"])]
Words = Annotated[tuple[str, ...], BeforeValidator(_words), Field(examples=[["cpu"]])]
Name = Annotated[str, AfterValidator(_name), Field(examples=["cpu"])]
NameOrNone = Annotated[str, AfterValidator(lambda name: _name(name) if name else name), Field(examples=["v100"])]
Pools = Annotated[tuple[int, ...], BeforeValidator(_pools), Field(examples=["5000/200"])]
PolicySpec = Annotated[str | None, AfterValidator(_spec), Field(examples=["fcfs-bb"])]
Failing = Annotated[InstanceOf[Failures] | None, BeforeValidator(_failing)]
