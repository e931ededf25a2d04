"""Running jobs kept near the workload's I/O intensity: see io-intensity. ADMIRE's D3.3 (2023), section 4.2.

A job's intensity at a size is the share of its time alone on the machine in which it reads or writes. That of the
system is the mean over allocated nodes, that of the workload the mean over all nodes that running jobs have and
waiting ones prefer. Algorithm 3 as printed never ends if its best candidate does not fit; here it stops there.
"""

from typing import NamedTuple

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.queues.sorting import sort_smallest
from forebay.core.codes import LogReason, Trigger
from forebay.core.tables import flex_row, policy_kernel
from forebay.core.verbs import interrupted
from forebay.policies._families.backfill import Param as Backfilling
from forebay.policies._families.intensity import Param
from forebay.policies._kernels.availability.placement import what_is_there
from forebay.policies._kernels.backfill.backfill import serve, start_now
from forebay.policies._kernels.malleable.sizing import grant_requests, has_room, is_malleable, resize_now, start_sized

_SYSTEM, _ALLOCATED, _WORKLOAD, _ASKED, _JOBS = range(5)  # sums of intensity x nodes, of nodes, and of jobs
_N_BACKFILL = len(Backfilling)


@kernel
def n_sizes(state, row):
    """How many sizes a job may have; `row` is that of its application, -1 if it has none."""
    return state.flexible.jobs[row]["n_sizes"] if row >= 0 else 1


@kernel
def size_nodes(state, j, row, k):
    """The nodes of job `j` at its k-th size."""
    if row < 0:
        return state.demands[state.jobs[j]["leg"], 0]
    return state.flexible.sizes[state.flexible.jobs[row]["first"] + k]["nodes"]


@kernel
def _share(io, seconds):
    return io / seconds if 0.0 < seconds < np.inf else 0.0


@kernel
def intensity(state, j, row, k):
    """The share of its time alone in which job `j` reads or writes at its k-th size, as far as known."""
    if row < 0:
        known = state.known_io
        return _share(known[j]["io"], known[j]["seconds"]) if len(known) > 0 else 0.0
    size = state.flexible.sizes[state.flexible.jobs[row]["first"] + k]
    return _share(size["io"], size["seconds"])


@kernel
def _present(state, row):
    """The number of the size that a job has, or prefers."""
    return state.flexible.jobs[row]["size"] if row >= 0 else 0


@allocating_kernel
def count_up(state):
    """The sums over running and waiting jobs."""
    sums, counts = np.zeros(5), state.counts[0]
    for i in range(counts["n_running"]):
        j = state.running[i]["job"]
        row = flex_row(state, j)
        nodes = float(state.jobs[j]["nodes"])
        sums[_SYSTEM] += intensity(state, j, row, _present(state, row)) * nodes
        sums[_ALLOCATED] += nodes
    sums[_WORKLOAD], sums[_ASKED], sums[_JOBS] = sums[_SYSTEM], sums[_ALLOCATED], counts["n_running"]
    for q in range(counts["queue_first"], counts["queue_last"]):
        j = state.queue[q]
        if j >= 0:
            row = flex_row(state, j)
            nodes = float(size_nodes(state, j, row, _present(state, row)))
            sums[_WORKLOAD] += intensity(state, j, row, _present(state, row)) * nodes
            sums[_ASKED] += nodes
            sums[_JOBS] += 1.0
    return sums


@kernel
def aim(state, sums, params):
    """The intensity of the workload."""
    nodes = state.resources[0]["capacity"] if params[Param.CLUSTER] > 0 else sums[_ASKED]
    return sums[_WORKLOAD] / nodes if nodes > 0 else 0.0


@kernel
def _off(sums, target, load, nodes):
    """How far the system would be from its target with so much more intensity x nodes on so many more nodes."""
    allocated = sums[_ALLOCATED] + nodes
    return abs(target - ((sums[_SYSTEM] + load) / allocated if allocated > 0 else 0.0))


