"""Where a job goes from a phase: on in its round, round its loop, off on a detour and back, or to a halt at a point."""

from forebay._numba.jit import kernel
from forebay.core.codes import Flexibility, PhaseKind, Trigger
from forebay.core.tables import flex_row
from forebay.engine.allocation.allocate import give_some
from forebay.engine.malleable.tables import ADDED, BESIDE, BY_ROUND, MOVES, NOBODY, POINT, POLICY, WAITS


@kernel
def _size_of(state, j):
    """Which of its sizes job `j` has; one that is rigid has one."""
    row = flex_row(state, j)
    return state.flexible.jobs[row]["size"] if row >= 0 else 0


@kernel
def _redistribution(state, truth, j):
    """Seconds and bytes that the last change of size of job `j` takes, for what it holds before its next round."""
    rounds, progress, flex = truth.rounds, truth.rounds.progress[j], state.flexible.jobs[flex_row(state, j)]
    step = rounds.steps[progress["resume"]]
    held = step["stored"] + (step["rounds"] - progress["left"]) * step["stores"]
    move = rounds.moves[rounds.first_move[j] + progress["before"] * flex["n_sizes"] + flex["size"]]
    return held * move["seconds"], held * move["share"]


@kernel
def amounts(state, truth, j, p):
    """What phase `p` of job `j` takes at its present size: seconds, bytes, communication, streams."""
    phase, rounds = truth.phases[p], truth.rounds
    if len(rounds.steps) == 0 or rounds.steps[p]["scale"] < 0:
        return phase["seconds"], phase["bytes"], phase["communication"], max(state.jobs[j]["nodes"], 1)
    step = rounds.steps[p]
    if step["flags"] & MOVES:
        seconds, moved = _redistribution(state, truth, j)
        return seconds, moved, 0.0, 1
    at = rounds.progress[j]["added"] - 1 if step["flags"] & ADDED else _size_of(state, j)
    scale = rounds.scales[step["scale"] + at]
    return scale["seconds"], scale["bytes"], scale["communication"], scale["streams"]


@kernel
def members(state, truth, j, p):
    """How many nodes do phase `p` of job `j`: all that it has, or only those added last."""
    return truth.rounds.progress[j]["added"] if flags_of(truth, p) & ADDED else state.jobs[j]["nodes"]


@kernel
def flags_of(truth, p):
    """What is said of phase `p` in bits."""
    return truth.rounds.steps[p]["flags"] if len(truth.rounds.steps) > 0 else 0


@kernel
def runs_beside(truth, p):
    """Whether the job goes on to its next phase while phase `p` is under way."""
    return truth.phases[p]["kind"] == PhaseKind.DRAIN or flags_of(truth, p) & BESIDE != 0


@kernel
def begin_program(state, truth, j):
    """Put job `j` before the first phase of its leg."""
    script, activity, rounds = truth.scripts[state.jobs[j]["leg"]], truth.activities[j], truth.rounds
    activity["phase"] = script["first_phase"]
    if len(rounds.steps) > 0:
        progress = rounds.progress[j]
        progress["last"] = script["last_phase"]
        progress["resume"] = -1
        progress["begun"] = 0
        progress["halted"] = 0
        _enter(truth, j)


@kernel
def _enter(truth, j):
    """If a loop begins here: as many rounds as it has."""
    activity, rounds = truth.activities[j], truth.rounds
    progress, p = rounds.progress[j], activity["phase"]
    if p < progress["last"] and rounds.steps[p]["rounds"] > 0:
        progress["left"] = rounds.steps[p]["rounds"]


@kernel
def step_on(state, truth, j):
    """On to the next phase of the round, to the next round, or to what is behind the loop."""
    activity, rounds = truth.activities[j], truth.rounds
    if len(rounds.steps) == 0:
        activity["phase"] += 1
        return
    progress, back = rounds.progress[j], rounds.steps[activity["phase"]]["back"]
    if back >= 0:
        row = flex_row(state, j)
        if row >= 0:
            state.flexible.jobs[row]["done"] += 1
    if back >= 0 and progress["left"] > 1:
        progress["left"] -= 1
        activity["phase"] = back
    else:
        activity["phase"] += 1
        _enter(truth, j)


@kernel
def give_up(state, truth, j, time):
    """Job `j` has moved what it held on nodes that it is to give back."""
    progress = truth.rounds.progress[j]
    if progress["gives"] > 0:
        give_some(state, truth, time, j, progress["gives"])
        progress["gives"] = 0
        state.clock[0]["triggers"] |= Trigger.RELEASED


