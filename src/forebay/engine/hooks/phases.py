"""Between the phases of a leg: what capabilities put there, and where the job goes next.

Most are the capabilities' own kernels, under the names by which a leg's life calls them.
"""

from forebay._numba.jit import kernel
from forebay.engine.checkpoints.kernels import begin_work, ends_slice, gives_up, rest_of_phase, saves_first
from forebay.engine.checkpoints.kernels import break_off as breaks_saving
from forebay.engine.checkpoints.kernels import end_interlude as ends_saving
from forebay.engine.checkpoints.kernels import goes_back as recovers
from forebay.engine.checkpoints.tables import LEAVES, NO_INTERLUDE, WORKS_ON
from forebay.engine.io_scheduling.requests import ask, renew
from forebay.engine.malleable.steps import (
    amounts,
    begin_program,
    go_on,
    halts,
    has_ended,
    is_halted,
    returns,
    runs_beside,
    step_on,
    stops_altogether,
)
from forebay.engine.power.kernels import boots_first, is_up
from forebay.engine.steering.kernels import steer_beside, steer_late, steer_phase

__all__ = [
    "LEAVES",
    "NO_INTERLUDE",
    "amounts",
    "begin_program",
    "begin_work",
    "break_off",
    "end_interlude",
    "ends_slice",
    "gives_up",
    "go_on",
    "goes_back",
    "halts",
    "has_ended",
    "is_halted",
    "on_transfer",
    "on_transfers",
    "rest_of_phase",
    "returns",
    "runs_beside",
    "saves_first",
    "step_on",
    "stops_altogether",
]


@kernel
def on_transfers(state, truth, j, beside, time):
    """A phase of job `j` has begun to move data."""
    if ask(state, truth, j, beside, time):
        return
    if beside:
        steer_beside(state, truth, j, time)
    else:
        steer_phase(state, truth, j, time)


@kernel
def on_transfer(state, truth, f):
    """A transfer moves its bytes from now on: its delay is over."""
    if not renew(truth, truth.network.transfers[f]["job"]):
        steer_late(state, truth, f)


@kernel
def goes_back(state, truth, j, time):
    """Job `j` starts; whether anything comes before its work: its nodes boot, or it reads its last checkpoint."""
    if boots_first(state, truth, j, time):
        return True
    return recovers(state, truth, j, time)


@kernel
def end_interlude(state, truth, j, time):
    """What job `j` does may be none of its phases, and is complete: what follows, see `checkpoints.tables`."""
    if is_up(truth, j):
        return WORKS_ON
    return ends_saving(state, truth, j, time)


@kernel
def break_off(state, truth, j, time, moved):
    """Job `j` stops, having moved so much; whether that was in none of its phases."""
    if is_up(truth, j):
        return True
    return breaks_saving(state, truth, j, time, moved)
