"""How an amount is spread over the nodes of a job, and what messages ask of their ports; for many sizes at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


def ranks(pattern: str, nodes: Values) -> Values:
    """How many nodes take part."""
    if pattern == "root_only":
        return np.ones_like(nodes)
    if pattern == "even_ranks":
        return np.ceil(nodes / 2)
    return np.floor(nodes / 2) if pattern == "odd_ranks" else nodes


def share(pattern: str, amount: Values, nodes: Values) -> Values:
    """What each node that takes part has; 0 where none does."""
    if pattern == "uniform":
        return amount
    some = ranks(pattern, nodes)
    return np.where(some > 0, amount / np.maximum(some, 1), 0.0)


def busiest_port(pattern: str, amount: Values, nodes: Values) -> Values:
    """Bytes through the port that has the most, one way; one node sends nothing."""
    if pattern in ("gather", "scatter"):
        found = amount / nodes * (nodes - 1)
    elif pattern == "master_worker":
        found = 2 * amount  # as much to all as from all
    else:
        found = amount / nodes  # all alike: each to all others, or to its neighbours
    return np.where(nodes > 1, found, 0.0)


def largest_message(pattern: str, amount: Values, nodes: Values) -> Values:
    """The most bytes from one node to another."""
    others = np.maximum(nodes - 1, 1)
    if pattern == "all_to_all":
        found = amount / (nodes * others)
    elif pattern == "master_worker":
        found = 2 * amount / others
    elif pattern == "ring":  # both neighbours are the same node where there are two
        found = amount / np.where(nodes > 2, 2 * nodes, nodes)
    else:
        found = amount / nodes
    return np.where(nodes > 1, found, 0.0)


def largest_exchange(pattern: str, amount: Values, members: int) -> Values:
    """The most bytes between two members, both ways together."""
    if members < 2:
        return np.zeros_like(amount)
    one_way = largest_message(pattern, amount, np.full_like(amount, members))
    both = pattern in ("all_to_all", "ring") or members == 2
    return one_way * (2 if both else 1)


def of_matrix(matrix: NDArray[Any]) -> tuple[float, float]:
    """Bytes through the busiest port, and of the largest message, where each pair has its own number."""
    between = matrix - np.diag(np.diag(matrix))
    if len(between) < 2:
        return 0.0, 0.0
    return float(max(between.sum(axis=0).max(), between.sum(axis=1).max())), float(between.max())
