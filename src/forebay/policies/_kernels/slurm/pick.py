"""The nodes that Slurm's select plug-in picks for a job, of those that are free; and starts on them.

Nodes are picked by blocks of neighbours: see algorithms.nodes.blocks. So they are where jobs share them, if the
machine's placement is best-fit: of blocks that hold the job the one with the fewest free cores, and if one node of it
does, that of these with the fewest. Nodes of less weight come before others. All of this was seen on a real Slurm.
"""

import numpy as np

from forebay._numba.jit import inlined_kernel, kernel
from forebay.algorithms.nodes.bits import count_bits, fill, is_in, next_run, wipe
from forebay.algorithms.nodes.blocks import pick_blocks
from forebay.algorithms.nodes.shared_nodes import holds, place_parts
from forebay.core.inside import CORES, PLACEMENTS
from forebay.core.verbs import act_start, take_picks_from
from forebay.policies._kernels.availability.node_sets import charge, share_among, share_picked
from forebay.policies._kernels.availability.placement import start_fitting, start_picked
from forebay.policies._kernels.availability.shared_nodes import take_picked
from forebay.policies._kernels.slurm.select import bits_of
from forebay.policies._kernels.slurm.shared_nodes import ask_inside, count_now, gather
from forebay.policies._kernels.slurm.table import nodes_of

FROM_ZERO = True
_BEST_FIT = PLACEMENTS.index("best-fit")


@inlined_kernel
def _weighing(state, select, weight, nodes):
    """The nodes of a weight, into `nodes`; all nodes where they are alike."""
    if len(select.weights) == 1:
        for w in range(len(nodes)):
            nodes[w] = -1
        return
    bits = 0
    for a in range(len(state.nodes.weights)):
        if state.nodes.weights[a] == weight:
            bits |= 1 << a
    nodes_of(select.atoms, bits, nodes)


@kernel
def _best_run(full, room, nodes, ask, wanted):
    """The run of neighbours among some nodes to take parts from: its first node, and the one behind its last.

    The one with the fewest free cores of those that hold all that is wanted; else the one with the most. First = -1 if
    there is none.
    """
    found, end, fewest, enough = -1, -1, np.int64(0), False
    first, behind = next_run(nodes, 0)
    while first >= 0:
        parts, cores = 0, np.int64(0)
        for node in range(first, behind):
            parts += holds(room, full, node, ask)
            cores += room[node, CORES]
        all_there = parts >= wanted
        better = cores < fewest if all_there else cores > fewest
        if found < 0 or (all_there and not enough) or (all_there == enough and better):
            found, end, fewest, enough = first, behind, cores, all_there
        first, behind = next_run(nodes, behind)
    return found, end


@kernel
def _tightest(full, room, ask, first, end, wanted):
    """The node of a run with the fewest free cores that holds all that is wanted; -1 if none does."""
    found = -1
    for node in range(first, end):
        fits = holds(room, full, node, ask) >= wanted
        if fits and (found < 0 or room[node, CORES] < room[found, CORES]):
            found = node
    return found


@kernel
def _take_run(full, room, nodes, picks, ask, first, end, left, n):
    """Pick from a run of nodes until no part is left; returns how many are left, and picks there are."""
    alone = _tightest(full, room, ask, first, end, left)
    for node in range(first if alone < 0 else alone, end if alone < 0 else alone + 1):
        here = min(holds(room, full, node, ask), left)
        if here > 0:
            picks[n]["low"], picks[n]["count"] = node, here
            n, left = n + 1, left - here
    wipe(nodes, first, end - first)
    return left, n


@kernel
def _in_order(picks, n):
    """Put picks in the order of their nodes."""
    for i in range(1, n):
        low, count, k = picks[i]["low"], picks[i]["count"], i
        while k > 0 and picks[k - 1]["low"] > low:
            picks[k]["low"], picks[k]["count"] = picks[k - 1]["low"], picks[k - 1]["count"]
            k -= 1
        picks[k]["low"], picks[k]["count"] = low, count


