"""The nodes that Slurm's select plug-in picks for a job, of those that are free; and starts on them.

Nodes are picked by blocks of neighbours: see algorithms.blocks. So they are where jobs share them, if the machine's
placement is best-fit: of blocks that hold the job the one with the fewest free cores, and if one node of it does, that
of these with the fewest. Nodes of less weight come before others. All of this was seen on a real Slurm.
"""

import numpy as np

from forebay._numba.jit import kernel
from forebay.algorithms.bits import count_bits, fill, wipe
from forebay.algorithms.blocks import pick_blocks
from forebay.algorithms.inside import holds, place_parts
from forebay.core.inside import CORES, PLACEMENTS
from forebay.core.verbs import act_start, take_picks_from
from forebay.policies._kernels.atoms import charge, share_among, share_picked
from forebay.policies._kernels.inside import take_picked
from forebay.policies._kernels.places import start_fitting, start_picked
from forebay.policies._kernels.slurm_select import bits_of, is_in, room_on
from forebay.policies._kernels.slurm_table import nodes_of

_BEST_FIT = PLACEMENTS.index("best-fit")


@kernel
def _weighing(state, select, weight, nodes):
    """The nodes of a weight, into `nodes`; all nodes where they are alike."""
    bits = 0
    for a in range(len(state.nodes.weights)):
        if state.nodes.weights[a] == weight:
            bits |= 1 << a
    nodes_of(select.atoms, bits if len(state.nodes.weights) > 0 else -1, nodes)


@kernel
def _best_run(state, room, nodes, ask, wanted):
    """The run of neighbours among some nodes to take parts from: its first and last node; first = -1 if there is none.

    The one with the fewest free cores of those that hold all that is wanted; else the one with the most.
    """
    full, found, end, fewest, enough = state.inside.full, -1, -1, np.int64(0), False
    first, parts, cores = -1, 0, np.int64(0)
    for node in range(len(full) + 1):
        here = holds(room, full, node, ask) if node < len(full) and is_in(nodes, node) else 0
        if here > 0:
            first = node if first < 0 else first
            parts, cores = parts + here, cores + room[node, CORES]
        elif first >= 0:
            all_there = parts >= wanted
            better = cores < fewest if all_there else cores > fewest
            if found < 0 or (all_there and not enough) or (all_there == enough and better):
                found, end, fewest, enough = first, node - 1, cores, all_there
            first, parts, cores = -1, 0, np.int64(0)
    return found, end


@kernel
def _tightest(state, room, nodes, ask, first, last, wanted):
    """The node of a run with the fewest free cores that holds all that is wanted; -1 if none does."""
    found = -1
    for node in range(first, last + 1):
        fits = is_in(nodes, node) and holds(room, state.inside.full, node, ask) >= wanted
        if fits and (found < 0 or room[node, CORES] < room[found, CORES]):
            found = node
    return found


@kernel
def _take_run(state, select, ask, first, last, left, n):
    """Pick from a run of nodes until no part is left; returns how many are left, and picks there are."""
    alone = _tightest(state, select.room, select.some, ask, first, last, left)
    for node in range(first if alone < 0 else alone, last + 1 if alone < 0 else alone + 1):
        here = min(holds(select.room, state.inside.full, node, ask), left) if is_in(select.some, node) else 0
        if here > 0:
            select.picks[n]["low"], select.picks[n]["count"] = node, here
            n, left = n + 1, left - here
    wipe(select.some, first, last - first + 1)
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


@kernel
def _pick_inside(state, select, leg):
    """Pick shared nodes for leg `leg`, those of the least weight first; returns how many picks there are."""
    ask, n = state.inside.asks[leg], 0
    left = ask["parts"]
    for weight in select.weights:
        _weighing(state, select, weight, select.some)
        for w in range(len(select.some)):
            select.some[w] &= select.nodes[w]
        while left > 0:
            first, last = _best_run(state, select.room, select.some, ask, left)
            if first < 0:
                break
            left, n = _take_run(state, select, ask, first, last, left, n)
    _in_order(select.picks, n)
    return n


@kernel
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
def pick_free(state, select, leg):
    """Pick nodes for leg `leg` among those that are free by then; how many picks there are on shared nodes."""
    for w in range(len(select.picked)):
        select.picked[w] = 0
    if len(state.inside.full) == 0:
        _pick_blocks(state, select, leg)
        return 0
    inside, placement = state.inside, state.machine[0]["placement"]
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
        if room_on(state, have.inside, select.nodes, ask, select.room) < ask["parts"]:
            return False
    else:
        for w in range(len(select.free)):
            select.free[w] = have.words[w] & select.nodes[w]
        if count_bits(select.free) < state.demands[leg, 0]:
            return False
    start_picked_nodes(state, have, select, j, reason, pick_free(state, select, leg))
    return True
