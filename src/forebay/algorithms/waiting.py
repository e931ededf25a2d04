"""Why jobs waited, from what was held when: a run is gone through once more, instant by instant.

Instants are numbered. What holds counts from the instant at which it is taken until that at which it is given back, and
so with waits. In each instant, once all its changes are made, every job that still waits has one cause; as long as the
cause stays the same it is one piece, which names the job that stood in the way for longest without a break.
"""

from typing import NamedTuple

import numba
import numpy as np

from forebay._numba.jit import allocating_kernel, kernel

LACKS, CHUNKS, DOWN, BEHIND, FITS, HELD, SAID = range(7)
"""Causes: a resource is short; no server has room for a chunk; failed nodes would do; another job goes first; nobody is
in the way; a limit holds it back; whatever the policy says."""

WAIT = np.dtype(
    [
        ("since", "f8"),
        ("until", "f8"),
        ("first", "i8"),  # instant
        ("last", "i8"),  # instant at which it is over
        ("job", "i8"),
        ("place", "i8"),  # in the order in which jobs go
        ("chunk", "i8"),  # bytes
        ("n_chunks", "i8"),
    ],
    align=True,
)
"""A job in the queue. Rows are in order of `first`."""
HOLD = np.dtype(
    [("amount", "i8"), ("first", "i8"), ("last", "i8"), ("job", "i8"), ("resource", "i8"), ("store", "i8"),
     ("n_stores", "i8")], align=True,
)  # fmt: skip
"""What a job holds, in order of `first`; of chunks, rows store, store + 1, ... of `stores`."""
CHANGE = np.dtype([("instant", "i8"), ("subject", "i8"), ("what", "i8"), ("nodes", "i8")], align=True)
"""Nodes that have failed, the limit that holds a job back, or what is said of a job, and behind which other."""
PIECE = np.dtype(
    [
        ("start", "f8"),
        ("end", "f8"),
        ("wait", "i8"),
        ("cause", "i8"),
        ("what", "i8"),  # the resource, the limit, or the text said
        ("other", "i8"),  # a hold where something is short, else a job; -1 = none
        ("free", "i8"),  # of the resource, when that one came to stand in the way
    ],
    align=True,
)


class Replay(NamedTuple):
    """All that counts of a run. `by_start`: who starts next goes first."""

    times: np.ndarray  # float64[instant]
    capacity: np.ndarray  # int64[resource]
    waits: np.ndarray
    needs: np.ndarray  # int64[wait, resource]
    holds: np.ndarray
    by_end: np.ndarray  # int64: holds by `last`
    stores: np.ndarray  # int64[k, 2]: server, bytes
    room: np.ndarray  # int64[server]
    chunked: int  # resource; -1 = none
    held: np.ndarray  # CHANGE: subject = job, what = limit (-1 = none any more)
    down: np.ndarray  # CHANGE: nodes
    said: np.ndarray  # CHANGE: subject = job, what = text (-1 = none any more), nodes = other job
    n_jobs: int
    by_start: bool


@kernel
def _insert(line, n, item, keys):
    """Put an item into a line that ascends by key, behind its like."""
    at = n
    while at > 0 and keys[line[at - 1]] > keys[item]:
        line[at] = line[at - 1]
        at -= 1
    line[at] = item


@kernel
def _remove(line, n, item):
    at = 0
    while line[at] != item:
        at += 1
    for i in range(at, n - 1):
        line[i] = line[i + 1]


@kernel
def _enough(sums, n, short):
    """The first place at which so much has come together; n if it never does."""
    a, b = 0, n
    while a < b:
        middle = (a + b) >> 1
        if sums[middle] >= short:
            b = middle
        else:
            a = middle + 1
    return a


@kernel
def _add_room(room, stores, hold, size, sign):
    """Put a hold's chunks on the servers, or take them off; returns how many more chunks of `size` then fit."""
    gained = 0
    for k in range(hold["store"], hold["store"] + hold["n_stores"]):
        server = stores[k, 0]
        before = room[server] // size
        room[server] += sign * stores[k, 1]
        gained += room[server] // size - before
    return gained


@kernel
def _last_chunk(room, scratch, stores, holds, line, n, size, wanted):
    """The hold whose end leaves room for all chunks, if nobody takes any before; -1 if they fit now."""
    count = 0
    for s in range(len(room)):
        scratch[s] = room[s]
        count += room[s] // size
    if count >= wanted:
        return -1
    for k in range(n):
        count += _add_room(scratch, stores, holds[line[k]], size, 1)
        if count >= wanted:
            return line[k]
    return line[n - 1] if n > 0 else -2


