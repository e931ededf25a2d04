"""What became of the machine's time where nodes fail: useful work, checkpoints, recovery, losses, nodes down and idle.

Taken over the makespan or the result's window. Whatever crosses a border of that counts with the part inside, also of
jobs submitted outside; flows are of the jobs submitted inside, whenever they end.
"""

import numpy as np
import polars as pl

from forebay.metrics._metric import metric
from forebay.metrics._table import changes, fails, span
from forebay.metrics.jobs import mean, percentiles, weighted_mean
from forebay.results import SPENT, Result, n_ids, spent

ACCOUNTS = (*SPENT, "down", "idle")


def outages(result: Result) -> pl.DataFrame:
    """When nodes were down: `node`, `start` and `end` (null where the log ends before), by node and start.

    Examples
    --------
    >>> fb.metrics.outages(fb.simulate("table1")).height
    0
    """
    kind = pl.col("kind").cast(pl.String)
    rows = (
        result.log.lazy()
        .select(start="time", kind=kind, node=pl.col("amount").cast(pl.Int64))
        .filter(pl.col("kind").is_in(["node_down", "node_up"]))
        .sort("node", maintain_order=True)
        # A node that fails while it is down stays down.
        .filter(pl.col("kind").ne_missing(pl.col("kind").shift(1).over("node")))
        .with_columns(end=pl.col("start").shift(-1).over("node"))
    )
    return rows.filter(pl.col("kind") == "node_down").select("node", "start", "end").collect()


def accounts(result: Result) -> pl.DataFrame | None:
    """A row for each account of node-time: `account`, `node_hours` and its `share`; None without jobs.

    Together they are the nodes x the time. Idle are nodes that are up and run nothing, also those that a job keeps
    while it waits for its next leg.

    Examples
    --------
    >>> fb.metrics.accounts(fb.simulate("table1")).rows()[-1]
    ('idle', 0.08333333333333333, 0.11363636363636363)
    """
    seconds, during = _node_seconds(result), span(result)
    if seconds is None or during is None:
        return None
    whole = result.resources[result.unit] * (during[1] - during[0])
    return pl.DataFrame({"account": ACCOUNTS, "node_hours": seconds / 3600, "share": seconds / whole})


def _node_seconds(result: Result) -> np.ndarray | None:
    """Those of each account."""
    during, nodes = span(result), result.resources[result.unit]
    if during is None or during[0] >= during[1] or nodes == 0:
        return None
    pieces = spent(result.log)
    area = _inside(pieces, during) * pieces["nodes"].to_numpy()
    used = np.bincount(pieces["what"].to_physical().to_numpy(), area, len(SPENT))
    away = outages(result)
    down = (_inside(away, during) * n_ids(result, away["node"].to_numpy())).sum()
    idle = nodes * (during[1] - during[0]) - used.sum() - down
    return np.append(used, [down, max(idle, 0.0)])  # of fractions, the sum may be more by a rounding


def _inside(pieces: pl.DataFrame, during: tuple[float, float]) -> np.ndarray:
    """The seconds of each piece that lie in that time."""
    end, start = pieces["end"].fill_null(during[1]).to_numpy(), pieces["start"].to_numpy()
    found: np.ndarray = np.clip(end, *during) - np.clip(start, *during)
    return found


_SHARES = ["useful_utilisation", *(f"{name}_share" for name in ACCOUNTS[1:])]
_HOURS = [f"{name}_node_hours" for name in ACCOUNTS]


@metric(
    *_SHARES,
    *_HOURS,
    unit=lambda name: "node-hours" if name in _HOURS else "share",
    group="failures",
    needs=fails,
    better=lambda name: "higher" if name == "useful_utilisation" else "lower",
)
def _every_account(result: Result) -> dict[str, float | None]:
    found = accounts(result)
    if found is None:
        return dict.fromkeys([*_SHARES, *_HOURS])
    return dict(zip([*_SHARES, *_HOURS], [*found["share"], *found["node_hours"]], strict=True))


@metric(unit="share", group="failures", needs=fails)
def free_node_share(result: Result) -> float | None:
    """The share of time in which at least one node is free: up, and held by no job."""
    during = span(result)
    if during is None or during[0] >= during[1]:
        return None
    held, down = changes(result, result.unit).select("time", "amount").collect(), outages(result)
    gone, back = n_ids(result, down["node"].to_numpy()), down["end"].is_not_null().to_numpy()
    times = np.concatenate([held["time"], down["start"], down["end"].drop_nulls(), during])
    taken = np.concatenate([held["amount"], gone, -gone[back], np.zeros(2)])
    order = np.argsort(times, kind="stable")
    free = np.cumsum(taken[order]) < result.resources[result.unit]
    edges = np.clip(times[order], *during)
    return float(np.diff(edges)[free[:-1]].sum() / (during[1] - during[0]))


def _rows(result: Result, what: pl.Expr) -> int:
    """How many rows of the log say so, in the result's window."""
    start, end = result.facts.get("window", (-np.inf, np.inf))
    inside = pl.col("time").is_between(start, end, closed="left")
    return int(result.log.select((what & inside).sum()).item())


@metric(unit="times", group="failures", needs=fails)
def n_failures(result: Result) -> int:
    """How often a node failed."""
    return _rows(result, pl.col("kind").cast(pl.String) == "node_down")


@metric(unit="times", group="failures", needs=fails)
def n_steals(result: Result) -> int:
    """How often the policy interrupted a running job, to have its nodes for another: by stealing, or preemption."""
    reason = pl.col("reason").cast(pl.String)
    return _rows(result, (pl.col("kind").cast(pl.String) == "end") & (reason == "interrupted"))


@metric(unit="jobs", group="failures", needs=fails)
def n_failed(result: Result) -> int:
    """Jobs given up, as they failed too often without a new checkpoint."""
    return int((result.jobs["final_state"].cast(pl.String) == "COMPLETED_FAILED").sum())


@metric("max_flow", "mean_flow", "node_weighted_flow", unit="s", group="failures", needs=fails)
def _flows(result: Result) -> dict[str, float | None]:
    """Turnaround times, as work on failures calls them."""
    name = "turnaround_time"
    longest, weighted = percentiles(result, name)["max"], weighted_mean(result, name)
    return {"max_flow": longest, "mean_flow": mean(result, name), "node_weighted_flow": weighted}
