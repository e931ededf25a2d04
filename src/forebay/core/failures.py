"""Failures: how often nodes fail, how long they are down, and what running jobs do about it."""

import math
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from forebay.core.units import parse_bytes, parse_seconds
from forebay.errors import InputError

_seconds = Annotated[float, parse_seconds]


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
    """Nodes that fail at random or as a trace says, and checkpoints that running jobs write against it.

    The time between two failures of the machine is drawn from a Weibull distribution; each strikes one of the nodes
    that are up, all alike. The draws come from a stream of their own, so that every policy meets the same ones.

    Parameters
    ----------
    mtbf
        The mean time between two failures of the whole machine.
    node_mtbf
        The same of each node, instead of `mtbf`.
    shape
        Of the Weibull distribution: 1 is the exponential one, below 1 failures come in clusters.
    downtime
        How long a node is down.
    known
        Whether policies know when a node will be back.
    checkpoint
        How long a running job takes to write a checkpoint; 0 means that jobs write none and start again.
    checkpoint_bytes
        Instead: bytes that each of its nodes writes to the file system, where it shares the bandwidth with others.
    recovery
        How long a job takes to read its last checkpoint back; without it, as long as to write it.
    period
        Work between two checkpoints; without it, Young's and Daly's sqrt(2 x checkpoint x mtbf of the job).
    max_attempts
        A job that fails so often without a new checkpoint in between is given up.
    seed
        Of the draws; without it, the seed of the run.
    outages
        A trace, instead of draws.
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
        for name in ("mtbf", "node_mtbf", "downtime", "shape"):
            if not getattr(self, name) > 0:
                raise InputError(f"failures: {name} is {getattr(self, name):g}; give a value above 0, such as 1h")

    def machine_mtbf(self, nodes: int) -> float:
        """The mean time between two failures of a machine with so many nodes."""
        return min(self.mtbf, self.node_mtbf / max(nodes, 1))

    @property
    def writes(self) -> bool:
        """Whether jobs write checkpoints."""
        return self.checkpoint > 0 or self.checkpoint_bytes > 0
