"""What a running job holds: it takes nodes, chunks and amounts, and gives them back; every change is written down."""

from numba import types

from forebay._numba.jit import kernel
from forebay.algorithms.nodes.atoms import COLUMN
from forebay.algorithms.nodes.nodeset import find, give_back, give_these, holder, take_these
from forebay.core.codes import LogKind, LogReason
from forebay.core.tables import PICKS, STATE
from forebay.engine.allocation.node_sets import amount_taken, take_lowest_of_atoms
from forebay.engine.log import write_chunks, write_log, write_nodes
from forebay.engine.power.tables import note_idle
from forebay.engine.shared_nodes.kernels import give_inside, take_inside
from forebay.engine.truth import TRUTH

_f8, _i8 = types.float64, types.int64


@kernel
def _write_taken(state, truth, j, before):
    """Write down the nodes that job `j` has got since its chain began at `before`."""
    i = state.jobs[j]["piece"]
    while i != before:
        piece = state.nodes.pieces[i]
        write_nodes(truth, piece["low"], piece["high"])
        i = piece["next"]


@kernel
def _take_chunks(state, j, server, count, size):
    counts, job = state.counts[0], state.jobs[j]
    row = counts["blank_chunk"]
    chunk = state.servers.chunks[row]
    counts["blank_chunk"] = chunk["next"]
    chunk["server"] = server
    chunk["count"] = count
    chunk["size"] = size
    chunk["next"] = job["chunk"]
    job["chunk"] = row
    state.servers.room[server] -= size * count


@kernel(types.void(STATE, TRUTH, _i8, PICKS, _i8, _i8))
def _take_picked(state, truth, j, picks, first_pick, n_picks):
    """Give job `j` the nodes and chunks that were picked for it."""
    counts, job, nodes = state.counts[0], state.jobs[j], state.nodes
    size = state.legs[job["leg"]]["chunk"]
    for i in range(first_pick, first_pick + n_picks):
        pick = picks[i]
        if pick["low"] >= 0:
            n_idle, blank, head = take_these(
                nodes.idle, counts["n_idle"], nodes.pieces, counts["blank_piece"], job["piece"],
                pick["low"], pick["count"],
            )  # fmt: skip
            counts["n_idle"] = n_idle
            counts["blank_piece"] = blank
            job["piece"] = head
            write_nodes(truth, pick["low"], pick["low"] + pick["count"] - 1)
        if size > 0:
            _take_chunks(state, j, pick["server"], pick["count"], size)
            write_chunks(truth, pick["server"], pick["count"] * size)


@kernel(types.void(STATE, TRUTH, _i8, _i8, PICKS, _i8, _i8))
def take_all(state, truth, j, reason, picks, first_pick, n_picks):
    """Give job `j` what its leg asks for, on the nodes and servers picked or, without picks, on the lowest nodes."""
    job, now = state.jobs[j], state.clock[0]["now"]
    leg = job["leg"]
    for r in range(len(state.resources)):
        amount = amount_taken(state, leg, r)
        state.resources[r]["free"] -= amount
        if r == 0:
            write_log(state, truth, now, j, LogKind.START, 0, amount, reason)
            if n_picks > 0 and state.machine[0]["placement"] >= 0:
                take_inside(state, truth, j, picks, first_pick, n_picks)
            elif n_picks > 0:
                _take_picked(state, truth, j, picks, first_pick, n_picks)
            elif amount > 0:
                before = job["piece"]
                take_lowest_of_atoms(state, j, amount)
                _write_taken(state, truth, j, before)
            job["held"] += amount
        elif amount > 0:
            write_log(state, truth, now, j, LogKind.ACQUIRE, r, amount, reason)


@kernel
def _free_chunks(state, j):
    """Empty the servers of all that job `j` has there: chunks are kept all or not at all."""
    counts, job = state.counts[0], state.jobs[j]
    while job["chunk"] >= 0:
        row = job["chunk"]
        chunk = state.servers.chunks[row]
        state.servers.room[chunk["server"]] += chunk["size"] * chunk["count"]
        job["chunk"] = chunk["next"]
        chunk["next"] = counts["blank_chunk"]
        counts["blank_chunk"] = row


