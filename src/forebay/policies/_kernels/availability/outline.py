"""What nodes have free, as an index over a long queue is asked: see algorithms.nodes.boxes."""

from typing import NamedTuple

import numpy as np

from forebay._numba.jit import allocating_kernel
from forebay.algorithms.nodes import boxes


class Outline(NamedTuple):
    """What nodes have, as an index is asked: empty where there is none."""

    boxes: np.ndarray
    counts: np.ndarray


@allocating_kernel
def no_outline(state, index):
    """Room for what is free now, or of what is spare too."""
    n_atoms, most = len(state.inside.atoms) - 1 if len(index) > 0 else 0, 0
    for node in range(len(state.inside.full) if n_atoms > 0 else 0):
        most = max(most, state.inside.full[node, 0])
    return Outline(np.empty((boxes.MOST * n_atoms, boxes.N_COLUMNS), np.int64), np.empty((n_atoms, most + 1), np.int64))


@allocating_kernel
def outline_of(state, room, outline):
    """Fill it for what nodes have; the boxes."""
    n = boxes.outline(room, len(state.inside.full), state.inside.atoms, outline.boxes)
    boxes.tally(room, state.inside.atoms, outline.counts)
    return outline.boxes[:n]
