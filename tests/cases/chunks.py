"""What of long tests every run does, and what only `make check-full`."""

import numba
import pytest


def chunks(now, in_all):
    """0, 1, 2, ...: those from `now` on are for the full run."""
    return [*range(now), *(pytest.param(chunk, marks=pytest.mark.full) for chunk in range(now, in_all))]


compiles = pytest.mark.small if numba.config.DISABLE_JIT else pytest.mark.full
"""A test with a kernel of its own that takes in much of ours: ten seconds of compiler for a moment's run.

Every run does it with the compiler off; the full one compiled, too."""
