"""What `forebay workload info` reports: counts, spreads and shares of a workload, as plain values for JSON."""

import math
from datetime import UTC, datetime
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from forebay.workload import _suggest, dates, recorded
from forebay.workload._checks.oddities import findings
from forebay.workload._source import machine_nodes
from forebay.workload.dependencies import count_kinds, longest_chain
from forebay.workload.operations import REFERENCE_SPEED
from forebay.workload.workload import Workload

_DAY = 86400.0
_FEW = 100  # jobs


def describe(w: Workload, n_nodes: int | None = None) -> dict[str, Any]:
    """Facts of a workload; `n_nodes` is the machine's size where the workload itself does not say.

    Run times take work given in flop at `REFERENCE_SPEED`; `flop` says for how many jobs.
    """
    jobs = w.jobs
    submit = jobs["submit"].to_numpy()
    span = float(submit.max() - submit.min()) if len(w) else 0.0
    run = (jobs["run_time"] + jobs["flop"] / REFERENCE_SPEED).to_numpy()
    walltime, cancel = jobs["walltime"].to_numpy(), jobs["cancel"].to_numpy()
    stays = np.isinf(cancel)
    n_nodes = n_nodes or machine_nodes(w.platform)
    seconds = np.minimum(np.minimum(run, walltime), cancel)
    dated = len(w) > 0 and dates.is_dated(w)
    return {
        **_source(w),
        "period": [dates.date_of(w, float(edge)) for edge in (submit.min(), submit.max())] if dated else None,
        "first_submit": float(submit.min()) if len(w) else None,
        "last_submit": float(submit.max()) if len(w) else None,
        "span": span,
        "arrivals_per_day": _arrivals(submit, span),
        "platform": w.platform,
        "machine_nodes": n_nodes,
        "offered_load": _load(jobs["nodes"].to_numpy(), seconds, span, n_nodes),
        "steady": _steady(submit, jobs["nodes"].to_numpy(), seconds, n_nodes),
        **_how_many(jobs),
        "by_queue": recorded.by_queue(w),
        "recorded": recorded.numbers(w),
        "peaks": _suggest.peaks(w),
        "suggested_platform": _suggested(w),
        "dependencies": _dependencies(w),
        "nodes": _spread(jobs["nodes"].to_numpy()),
        **_sizes(jobs),
        "run_time": _spread(run),
        "walltime": _spread(walltime[np.isfinite(walltime)]),
        "flop": _flop(jobs),
        "cancelled": {"jobs": int((~stays).sum()), "after": _spread(cancel[~stays])},
        "estimates": _estimates(run[stays], walltime[stays]),
        "findings": findings(w, n_nodes),
        "resources": {name: _demand(jobs[name].to_numpy()) for name in w.resources if name in jobs.columns},
    }


def _source(w: Workload) -> dict[str, Any]:
    """What it is and where it comes from."""
    return {
        "name": w.name,
        "jobs": len(w),
        "records": w.records,
        "dropped": dict(w.dropped),
        "notes": list(w.notes),
        "provenance": list(w.provenance),
        "sha256": w.sha256,
        "epoch": w.epoch,
        "epoch_iso": _iso(w.epoch),
    }


def _how_many(jobs: pl.DataFrame) -> dict[str, int]:
    """How many users, groups and the like there are."""
    called = {"user": "users", "group": "groups", "queue": "queues", "account": "accounts", "qos": "qos"}
    known = {name: word for name, word in called.items() if name in jobs.columns}
    return {word: jobs.filter(pl.col(name) >= 0)[name].n_unique() for name, word in known.items()}


def _dependencies(w: Workload) -> dict[str, Any] | None:
    """Who waits for whom: counts, and how many jobs at most stand one behind the other."""
    table = w.dependencies
    if table is None:
        return None
    return {
        "count": len(table),
        "jobs": table["job"].n_unique(),
        "kinds": count_kinds(w),
        "longest_chain": longest_chain(w),
    }


