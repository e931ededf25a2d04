"""Failures of a machine, as users write them: `mtbf=1h,downtime=1h,checkpoint=300s`, a trace, or a table of TOML."""

import inspect
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from forebay import _plugins
from forebay._support.input_limits import LONGEST, too_long
from forebay._support.text import counted
from forebay.core.failures import Failures
from forebay.errors import InputError, wrong_type
from forebay.platforms._declared import outages as _outages

_TRACE = inspect.Parameter("trace", inspect.Parameter.KEYWORD_ONLY, default="")
PARAMETERS: Mapping[str, inspect.Parameter] = {
    "trace": _TRACE,
    **{name: one for name, one in inspect.signature(Failures).parameters.items() if name != "outages"},
}
"""What a spec or a table may set."""

_TIMES = ("mtbf", "node_mtbf", "downtime", "checkpoint", "recovery", "period")
_FORM = "mtbf=1h,downtime=1h or trace.csv,checkpoint=300s,period=4h"


def load(spec: str | os.PathLike[str] | Mapping[str, Any] | Failures) -> Failures:
    """The failures that a spec, a trace or a table tells of; Failures are returned as they are."""
    if isinstance(spec, Failures):
        for name in _TIMES:
            if LONGEST < getattr(spec, name) < math.inf:
                raise InputError(f"failures: {name}: {too_long(getattr(spec, name))}")
        return spec
    if isinstance(spec, str):
        return _made(parse(spec))
    if isinstance(spec, os.PathLike):
        return _made({"trace": os.fspath(spec)})
    if isinstance(spec, Mapping):
        return _made(spec)
    raise wrong_type("failures", spec, 'text such as "mtbf=1h,downtime=1h", a trace, a table or Failures')


def parse(text: str) -> dict[str, str]:
    """The parts of a spec, as text: `trace` and parameters. A trace may come first, without its key."""
    if os.path.isfile(text):
        return {"trace": text}
    first = text.partition(",")[0]
    items = f"trace={text}" if first.strip() and "=" not in first else text
    given = _plugins.assignments(items, text, _FORM)
    if not given:
        raise InputError(f"failures: {text!r} names none; write {_FORM}")
    return given


def _made(given: Mapping[str, Any]) -> Failures:
    # A file may have numbers without quotes: as text they are read by the same rules.
    texts = {key: value if isinstance(value, str) else str(value) for key, value in given.items()}
    values = _plugins.values("failures", texts, PARAMETERS)
    trace = values.pop("trace", None)
    return Failures(**values, outages=None if trace is None else _outages.read(Path(trace)))


def check(failures: Failures, nodes: int) -> None:
    """Refuse a trace of a machine with more nodes than this one."""
    outages = failures.outages
    if outages is None or not (outages.node >= nodes).any():
        return
    place = int(np.argmax(outages.node >= nodes))
    raise InputError(
        f"{outages.name}: node {outages.node[place]}, down at {outages.down[place]:.10g} s, does not exist: the "
        f"machine has {counted(nodes, 'node')}, numbered from 0; correct the trace, or name the machine that it is of"
    )
