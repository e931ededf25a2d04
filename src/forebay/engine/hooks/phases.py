"""Between the phases of a leg: what capabilities put there, and where the job goes next.

These are the capabilities' own kernels, under the names by which a leg's life calls them.
"""

from forebay.engine.checkpoints.kernels import (
    begin_work,
    break_off,
    end_interlude,
    ends_slice,
    gives_up,
    goes_back,
    rest_of_phase,
    saves_first,
)
from forebay.engine.checkpoints.tables import LEAVES, NO_INTERLUDE
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
    "rest_of_phase",
    "returns",
    "runs_beside",
    "saves_first",
    "step_on",
    "stops_altogether",
]
