"""Moments of a run, as files have them: seconds after the first job, or dates."""

import datetime
import math
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from forebay._support.input_limits import LONGEST, TooLongError, too_long
from forebay.core.units import format_seconds, parse_seconds
from forebay.errors import InputError, brief

_A_MOMENT = 'write seconds after the first job, such as 86400 or "1 d", or a date such as "2025-03-01T08:00"'


def _moment(value: Any) -> float | str | None:
    """Seconds, or a date as ISO 8601 has it: which second that is, a workload tells."""
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        if value is not None and not abs(value) < math.inf:
            raise ValueError(f"{brief(value)} is no moment; {_A_MOMENT}")
        if value is not None and abs(value) > LONGEST:
            raise ValueError(str(too_long(value)))
        return None if value is None else float(value)
    if isinstance(value, datetime.datetime | datetime.date):
        return value.isoformat()
    if not isinstance(value, str):
        raise ValueError(f"{brief(value)} is no moment; {_A_MOMENT}")
    try:
        return parse_seconds(value)
    except TooLongError as error:
        raise ValueError(str(error)) from None
    except InputError:
        pass
    try:
        return datetime.datetime.fromisoformat(value.strip()).isoformat()
    except ValueError:
        raise ValueError(f"{brief(value)} is no moment; {_A_MOMENT}") from None


Moment = Annotated[float | str, BeforeValidator(_moment), Field(examples=["2025-03-01T08:00"])]
MomentOrNone = Annotated[float | str | None, BeforeValidator(_moment), Field(examples=["2025-03-01T08:00"])]


def moment_text(moment: float | str | None) -> str:
    """A moment to read."""
    return format_seconds(moment) if isinstance(moment, float) else str(moment)
