"""A scheduler decides, and transfers run as it says: held, or with a weight."""

from forebay._numba.jit import kernel
from forebay.core.codes import PhaseKind
from forebay.core.limits import IO_SCHEDULERS
from forebay.engine.io_schedulers.calciom import arrange as calciom
from forebay.engine.io_schedulers.fair import arrange as fair
from forebay.engine.io_schedulers.fcfs_io import arrange as fcfs_io
from forebay.engine.io_schedulers.io_exclusive_by_remaining import arrange as io_exclusive_by_remaining
from forebay.engine.io_schedulers.io_priority import arrange as io_priority
from forebay.engine.io_schedulers.set_10 import arrange as set_10
from forebay.engine.io_scheduling.amounts import is_io
from forebay.engine.io_scheduling.requests import drop_ended
from forebay.engine.steering.kernels import steer_beside, steer_phase

_CALCIOM, _FAIR, _FCFS, _REMAINING, _PRIORITY, _SET_10 = (
    IO_SCHEDULERS.index(name)
    for name in ("calciom", "fair", "fcfs-io", "io-exclusive-by-remaining", "io-priority", "set-10")
)
_KINDS = len(PhaseKind)


@kernel
def _decide(state, truth, now):
    scheduler = truth.io.plan[0]["scheduler"]
    if scheduler == _FAIR:
        fair(state, truth, now)
    elif scheduler == _FCFS:
        fcfs_io(state, truth, now)
    elif scheduler == _SET_10:
        set_10(state, truth, now)
    elif scheduler == _REMAINING:
        io_exclusive_by_remaining(state, truth, now)
    elif scheduler == _PRIORITY:
        io_priority(state, truth, now)
    elif scheduler == _CALCIOM:
        calciom(state, truth, now)


@kernel
def _carry_out(state, truth, request, now):
    """Let the transfers of a request run as it was granted."""
    j, grant = request["job"], request["grant"]
    rules = truth.steering.rules
    for kind in range(_KINDS):
        if is_io(kind):
            rules[j, kind]["held"] = grant == 0.0
            rules[j, kind]["weight"] = grant if grant > 0.0 else 1.0
    steer_phase(state, truth, j, now)
    steer_beside(state, truth, j, now)
    request["given"] = grant


@kernel
def arrange_io(state, truth, now):
    """Before links are shared out: if anything has begun or ended to move, let the scheduler decide once more."""
    io = truth.io
    if len(io.jobs) == 0 or truth.network.state[0]["n_routes"] == 0:
        return
    drop_ended(state, truth, now)
    if io.plan[0]["n"] == 0:
        return
    _decide(state, truth, now)
    for i in range(io.plan[0]["n"]):
        if io.requests[i]["given"] != io.requests[i]["grant"]:
            _carry_out(state, truth, io.requests[i], now)
        io.requests[i]["known"] = 1
