"""Failures: how often nodes fail, how long they are down, and what running jobs do about it."""

import math
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import Annotated, Any

import numpy as np

from forebay._support.text import counted
from forebay.core.units import format_bytes, format_seconds, parse_bytes, parse_seconds
from forebay.errors import InputError, wrong_type

_seconds = Annotated[float, parse_seconds]

LEAST_SHAPE = 0.1  # below, nearly all failures would fall into one instant, years before the next
DRAWN = ("mtbf", "node_mtbf", "shape", "downtime")
"""What says when nodes fail, and for how long, where no trace does."""

_TYPES: dict[type, tuple[type, str]] = {
    bool: (bool, "true or false"),
    int: (Integral, "a whole number"),
    float: (Real, "a number; times are in seconds"),
}
_UNSET = {"checkpoint": 0, "checkpoint_bytes": 0, "recovery": -1, "period": 0, "seed": -1}
"""What stands for none; of times between failures infinity does."""


@dataclass(frozen=True)
class Outages:
    """Nodes that are down at known times, by the time at which they fail."""

    name: str  # of the file
    sha256: str
    node: np.ndarray = field(compare=False)  # int64
    down: np.ndarray = field(compare=False)  # float64: seconds, when it fails
    up: np.ndarray = field(compare=False)  # float64: when it is back; inf = never


