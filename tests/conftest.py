"""Hypothesis for every test: the same examples each time, fewer of them where the compiler is off."""

import os

from hypothesis import settings

slow = os.environ.get("NUMBA_DISABLE_JIT") == "1" or os.environ.get("NUMBA_BOUNDSCHECK") == "1"
settings.register_profile("forebay", derandomize=True, deadline=None, database=None, max_examples=10 if slow else 50)
settings.load_profile("forebay")
