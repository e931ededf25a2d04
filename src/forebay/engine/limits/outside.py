"""Jobs that come while a limit on submitted jobs is reached, where their users try again instead of giving up.

They wait outside: policies do not see them. As soon as the limit allows it they are submitted, in the order in which
they first came, then by row. A job that is still over a limit does not hold up those behind it.
"""

from enum import IntEnum

from forebay._numba.jit import kernel
from forebay.engine.limits.tables import causes_of
from forebay.engine.log import write_held


class Place(IntEnum):
    """Where a job is."""

    USUAL = 0
    OUTSIDE = 1
    LEFT = 2  # withdrawn while it was outside
    EXEMPT = 3  # it runs already


@kernel
def full_meter(truth, j):
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
def go_outside(truth, j, time, m):
    """Job `j` waits outside from now on, because of meter `m`."""
    meters = truth.meters
    meters.outside[meters.n_outside[0]] = j
    meters.n_outside[0] += 1
    meters.place[j] = Place.OUTSIDE.value
    meters.cause[j] = (m + 1) * causes_of(meters) - 1
    write_held(truth, time, j, meters.cause[j])


@kernel
def come_in(truth, j, time):
    """Job `j` waits outside no longer."""
    truth.meters.place[j] = Place.USUAL.value
    truth.meters.cause[j] = -1
    write_held(truth, time, j, -1)


@kernel
def is_outside(truth, j):
    """Whether job `j` is."""
    return len(truth.meters.outside) > 0 and truth.meters.place[j] == Place.OUTSIDE