@inlined_kernel
def _pick_inside(state, select, leg):
    """Pick shared nodes for leg `leg`, those of the least weight first; returns how many picks there are."""
    ask, full, n = state.inside.asks[leg], state.inside.full, 0
    left = ask["parts"]
    for weight in select.weights:
        _weighing(state, select, weight, select.some)
        for w in range(len(select.some)):
            select.some[w] &= select.free[w]
        while left > 0:
            first, end = _best_run(full, select.room, select.some, ask, left)
            if first < 0:
                break
            left, n = _take_run(full, select.room, select.some, select.picks, ask, first, end, left, n)
        if left == 0:
            break
    _in_order(select.picks, n)
    return n


@inlined_kernel
def _pick_blocks(state, select, leg):
    """Pick nodes that jobs have to themselves, the same way."""
    left = state.demands[leg, 0]
    for weight in select.weights:
        _weighing(state, select, weight, select.some)
        for w in range(len(select.some)):
            select.some[w] &= select.free[w]
        left = pick_blocks(select.some, left, select.picked)
        if left == 0:
            break


@kernel
def pick_free(state, have, select, leg):
    """Pick nodes for leg `leg` among those that are free by then; how many picks there are on shared nodes."""
    for w in range(len(select.picked)):
        select.picked[w] = 0
    if len(state.inside.full) == 0:
        _pick_blocks(state, select, leg)
        return 0
    inside, placement = state.inside, state.machine[0]["placement"]
    gather(state, have, select, leg)
    if placement == _BEST_FIT:
        n = _pick_inside(state, select, leg)
    else:
        n = place_parts(select.room, inside.full, inside.atoms, inside.asks[leg], placement, select.picks, 0)
    for i in range(n):
        fill(select.picked, select.picks[i]["low"], 1)
    return n


@kernel
def _add_picks(state, picked):
    """Add the nodes of a set to the picks, run by run; returns the first pick."""
    counts, first, size = state.counts[0], state.counts[0]["n_picks"], 0
    for node in range(32 * len(picked) + 1):
        if node < 32 * len(picked) and is_in(picked, node):
            size += 1
        elif size > 0:
            row = state.picks[counts["n_picks"]]
            row["low"], row["count"], row["server"] = node - size, size, -1
            counts["n_picks"] += 1
            size = 0
    return first


@kernel
def start_picked_nodes(state, have, select, j, reason, n_picks):
    """Start job `j` on the nodes that were picked for it, among those that are free now."""
    counts, leg = state.counts[0], state.jobs[j]["leg"]
    if len(have.inside) == 0:
        share_picked(state, select.atoms, select.picked)
        charge(state, have.free, leg)
        start_picked(state, j, reason, have.words, _add_picks(state, select.picked))
        return
    first = counts["n_picks"]
    for i in range(n_picks):
        row, pick = state.picks[first + i], select.picks[i]
        row["low"], row["count"], row["server"] = pick["low"], pick["count"], -1
    counts["n_picks"] = first + n_picks
    charge(state, have.free, leg)
    take_picked(state, leg, have.inside, first)
    take_picks_from(state, act_start(state, j, reason), first)


@kernel
def starts_within(state, have, select, j, reason, bits):
    """Start job `j`, which fits, on nodes of some atoms; whether it fits there."""
    leg = state.jobs[j]["leg"]
    bits &= bits_of(state, leg)
    if len(have.inside) == 0 and len(have.words) == 0:
        if not share_among(state, have.free, leg, bits):
            return False
        start_fitting(state, have, j, reason)
        return True
    nodes_of(select.atoms, bits, select.nodes)
    if len(have.inside) > 0:
        ask = state.inside.asks[leg]
        if count_now(state.inside.full, have.inside, select.nodes, ask) < ask["parts"]:
            return False
        select.end[0] = 0
        for w in range(len(select.nodes)):
            select.allowed[w] = select.nodes[w]
        ask_inside(state, have, select, leg)
    else:
        for w in range(len(select.free)):
            select.free[w] = have.words[w] & select.nodes[w]
        if count_bits(select.free) < state.demands[leg, 0]:
            return False
    start_picked_nodes(state, have, select, j, reason, pick_free(state, have, select, leg))
    return True
