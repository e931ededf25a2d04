"""Nodes that are switched off: since when each is idle, and which jobs wait for theirs to boot.

When a node is off follows from since when it is idle, so that nothing happens in a run when one is switched off.
"""

from typing import NamedTuple

import numpy as np

from forebay._numba.jit import kernel

RULE = np.dtype([("after", "f8"), ("boot", "f8")], align=True)


class Switching(NamedTuple):
    """All of it; empty where nodes stay on."""

    rule: np.ndarray  # RULE, one row
    since: np.ndarray  # float64[node]: idle since then; inf while a job has it
    boots: np.ndarray  # int8[job]: whether it waits for its nodes to boot


def make_switching(n_nodes: int = 0, n_jobs: int = 0) -> Switching:
    """Tables of the right size."""
    n_rules = 1 if n_nodes else 0
    return Switching(np.zeros(n_rules, RULE), np.zeros(n_nodes), np.zeros(n_jobs, np.int8))


@kernel
def note_idle(state, truth, j, amount):
    """Job `j` is about to give so many nodes back, those that it got last, as the log's last row says."""
    if len(truth.power.rule) == 0:
        return
    time, i, left = truth.log[truth.cursor[0]["n_log"] - 1]["time"], state.jobs[j]["piece"], amount
    while left > 0:
        piece = state.nodes.pieces[i]
        some = min(left, piece["high"] - piece["low"] + 1)
        for node in range(piece["high"] - some + 1, piece["high"] + 1):
            truth.power.since[node] = time
        left -= some
        i = piece["next"]