def _iso(epoch: float) -> str | None:
    try:
        return datetime.fromtimestamp(epoch, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None


def _spread(values: NDArray[Any]) -> dict[str, float] | None:
    if not len(values):
        return None
    return {
        "min": values.min().item(),
        "median": float(np.median(values)),
        "mean": float(values.mean()),
        "p95": float(np.percentile(values, 95)),
        "max": values.max().item(),
    }


def _sizes(jobs: pl.DataFrame) -> dict[str, float | None]:
    """Shares of serial jobs, and of sizes that are a power of two (1 is one): in cores, where the trace has them.

    Then the share of jobs on one node is given, too; a job without cores counts as many as it has nodes.
    """
    nodes = jobs["nodes"].to_numpy()
    cores = jobs["cores"].to_numpy() if "cores" in jobs.columns else np.zeros_like(nodes)
    if not len(nodes):
        return {"serial_share": None, "one_node_share": None, "power_of_two_share": None}
    size = np.where(cores > 0, cores, nodes)
    return {
        "serial_share": float(((size == 1) & (nodes <= 1)).mean()),
        "one_node_share": float((nodes == 1).mean()) if (cores > 0).any() else None,
        "power_of_two_share": float(((size > 0) & (size & (size - 1) == 0)).mean()),
    }


def _suggested(w: Workload) -> dict[str, str | None] | None:
    """A machine with shared nodes: as a spec where one is enough, and as a platform file."""
    found = _suggest.suggestion(w)
    return None if found is None else {"spec": found.spec, "toml": found.toml(w.name)}


def _estimates(run: NDArray[Any], walltime: NDArray[Any]) -> dict[str, Any]:
    """How good users' requests are, over jobs that made one and stay; a job past its walltime counts as accuracy 1."""
    asked = np.isfinite(walltime)
    run, walltime = run[asked], walltime[asked]
    some = len(run) > 0
    used = np.minimum(run, walltime) / np.where(walltime > 0, walltime, 1)
    return {
        "jobs_without_walltime": int((~asked).sum()),
        "mean_accuracy": float(used.mean()) if some else None,
        "perfect_share": float((run == walltime).mean()) if some else None,
        "jobs_past_walltime": int((run > walltime).sum()),
    }


def _flop(jobs: pl.DataFrame) -> dict[str, Any] | None:
    flop = jobs["flop"].to_numpy()
    if not (flop > 0).any():
        return None
    return {"jobs": int((flop > 0).sum()), "assumed_speed": REFERENCE_SPEED, "per_node": _spread(flop[flop > 0])}


def _load(nodes: NDArray[Any], seconds: NDArray[Any], span: float, n_nodes: int | None) -> float | None:
    """Node-seconds asked for over node-seconds there are, from first to last submission."""
    if not n_nodes or not span:
        return None
    return math.fsum(nodes * seconds) / (n_nodes * span)


def _steady(
    submit: NDArray[Any], nodes: NDArray[Any], seconds: NDArray[Any], n_nodes: int | None
) -> dict[str, Any] | None:
    """Arrivals without the first and the last hundredth: one job from long before would stretch the period at will.

    Of fewer than a hundred jobs there is nothing to cut off.
    """
    if len(submit) < _FEW:
        return None
    start, end = np.percentile(submit, [1, 99])
    within = (submit >= start) & (submit <= end)
    load = _load(nodes[within], seconds[within], float(end - start), n_nodes)
    return {"start": float(start), "end": float(end), "jobs": int(within.sum()), "offered_load": load}


def _arrivals(submit: NDArray[Any], span: float) -> dict[str, float] | None:
    """Jobs a day on average, in the emptiest whole day since the first submission, and in the fullest of all.

    The last day is only begun: few jobs in it mean nothing, but many do.
    """
    if not span:
        return None
    days = max(int(span // _DAY), 1)
    # Only days on which anything arrives are counted one by one: a slip in a submit time may make many others.
    day, jobs = np.unique((submit - submit.min()) // _DAY, return_counts=True)
    whole = jobs[day < days]
    return {
        "mean": len(submit) / (span / _DAY),
        "min": int(whole.min()) if len(whole) == days else 0,
        "max": int(jobs.max()),
    }


def _demand(amounts: NDArray[Any]) -> dict[str, Any]:
    """A resource over the jobs that ask for it."""
    asking = amounts[amounts > 0]
    spread = _spread(asking)
    return {"jobs": len(asking)} | (
        {key: spread[key] for key in ("min", "mean", "median", "p95", "max")} if spread else {}
    )
