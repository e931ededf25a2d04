"""Jobs for which enough is free in total, but scattered over nodes: the replay of amounts takes them for jobs that fit.

Shared nodes are looked at one by one. As long as too few of them have room for a part of the job, the job lacks room,
and the piece of its wait is cut there.
"""

from typing import NamedTuple

import numpy as np

from forebay.algorithms.waiting import BEHIND, FITS
from forebay.explain._inside import ALONE, PACKED, SPREAD, TOGETHER, Inside
from forebay.explain._replay import Scene

ROOM = 7
"""A cause in addition to those of `algorithms.waiting`: `what` is the dimension that is short, -1 = several; `other` is
the job whose end would leave room, `free` the number of parts that have room."""
ROOM_DOWN = 8
"""The same where nodes that have failed would have room."""
_HOW = (ALONE, PACKED, SPREAD, TOGETHER)


class _States(NamedTuple):
    """How each node changes: a row a change, by time. What is free before and after; a node that is down has none."""

    instant: np.ndarray
    node: np.ndarray
    before: np.ndarray  # int64[change, cores memory gpus]
    after: np.ndarray
    by_node: np.ndarray  # rows by node and time
    key: np.ndarray  # keys of `by_node`, ascending


class _Way(NamedTuple):
    """What is in the way at an instant, and until which instant."""

    cause: int
    what: int
    other: int
    free: int
    until: int


class _Shape(NamedTuple):
    """What a group of waits with the same request asks of nodes."""

    nodes: np.ndarray  # bool[node]
    each: np.ndarray
    parts: int
    placing: str


def with_room(found: Scene, pieces: np.ndarray) -> np.ndarray:
    """The pieces with those cut out in which a job lacks room."""
    inside = found.inside
    if inside is None:
        return pieces
    chosen = np.flatnonzero(np.isin(pieces["cause"], (BEHIND, FITS)) & (inside.parts[pieces["wait"]] > 0))
    if not len(chosen):
        return pieces
    states, times = _states(inside), found.replay.times
    wait = pieces["wait"][chosen]
    how = np.array([_HOW.index(one) for one in inside.placing], np.int64)
    keys = np.column_stack([inside.where.of[wait], inside.parts[wait], how[wait], inside.each[wait]])
    _, first, shape_of = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    made, rest = [], np.ones(len(pieces), bool)
    for k, example in enumerate(first.tolist()):
        mine = chosen[shape_of.reshape(-1) == k]
        w = int(wait[example])
        shape = _Shape(inside.where.sets[inside.where.of[w]], inside.each[w], int(inside.parts[w]), inside.placing[w])
        cut = _cut(inside, states, shape, pieces[mine], times)
        if cut is not None:
            rest[mine] = False
            made.append(cut)
    return np.concatenate([pieces[rest], *made]) if made else pieces


def _states(inside: Inside) -> _States:
    down = inside.down
    n, full = len(inside.node), inside.machine.full
    instant = np.concatenate([inside.first, inside.last, down[:, 0]])
    node = np.concatenate([inside.node, inside.node, down[:, 1]])
    change = np.concatenate([-inside.amount, inside.amount, np.zeros((len(down), 3), np.int64)])
    outage = np.concatenate([np.zeros(2 * n, np.int64), down[:, 2]])
    span = int(instant.max(initial=0)) + 1
    by_node = np.argsort(node * span + instant, kind="stable")
    key = (node * span + instant)[by_node]
    owner = node[by_node]
    begins = np.append(True, owner[1:] != owner[:-1])[: len(owner)]
    group = np.cumsum(begins) - 1

    def running(values: np.ndarray) -> np.ndarray:
        """Sums from each node's first change on."""
        sums = np.cumsum(values, axis=0)
        before: np.ndarray = (sums - values)[begins][group] if len(values) else sums
        since: np.ndarray = sums - before
        return since

    free = full[owner] + running(change[by_node])
    free = np.where((running(outage[by_node]) > 0)[:, None], 0, free)
    before = np.where(begins[:, None], full[owner], np.roll(free, 1, axis=0)) if len(free) else free
    order = np.argsort(instant[by_node], kind="stable")
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return _States(instant[by_node][order], owner[order], before[order], free[order], back, key)


