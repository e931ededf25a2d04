"""Jobs that change their size: nodes are taken when it is decided and used from the job's next point on.

At a point a change takes effect at once, and nodes given up can be used by what the same decision starts. Elsewhere a
job that is to grow holds its new nodes idle until its point, and one that is to shrink keeps the old ones till then.
"""

from forebay._numba.jit import kernel
from forebay.core.codes import AGAIN, Flexibility, JobState, Refusal, Status, Trigger
from forebay.core.tables import flex_row, nodes_kept
from forebay.core.verbs import interrupted
from forebay.engine.allocation.allocate import gains_and_losses, give_some, have_these, take_more
from forebay.engine.checkpoints.kernels import is_guarded, set_walltime
from forebay.engine.legs import begin_phase
from forebay.engine.malleable.steps import at_points, give_up
from forebay.engine.malleable.tables import POLICY, WHEN_IDLE
from forebay.engine.queue import add_running, drop_running
from forebay.engine.refusal import refuse
from forebay.engine.timers import cancel_timer, set_timer


@kernel
def find_size(state, flex, nodes):
    """Which of a job's sizes has so many nodes; -1 if none."""
    low, high = 0, flex["n_sizes"]
    while low < high:
        middle = (low + high) >> 1
        if state.flexible.sizes[flex["first"] + middle]["nodes"] < nodes:
            low = middle + 1
        else:
            high = middle
    there = low < flex["n_sizes"] and state.flexible.sizes[flex["first"] + low]["nodes"] == nodes
    return low if there else -1


@kernel
def takes_size(state, truth, j, nodes):
    """Let job `j`, which waits, ask for so many nodes, 0 = as it does; False if it may not have them."""
    if nodes == 0:
        return True
    row = flex_row(state, j)
    if row < 0:
        return nodes == state.jobs[j]["nodes"]
    flex, leg = state.flexible.jobs[row], state.jobs[j]["leg"]
    at = find_size(state, flex, nodes)
    if at < 0:
        return False
    flex["size"] = at
    walltime = state.flexible.sizes[flex["first"] + at]["walltime"]
    state.jobs[j]["nodes"] = state.demands[leg, 0] = state.releases[leg, 0] = nodes
    state.legs[leg]["walltime"] = truth.scripts[leg]["walltime"] = walltime
    if is_guarded(state, truth, j):
        set_walltime(state, truth, j)
    return True


@kernel
def cannot_resize(state, truth, j, nodes):
    """Why job `j` cannot be given so many nodes, however many are free."""
    if j < 0 or j >= len(state.jobs):
        return Refusal.UNKNOWN_JOB.value
    row = flex_row(state, j)
    if row < 0 or state.jobs[j]["state"] != JobState.RUNNING:
        return Refusal.CANNOT_RESIZE.value
    if truth.rounds.visits[0] != POLICY:
        return Refusal.DOES_NOT_RESIZE.value
    flex = state.flexible.jobs[row]
    asks = flex["kind"] == Flexibility.EVOLVING and flex["wants"] > 0
    if not (asks or flex["kind"] == Flexibility.MALLEABLE or flex["kind"] == Flexibility.ADAPTIVE):
        return Refusal.CANNOT_RESIZE.value
    return Refusal.NONE.value if find_size(state, flex, nodes) >= 0 else Refusal.WRONG_SIZE.value


@kernel
def gives_at_once(state, j):
    """Whether job `j`, whose size is not fixed, stands at a point and gives nodes up at once."""
    return nodes_kept(state, j, 0) == 0


@kernel
def nodes_missing(state, j, nodes):
    """How many nodes job `j` must get now, or with a minus give back now, to have so many from its point on."""
    return nodes_kept(state, j, nodes) - state.jobs[j]["held"]


@kernel
def resize(state, truth, j, nodes, picks, first_pick, n_picks):
    """Give job `j` another size from its point on; that it may be, and that there are nodes, was checked."""
    flex, now, change = state.flexible.jobs[flex_row(state, j)], state.clock[0]["now"], nodes_missing(state, j, nodes)
    if n_picks > 0:
        have_these(state, truth, now, j, picks, first_pick, n_picks)
    elif change > 0:
        take_more(state, truth, now, j, change)
    elif change < 0:
        give_some(state, truth, now, j, -change)
    at = find_size(state, flex, nodes)
    flex["asked"] = at if at != flex["size"] else -1


@kernel
def resize_as_asked(state, truth, action):
    """Give a running job another size, as an action says."""
    j, nodes, n_picks = action["job"], action["nodes"], action["n_picks"]
    refusal = cannot_resize(state, truth, j, nodes)
    if len(state.flexible.row) == 0 or refusal != Refusal.NONE:
        return refuse(truth, refusal, j, nodes)
    missing = nodes_missing(state, j, nodes)
    if n_picks != 0:
        first = action["first_pick"]
        if n_picks < 0 or n_picks > len(state.picks) or first < 0 or first > len(state.picks) - n_picks:
            return refuse(truth, Refusal.WRONG_NODES, j, 0)
        gains, losses = gains_and_losses(state, j, state.picks, first, n_picks)
        # Away from its point a job keeps what it has: which nodes it will lose is not asked of it.
        if gains < 0 or gains - losses != missing or (losses > 0 and not gives_at_once(state, j)):
            return refuse(truth, Refusal.WRONG_NODES, j, 0)
    if missing > state.resources[0]["free"]:
        return refuse(truth, Refusal.OVERSUBSCRIBED, j, 0)
    resize(state, truth, j, nodes, state.picks, action["first_pick"], n_picks)
    # Elsewhere it could give back what it was only promised, and be promised it again, in one instant for ever.
    if missing < 0 and action["way"] == AGAIN and state.flexible.jobs[flex_row(state, j)]["at_point"]:
        state.clock[0]["triggers"] |= Trigger.RELEASED
    return Status.DECIDE.value


