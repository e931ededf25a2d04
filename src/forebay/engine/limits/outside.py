"""Jobs that come while a limit on submitted jobs is reached, where their users try again instead of giving up.

They wait outside: policies do not see them. As soon as the limit allows it they are submitted, in the order in which
they first came, then by row. A job that is still over a limit does not hold up those behind it.
"""

from forebay._numba.jit import kernel
from forebay.core.codes import JobState, LogKind, LogReason
from forebay.core.verbs import interrupted
from forebay.engine.arrival import enter, log_submit
from forebay.engine.causes import HeldBy
from forebay.engine.dependencies.kernels import forget_job
from forebay.engine.ending import close
from forebay.engine.limits.kernels import turned_away
from forebay.engine.limits.tables import Place, count_submitted
from forebay.engine.log import write_held, write_log


@kernel
def _full_meter(truth, j):
    """The first meter that keeps job `j` outside; -1 if none does."""
    meters = truth.meters
    if meters.place[j] == Place.EXEMPT:
        return -1
    for k in range(meters.first[j], meters.first[j + 1]):
        meter = meters.table[meters.of[k]]
        if meter["waits"] and meter["submitted"] + 1 > meter["max_submit"]:
            return meters.of[k]
    return -1


@kernel
def may_come_in(truth):
    """Whether there may be room for any that waits outside, since the last look."""
    return len(truth.meters.outside) > 0 and truth.meters.n_outside[1] > 0


@kernel
def _go_outside(truth, j, time, m):
    """Job `j` waits outside from now on, because of meter `m`."""
    meters = truth.meters
    meters.outside[meters.n_outside[0]] = j
    meters.n_outside[0] += 1
    meters.place[j] = Place.OUTSIDE.value
    write_held(truth, time, j, HeldBy.LIMIT, m, 2 * meters.most.shape[1] + 1)


@kernel
def _is_outside(truth, j):
    return len(truth.meters.outside) > 0 and truth.meters.place[j] == Place.OUTSIDE


@kernel
def come_in(state, truth, time):
    """Submit the jobs that wait outside and are below their limits now."""
    meters = truth.meters
    while meters.n_outside[1] > 0 and not interrupted(state):
        meters.n_outside[1], kept = 0, 0
        for i in range(meters.n_outside[0]):
            j = meters.outside[i]
            if not _is_outside(truth, j):
                continue  # it was withdrawn
            if _full_meter(truth, j) >= 0:
                meters.outside[kept] = j
                kept += 1
            else:
                meters.place[j] = Place.USUAL.value
                write_held(truth, time, j, HeldBy.NOTHING, -1, 0)
                truth.cursor[0]["n_open"] -= 1
                enter(state, truth, j, time, False)
        meters.n_outside[0] = kept


@kernel
def stays_outside(state, truth, j, time):
    """Whether job `j`, which is submitted now, waits outside; those that may come in do so before it."""
    if len(truth.meters.outside) == 0 or truth.jobs[j]["state"] == JobState.REJECTED:
        return False
    come_in(state, truth, time)
    m = _full_meter(truth, j)
    if m < 0 or turned_away(state, truth, j):
        return False
    log_submit(state, truth, j, time)
    truth.cursor[0]["n_open"] += 1
    _go_outside(truth, j, time, m)
    return True


@kernel
def withdraws_outside(state, truth, j, time):
    """Whether job `j`, which its user withdraws, waits outside; it goes then."""
    if not _is_outside(truth, j):
        return False
    truth.meters.place[j] = Place.LEFT.value
    forget_job(truth, j)
    state.jobs[j] = truth.jobs[j]
    write_log(state, truth, time, j, LogKind.CANCEL, -1, 0, LogReason.CANCELLED)
    count_submitted(truth, j, 1)  # which it never was, and no longer is
    close(state, truth, j, time, JobState.CANCELLED)
    return True
