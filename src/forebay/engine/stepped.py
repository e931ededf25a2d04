"""The engine's step for policies in plain Python: a file of its own, compiled only when one is used."""

from numba import types

from forebay._jit import kernel
from forebay.core.tables import STATE
from forebay.engine.loop import advance
from forebay.engine.truth import TRUTH


@kernel(types.int64(STATE, TRUTH))
def step(state, truth):
    """Advance to the next decision."""
    return advance(state, truth)