@kernel
def _shortage(need, free, n_down, holds, lines, sums, n_active):
    """What is short of all resources for longest: cause, resource, hold; cause -1 if nothing is.

    For how long: until so much was given back of what is held now that it would do, whoever took it then.
    """
    cause, what, other, latest = -1, -1, -1, -2
    for r in range(len(need)):
        short = need[r] - free[r]
        if short <= 0:
            continue
        if r == 0 and short <= n_down:
            if latest < -1:
                cause, what, other, latest = DOWN, 0, -1, -1
            continue
        k = _enough(sums[r], n_active[r], short)
        hold = lines[r, k] if k < n_active[r] else lines[r, n_active[r] - 1] if n_active[r] > 0 else -1
        until = holds[hold]["last"] if hold >= 0 else -1
        if until > latest:
            cause, what, other, latest = LACKS, r, hold, until
    return cause, what, other


@kernel
def _first_to_start(waits, line, n, held):
    """Who of those that wait, and may start, starts next; -1 if nobody."""
    best = -1
    for i in range(n):
        w = line[i]
        if not held[w] and (best < 0 or waits[w]["last"] < waits[best]["last"]):
            best = w
    return best


@allocating_kernel
def _longer(pieces):
    """The same with room for as many again."""
    more = np.empty(2 * len(pieces), PIECE)
    for i in range(len(pieces)):
        more[i]["start"] = pieces[i]["start"]
        more[i]["end"] = pieces[i]["end"]
        more[i]["wait"] = pieces[i]["wait"]
        more[i]["cause"] = pieces[i]["cause"]
        more[i]["what"] = pieces[i]["what"]
        more[i]["other"] = pieces[i]["other"]
        more[i]["free"] = pieces[i]["free"]
    return more


@kernel
def _end_streak(best, now, longest, wait, other, free, time):
    """Keep who stood in the way until now, if nobody did for longer in this piece."""
    length = time - now[wait]["start"]
    if length > longest[wait]:
        longest[wait] = length
        best[wait]["other"] = now[wait]["other"]
        best[wait]["free"] = now[wait]["free"]
    now[wait]["start"] = time
    now[wait]["other"] = other
    now[wait]["free"] = free


@kernel
def _close(pieces, n, best, wait, time):
    row, done = pieces[n], best[wait]
    row["start"] = done["start"]
    row["end"] = time
    row["wait"] = wait
    row["cause"] = done["cause"]
    row["what"] = done["what"]
    row["other"] = done["other"]
    row["free"] = done["free"]


def _blank() -> Replay:
    """For the types."""
    table, numbers = np.zeros((0, 1), np.int64), np.zeros(0, np.int64)
    changes = np.zeros(0, CHANGE)
    return Replay(
        np.zeros(0), numbers, np.zeros(0, WAIT), table, np.zeros(0, HOLD), numbers, table, numbers, -1,
        changes, changes, changes, 0, True,
    )  # fmt: skip


