"""What jobs held, of which resource, from which instant to which: takes and gives of the log put together."""

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from forebay.algorithms.waiting import HOLD

if TYPE_CHECKING:
    from forebay.explain._log import Log

_TAKES, _GIVES = (2, 3), (4, 5)  # start and acquire, release and end


def holds_of(log: "Log", chunks: pl.DataFrame, chunked: int, n_instants: int) -> tuple[np.ndarray, np.ndarray]:
    """Holds in order of their beginning, and where those of chunks lie: server and bytes."""
    takes, gives = np.isin(log.kind, _TAKES), np.isin(log.kind, _GIVES)
    rows = np.flatnonzero((takes | gives) & (log.resource >= 0) & (log.amount > 0))
    rows = rows[np.lexsort((rows, log.resource[rows], log.job[rows]))]
    group = np.append(0, np.cumsum((np.diff(log.job[rows]) != 0) | (np.diff(log.resource[rows]) != 0)))[: len(rows)]
    # Mostly what is taken is given back by the next change, all of it.
    sizes = np.bincount(group) if len(rows) else np.zeros(0, np.int64)
    place = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    wrong = takes[rows] != (place % 2 == 0)
    pairs = (place % 2 == 1) & (log.amount[rows] != log.amount[np.append(0, rows[:-1])[: len(rows)]])
    odd = np.isin(group, group[wrong | pairs]) | (np.repeat(sizes, sizes) % 2 == 1)
    even = rows[~odd]
    taken, given, amount = even[::2], even[1::2], log.amount[even[::2]]
    pieces = [np.stack([taken, log.instant[given], amount])]
    pieces.append(_matched(log, rows[odd], n_instants))
    first, last, amount = np.concatenate(pieces, axis=1)
    holds = np.zeros(len(first), HOLD)
    holds["first"], holds["last"], holds["amount"] = log.instant[first], last, amount
    holds["job"], holds["resource"] = log.job[first], log.resource[first]
    if chunked < 0:
        return holds[np.argsort(holds["first"], kind="stable")], np.zeros((0, 2), np.int64)
    stored = chunks.sort("row", maintain_order=True)
    row = stored["row"].cast(pl.Int64).to_numpy()
    of_chunks = np.flatnonzero(holds["resource"] == chunked)
    start = log.start[first[of_chunks]]
    _, once = np.unique(start, return_index=True)  # chunks of a start are given back together
    of_chunks, start = of_chunks[once], start[once]
    holds["store"][of_chunks] = np.searchsorted(row, start)
    holds["n_stores"][of_chunks] = np.searchsorted(row, start, side="right") - holds["store"][of_chunks]
    stores = np.ascontiguousarray(stored.select(pl.col("server", "bytes").cast(pl.Int64)).to_numpy())
    return holds[np.argsort(holds["first"], kind="stable")], stores


def _matched(log: "Log", rows: np.ndarray, n_instants: int) -> np.ndarray:
    """Takes and gives of jobs that change what they hold: what was taken last is given back first."""
    found: list[tuple[int, int, int]] = []
    held: list[list[int]] = []
    whose = (-1, -1)
    for row in [*rows.tolist(), -1]:
        mine = (int(log.job[row]), int(log.resource[row])) if row >= 0 else (-1, -1)
        if mine != whose:
            found += [(take, n_instants, amount) for take, amount in held]
            held, whose = [], mine
        if row < 0:
            break
        left = int(log.amount[row])
        if log.kind[row] in _TAKES:
            held.append([row, left])
            continue
        while left and held:
            some = min(left, held[-1][1])
            found.append((held[-1][0], int(log.instant[row]), some))
            held[-1][1] -= some
            left -= some
            if not held[-1][1]:
                held.pop()
    return np.array(found, np.int64).reshape(-1, 3).T
