"""Running jobs kept near the workload's I/O intensity: see io-intensity. ADMIRE's D3.3 (2023), section 4.2.

A job's intensity at a size is the share of its time alone on the machine in which it reads or writes. That of the
system is the mean over allocated nodes, that of the workload the mean over all nodes that running jobs have and
waiting ones prefer. Algorithm 3 as printed never ends if its best candidate does not fit; here it stops there.
"""

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.core.codes import LogReason, Trigger
from forebay.core.tables import flex_row, policy_kernel
from forebay.policies._families.intensity import Param
from forebay.policies._kernels.places import what_is_there
from forebay.policies._kernels.sizing import grant_requests, has_room, is_malleable, resize_now, start_sized

_SYSTEM, _ALLOCATED, _WORKLOAD, _ASKED, _JOBS = range(5)  # sums of intensity x nodes, of nodes, and of jobs


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
def intensity(state, row, k):
    """The share of its time in which a job reads or writes at its k-th size, alone on the machine."""
    if row < 0:
        return 0.0
    size = state.flexible.sizes[state.flexible.jobs[row]["first"] + k]
    return size["io"] / size["seconds"] if 0.0 < size["seconds"] < np.inf else 0.0


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
        sums[_SYSTEM] += intensity(state, row, _present(state, row)) * nodes
        sums[_ALLOCATED] += nodes
    sums[_WORKLOAD], sums[_ASKED], sums[_JOBS] = sums[_SYSTEM], sums[_ALLOCATED], counts["n_running"]
    for q in range(counts["queue_first"], counts["queue_last"]):
        j = state.queue[q]
        if j >= 0:
            row = flex_row(state, j)
            nodes = float(size_nodes(state, j, row, _present(state, row)))
            sums[_WORKLOAD] += intensity(state, row, _present(state, row)) * nodes
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


@kernel
def _best(state, have, waiting, n, sums, target, alpha):
    """The place in line and the size with the least weighted priority, eqs. 4.5 to 4.11.

    Of equal ones the job that came first; of its sizes one that fits, and then the largest.
    """
    least, most = np.inf, -np.inf
    for at in range(n):
        row = flex_row(state, waiting[at])
        for k in range(n_sizes(state, row)):
            nodes = size_nodes(state, waiting[at], row, k)
            delta = _off(sums, target, intensity(state, row, k) * nodes, nodes)
            least, most = min(least, delta), max(most, delta)
    width = most - least
    best, best_at, best_k, best_fits = np.inf, 0, 0, False
    for at in range(n):
        row = flex_row(state, waiting[at])
        fairness = (1.0 - alpha) * (at / (n - 1) if n > 1 else 0.0)
        if fairness > best:
            break
        for k in range(n_sizes(state, row)):
            nodes = size_nodes(state, waiting[at], row, k)
            delta = _off(sums, target, intensity(state, row, k) * nodes, nodes)
            priority = fairness + alpha * ((delta - least) / width if width > 0 else 0.0)
            if priority > best:
                continue
            fits = has_room(state, have, waiting[at], nodes)
            if priority < best or (at == best_at and fits >= best_fits):
                best, best_at, best_k, best_fits = priority, at, k, fits
    return best_at, best_k, best_fits


@allocating_kernel
def _in_line(state):
    """The waiting jobs in order of arrival, and how many."""
    counts = state.counts[0]
    line, n = np.empty(counts["n_queued"], np.int64), np.zeros(1, np.int64)
    for q in range(counts["queue_first"], counts["queue_last"]):
        if state.queue[q] >= 0:
            line[n[0]] = state.queue[q]
            n[0] += 1
    return line, n


@kernel
def _admit(state, have, line, n, sums, params):
    """Algorithm 3: start the best candidate again and again, until it does not fit."""
    while n[0] > 0 and (have.free[0] > 0 or len(state.flexible.row) == 0):
        target, alpha = aim(state, sums, params), reordering(state, sums, params)
        at, k, fits = _best(state, have, line, n[0], sums, target, alpha)
        if not fits:
            return
        j = line[at]
        row = flex_row(state, j)
        nodes = size_nodes(state, j, row, k)
        start_sized(state, have, j, nodes, LogReason.IN_ORDER if at == 0 else LogReason.BACKFILLED)
        _change_aim(state, sums, j, row, k)
        _move(sums, intensity(state, row, k) * nodes, nodes)
        for i in range(at, n[0] - 1):
            line[i] = line[i + 1]
        n[0] -= 1


@kernel
def _change_aim(state, sums, j, row, k):
    """The workload has job `j` at its k-th size instead of the present one; returns what that adds, and the nodes."""
    present = _present(state, row)
    nodes, had = size_nodes(state, j, row, k), size_nodes(state, j, row, present)
    load = intensity(state, row, k) * nodes - intensity(state, row, present) * had
    sums[_WORKLOAD] += load
    sums[_ASKED] += nodes - had
    return load, nodes - had


@kernel
def _helps(state, have, line, n, sums, target, load, change, now):
    """Whether some waiting job would bring the system nearer than now, if one that runs gave back so many nodes."""
    for at in range(n[0]):
        row = flex_row(state, line[at])
        for k in range(n_sizes(state, row)):
            nodes = size_nodes(state, line[at], row, k)
            if not has_room(state, have, line[at], nodes + change):
                break
            if _off(sums, target, load + intensity(state, row, k) * nodes, nodes + change) < now:
                return True
    return False


@kernel
def _reconfigure(state, have, line, n, sums, params, j, row):
    """Give job `j` the size that brings the system nearest, eqs. 4.12 and 4.13; whether it gave back nodes.

    It shrinks only if a waiting job would then bring the system nearer than it is.
    """
    target, present, old = aim(state, sums, params), _present(state, row), state.jobs[j]["nodes"]
    now, had = _off(sums, target, 0.0, 0), intensity(state, row, present) * old
    for may_shrink in (True, False):
        nearest, chosen = now, -1
        for k in range(n_sizes(state, row)):
            nodes = size_nodes(state, j, row, k)
            if nodes - old > have.free[0]:
                break
            if k == present or (nodes < old and not may_shrink):
                continue
            distance = _off(sums, target, intensity(state, row, k) * nodes - had, nodes - old)
            if distance < nearest:
                nearest, chosen = distance, k
        if chosen < 0:
            return False
        nodes = size_nodes(state, j, row, chosen)
        load = intensity(state, row, chosen) * nodes - had
        if nodes > old or _helps(state, have, line, n, sums, target, load, nodes - old, now):
            _move(sums, *_change_aim(state, sums, j, row, chosen))
            resize_now(state, have, j, nodes)
            return nodes < old
    return False


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
    """Algorithm 2: the queue when jobs come or go, then jobs at points, then the queue again if nodes came back."""
    have, flexible, sums = what_is_there(state, False), state.flexible, count_up(state)
    line, n = _in_line(state)
    grant_requests(state, have)
    _count_granted(state, sums)
    if state.clock[0]["triggers"] & ~Trigger.SCHEDULING_POINT:
        _admit(state, have, line, n, sums, params)
    shrunk = False
    for p in range(flexible.n_points[0]):
        j = flexible.points[p]["job"]
        row = flex_row(state, j)
        if flexible.jobs[row]["at_point"] and flexible.jobs[row]["wants"] == 0 and is_malleable(state, row):
            shrunk = _reconfigure(state, have, line, n, sums, params, j, row) or shrunk
    if shrunk:
        _admit(state, have, line, n, sums, params)
