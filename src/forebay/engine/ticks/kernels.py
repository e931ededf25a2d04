"""Decisions by the clock: what happens between two ticks is decided on at the second.

A tick before which nothing has happened is left out: there would be nothing new to decide on. Jobs at points go on
meanwhile, at the size that they have.
"""

import numpy as np

from forebay._numba.jit import kernel
from forebay.core.tables import instant_width
from forebay.engine.malleable.resize import leave_points


@kernel
def _tick_from(ticks, now):
    """The first tick from this instant on."""
    return np.ceil((now - instant_width(now)) / ticks[0]) * ticks[0]


@kernel
def waits_for_tick(truth, now):
    """Whether what has happened by now is decided on later."""
    return len(truth.ticks) > 0 and _tick_from(truth.ticks, now) > now


@kernel
def set_tick(state, truth):
    """Wait for the next tick, if anything is to be decided at it."""
    if len(truth.ticks) == 0:
        return
    clock = state.clock[0]
    truth.ticks[1] = np.inf
    if clock["triggers"] != 0 and waits_for_tick(truth, clock["now"]):
        truth.ticks[1] = _tick_from(truth.ticks, clock["now"])
        leave_points(state, truth)


@kernel
def next_tick(truth):
    """The tick that is waited for; inf = none."""
    return truth.ticks[1] if len(truth.ticks) > 0 else np.inf


@kernel
def tick(truth, until, now):
    """Let the tick pass that is waited for, if it comes by `until`; returns the latest time seen, or `now`."""
    return max(now, next_tick(truth)) if next_tick(truth) <= until else now
