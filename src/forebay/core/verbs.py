"""The verbs of a compiled policy. Each adds a row to the actions; the engine checks and applies them afterwards."""

from forebay._numba.jit import kernel
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
        action["n_picks"] = 0
        action["tier"] = 0
        action["large"] = -1
    clock["n_actions"] = n + 1


@kernel
def act_start(state, job, why):
    """Start the job's waiting leg now."""
    _act(state, Verb.START, job, 0.0, why)


@kernel
def act_start_on(state, job, why, first_pick):
    """Start the job's waiting leg now on the nodes and servers in rows first_pick, ... of `picks`, the last written."""
    n = state.clock[0]["n_actions"]
    act_start(state, job, why)
    if n < len(state.actions):
        action = state.actions[n]
        action["first_pick"] = first_pick
        action["n_picks"] = state.clock[0]["n_picks"] - first_pick


@kernel
def act_start_tier(state, job, why, tier):
    """Start the job's waiting leg now, a first one on this tier of storage."""
    n = state.clock[0]["n_actions"]
    act_start(state, job, why)
    if n < len(state.actions):
        state.actions[n]["tier"] = tier


@kernel
def act_start_large(state, job, why, n_large):
    """Start the job's waiting leg now, on so many large nodes and otherwise on small ones."""
    n = state.clock[0]["n_actions"]
    act_start(state, job, why)
    if n < len(state.actions):
        state.actions[n]["large"] = n_large


@kernel
def act_wake(state, time):
    """Be called at `time` even if nothing happens then."""
    _act(state, Verb.WAKE, -1, time, 0)


@kernel
def act_reject(state, job):
    """Turn a waiting job away for good."""
    _act(state, Verb.REJECT, job, 0.0, 0)