@kernel
def _change_walltime(state, truth, j, old, new):
    """Job `j` has used a part of the walltime of its `old` size: as much is left of that of its `new` one."""
    if new == old:
        return
    job, now = state.jobs[j], state.clock[0]["now"]
    leg = job["leg"]
    script, used = truth.scripts[leg], now - job["leg_start"]
    left = 1.0 if old == float("inf") else max((script["walltime"] - used) / old, 0.0)
    script["walltime"] = state.legs[leg]["walltime"] = new if new == float("inf") else used + left * new
    drop_running(state, j)
    job["end"] = job["leg_start"] + script["walltime"]
    add_running(state, j)
    cancel_timer(truth, 2 * j + 1)
    if script["kills"] and job["end"] < float("inf"):
        set_timer(truth, 2 * j + 1, job["end"])


@kernel
def _take_effect(state, truth, j):
    """Job `j` has its new size: off to what it does then, before its next round."""
    job, flex = state.jobs[j], state.flexible.jobs[flex_row(state, j)]
    now, rounds, activity = state.clock[0]["now"], truth.rounds, truth.activities[j]
    size = state.flexible.sizes[flex["first"] + flex["asked"]]
    progress, added = rounds.progress[j], size["nodes"] - job["nodes"]
    progress["before"] = flex["size"]
    progress["gives"] = max(job["held"] - size["nodes"], 0)
    if len(rounds.first_move) == 0 or rounds.first_move[j] < 0:
        give_up(state, truth, j, now)
    before = state.flexible.sizes[flex["first"] + flex["size"]]["walltime"]
    flex["size"] = flex["asked"]
    flex["asked"] = -1
    job["nodes"] = size["nodes"]
    progress["added"] = max(added, 0)
    first, last = rounds.detours[j, 0], rounds.detours[j, 2 if added > 0 else 1]
    if last > first:
        progress["resume"] = activity["phase"]
        progress["last"] = last
        activity["phase"] = first
    _change_walltime(state, truth, j, before, size["walltime"])


@kernel
def _answer_requests(state, truth):
    """Give jobs at points what they ask for where nodes are there, in the order in which they came, without a policy.

    Fewer nodes are always granted.
    """
    flexible, may_grow = state.flexible, truth.rounds.visits[0] != WHEN_IDLE or state.counts[0]["n_queued"] == 0
    for k in range(flexible.n_points[0]):
        j = flexible.points[k]["job"]
        flex, more = flexible.jobs[flex_row(state, j)], 0
        if flex["at_point"] and flex["wants"] > 0:
            more = flex["wants"] - state.jobs[j]["held"]
        if more < 0 or (may_grow and 0 < more <= state.resources[0]["free"]):
            resize(state, truth, j, flex["wants"], truth.picks, 0, 0)
    state.clock[0]["triggers"] &= ~Trigger.REQUEST


@kernel
def _resume_points(state, truth):
    """Let the jobs at points go on: one whose size is as before from when it came there, one that has changed from now.

    One may come to its next point on the way, and then stays there.
    """
    flexible = state.flexible
    n = flexible.n_points[0]
    for k in range(n):
        j, time = flexible.points[k]["job"], flexible.points[k]["time"]
        flex = flexible.jobs[flex_row(state, j)]
        if state.jobs[j]["state"] != JobState.RUNNING or not flex["at_point"]:
            continue
        flex["at_point"] = 0
        flex["wants"] = 0
        if flex["asked"] >= 0:
            time = state.clock[0]["now"]
            _take_effect(state, truth, j)
        begin_phase(state, truth, j, time, False)
    for k in range(n, flexible.n_points[0]):
        flexible.points[k - n]["time"] = flexible.points[k]["time"]
        flexible.points[k - n]["job"] = flexible.points[k]["job"]
    flexible.n_points[0] -= n


@kernel
def _settle_requests(state, truth):
    """Answer all that jobs ask for in this instant, without a policy, and let them go on."""
    while state.flexible.n_points[0] > 0 and not interrupted(state):
        _answer_requests(state, truth)
        _resume_points(state, truth)


@kernel
def leave_points(state, truth):
    """Let jobs at points go on, once what the policy decided is carried out."""
    if not at_points(state):
        return
    if truth.rounds.visits[0] == POLICY:
        _resume_points(state, truth)
    else:
        _settle_requests(state, truth)


@kernel
def answer_points(state, truth):
    """Let jobs go on that came to points in this instant, where no policy visits these."""
    if at_points(state) and truth.rounds.visits[0] != POLICY:
        _settle_requests(state, truth)
