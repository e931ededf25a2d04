"""What a running job holds: it takes nodes, chunks and amounts, and gives them back; every change is written down."""

from numba import types

from forebay._numba.jit import kernel
from forebay.algorithms.nodeset import give_back, take_these
from forebay.core.codes import LogKind, LogReason
from forebay.core.tables import PICKS, STATE
from forebay.engine.journal import write_log, write_nodes
from forebay.engine.kinds import amount_taken, large_among, take_lowest_of_kinds
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
            if n_picks > 0:
                _take_picked(state, truth, j, picks, first_pick, n_picks)
            elif amount > 0:
                before = job["piece"]
                take_lowest_of_kinds(state, j, amount)
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
        _write_given(state, truth, j, amount)
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
    n_large = large_among(state, leg, resource, amount)
    if n_large > 0:
        large = state.machine[0]["large"]
        state.releases[leg, large] -= n_large
        write_log(state, truth, time, j, LogKind.RELEASE, large, n_large, 0)
        give(state, truth, j, large, n_large)


@kernel(types.void(STATE, TRUTH, _f8, _i8, _i8, PICKS, _i8, _i8))
def take_more(state, truth, time, j, amount, picks, first_pick, n_picks):
    """Give the running job `j` so many nodes more: those picked or, without picks, the lowest."""
    job = state.jobs[j]
    state.resources[0]["free"] -= amount
    state.releases[job["leg"], 0] += amount
    write_log(state, truth, time, j, LogKind.ACQUIRE, 0, amount, LogReason.RESIZED)
    if n_picks > 0:
        _take_picked(state, truth, j, picks, first_pick, n_picks)
    else:
        before = job["piece"]
        take_lowest_of_kinds(state, j, amount)
        _write_taken(state, truth, j, before)
    job["held"] += amount


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
