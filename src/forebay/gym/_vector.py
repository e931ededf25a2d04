"""Many environments at a time, each in a process of its own."""

from functools import partial
from typing import Any

from gymnasium.vector import AsyncVectorEnv

from forebay.gym._env import SchedulingEnv


def vector(n: int, **given: Any) -> AsyncVectorEnv:
    """`n` environments at a time on all cores, for learners that take Gymnasium's vectorised form.

    Parameters
    ----------
    n
        How many.
    given
        As for `SchedulingEnv`, for each of them.

    Returns
    -------
    gymnasium.vector.AsyncVectorEnv
        Processes are spawned: one forked after forebay was used could not run anything.
    """
    return AsyncVectorEnv([partial(SchedulingEnv, **given) for _ in range(n)], context="spawn")
