"""Tables of nodes that fail and of jobs that write checkpoints against it. All empty in runs without either."""

from typing import NamedTuple

import numpy as np

from forebay.engine.checkpoints.tables import SAFE

RULE = np.dtype(
    [
        ("cost", "f8"),  # seconds that a checkpoint takes; 0 where bytes decide
        ("recovery", "f8"),
        ("bytes", "f8"),  # that each node of a job writes instead
        ("rate", "f8", 2),  # bytes/s that these have when alone on the machine, to write and to read
        ("cap", "f8", 2),  # and that each node has at most
        ("delay", "f8", 2),  # seconds before the first byte
        ("period", "f8"),  # work between two checkpoints; 0 = Young's and Daly's
        ("node_mtbf", "f8"),  # mean time between two failures of a node
        ("max_attempts", "i8"),
        ("known", "i1"),  # whether policies know when nodes are back
    ],
    align=True,
)
"""What holds for all jobs."""
FAILURE = np.dtype([("time", "f8"), ("downtime", "f8"), ("u", "f8"), ("node", "i8")], align=True)
"""A node fails: `node`, or with -1 the floor(u x n)-th of the n that are up."""
REPAIR = np.dtype([("time", "f8"), ("node", "i8")], align=True)
BLOCK = 4096  # failures that are drawn at a time


class Resilience(NamedTuple):
    """All of it."""

    rule: np.ndarray  # RULE, one row
    failures: np.ndarray  # FAILURE, by time; behind the last one stands one that never comes
    repairs: np.ndarray  # REPAIR, by time, of the nodes that are down
    down: np.ndarray  # int64: the same nodes, ascending
    safe: np.ndarray  # SAFE[job]


def make_resilience(n_failures: int = 0, n_nodes: int = 0, n_jobs: int = 0) -> Resilience:
    """Tables of the right size: nothing fails, nobody writes."""
    safe = np.zeros(n_jobs, SAFE)
    safe["saved_phase"] = -1
    failures = np.zeros(n_failures, FAILURE)
    failures["time"] = np.inf
    return Resilience(
        rule=np.zeros(1, RULE),
        failures=failures,
        repairs=np.zeros(n_nodes, REPAIR),
        down=np.zeros(n_nodes, np.int64),
        safe=safe,
    )
