"""The verbs of a compiled policy. Each adds a row to the actions; the engine checks and applies them afterwards."""

from forebay._numba.jit import kernel
from forebay.core.codes import Verb
from forebay.core.stopping import stopped


@kernel
def _act(state, verb, job, time, reason):
    """The next row. When the table is full it is the last, again and again: the engine then refuses the run."""
    counts = state.counts[0]
    action = state.actions[min(counts["n_actions"], len(state.actions) - 1)]
    counts["n_actions"] += 1
    action["verb"] = verb
    action["job"] = job
    action["time"] = time
    action["reason"] = reason
    action["first_pick"] = 0
    action["n_picks"] = 0
    action["way"] = 0
    action["share"] = -1
    action["nodes"] = 0
    return action


@kernel
def act_start(state, job, reason):
    """Start the job's waiting leg now. Returns the action, whose options may be set by name:

    - `first_pick`, `n_picks`: the rows of `picks` with its nodes and servers; see `take_picks_from`;
    - `way`: the way to run, for a job that begins;
    - `share`: the row of `shares` with how many nodes of each atom, where nodes are not all alike;
    - `nodes`: how many nodes, for a job whose size is not fixed.
    """
    return _act(state, Verb.START, job, 0.0, reason)


@kernel
def act_resize(state, job, nodes):
    """Give a running job another size: at once if it stands at a point, else at its next. Nodes it gains are taken now.

    Returns the action; `take_picks_from` lets it name the nodes that are added, and a `way` of `AGAIN` has the policy
    called again in this instant if it gives nodes back now.
    """
    action = _act(state, Verb.RESIZE, job, 0.0, 0)
    action["nodes"] = nodes
    return action


@kernel
def act_interrupt(state, job, resume):
    """Stop a running job, which is queued again and goes on from a checkpoint: see Resume."""
    _act(state, Verb.INTERRUPT, job, 0.0, 0)["way"] = resume


@kernel
def act_kill(state, job):
    """End a job, wherever it is."""
    _act(state, Verb.KILL, job, 0.0, 0)


@kernel
def take_picks_from(state, action, first_pick):
    """Let a start take the nodes and servers in rows first_pick, ... of `picks`, up to the last written."""
    action["first_pick"] = first_pick
    action["n_picks"] = state.counts[0]["n_picks"] - first_pick


@kernel
def act_wake(state, time):
    """Be called at `time` even if nothing happens then."""
    _act(state, Verb.WAKE, -1, time, 0)


@kernel
def act_reject(state, job):
    """Turn a waiting job away for good."""
    _act(state, Verb.REJECT, job, 0.0, 0)


@kernel
def interrupted(state):
    """Whether the run is to end: a kernel that takes long asks many times a second, and returns at once if so."""
    return stopped(state.clock)