@kernel
def _move(sums, load, nodes):
    """The system has so much more intensity x nodes, on so many more nodes."""
    sums[_SYSTEM] += load
    sums[_ALLOCATED] += nodes


@kernel
def reordering(state, sums, params):
    """How much intensity counts: alpha, or as much of it as running jobs would keep the file system busy.

    A machine full of jobs of the mean size and the workload's intensity reads or writes so many jobs at a time; alone
    each of them could have the whole file system.
    """
    if params[Param.ADAPTIVE] == 0 or sums[_ASKED] == 0:
        return params[Param.ALPHA]
    at_a_time = state.resources[0]["capacity"] * sums[_JOBS] / sums[_ASKED]
    return params[Param.ALPHA] * min(1.0, at_a_time * sums[_WORKLOAD] / sums[_ASKED])


class Line(NamedTuple):
    """The waiting jobs in order of arrival, and all sizes that each may have."""

    n: np.ndarray  # int64[1]: how many wait; -1 = not filled yet
    jobs: np.ndarray  # int64[place]: -1 = it has been started
    first: np.ndarray  # int64[place + 1]: the first of its candidates
    nodes: np.ndarray  # int64[candidate]
    load: np.ndarray  # float64[candidate]: intensity x nodes
    delta: np.ndarray  # float64[candidate]: how far the system would be from its target


@allocating_kernel
def _line_up(state, needed):
    """All waiting jobs with their sizes; an empty line marked as not filled where it is not `needed` yet."""
    counts, n, n_candidates = state.counts[0], 0, 0
    first_place = counts["queue_first"] if needed else counts["queue_last"]
    for q in range(first_place, counts["queue_last"]):
        if state.queue[q] >= 0:
            n += 1
            n_candidates += n_sizes(state, flex_row(state, state.queue[q]))
    line = Line(
        np.full(1, n if needed else -1),
        np.empty(n, np.int64),
        np.zeros(n + 1, np.int64),
        np.empty(n_candidates, np.int64),
        np.empty(n_candidates),
        np.empty(n_candidates),
    )
    at = c = 0
    for q in range(first_place, counts["queue_last"]):
        j = state.queue[q]
        if j >= 0:
            row = flex_row(state, j)
            line.jobs[at] = j
            for k in range(n_sizes(state, row)):
                line.nodes[c] = size_nodes(state, j, row, k)
                line.load[c] = intensity(state, j, row, k) * line.nodes[c]
                c += 1
            at += 1
            line.first[at] = c
    return line


@kernel
def _weigh(line, sums, target):
    """Fill in how far each candidate would bring the system from its target; the least and the most of it."""
    least, most = np.inf, -np.inf
    for at in range(len(line.jobs)):
        if line.jobs[at] >= 0:
            for c in range(line.first[at], line.first[at + 1]):
                line.delta[c] = _off(sums, target, line.load[c], line.nodes[c])
                least, most = min(least, line.delta[c]), max(most, line.delta[c])
    return least, most - least


@kernel
def _priority(alpha, place, last, delta, least, width):
    """The weighted priority of a candidate, eq. 4.9; a single value is normalised to 0."""
    fairness = place / last if last > 0 else 0.0
    return (1.0 - alpha) * fairness + alpha * ((delta - least) / width if width > 0 else 0.0)