@kernel
def _write_given(state, truth, j, amount):
    """Write down the nodes that job `j` is about to give back, unless they are all it has."""
    job = state.jobs[j]
    i = job["piece"]
    left = amount if amount < job["held"] else 0
    while left > 0:
        piece = state.nodes.pieces[i]
        some = min(left, piece["high"] - piece["low"] + 1)
        write_nodes(truth, piece["high"] - some + 1, piece["high"])
        left -= some
        i = piece["next"]


@kernel(types.void(STATE, TRUTH, _i8, _i8, _i8))
def give(state, truth, j, resource, amount):
    """Take an amount back from job `j`; the change itself was written to the log just before."""
    state.resources[resource]["free"] += amount
    if resource == 0:
        counts, job, nodes = state.counts[0], state.jobs[j], state.nodes
        note_idle(state, truth, j, amount)
        _write_given(state, truth, j, amount)
        if state.machine[0]["placement"] >= 0:
            give_inside(state, j)
        n_idle, blank, head = give_back(
            nodes.idle, counts["n_idle"], nodes.pieces, counts["blank_piece"], job["piece"], amount
        )
        counts["n_idle"] = n_idle
        counts["blank_piece"] = blank
        job["piece"] = head
        job["held"] -= amount
    elif resource == state.machine[0]["chunked"]:
        _free_chunks(state, j)


@kernel(types.void(STATE, TRUTH, _f8, _i8, _i8, _i8))
def give_early(state, truth, time, j, resource, amount):
    """Job `j` gives a part of what it holds back in the middle of its leg."""
    leg = state.jobs[j]["leg"]
    state.releases[leg, resource] -= amount
    write_log(state, truth, time, j, LogKind.RELEASE, resource, amount, 0)
    give(state, truth, j, resource, amount)
    atoms, left = state.nodes.atoms, amount if resource == 0 else 0
    for a in range(len(atoms) - 1, -1, -1):  # those taken last go first, which are of the highest atoms
        column = atoms[a, COLUMN]
        some = min(left, state.releases[leg, column]) if column >= 0 else 0
        if some > 0:
            left -= some
            state.releases[leg, column] -= some
            write_log(state, truth, time, j, LogKind.RELEASE, column, some, 0)
            give(state, truth, j, column, some)


@kernel(types.void(STATE, TRUTH, _f8, _i8, _i8))
def take_more(state, truth, time, j, amount):
    """Give the running job `j` so many nodes more: the lowest."""
    job = state.jobs[j]
    state.resources[0]["free"] -= amount
    state.releases[job["leg"], 0] += amount
    write_log(state, truth, time, j, LogKind.ACQUIRE, 0, amount, LogReason.RESIZED)
    before = job["piece"]
    take_lowest_of_atoms(state, j, amount)
    _write_taken(state, truth, j, before)
    job["held"] += amount


@kernel
def _first_outside(state, j, picks, first_pick, n_picks):
    """A stretch of the nodes of job `j` that none of the picks has: its first, and how many; 0 if there is none.

    Picks ascend.
    """
    i = state.jobs[j]["piece"]
    while i >= 0:
        at, high = state.nodes.pieces[i]["low"], state.nodes.pieces[i]["high"]
        for p in range(first_pick, first_pick + n_picks):
            begin, end = picks[p]["low"], picks[p]["low"] + picks[p]["count"]
            if end <= at:
                continue
            if begin > at:
                return at, min(begin - 1, high) - at + 1
            at = end
            if at > high:
                break
        if at <= high:
            return at, high - at + 1
        i = state.nodes.pieces[i]["next"]
    return -1, 0