@dataclass(frozen=True)
class Failures:
    """Nodes that fail, at random or as a trace says, and the checkpoints that running jobs write against it.

    The time between two failures of the machine is drawn from a Weibull distribution; each strikes one of the nodes
    that are up, all alike. The draws come from a stream of their own, so that every policy meets the same ones.

    Parameters
    ----------
    mtbf
        The mean time between two failures of the whole machine. Without it and without a trace, nothing fails.
    node_mtbf
        That of each node, instead of `mtbf`.
    shape
        Of the Weibull distribution: 1 is the exponential one; below 1, failures come in clusters.
    downtime
        How long a node is down.
    known
        Whether policies know when a node will be back.
    checkpoint
        How long a running job takes to write a checkpoint; 0: jobs write none, and start again from their beginning.
    checkpoint_bytes
        Instead, what each of its nodes writes to the file system, where it shares the bandwidth with others.
    recovery
        How long a job takes to read its last checkpoint back; without it, as long as to write one. Bytes are read.
    period
        Work between two checkpoints; without it, Young's and Daly's sqrt(2 x checkpoint x mtbf of the job's nodes).
    max_attempts
        A job that fails so often without a new checkpoint in between is given up.
    seed
        Of the draws; without it, the seed of the run.
    outages
        A trace, instead of draws.

    Examples
    --------
    >>> print(fb.platforms.Failures(mtbf=3600, checkpoint=300))
    a failure every 1 h, 1 h down, checkpoints of 5 min
    """

    mtbf: _seconds = math.inf
    node_mtbf: _seconds = math.inf
    shape: float = 1.0
    downtime: _seconds = 3600.0
    known: bool = True
    checkpoint: _seconds = 0.0
    checkpoint_bytes: Annotated[int, parse_bytes] = 0
    recovery: _seconds = -1.0
    period: _seconds = 0.0
    max_attempts: int = 100
    seed: int = -1
    outages: Outages | None = None

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by its name."""
        for one in fields(self):
            self._check_type(one.name, one.default)
        self._check_values()
        self._check_sources()
        self._check_checkpoints()

    def _check_type(self, name: str, default: Any) -> None:
        value = getattr(self, name)
        if name == "outages":
            if value is not None and not isinstance(value, Outages):
                raise wrong_type("failures: outages", value, "those of a trace: forebay.simulate(failures=FILE)")
            return
        wanted, words = _TYPES[type(default)]
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            raise wrong_type(f"failures: {name}", value, words)

    def _check_values(self) -> None:
        for name, example in (("mtbf", "1h"), ("node_mtbf", "365d"), ("downtime", "1h")):
            if not getattr(self, name) > 0:
                raise InputError(f"failures: {name} is {getattr(self, name):g}; give a time above 0, such as {example}")
        if not LEAST_SHAPE <= self.shape < math.inf:
            raise InputError(f"failures: shape is {self.shape:g}; give a number from {LEAST_SHAPE:g} up, such as 0.7")
        for name in ("checkpoint", "period"):
            if not 0 <= getattr(self, name) < math.inf:
                raise InputError(f"failures: {name} is {getattr(self, name):g}; give a time from 0 up, such as 300s")
        if self.checkpoint_bytes < 0:
            raise InputError(f"failures: checkpoint_bytes is {self.checkpoint_bytes}; give a size, such as 1GB")
        if self.recovery != -1 and not 0 <= self.recovery < math.inf:
            raise InputError(f"failures: recovery is {self.recovery:g}; give a time from 0 up, or leave it out")
        if self.max_attempts < 1:
            raise InputError(f"failures: max_attempts is {self.max_attempts}; give a count from 1 up")
        if self.seed < -1:
            raise InputError(f"failures: seed is {self.seed}; give a whole number from 0 up, or leave it out")

    def _check_sources(self) -> None:
        """One thing alone says when nodes fail."""
        if math.isfinite(self.mtbf) and math.isfinite(self.node_mtbf):
            raise InputError("failures: mtbf is of the machine, node_mtbf of each node; give one of them, not both")
        if self.outages is None:
            return
        for one in fields(self):
            if one.name in DRAWN and getattr(self, one.name) != one.default:
                raise InputError(
                    f"failures: {one.name} is of failures that are drawn, and {self.outages.name} says when nodes are "
                    "down; give one of them, not both"
                )

    def _check_checkpoints(self) -> None:
        if self.checkpoint > 0 and self.checkpoint_bytes > 0:
            raise InputError("failures: checkpoint is a time, checkpoint_bytes a size; give one of them, not both")
        if self.recovery != _UNSET["recovery"] and self.checkpoint_bytes > 0:
            raise InputError("failures: checkpoint_bytes are read back; leave recovery, a time, out")
        if self.writes and not self.period and not self.draws:
            raise InputError(
                "failures: without an mtbf nothing says how often jobs write checkpoints; give a period, such as "
                "period=4h"
            )
        for name in ("recovery", "period"):
            if getattr(self, name) != _UNSET[name] and not self.writes:
                raise InputError(f"failures: {name} is of checkpoints, and jobs write none; give checkpoint=300s too")

    def __str__(self) -> str:
        return self._told() + (f", {self._checkpoints_told()}" if self.writes else "")

    def _told(self) -> str:
        if self.outages is not None:
            return f"{counted(len(self.outages.node), 'outage')} of {self.outages.name}"
        if not self.draws:
            return "no failures"
        often, whose = (self.mtbf, "") if math.isfinite(self.mtbf) else (self.node_mtbf, " of each node")
        down = f"{format_seconds(self.downtime)} down" if math.isfinite(self.downtime) else "down for good"
        return f"a failure{whose} every {format_seconds(often)}, {down}"

    def _checkpoints_told(self) -> str:
        size = format_seconds(self.checkpoint) if self.checkpoint else f"{format_bytes(self.checkpoint_bytes)} a node"
        return f"checkpoints of {size}" + (f" every {format_seconds(self.period)}" if self.period else "")

    def describe(self) -> dict[str, Any]:
        """Plain values of all that has a meaning here, with a `text` to read; of a trace its name and its digest."""
        described: dict[str, Any] = {}
        for one in fields(self):
            value, idle = getattr(self, one.name), one.name in DRAWN and not self.draws
            if one.name != "outages" and not idle and value not in (_UNSET.get(one.name), math.inf):
                # A number of NumPy's is as good as a plain one, but not to JSON.
                described[one.name] = value.item() if isinstance(value, np.generic) else value
        if self.outages is not None:
            described |= {"trace": self.outages.name, "trace_sha256": self.outages.sha256}
        return {**described, "text": str(self)}

    def machine_mtbf(self, nodes: int) -> float:
        """The mean time between two failures of a machine with so many nodes."""
        return min(self.mtbf, self.node_mtbf / max(nodes, 1))

    @property
    def draws(self) -> bool:
        """Whether nodes fail at random."""
        return math.isfinite(min(self.mtbf, self.node_mtbf))

    @property
    def writes(self) -> bool:
        """Whether jobs write checkpoints."""
        return self.checkpoint > 0 or self.checkpoint_bytes > 0
