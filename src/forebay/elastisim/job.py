"""What an application's amounts depend on: a job's type, its sizes, its GPUs and its arguments."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Job:
    """A job as its file has it."""

    number: int
    where: str  # the file and the job, for messages
    type: str
    least: int  # nodes
    most: int
    gpus: int  # of each node
    arguments: Mapping[str, str]

    @property
    def rigid(self) -> bool:
        """Whether it has one size."""
        return self.type == "rigid"

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """All that it may have."""
        return np.arange(self.least, self.most + 1, dtype=np.float64)

    def known(self, nodes: NDArray[np.float64]) -> dict[str, Any]:
        """What every formula knows, for these numbers of nodes."""
        return {"num_nodes": nodes, "num_gpus_per_node": float(self.gpus), "num_gpus": nodes * self.gpus}


@dataclass(frozen=True)
class JobFacts:
    """What ElastiSim tells algorithms of a job."""

    type: str
    least: int  # nodes
    most: int
    gpus: int  # of each node
    walltime: int  # seconds; 0 = no limit
    rounds: int  # of all its phases
    arguments: Mapping[str, str]
    attributes: Mapping[str, str]