@kernel(types.Tuple((_i8, _i8))(STATE, _i8, PICKS, _i8, _i8))
def gains_and_losses(state, j, picks, first_pick, n_picks):
    """How many nodes job `j` would gain and lose if it had those picked, -1 if it can have one of them neither way."""
    idle, n_idle, gains, kept = state.nodes.idle, state.counts[0]["n_idle"], 0, 0
    following = 0
    for p in range(first_pick, first_pick + n_picks):
        at, end = picks[p]["low"], picks[p]["low"] + picks[p]["count"]
        if at < following or picks[p]["count"] < 1 or end > len(state.nodes.site):
            return -1, 0
        following = end
        while at < end:
            free, mine = find(idle, n_idle, at), holder(state.nodes.pieces, state.jobs[j]["piece"], at)
            if free >= 0:
                some = min(idle[free]["high"] + 1, end) - at
                gains += some
            elif mine >= 0:
                some = min(state.nodes.pieces[mine]["high"] + 1, end) - at
                kept += some
            else:
                return -1, 0
            at += some
    return gains, state.jobs[j]["held"] - kept


@kernel(types.void(STATE, TRUTH, _f8, _i8, PICKS, _i8, _i8))
def have_these(state, truth, time, j, picks, first_pick, n_picks):
    """Let job `j` have the nodes picked, of which each is its own or idle, and no others."""
    counts, job, nodes = state.counts[0], state.jobs[j], state.nodes
    gains, losses = gains_and_losses(state, j, picks, first_pick, n_picks)
    state.resources[0]["free"] -= gains - losses
    state.releases[job["leg"], 0] += gains - losses
    job["held"] += gains - losses
    if gains > 0:
        write_log(state, truth, time, j, LogKind.ACQUIRE, 0, gains, LogReason.RESIZED)
    for p in range(first_pick, first_pick + n_picks):
        at, end = picks[p]["low"], picks[p]["low"] + picks[p]["count"]
        while at < end:
            free = find(nodes.idle, counts["n_idle"], at)
            if free < 0:
                at = min(nodes.pieces[holder(nodes.pieces, job["piece"], at)]["high"] + 1, end)
                continue
            some = min(nodes.idle[free]["high"] + 1, end) - at
            n_idle, blank, head = take_these(
                nodes.idle, counts["n_idle"], nodes.pieces, counts["blank_piece"], job["piece"], at, some
            )
            counts["n_idle"] = n_idle
            counts["blank_piece"] = blank
            job["piece"] = head
            write_nodes(truth, at, at + some - 1)
            at += some
    if losses > 0:
        write_log(state, truth, time, j, LogKind.RELEASE, 0, losses, LogReason.RESIZED)
    while True:
        low, some = _first_outside(state, j, picks, first_pick, n_picks)
        if some == 0:
            break
        n_idle, blank, head = give_these(
            nodes.idle, counts["n_idle"], nodes.pieces, counts["blank_piece"], job["piece"], low, some
        )
        counts["n_idle"] = n_idle
        counts["blank_piece"] = blank
        job["piece"] = head
        write_nodes(truth, low, low + some - 1)


@kernel(types.void(STATE, TRUTH, _f8, _i8, _i8))
def give_some(state, truth, time, j, amount):
    """Take so many nodes back from the running job `j`: those that it got last."""
    state.releases[state.jobs[j]["leg"], 0] -= amount
    write_log(state, truth, time, j, LogKind.RELEASE, 0, amount, LogReason.RESIZED)
    give(state, truth, j, 0, amount)


@kernel(types.void(STATE, TRUTH, _f8, _i8, _i8, _i8))
def give_at_end(state, truth, time, j, carrier, reason):
    """The leg of job `j` ends: it gives back all but what leg `carrier` carries over to the one after it; -1 = all."""
    leg = state.jobs[j]["leg"]
    for r in range(len(state.resources)):
        amount = state.releases[leg, r] + truth.carries[leg, r]
        if carrier >= 0:
            amount = max(amount - truth.carries[carrier, r], 0)
        if r == 0:
            write_log(state, truth, time, j, LogKind.END, 0, amount, reason)
        elif amount > 0:
            write_log(state, truth, time, j, LogKind.RELEASE, r, amount, reason)
        if amount > 0:
            give(state, truth, j, r, amount)
