"""Jobs that start on nodes that are off: their nodes boot first, all of them together.

Neither the work of such a job nor its walltime begins before; a policy sees it run, with a later end.
"""

import numpy as np

from forebay._numba.jit import kernel
from forebay.engine.queue import add_running, drop_running
from forebay.engine.timers import cancel_timer, set_timer


@kernel
def _take_over(state, truth, j, time):
    """The nodes of job `j` are idle no more; whether any of them was off."""
    since, after, off = truth.power.since, truth.power.rule[0]["after"], False
    i = state.jobs[j]["piece"]
    while i >= 0:
        piece = state.nodes.pieces[i]
        for node in range(piece["low"], piece["high"] + 1):
            off = off or time - since[node] >= after
            since[node] = np.inf
        i = piece["next"]
    return off


@kernel
def _end_later(state, truth, j, by):
    """The leg of job `j` may run so much longer."""
    job, leg = state.jobs[j], state.jobs[j]["leg"]
    drop_running(state, j)
    job["end"] += by
    add_running(state, j)
    truth.scripts[leg]["walltime"] += by
    state.legs[leg]["walltime"] += by
    if truth.where[2 * j + 1] >= 0:
        cancel_timer(truth, 2 * j + 1)
        set_timer(truth, 2 * j + 1, job["end"])


@kernel
def boots_first(state, truth, j, time):
    """Whether job `j`, which has just got its nodes, has to wait for any of them to boot."""
    if len(truth.power.rule) == 0 or not _take_over(state, truth, j, time):
        return False
    boot = truth.power.rule[0]["boot"]
    truth.power.boots[j] = 1
    _end_later(state, truth, j, boot)
    set_timer(truth, 2 * j, time + boot)
    return True


@kernel
def is_up(truth, j):
    """Whether job `j` has waited for its nodes, up to now: they have booted, or it does not run on."""
    if len(truth.power.rule) == 0 or truth.power.boots[j] == 0:
        return False
    truth.power.boots[j] = 0
    return True
