"""What of long tests every run does, and what only `make check-full`."""

import numba
import pytest
from hypothesis import settings


def chunks(now, in_all):
    """0, 1, 2, ...: those from `now` on are for the full run."""
    return [*range(now), *(pytest.param(chunk, marks=pytest.mark.full) for chunk in range(now, in_all))]


def interpreted(every, few):
    """Each of these; with the compiler off, where each takes seconds, a few."""
    why = f"with the compiler off only {' and '.join(map(str, few))}"
    others = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason=why)
    return [one if one in few else pytest.param(one, marks=others) for one in every]


def examples(in_all):
    """How many random ones, where few of them show much: a fifth of those of the full run, or of kernels a tenth with
    the compiler off; no fewer than usual."""
    usual = settings.default.max_examples
    return in_all if usual >= 100 else max(usual, in_all // (10 if numba.config.DISABLE_JIT else 5))


compiles = pytest.mark.small if numba.config.DISABLE_JIT else pytest.mark.full
"""A test with a kernel of its own that takes in much of ours: ten seconds of compiler for a moment's run.

Every run does it with the compiler off; the full one compiled, too."""
uncompiled = pytest.mark.small if numba.config.BOUNDSCHECK else compiles
"""The same of a short copy of a longer test, which every run does compiled; with bounds checks there is no other."""
