"""Node stealing around backfilling: see steal. A decision steals, or it backfills; the engine asks again after a theft.

Du, Marchal, Pallez & Robert (2022): when a job fails and too few nodes are free to start it again, a running job is
interrupted. The failed job goes first then, the victim next: see Urgency.
"""

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.availability.profile import earliest, reserve
from forebay.core.codes import Resume, Trigger, Urgency
from forebay.core.tables import flex_row, instant_width, policy_kernel
from forebay.core.verbs import act_interrupt, act_resize
from forebay.policies._families.steal import If, Param, Victim
from forebay.policies._kernels.availability.node_sets import charge, counts_no_atom, free_for, share_free
from forebay.policies._kernels.availability.placement import fits_now, what_is_there
from forebay.policies._kernels.availability.profile import availability, end_if_now
from forebay.policies._kernels.backfill.backfill import decide
from forebay.policies._kernels.malleable.sizing import is_malleable, largest_size

_N_PARAMS = len(Param)


@kernel
def _leaves(state, j):
    """Whether running job `j` has been asked to stop."""
    return len(state.safety) > 0 and state.safety[j]["leaves"] < np.inf


@kernel
def _gives(state, j):
    """Nodes that running job `j` will give back at its next scheduling point."""
    row = flex_row(state, j)
    if row < 0 or state.flexible.jobs[row]["asked"] < 0:
        return 0
    flex = state.flexible.jobs[row]
    return max(state.jobs[j]["nodes"] - state.flexible.sizes[flex["first"] + flex["asked"]]["nodes"], 0)


@kernel
def _coming(state):
    """Nodes of jobs that were asked for them."""
    nodes = 0
    for i in range(state.counts[0]["n_running"]):
        j = state.running[i]["job"]
        nodes += state.jobs[j]["held"] if _leaves(state, j) else _gives(state, j)
    return nodes


@kernel
def _may_be_robbed(state, j):
    """Whether job `j`, which runs, has nodes to give, and no one has asked for them."""
    job = state.jobs[j]
    return job["held"] > 0 and job["leg_start"] < state.clock[0]["now"] and not _leaves(state, j)


@kernel
def _goes_first(state, j, other, victim):
    """Whether job `j` is robbed rather than another one."""
    a, b = state.jobs[j], state.jobs[other]
    if victim != Victim.LATEST and a["nodes"] != b["nodes"]:
        return a["nodes"] < b["nodes"]
    if victim == Victim.SMALLEST_NEWEST and a["leg_start"] != b["leg_start"]:
        return a["leg_start"] > b["leg_start"]
    if a["submit"] != b["submit"]:
        return a["submit"] > b["submit"]
    if a["nodes"] != b["nodes"]:
        return a["nodes"] < b["nodes"]
    return j > other


@kernel
def _helps(state, leg, i):
    """Whether what runs in row `i` has nodes where leg `leg` may run."""
    return len(state.nodes.atoms) == 0 or free_for(state, state.releases[state.running[i]["leg"]], leg) > 0


@kernel
def _victim(state, leg, numbers):
    """The running job to rob for leg `leg`; -1 if there is none."""
    found, victim = -1, int(numbers[Param.VICTIM])
    for i in range(state.counts[0]["n_running"]):
        j = state.running[i]["job"]
        if _may_be_robbed(state, j) and _helps(state, leg, i) and (found < 0 or _goes_first(state, j, found, victim)):
            found = j
    return found


@kernel
def _resume(state, j, numbers):
    """The checkpoint from which job `j` is to go on; one that writes none, from its beginning."""
    writes = len(state.safety) > 0 and state.safety[j]["save"] > 0.0
    return int(numbers[Param.RESUME]) if writes else Resume.LAST.value


@kernel
def _stops(state, j, resume):
    """When job `j` stops if it is robbed now, and the walltime that it then has left."""
    now, end = state.clock[0]["now"], state.jobs[j]["end"]
    if len(state.safety) == 0 or state.safety[j]["save"] == 0.0:
        return now, end - state.jobs[j]["leg_start"]
    safety = state.safety[j]
    if resume == Resume.LAST:
        return now, safety["left"]
    at = now + safety["save"] if resume == Resume.NOW else min(safety["next"], end)
    worked = at if resume == Resume.NEXT else now
    return at, max(end - worked, 0.0) + safety["recovery"]


