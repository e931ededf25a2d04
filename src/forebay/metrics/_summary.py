"""All numbers of a run in one flat dictionary, for tables, comparisons and run.json."""

import polars as pl

from forebay.metrics import jobs, machine, starvation, traffic
from forebay.metrics._table import NODES, STAGING, measure, with_node_seconds
from forebay.metrics.window import window as restrict
from forebay.results import Result

SPREAD = ("waiting_time", "turnaround_time", "slowdown", "bounded_slowdown_10s", "bounded_slowdown_10min")
NODE_WEIGHTED = ("waiting_time", "turnaround_time", "bounded_slowdown_10min")

Number = float | int | None


def summary(result: Result, window: tuple[float, float] | None = None) -> dict[str, Number]:
    """Every number of a run, or of the jobs submitted in a window of it (seconds); None where no job counts.

    ci95_* is 1.96 s / sqrt(n) over the jobs of this one run. Numbers of staging and traffic are there only where the
    run has any.
    """
    if window is not None:
        result = restrict(result, *window)
    return {**_counts(result), **_machine(result), **_jobs(result), **_traffic(result), **_tiers(result)}


def _counts(result: Result) -> dict[str, Number]:
    return {
        "n_jobs": machine.n_jobs(result),
        "n_started": machine.n_started(result),
        "n_killed": machine.n_killed(result),
        "n_rejected": machine.n_rejected(result),
        "n_cancelled": machine.n_cancelled(result),
        "n_waiting_over_10_walltimes": starvation.n_waiting_over_10_walltimes(result),
        "n_waiting_over_a_day": starvation.n_waiting_over_a_day(result),
    }


def _machine(result: Result) -> dict[str, Number]:
    numbers: dict[str, Number] = {
        "makespan": machine.makespan(result),
        "throughput_per_hour": machine.throughput(result),
    }
    for resource in result.resources:
        numbers[f"utilisation_{resource}"] = machine.utilisation(result, resource)
    return numbers


def _jobs(result: Result) -> dict[str, Number]:
    # All measures at once: where thousands of short runs are summed up, asking for each by itself takes half the time.
    wanted = [measure(name).alias(name) for name in (*SPREAD, "total_wait")]
    table = with_node_seconds(result).select(*wanted, NODES, "node_seconds").collect()
    numbers: dict[str, Number] = {}
    for name in SPREAD:
        values = table[name].drop_nulls().to_numpy()
        numbers[f"mean_{name}"] = jobs.mean_of(values)
        numbers[f"ci95_{name}"] = jobs.ci95_of(values)
        for key, value in jobs.percentiles_of(values).items():
            numbers[f"{key}_{name}"] = value
    numbers["mean_total_wait"] = jobs.mean_of(table["total_wait"].drop_nulls().to_numpy())
    for name in NODE_WEIGHTED:
        numbers[f"node_weighted_mean_{name}"] = _weighted(table, name, NODES)
    numbers["node_seconds_weighted_mean_waiting_time"] = _weighted(table, "waiting_time", "node_seconds")
    return numbers


def _weighted(table: pl.DataFrame, name: str, by: str) -> float | None:
    both = table.select(name, by).drop_nulls()
    return jobs.weighted_mean_of(both[name].to_numpy(), both[by].to_numpy())


def _traffic(result: Result) -> dict[str, Number]:
    """Of jobs that stage data; nodes that merely talk to one another leave the summary as it is."""
    if not set(STAGING) <= set(result.jobs.columns):
        return {}
    numbers: dict[str, Number] = {f"mean_{name}": jobs.mean(result, name) for name in STAGING}
    if traffic.pfs_links(result):
        numbers["pfs_utilisation"] = traffic.pfs_utilisation(result)
    if traffic.moves(result):
        numbers |= {f"bytes_{kind}": amount for kind, amount in traffic.moved(result).items()}
    return numbers


def _tiers(result: Result) -> dict[str, Number]:
    counts = machine.jobs_on_tiers(result)
    numbers: dict[str, Number] = {f"n_on_{tier}": count for tier, count in counts.items()}
    for link in traffic.link_names(result) if counts else ():
        numbers[f"link_use_{link.replace(' ', '_')}"] = traffic.link_utilisation(result, link)
    return numbers