@kernel
def _best(state, have, line, sums, aims):
    """The place in line and the candidate with the least weighted priority, eqs. 4.5 to 4.11, and whether it fits.

    Of equal ones the job that came first; of its sizes one that fits, and then the largest. A size beyond the machine
    is none: nothing would start while it was the best. `aims` are the target, alpha, and whether only those count that
    fit.
    """
    target, alpha, only_fitting = aims
    least, width = _weigh(line, sums, target)
    last, place = line.n[0] - 1, 0
    best, best_at, best_c, best_fits = np.inf, -1, 0, False
    for at in range(len(line.jobs)):
        if line.jobs[at] < 0:
            continue
        if _priority(alpha, place, last, least, least, width) > best:  # nor would anybody behind be better
            break
        place += 1
        for c in range(line.first[at], line.first[at + 1]):
            if line.nodes[c] > state.resources[0]["capacity"]:
                break
            priority = _priority(alpha, place - 1, last, line.delta[c], least, width)
            if priority > best or (priority == best and at != best_at):
                continue
            fits = has_room(state, have, line.jobs[at], line.nodes[c])
            if only_fitting and not fits:
                continue
            if priority < best or fits >= best_fits:
                best, best_at, best_c, best_fits = priority, at, c, fits
    return best_at, best_c, best_fits


@kernel
def _is_first(line, at):
    """Whether nobody waits before this place."""
    for before in line.jobs[:at]:
        if before >= 0:
            return False
    return True


@kernel
def _admit(state, have, line, sums, params):
    """Algorithm 3: start the best candidate again and again, until it does not fit, or none does.

    While nothing runs only those count that fit: what the best one waits for may be held by a job that waits, too.
    """
    counts = state.counts[0]
    while line.n[0] > 0 and (have.free[0] > 0 or len(state.flexible.row) == 0) and not interrupted(state):
        fitting = params[Param.FITTING] > 0 or counts["n_running"] + counts["n_actions"] == 0
        aims = aim(state, sums, params), reordering(state, sums, params), fitting
        at, c, fits = _best(state, have, line, sums, aims)
        if not fits:
            return
        j = line.jobs[at]
        reason = LogReason.IN_ORDER if _is_first(line, at) else LogReason.BACKFILLED
        start_sized(state, have, j, line.nodes[c], reason)
        _change_aim(state, sums, j, flex_row(state, j), c - line.first[at])
        _move(sums, line.load[c], line.nodes[c])
        line.jobs[at] = -1
        line.n[0] -= 1


@kernel
def _change_aim(state, sums, j, row, k):
    """The workload has job `j` at its k-th size instead of the present one; returns what that adds, and the nodes."""
    present = _present(state, row)
    nodes, had = size_nodes(state, j, row, k), size_nodes(state, j, row, present)
    load = intensity(state, j, row, k) * nodes - intensity(state, j, row, present) * had
    sums[_WORKLOAD] += load
    sums[_ASKED] += nodes - had
    return load, nodes - had


@kernel
def _helps(state, have, line, sums, target, load, change):
    """Whether some waiting job would bring the system nearer than now, if one that runs gave back so many nodes."""
    now = _off(sums, target, 0.0, 0)
    for at in range(len(line.jobs)):
        if line.jobs[at] < 0:
            continue
        for c in range(line.first[at], line.first[at + 1]):
            if not has_room(state, have, line.jobs[at], line.nodes[c] + change):
                break
            if _off(sums, target, load + line.load[c], line.nodes[c] + change) < now:
                return True
    return False


@kernel
def _nearest(state, have, sums, target, j, row, may_shrink):
    """The size of job `j` that brings the system nearest to its target, eqs. 4.12 and 4.13; the present one if none."""
    present, old = _present(state, row), state.jobs[j]["nodes"]
    nearest, chosen, had = _off(sums, target, 0.0, 0), present, intensity(state, j, row, present) * old
    for k in range(0 if may_shrink else present + 1, n_sizes(state, row)):
        nodes = size_nodes(state, j, row, k)
        if nodes - old > have.free[0]:
            break
        distance = _off(sums, target, intensity(state, j, row, k) * nodes - had, nodes - old)
        if k != present and distance < nearest:
            nearest, chosen = distance, k
    return chosen


@kernel
def _count_granted(state, sums):
    """Count requests that have just been granted."""
    for a in range(state.counts[0]["n_actions"]):
        j = state.actions[a]["job"]
        row = flex_row(state, j)
        for k in range(n_sizes(state, row)):
            if size_nodes(state, j, row, k) == state.actions[a]["nodes"]:
                _move(sums, *_change_aim(state, sums, j, row, k))


