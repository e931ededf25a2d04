"""What a decision on shared nodes tells the next one, so that it looks only at what has changed since.

Room only shrinks by what decisions start. So a job that found no room at the last decision finds some now only on nodes
where something was given back since: these are *freed*. And where nothing was given back, the plan for the head stands:
who would have delayed it then would delay it now, as jobs that start later end later. Half of all decisions follow a
submit alone, and look at the new job only.
"""

from typing import NamedTuple

import numpy as np
from numba import types

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.algorithms.nodes.shared_nodes import count_parts, holds
from forebay.core.inside import DIMENSIONS
from forebay.core.tables import after

NUMBER, PLANNED_FOR, N_FREED, OPENED = range(4)
N_FACTS = 4
"""Facts: how many decisions there were; the job for which the plan is, and one more, 0 = none; nodes on which something
was given back; how often where jobs may run had changed."""
PLENTY = 1 << 62
"""Parts that may find room, where nobody has counted."""


class Notes(NamedTuple):
    """What one decision keeps for the next, in the policy's memory; made new for each where it has none."""

    facts: np.ndarray  # int64
    latest: np.ndarray  # float64[1]: the end by which a job delays nobody
    before: np.ndarray  # int64[resource]: what the last decision left free
    spare_amounts: np.ndarray  # int64[resource]
    freed: np.ndarray  # int64[node], the first N_FREED
    marks: np.ndarray  # int64[job, 2]: the last decision that refused it, parts that then found room at most; or empty
    room: np.ndarray  # int64[node and block, dimension]: what this decision has left
    spare: np.ndarray  # the same, once the head has its places at the shadow
    both: np.ndarray  # the least of both


_i8 = types.int64
NOTES = types.NamedTuple((_i8[::1], types.float64[::1], *3 * (_i8[::1],), *4 * (_i8[:, ::1],)), Notes)
"""Notes, to the compiler."""


def n_cells(n_jobs: int, n_resources: int, n_nodes: int, n_rows: int) -> int:
    """How many whole numbers notes are, on a machine with so many nodes and rows of room."""
    return N_FACTS + 2 * n_resources + n_nodes + 2 * n_jobs + 3 * DIMENSIONS * n_rows


_n_cells = kernel(n_cells)


@allocating_kernel
def _lay(cells, latest, n_jobs, n_resources, n_nodes, n_rows):
    """Notes over the numbers of a table."""
    a = N_FACTS
    b = a + n_resources
    c = b + n_resources
    d = c + n_nodes
    e = d + 2 * n_jobs
    size, shape = DIMENSIONS * n_rows, (n_rows, DIMENSIONS)
    f, g, h = e + size, e + 2 * size, e + 3 * size
    return Notes(
        cells[:a], latest, cells[a:b], cells[b:c], cells[c:d], cells[d:e].reshape((n_jobs, 2)),
        cells[e:f].reshape(shape), cells[f:g].reshape(shape), cells[g:h].reshape(shape),
    )  # fmt: skip


@kernel
def index_rows(state, memory, end):
    """How many rows of a policy's first table come before notes, which are there if its second one has a row.

    They end before row `end`.
    """
    integers = memory[0]
    if len(memory[1]) == 0:
        return end
    n = _n_cells(len(state.jobs), len(state.resources), len(state.inside.full), len(state.inside.room))
    return end - (n + integers.shape[1] - 1) // integers.shape[1]


@allocating_kernel
def kept_notes(state, memory, first):
    """The notes in a policy's memory, from row `first` on."""
    rows = memory[0][first:]
    cells = rows.reshape(len(rows) * rows.shape[1])
    n_nodes, n_rows = len(state.inside.full), len(state.inside.room)
    return _lay(cells, memory[1][0], len(state.jobs), len(state.resources), n_nodes, n_rows)


@allocating_kernel
def new_notes(state, room):
    """Notes of a decision that knows of none before, over its own `room`; nobody is marked."""
    n_resources, n_nodes, n_rows = len(state.resources), len(state.inside.full), len(room)
    cells = np.zeros(_n_cells(0, n_resources, n_nodes, n_rows), np.int64)
    new = _lay(cells, np.zeros(1), 0, n_resources, n_nodes, n_rows)
    return Notes(new.facts, new.latest, new.before, new.spare_amounts, new.freed, new.marks, room, new.spare, new.both)


