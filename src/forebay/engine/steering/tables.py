"""What a policy has decided of the I/O of each job, by kind of phase."""

from typing import NamedTuple

import numpy as np

from forebay.core.codes import PhaseKind

RULE = np.dtype([("weight", "f8"), ("cap", "f8"), ("held", "i1")], align=True)
"""The share of each of its streams, 1 without a decision; bytes/s that all of a phase get at most; whether it stops."""

CENTURY = 100 * 365.25 * 86400.0
"""A cap under which a phase takes longer than this, in seconds, is refused: such a run would never end."""


class Steering(NamedTuple):
    """All of it; empty where no policy steers, or nothing moves."""

    rules: np.ndarray  # RULE[job, PhaseKind]


def make_steering(n_jobs: int = 0) -> Steering:
    """Tables of the right size: nothing is decided."""
    rules = np.zeros((n_jobs, len(PhaseKind)), RULE)
    rules["weight"], rules["cap"] = 1.0, np.inf
    return Steering(rules)
