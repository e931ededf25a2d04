"""The end of a job that was let in: whatever ends it, its end is written down here."""

from numba import types

from forebay._numba.jit import kernel
from forebay.core.codes import JobState, LogKind, Trigger
from forebay.core.tables import STATE
from forebay.engine.hooks.life import on_end
from forebay.engine.log import write_log
from forebay.engine.queue import dequeue
from forebay.engine.truth import TRUTH

_f8, _i8 = types.float64, types.int64


@kernel(types.void(STATE, TRUTH, _i8, _f8, _i8))
def end_job(state, truth, j, time, final):
    """Job `j` is over."""
    state.jobs[j]["state"] = final
    state.ended[state.counts[0]["n_ended"]] = j
    state.counts[0]["n_ended"] += 1
    truth.cursor[0]["n_open"] -= 1
    truth.cursor[0]["n_ended"] += 1
    on_end(state, truth, j, time)


@kernel(types.void(STATE, TRUTH, _i8, _f8, _i8))
def close(state, truth, j, time, final):
    """Job `j` has run, or its user withdraws it: policies decide."""
    if final != JobState.CANCELLED:
        state.jobs[j]["finish"] = time
    state.clock[0]["triggers"] |= Trigger.JOB_ENDED
    end_job(state, truth, j, time, final)


@kernel(types.void(STATE, TRUTH, _i8, _f8, _i8))
def reject(state, truth, j, time, reason):
    """Job `j`, which waits and has not begun, is rejected."""
    dequeue(state, j)
    write_log(state, truth, time, j, LogKind.REJECT, -1, 0, reason)
    end_job(state, truth, j, time, JobState.REJECTED)
