"""The ends of transfers, as the loop comes to them."""

import numpy as np

from forebay._numba.jit import kernel
from forebay.engine.contention.kernels import finish, settle
from forebay.engine.contention.transfers import moves
from forebay.engine.legs import end_transfer


@kernel
def next_end(truth):
    """When the next transfer ends."""
    if not moves(truth) or truth.network.state[0]["n_timers"] == 0:
        return np.inf
    return truth.network.timers[0]["time"]


@kernel
def share_links(truth, now):
    """Share links out, once an instant, after all that it started and ended."""
    if moves(truth):
        settle(truth.network, now)


@kernel
def end_transfers(state, truth, until):
    """End the transfers that are over by `until`; returns the latest time seen."""
    latest = -np.inf
    if not moves(truth):
        return latest
    for i in range(finish(truth.network, until, truth.ended)):
        latest = max(latest, truth.network.transfers[truth.ended[i]]["end"])
        end_transfer(state, truth, truth.ended[i])
    return latest