@allocating_kernel
def _lowers_flow(state, have, failed, victim, resume):
    """Whether the larger flow of both jobs is lower if the victim is robbed, as far as walltimes tell."""
    now, jobs = state.clock[0]["now"], state.jobs
    leg, its = jobs[failed]["leg"], jobs[victim]["leg"]
    seconds = end_if_now(state, failed) - now
    times, ahead, n = availability(state, have, -1, 1, 0, 0)
    at = earliest(times, ahead, n, 0, 1, state.demands[leg], seconds)
    if at < 0:
        return True  # else it has to wait for ever
    without = max(times[at] + seconds - jobs[failed]["submit"], jobs[victim]["end"] - jobs[victim]["submit"])
    stops, left = _stops(state, victim, resume)
    first = 0
    while first + 1 < n and times[first + 1] <= stops:
        first += 1
    freed, end = np.full(1, -state.releases[its, 0]), jobs[victim]["end"]
    if end > stops + instant_width(stops):  # the profile has its nodes back only then
        n = reserve(times, ahead, n, 1, freed, first, end)
    at = earliest(times, ahead, n, first, 1, state.demands[leg], seconds)
    if at < 0:
        return False
    begins = max(times[at], stops)
    n = reserve(times, ahead, n, 1, state.demands[leg], at, begins + seconds)
    at = earliest(times, ahead, n, first, 1, state.demands[its], left)
    if at < 0:
        return False
    robbed = max(times[at], stops) + left - jobs[victim]["submit"]
    return max(begins + seconds - jobs[failed]["submit"], robbed) < without


@allocating_kernel
def _is_worth_it(state, have, failed, victim, numbers):
    """Whether the condition holds under which the victim is robbed."""
    a, b, condition = state.jobs[victim], state.jobs[failed], int(numbers[Param.IF])
    if condition == If.SMALLER:
        return a["nodes"] < b["nodes"]
    if condition == If.LATER:
        return a["submit"] > b["submit"] or (a["submit"] == b["submit"] and victim > failed)
    return _lowers_flow(state, have, failed, victim, _resume(state, victim, numbers))


@kernel
def _shrink(state, missing, numbers):
    """Ask a malleable job for the missing nodes; whether there is one that can give them."""
    found = -1
    for i in range(state.counts[0]["n_running"]):
        j = state.running[i]["job"]
        row = flex_row(state, j)
        if row < 0 or not is_malleable(state, row) or not _may_be_robbed(state, j) or _gives(state, j) > 0:
            continue
        can_give = largest_size(state, row, state.jobs[j]["nodes"] - missing) > 0
        if can_give and (found < 0 or _goes_first(state, j, found, int(numbers[Param.VICTIM]))):
            found = j
    if found < 0:
        return False
    act_resize(state, found, largest_size(state, flex_row(state, found), state.jobs[found]["nodes"] - missing))
    return True


@kernel
def _lacks_only_nodes(state, have, j):
    """Whether all else that job `j` asks for is there."""
    leg = state.jobs[j]["leg"]
    for r in range(1, counts_no_atom(state)):
        if state.demands[leg, r] > have.free[r]:
            return False
    return True


@allocating_kernel
def _steals(state, numbers):
    """Rob a running job for the first of those that have just failed and lack nodes; whether one was interrupted."""
    have, counts, now = what_is_there(state, False), state.counts[0], state.clock[0]["now"]
    coming = _coming(state)
    for q in range(counts["queue_first"], counts["queue_begun"]):
        j = state.queue[q]
        if j < 0 or state.jobs[j]["urgency"] != Urgency.FAILED:
            continue
        leg = state.jobs[j]["leg"]
        if fits_now(state, have, j):
            share_free(state, have.free, leg)
            charge(state, have.free, leg)
            continue
        free = free_for(state, have.free, leg)
        missing = state.demands[leg, 0] - free - coming
        coming -= min(coming, max(state.demands[leg, 0] - free, 0))
        if missing <= 0 or state.jobs[j]["queued_since"] < now - instant_width(now):
            continue
        if not _lacks_only_nodes(state, have, j):
            continue
        if numbers[Param.SHRINKS] > 0 and _shrink(state, missing, numbers):
            continue
        victim = _victim(state, leg, numbers)
        if victim >= 0 and _is_worth_it(state, have, j, victim, numbers):
            act_interrupt(state, victim, _resume(state, victim, numbers))
            return True
    return False


@policy_kernel
def steal(state, params, memory, rng):
    """The decision of one instant."""
    numbers = params[len(params) - _N_PARAMS :]
    if state.clock[0]["triggers"] & Trigger.NODE_DOWN and _steals(state, numbers):
        return
    decide(state, params, memory[0])
