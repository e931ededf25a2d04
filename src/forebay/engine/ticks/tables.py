"""The clock that a policy is called by."""

import numpy as np


def make_ticks(every: float) -> np.ndarray:
    """The period in seconds, and the tick that is waited for; empty where policies are called as things happen."""
    return np.array([every, np.inf]) if every > 0 else np.zeros(0)