@allocating_kernel(numba.from_dtype(PIECE)[::1](numba.typeof(_blank())))
def causes(run):
    """The pieces of all waits, by their end. Pieces of one wait follow each other without a gap."""
    waits, holds, n_resources = run.waits, run.holds, len(run.capacity)
    last_of_wait, place = waits["last"], waits["place"]
    by_end, last_of_hold = run.by_end, holds["last"]
    free, room, scratch = run.capacity.copy(), run.room.copy(), run.room.copy()
    lines = np.empty((n_resources, len(holds) + 1), np.int64)
    sums = np.empty((n_resources, len(holds) + 1), np.int64)
    n_active, limit = np.zeros(n_resources, np.int64), np.full(run.n_jobs, -1, np.int64)
    text, behind = np.full(run.n_jobs, -1, np.int64), np.full(run.n_jobs, -1, np.int64)
    line, held, keep = np.empty(len(waits) + 1, np.int64), np.zeros(len(waits), np.bool_), 0
    best, now, longest = np.zeros(len(waits), PIECE), np.zeros(len(waits), PIECE), np.full(len(waits), -1.0)
    pieces, n_pieces, n_waiting, n_down = np.empty(4 * len(waits) + 16, PIECE), 0, 0, 0
    ended, taken, come, n_held, n_downs, n_said = 0, 0, 0, 0, 0, 0
    for i in range(len(run.times)):
        time = run.times[i]
        while ended < len(holds) and last_of_hold[by_end[ended]] == i:
            h = by_end[ended]
            ended += 1
            r = holds[h]["resource"]
            if holds[h]["first"] == i:
                continue
            _remove(lines[r], n_active[r], h)
            n_active[r] -= 1
            free[r] += holds[h]["amount"]
            _add_room(room, run.stores, holds[h], 1, 1)
        while taken < len(holds) and holds[taken]["first"] == i:
            r = holds[taken]["resource"]
            if holds[taken]["last"] > i:
                _insert(lines[r], n_active[r], taken, last_of_hold)
                n_active[r] += 1
                free[r] -= holds[taken]["amount"]
                _add_room(room, run.stores, holds[taken], 1, -1)
            taken += 1
        while n_held < len(run.held) and run.held[n_held]["instant"] == i:
            limit[run.held[n_held]["subject"]] = run.held[n_held]["what"]
            n_held += 1
        while n_downs < len(run.down) and run.down[n_downs]["instant"] == i:
            n_down += run.down[n_downs]["nodes"]
            free[0] -= run.down[n_downs]["nodes"]
            n_downs += 1
        while n_said < len(run.said) and run.said[n_said]["instant"] == i:
            text[run.said[n_said]["subject"]] = run.said[n_said]["what"]
            behind[run.said[n_said]["subject"]] = run.said[n_said]["nodes"]
            n_said += 1
        if n_pieces + n_waiting >= len(pieces):
            pieces = _longer(pieces)
        keep = 0
        for k in range(n_waiting):
            w = line[k]
            if last_of_wait[w] > i:
                line[keep] = w
                keep += 1
            else:
                _end_streak(best, now, longest, w, -1, 0, waits[w]["until"])
                _close(pieces, n_pieces, best, w, waits[w]["until"])
                n_pieces += 1
        n_waiting = keep
        while come < len(waits) and waits[come]["first"] == i:
            if last_of_wait[come] > i:
                _insert(line, n_waiting, come, place)
                n_waiting += 1
                best[come]["cause"] = -1
            come += 1
        if n_waiting == 0:
            continue
        for r in range(n_resources):
            total = 0
            for k in range(n_active[r]):
                total += holds[lines[r, k]]["amount"]
                sums[r, k] = total
        front = -1
        for k in range(n_waiting):
            held[line[k]] = limit[waits[line[k]]["job"]] >= 0
        if run.by_start:
            front = _first_to_start(waits, line, n_waiting, held)
        if n_pieces + n_waiting >= len(pieces):
            pieces = _longer(pieces)
        for k in range(n_waiting):
            w = line[k]
            wait = waits[w]
            j = wait["job"]
            cause, what, other, left = FITS, -1, -1, 0
            if text[j] >= 0:
                cause, what, other = SAID, text[j], behind[j]
            elif held[w]:
                cause, what = HELD, limit[j]
            else:
                found, r, hold = _shortage(run.needs[w], free, n_down, holds, lines, sums, n_active)
                if found >= 0:
                    cause, what, other, left = found, r, hold, free[r]
                elif wait["chunk"] > 0:
                    c = run.chunked
                    hold = _last_chunk(
                        room, scratch, run.stores, holds, lines[c], n_active[c], wait["chunk"], wait["n_chunks"]
                    )
                    if hold != -1:
                        cause, what, other, left = CHUNKS, c, hold, free[c]
            if (
                cause == FITS
                and front >= 0
                and front != w
                and (not run.by_start or last_of_wait[front] < last_of_wait[w])
            ):
                cause, other = BEHIND, waits[front]["job"]
            if front < 0 and not held[w]:
                front = w
            if cause != best[w]["cause"] or what != best[w]["what"]:
                begins = time
                if best[w]["cause"] >= 0:
                    _end_streak(best, now, longest, w, other, left, time)
                    _close(pieces, n_pieces, best, w, time)
                    n_pieces += 1
                else:
                    begins = wait["since"]
                best[w]["start"] = begins
                best[w]["cause"] = cause
                best[w]["what"] = what
                now[w]["start"] = begins
                now[w]["other"] = other
                now[w]["free"] = left
                longest[w] = -1.0
            elif other != now[w]["other"]:
                _end_streak(best, now, longest, w, other, left, time)
    return pieces[:n_pieces]
