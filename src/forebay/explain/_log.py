"""The log of a run as arrays: the changes that count for waits."""

from typing import NamedTuple

import numpy as np
import polars as pl

from forebay.results import Result

KINDS = (
    "submit",
    "queue",
    "start",
    "acquire",
    "release",
    "end",
    "cancel",
    "reject",
    "node_down",
    "node_up",
    "eligible",
)


class Log(NamedTuple):
    """The changes that count, as arrays: `row` is that of the whole log, `start` the last row of a start up to it."""

    row: np.ndarray
    time: np.ndarray
    instant: np.ndarray
    job: np.ndarray  # place among `ids`; -1 = a node's
    kind: np.ndarray  # place in KINDS
    leg: np.ndarray
    resource: np.ndarray  # place among the resources; -1 = none
    amount: np.ndarray
    start: np.ndarray
    resized: np.ndarray


def read_log(result: Result, ids: np.ndarray, resources: list[str], more: np.ndarray) -> tuple[Log, np.ndarray]:
    """The changes, and the times of all instants: those of the log, and `more`."""
    codes = {name: place for place, name in enumerate(KINDS)}
    names = {name: place for place, name in enumerate(resources)}
    frame = (
        result.log.lazy()
        .with_row_index("row")
        .filter(pl.col("kind").cast(pl.String).is_in(KINDS))
        .select(
            pl.col("row").cast(pl.Int64),
            "time",
            pl.col("job").cast(pl.Int64).fill_null(-1),
            pl.col("kind").cast(pl.String).replace_strict(codes, return_dtype=pl.Int64),
            pl.col("leg").cast(pl.Int64),
            pl.col("resource").cast(pl.String).replace_strict(names, default=-1, return_dtype=pl.Int64),
            pl.col("amount").cast(pl.Int64),
            resized=pl.col("reason") == "resized",
        )
        .with_columns(start=pl.when(pl.col("kind") == codes["start"]).then("row").forward_fill().fill_null(-1))
        .collect()
    )
    arrays = {name: frame[name].to_numpy() for name in frame.columns}
    times = _instants(np.concatenate([arrays["time"], more]))
    arrays["instant"] = np.searchsorted(times, arrays["time"])
    arrays["job"] = np.where(arrays["job"] >= 0, places_of(ids, arrays["job"]), -1)
    return Log(**arrays), times


def of_kinds(log: Log, *kinds: str) -> np.ndarray:
    """Which rows are of these kinds."""
    chosen: np.ndarray = np.isin(log.kind, [KINDS.index(kind) for kind in kinds])
    return chosen


def took_of(log: Log, n_resources: int) -> np.ndarray:
    """What the start in each row of the log took of each resource; nothing in other rows."""
    took = np.zeros((int(log.row[-1]) + 1 if len(log.row) else 0, n_resources), np.int64)
    taken = (of_kinds(log, "start") | (of_kinds(log, "acquire") & ~log.resized)) & (log.resource >= 0)
    took[log.start[taken], log.resource[taken]] = log.amount[taken]
    return took


def _instants(times: np.ndarray) -> np.ndarray:
    """The last time of each instant. Times that differ in their last bits alone are of one."""
    ordered = np.unique(times)
    width = np.minimum(1e-9 * np.maximum(1.0, np.abs(ordered)), 1e-6)
    last: np.ndarray = ordered[np.append(np.diff(ordered) > width[:-1], True)] if len(ordered) else ordered
    return last


def places_of(ids: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The place of each id; -1 of those that are not among them."""
    if not len(ids):
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(ids, kind="stable")
    at = np.minimum(np.searchsorted(ids[order], wanted), len(ids) - 1)
    places: np.ndarray = np.where(ids[order][at] == wanted, order[at], -1)
    return places
