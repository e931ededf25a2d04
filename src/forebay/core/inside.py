"""The inside of nodes that jobs share: what is free there, what legs ask of it, and who holds what.

A job is so many equal *parts*, each with cores, memory, GPUs and local storage of one node. All of it is empty where a
job has its nodes to itself.
"""

from typing import NamedTuple

import numpy as np

CORES, MEMORY, GPUS, LOCAL = range(4)
DIMENSIONS = 4
"""What a node has, in the order of the tables' columns."""

PLACEMENTS = ("best-fit", "lowest", "worst-fit")
"""Orders in which nodes are looked at, by code."""

ASK = np.dtype(
    [
        ("parts", "i8"),  # 0 = the leg takes nothing inside nodes
        ("cores", "i8"),  # of each part
        ("memory", "i8"),
        ("gpus", "i8"),
        ("local", "i8"),  # bytes of the node's own storage
        ("allowed", "i8"),  # the atoms on which they may lie now, as bits
        ("spread", "i1"),  # whether each has a node of its own
        ("exclusive", "i1"),  # whether these nodes are the job's alone: it then has all that is in them
    ],
    align=True,
)
"""What a leg asks of nodes that are shared."""
SHARE = np.dtype(
    [("node", "i8"), ("cores", "i8"), ("memory", "i8"), ("gpus", "i8"), ("local", "i8"), ("next", "i8")], align=True
)
"""What a job has of a node; `next` chains the shares of one job."""


class Inside(NamedTuple):
    """Nodes that are shared. Core k of node n has the id first[n] + k, as all intervals count it."""

    room: np.ndarray  # int64[node, dimension]: what is free; then bounds of blocks, see algorithms.nodes.shared_nodes
    full: np.ndarray  # int64[node, dimension]: what there is
    first: np.ndarray  # int64[node + 1]: ids of cores
    atoms: np.ndarray  # int64[atom + 1]: the first node of each, and behind the last one
    counted: np.ndarray  # int64[node, dimension]: the resource that counts it; -1 = none does
    asks: np.ndarray  # ASK[leg]
    head: np.ndarray  # int64[job]: first row of `shares` that it has; -1 = none
    shares: np.ndarray  # SHARE, chained; unused rows are a chain of their own
    blank: np.ndarray  # int64[1]: where that begins


def empty_inside(n_nodes: int, n_rows: int, n_cores: int, n_atoms: int, n_legs: int, n_jobs: int) -> Inside:
    """Tables of the right size, blank. Every share has a core at least."""
    shares = np.zeros(n_cores + 1 if n_nodes else 0, SHARE)
    shares["next"] = np.arange(1, len(shares) + 1)
    return Inside(
        room=np.zeros((n_rows, DIMENSIONS), np.int64),
        full=np.zeros((n_nodes, DIMENSIONS), np.int64),
        first=np.zeros(n_nodes + 1 if n_nodes else 0, np.int64),
        atoms=np.zeros(n_atoms + 1 if n_nodes else 0, np.int64),
        counted=np.full((n_nodes, DIMENSIONS), -1, np.int64),
        asks=np.zeros(n_legs if n_nodes else 0, ASK),
        head=np.full(n_jobs if n_nodes else 0, -1, np.int64),
        shares=shares,
        blank=np.zeros(1, np.int64),
    )