@kernel
def returns(state, truth, j, time):
    """Bring job `j` back from a detour that it has ended to the round that it was about to begin; whether it has."""
    rounds, activity = truth.rounds, truth.activities[j]
    if len(rounds.steps) == 0 or rounds.progress[j]["resume"] < 0 or activity["phase"] < rounds.progress[j]["last"]:
        return False
    progress = rounds.progress[j]
    activity["phase"] = progress["resume"]
    progress["last"] = truth.scripts[state.jobs[j]["leg"]]["last_phase"]
    progress["resume"] = -1
    give_up(state, truth, j, time)
    return True


@kernel
def has_ended(state, truth, j):
    """Whether no phase is left."""
    last = truth.scripts[state.jobs[j]["leg"]]["last_phase"]
    if len(truth.rounds.steps) > 0:
        last = truth.rounds.progress[j]["last"]
    return truth.activities[j]["phase"] >= last


@kernel
def _request(state, truth, j, flex):
    """The nodes that job `j` asks for before this round; 0 if it does not."""
    rounds = truth.rounds
    step = rounds.steps[truth.activities[j]["phase"]]
    if step["request"] < 0 or flex["kind"] < Flexibility.EVOLVING:
        return 0
    over = step["rounds"] - rounds.progress[j]["left"] if step["flags"] & BY_ROUND else 0
    wants = rounds.requests[step["request"] + over * flex["n_sizes"] + flex["size"]]
    return wants if wants != state.jobs[j]["nodes"] else 0


@kernel
def _stand(state, truth, j, time, flex, wants):
    """Job `j` halts until the policy has decided."""
    flex["at_point"] = 1
    flex["wants"] = wants
    n = state.flexible.n_points[0]
    state.flexible.points[n]["time"] = time
    state.flexible.points[n]["job"] = j
    state.flexible.n_points[0] = n + 1
    state.clock[0]["triggers"] |= Trigger.REQUEST if wants > 0 else Trigger.SCHEDULING_POINT


@kernel
def _may_halt(state, truth, j):
    """Whether the round that job `j` is about to begin is one before which its size may be changed."""
    row, rounds = flex_row(state, j), truth.rounds
    if row < 0 or rounds.visits[0] == NOBODY or rounds.progress[j]["begun"] == 0:
        return False
    step, kind = rounds.steps[truth.activities[j]["phase"]], state.flexible.jobs[row]["kind"]
    if step["request"] >= 0 and kind >= Flexibility.EVOLVING:
        return True
    if rounds.visits[0] != POLICY:
        return False
    return step["flags"] & POINT != 0 and kind in (Flexibility.MALLEABLE, Flexibility.ADAPTIVE)


@kernel
def halts(state, truth, j, time):
    """Whether job `j` stops before the round that it is about to begin: for what runs beside, or at a point."""
    activity, rounds = truth.activities[j], truth.rounds
    if len(rounds.steps) == 0:
        return False
    progress, step = rounds.progress[j], rounds.steps[activity["phase"]]
    if step["rounds"] == 0 or progress["resume"] >= 0:
        return False
    may = _may_halt(state, truth, j)
    if (may or step["flags"] & WAITS) and activity["drains"] > 0:
        progress["halted"] = 1
        return True
    if not may:
        return False
    flex = state.flexible.jobs[flex_row(state, j)]
    wants = _request(state, truth, j, flex)
    if wants == 0 and step["request"] >= 0 and flex["kind"] >= Flexibility.EVOLVING:
        return False  # it has the size that it would ask for
    progress["halted"] = 1
    _stand(state, truth, j, time, flex, wants)
    return True


@kernel
def is_halted(truth, j):
    """Whether no phase of job `j` is under way: it waits before a round."""
    return len(truth.rounds.progress) > 0 and truth.rounds.progress[j]["halted"] != 0


@kernel
def stops_altogether(truth):
    """Whether jobs that are killed stop with all that runs beside: those with applications do."""
    return len(truth.rounds.progress) > 0


@kernel
def restore_size(state, truth, j):
    """Give job `j` back what its application asked for at first."""
    row = flex_row(state, j)
    if row >= 0:
        state.flexible.jobs[row] = truth.rounds.jobs[row]


@kernel
def at_points(state):
    """Whether any job stands at one."""
    return len(state.flexible.points) > 0 and state.flexible.n_points[0] > 0


@kernel
def leave_point(state, truth, j):
    """Job `j` stands nowhere any more."""
    if len(truth.rounds.progress) == 0:
        return
    truth.rounds.progress[j]["halted"] = 0
    row = flex_row(state, j)
    if row >= 0:
        state.flexible.jobs[row]["at_point"] = 0


@kernel
def go_on(truth, j):
    """Job `j` begins a phase, and a round with it if it is the first of a loop."""
    if len(truth.rounds.steps) > 0:
        progress = truth.rounds.progress[j]
        progress["halted"] = 0
        if progress["resume"] < 0 and truth.rounds.steps[truth.activities[j]["phase"]]["rounds"] > 0:
            progress["begun"] = 1