def _holds(free: np.ndarray, full: np.ndarray, shape: _Shape, each: np.ndarray) -> np.ndarray:
    """How many parts of a job nodes in these states have room for."""
    if not each.any():
        return np.full(len(free), shape.parts, np.int64)
    if shape.placing in (ALONE, PACKED):
        free = np.where((free == full).all(axis=1)[:, None], free, 0)
    fits = np.min([free[:, d] // each[d] for d in range(3) if each[d] > 0], axis=0)
    held: np.ndarray = np.maximum(np.minimum(fits, 1) if shape.placing in (ALONE, SPREAD) else fits, 0)
    return held


def _at(inside: Inside, states: _States, instant: int) -> np.ndarray:
    """What is free of each node once all changes of an instant are made."""
    span = int(states.instant.max(initial=0)) + 1
    nodes = np.arange(inside.machine.nodes)
    place = np.searchsorted(states.key, nodes * span + min(instant, span - 1), side="right") - 1
    row = states.by_node[np.maximum(place, 0)]
    known = (place >= 0) & (states.node[row] == nodes)
    free: np.ndarray = np.where(known[:, None], states.after[row], inside.machine.full)
    return free


def _cut(inside: Inside, states: _States, shape: _Shape, pieces: np.ndarray, times: np.ndarray) -> np.ndarray | None:
    """Pieces of one shape, cut where room for it comes and goes; None if it is always there."""
    begin, end = (int(np.searchsorted(times, edge)) for edge in (pieces["start"].min(), pieces["end"].max()))
    a, b = (int(np.searchsorted(states.instant, edge, side="right")) for edge in (begin, end))
    rows = np.arange(a, b)[shape.nodes[states.node[a:b]]]
    full, base = inside.machine.full, _at(inside, states, begin)
    count = int(_holds(base[shape.nodes], full[shape.nodes], shape, shape.each).sum())
    of = full[states.node[rows]]
    steps = _holds(states.after[rows], of, shape, shape.each) - _holds(states.before[rows], of, shape, shape.each)
    counts = np.append(count, count + np.cumsum(steps))
    instants = np.append(begin, states.instant[rows])
    last = np.append(instants[1:] != instants[:-1], True)
    counts, instants = counts[last], instants[last]
    lacks = counts < shape.parts
    if not lacks.any():
        return None
    edges = np.append(True, lacks[1:] != lacks[:-1])
    instants, lacks = instants[edges], lacks[edges]
    cut, lacking = _parted(pieces, times, instants, lacks)
    _blame(inside, states, shape, cut, lacking, times)
    return cut


def _parted(
    pieces: np.ndarray, times: np.ndarray, instants: np.ndarray, lacks: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Pieces, cut at the instants at which room comes or goes; and which of the parts lack it."""
    from_, to = np.searchsorted(times, pieces["start"]), np.searchsorted(times, pieces["end"])
    first = np.searchsorted(instants, from_, side="right") - 1
    n = np.maximum(np.searchsorted(instants, to, side="left") - first, 1)
    which = np.repeat(np.arange(len(pieces)), n)
    place = np.repeat(first - np.append(0, np.cumsum(n)[:-1]), n) + np.arange(int(n.sum()))
    cut, begins = pieces[which], place == first[which]
    ends = np.append(begins[1:], True)
    cut["start"] = np.where(begins, pieces["start"][which], times[instants[place]])
    cut["end"] = np.where(ends, pieces["end"][which], np.append(cut["start"][1:], 0.0))
    lasts = cut["end"] > cut["start"]
    return cut[lasts], lacks[place][lasts]


def _blame(
    inside: Inside, states: _States, shape: _Shape, cut: np.ndarray, lacking: np.ndarray, times: np.ndarray
) -> None:
    """Write into parts of pieces that lack room what was in the way for longest without a break."""
    known: dict[int, _Way] = {}

    def way(at: int) -> _Way:
        if at not in known:
            known[at] = _relief(inside, shape, _at(inside, states, at), at)
        return known[at]

    for k in np.flatnonzero(lacking).tolist():
        at, end = (int(np.searchsorted(times, cut[k][edge])) for edge in ("start", "end"))
        best, longest = way(at), -1.0
        while at < end:
            now = way(at)
            until = min(max(now.until, at + 1), end)
            if times[until] - times[at] > longest:
                best, longest = now, times[until] - times[at]
            at = until
        cut[k]["cause"], cut[k]["what"], cut[k]["other"], cut[k]["free"] = best[:4]


def _relief(inside: Inside, shape: _Shape, free: np.ndarray, at: int) -> _Way:
    """What is short, the job whose end leaves room if no job takes any before, and the parts that have room now."""
    mine, full = free[shape.nodes], inside.machine.full
    now = int(_holds(mine, full[shape.nodes], shape, shape.each).sum())
    failed = inside.down[inside.down[:, 0] <= at]
    away = np.bincount(failed[:, 1], failed[:, 2], minlength=len(full)) > 0
    if away.any():
        back = np.where(away[:, None], full, free)[shape.nodes]
        if int(_holds(back, full[shape.nodes], shape, shape.each).sum()) >= shape.parts:
            changes = inside.down[:, 0][inside.down[:, 0] > at]
            return _Way(ROOM_DOWN, -1, -1, now, int(changes.min(initial=np.iinfo(np.int64).max)))
    asked = [d for d in range(3) if shape.each[d] > 0 and shape.placing in (SPREAD, TOGETHER)]
    short = [d for d in asked if _fits_without(mine, full[shape.nodes], shape, d)]
    held = np.flatnonzero((inside.first <= at) & (inside.last > at) & shape.nodes[inside.node])
    held = held[np.lexsort((held, inside.last[held], inside.node[held]))]
    node, given = inside.node[held], inside.amount[held]
    begins = np.append(True, node[1:] != node[:-1])[: len(node)]
    sums = np.cumsum(given, axis=0)
    after = free[node] + sums - (sums - given)[begins][np.cumsum(begins) - 1] if len(held) else given
    gained = _holds(after, full[node], shape, shape.each) - _holds(after - given, full[node], shape, shape.each)
    order = np.lexsort((held, inside.last[held]))
    enough = np.flatnonzero(now + np.cumsum(gained[order]) >= shape.parts)
    last = order[enough[0] if len(enough) else -1] if len(held) else -1
    other, until = (int(inside.job[held[last]]), int(inside.last[held[last]])) if len(held) else (-1, at + 1)
    return _Way(ROOM, short[0] if len(short) == 1 else -1, other, now, until)


def _fits_without(free: np.ndarray, full: np.ndarray, shape: _Shape, d: int) -> bool:
    """Whether a job would have room if it asked for nothing of one dimension."""
    return int(_holds(free, full, shape, np.where(np.arange(3) == d, 0, shape.each)).sum()) >= shape.parts
