"""Scheduling as an environment of Gymnasium: a learner picks the next job of the queue, the engine does the rest.

Needs the extra `gym`: pip install "forebay[gym]".
"""

from forebay.errors import InputError

try:
    import gymnasium
except ImportError as error:
    raise InputError('forebay.gym needs gymnasium; install it: pip install "forebay[gym]"') from error

from forebay.gym._env import SchedulingEnv
from forebay.gym._vector import vector

__all__ = ["SchedulingEnv", "vector"]

gymnasium.register(id="forebay/Scheduling-v0", entry_point="forebay.gym:SchedulingEnv")
