"""What choosing nodes needs to know."""

from typing import NamedTuple

import numpy as np

DRAWS = 1 << 16  # random numbers, used round and round


class Placing(NamedTuple):
    """All of it; empty where jobs get the lowest nodes."""

    rule: np.ndarray  # int64[1], see algorithms.nodes.choice
    group: np.ndarray  # int64[node]
    draws: np.ndarray  # float64: random numbers below 1
    at: np.ndarray  # int64[2]: the next draw to use; whether a start was put off
    words: np.ndarray  # int64 scratch: the nodes chosen, as bits
    counts: np.ndarray  # int64[group] scratch
    shares: np.ndarray  # int64[group] scratch


def make_placing(rule: int = 0, group: np.ndarray | None = None) -> Placing:
    """Tables for a rule; of the lowest nodes, none at all."""
    if group is None:
        nothing = np.zeros(0, np.int64)
        return Placing(nothing, nothing, np.zeros(0), nothing, nothing, nothing, nothing)
    n_groups = int(group.max()) + 1
    words = np.zeros((len(group) + 31) >> 5, np.int64)
    counts, shares = np.zeros(n_groups, np.int64), np.zeros(n_groups, np.int64)
    return Placing(np.array([rule]), group, np.zeros(DRAWS), np.zeros(2, np.int64), words, counts, shares)
