"""The verbs of a compiled policy. Each adds a row to the actions; the engine checks and applies them afterwards."""

from forebay._jit import kernel
from forebay.core.codes import Verb


@kernel
def _act(state, verb, job, time, why):
    clock = state.clock[0]
    n = clock["n_actions"]
    if n < len(state.actions):  # the engine refuses the run when the count passes the table's length
        action = state.actions[n]
        action["verb"] = verb
        action["job"] = job
        action["time"] = time
        action["why"] = why
    clock["n_actions"] = n + 1


@kernel
def act_start(state, job, why):
    """Start the job's waiting leg now."""
    _act(state, Verb.START, job, 0.0, why)


@kernel
def act_wake(state, time):
    """Be called at `time` even if nothing happens then."""
    _act(state, Verb.WAKE, -1, time, 0)


@kernel
def act_reject(state, job):
    """Turn a waiting job away for good."""
    _act(state, Verb.REJECT, job, 0.0, 0)