@kernel
def copy_room(source, target):
    """The same, row by row."""
    for row in range(len(target)):
        for d in range(DIMENSIONS):
            target[row, d] = source[row, d]


@kernel
def _is_late(state):
    """Whether something runs that should have ended."""
    return state.counts[0]["n_running"] > 0 and state.running[0]["end"] < after(state.clock[0]["now"])


@inlined_kernel
def _is_same(room, other, node):
    for d in range(DIMENSIONS):
        if room[node, d] != other[node, d]:
            return False
    return True


@kernel
def look_again(state, notes):
    """Note what is free now, and where something was given back; the plan is forgotten if anything was."""
    facts, room, mine = notes.facts, state.inside.room, notes.room
    n_freed, same, n_nodes = 0, True, len(state.inside.full)
    for node in range(n_nodes):
        if _is_same(mine, room, node):
            continue
        same = False
        grown = False
        for d in range(DIMENSIONS):
            grown = grown or room[node, d] > mine[node, d]
            mine[node, d] = room[node, d]
        if grown:
            notes.freed[n_freed] = node
            n_freed += 1
    for row in range(n_nodes, len(room)):
        for d in range(DIMENSIONS):
            mine[row, d] = room[row, d]
    for r in range(1, state.machine[0]["first_inside"]):
        same = same and notes.before[r] == state.resources[r]["free"]
    opened = facts[OPENED] != state.counts[0]["opened"]  # who was refused may find room on nodes that it sees anew
    facts[OPENED] = state.counts[0]["opened"]
    facts[NUMBER] += 2 if opened else 1
    facts[N_FREED] = n_freed
    # A node that fails takes with it what would have been given back there: its room alone does not tell.
    if not same or opened or _is_late(state) or len(state.down) > 0:
        facts[PLANNED_FOR] = 0


@kernel
def keep_notes(have, notes):
    """A decision is over."""
    for r in range(len(have.free)):
        notes.before[r] = have.free[r]


@kernel
def keep_plan(state, notes, head, shadow):
    """Let the plan for the head stand, unless it moves on with the clock."""
    moves = shadow <= state.clock[0]["now"] or _is_late(state)
    notes.facts[PLANNED_FOR] = 0 if moves else head + 1


@kernel
def refuse_again(notes, j, parts):
    """Job `j` cannot start now; so many of its parts found room at most."""
    if len(notes.marks) > 0:
        notes.marks[j, 0] = notes.facts[NUMBER]
        notes.marks[j, 1] = parts


@kernel
def was_refused(notes, j):
    """Whether the last decision refused job `j`."""
    return len(notes.marks) > 0 and notes.marks[j, 0] > 0 and notes.marks[j, 0] == notes.facts[NUMBER] - 1


@kernel
def is_allowed(inside, ask, node):
    """Whether parts of a leg may lie on a node."""
    for a in range(len(inside.atoms) - 1):
        if node < inside.atoms[a + 1]:
            return (ask["allowed"] >> a) & 1 != 0
    return False


@kernel
def no_more(state, have, notes, j, ask):
    """The most parts that can find room, as far as the last decision and freed nodes tell."""
    if not was_refused(notes, j) or notes.marks[j, 1] == PLENTY:
        return PLENTY
    most = notes.marks[j, 1]
    for k in range(notes.facts[N_FREED]):
        node = notes.freed[k]
        if is_allowed(state.inside, ask, node):
            most += holds(have.inside, state.inside.full, node, ask)
        if most >= ask["parts"]:
            return PLENTY
    return most


@kernel
def fits_again(state, have, notes, j):
    """Whether job `j` fits now, see placement.fits_now; if not, that is noted."""
    leg = state.jobs[j]["leg"]
    ask = state.inside.asks[leg]
    for r in range(len(have.free)):
        if state.demands[leg, r] > have.free[r]:
            refuse_again(notes, j, PLENTY)
            return False
    count = no_more(state, have, notes, j, ask)
    if count >= ask["parts"]:
        count = count_parts(have.inside, state.inside.full, state.inside.atoms, ask)
    if count >= ask["parts"]:
        return True
    refuse_again(notes, j, count)
    return False