@policy_kernel
def balance(state, params, memory, rng):
    """Algorithm 2: the queue when jobs come or go, then jobs at points, then the queue again if nodes came back.

    A job shrinks only if a waiting one would then bring the system nearer to its target than it is.
    """
    have, flexible, sums = what_is_there(state, False), state.flexible, count_up(state)
    grant_requests(state, have)
    _count_granted(state, sums)
    comes_or_goes = state.clock[0]["triggers"] & ~Trigger.SCHEDULING_POINT != 0
    line, shrunk = _line_up(state, comes_or_goes), False
    if comes_or_goes:
        _admit(state, have, line, sums, params)
    for p in range(flexible.n_points[0]):
        if interrupted(state):
            return
        j = flexible.points[p]["job"]
        row = flex_row(state, j)
        if not flexible.jobs[row]["at_point"] or flexible.jobs[row]["wants"] > 0 or not is_malleable(state, row):
            continue
        target, present = aim(state, sums, params), _present(state, row)
        k = _nearest(state, have, sums, target, j, row, True)
        if k < present:
            if line.n[0] < 0:
                line = _line_up(state, True)
            old, nodes = state.jobs[j]["nodes"], size_nodes(state, j, row, k)
            load = intensity(state, j, row, k) * nodes - intensity(state, j, row, present) * old
            if not _helps(state, have, line, sums, target, load, nodes - old):
                k = _nearest(state, have, sums, target, j, row, False)
        if k != present:
            _move(sums, *_change_aim(state, sums, j, row, k))
            resize_now(state, have, j, size_nodes(state, j, row, k))
            shrunk = shrunk or k < present
    if shrunk:
        _admit(state, have, line, sums, params)


@allocating_kernel
def _preferred_only(state):
    """The waiting jobs, each at the size that it prefers alone."""
    line = _line_up(state, True)
    for at in range(len(line.jobs)):  # in the same room: none of them is behind its place
        c = line.first[at] + _present(state, flex_row(state, line.jobs[at]))
        line.nodes[at], line.load[at] = line.nodes[c], line.load[c]
    return Line(line.n, line.jobs, np.arange(len(line.first)), line.nodes, line.load, line.delta)


@allocating_kernel
def _by_priority(line, sums, target, alpha):
    """The jobs that are left in line, by weighted priority."""
    n, place = line.n[0], 0
    least, width = _weigh(line, sums, target)
    keys, ties, jobs = np.empty(n), np.arange(n), np.empty(n, np.int64)
    for at in range(len(line.jobs)):
        if line.jobs[at] >= 0:
            jobs[place] = line.jobs[at]
            keys[place] = _priority(alpha, place, n - 1, line.delta[line.first[at]], least, width)
            place += 1
    sort_smallest(keys, ties, jobs, n, n)
    return jobs


@policy_kernel
def balanced_backfill(state, params, memory, rng):
    """Start the best candidate again and again, then backfill in the order of priority: see io-bb."""
    line, sums, weights = _preferred_only(state), count_up(state), params[_N_BACKFILL:]
    have = what_is_there(state, params[Backfilling.PINNED] > 0 and params[Backfilling.DEPTH] > 0)
    while line.n[0] > 0 and not interrupted(state):
        target, alpha = aim(state, sums, weights), reordering(state, sums, weights)
        at, c, fits = _best(state, have, line, sums, (target, alpha, False))
        if not fits:
            serve(state, have, _by_priority(line, sums, target, alpha), params[:_N_BACKFILL])
            return
        start_now(state, have, line.jobs[at], LogReason.IN_ORDER if _is_first(line, at) else LogReason.BACKFILLED)
        _move(sums, line.load[c], line.nodes[c])
        line.jobs[at] = -1
        line.n[0] -= 1
