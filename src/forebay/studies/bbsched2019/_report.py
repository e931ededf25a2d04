"""What is reported: which jobs start in the example, uses and waits by method, and how good the genetic fronts are."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from forebay import platforms
from forebay._support.text import counted
from forebay.experiments import statistics
from forebay.experiments.runs import workload_of
from forebay.studies import _tables
from forebay.studies._frame import Finished, Report, machine_text
from forebay.studies._tables import SLOWDOWN, WAIT, Column, Metric, Row
from forebay.studies.bbsched2019 import _example, _figures, _fronts
from forebay.studies.bbsched2019._plan import Scope

NODES = Metric("utilisation_nodes", "nodes in use", 3)
BUFFER = Metric("utilisation_burst_buffer", "buffer in use", 3)
METRICS = (NODES, BUFFER, WAIT, SLOWDOWN)
SSD = Metric("utilisation_ssd", "SSD in use", 3)
WASTED = Metric("wasted_ssd", "SSD wasted", 3)

MADE_UP = "the log is not here (name its folder with --data, or in FOREBAY_DATA): jobs are made up by a model"
UNPUBLISHED = "the paper's logs and result tables are not public: its shapes can be compared with, its numbers cannot"


def report(scope: Scope, finished: Finished) -> Report:
    """Tables and figures of every section that was run."""
    rows = _tables.rows_of(finished)
    made = Report(frames={"runs": _tables.all_numbers(rows)} if rows else {})
    made.notes.append(MADE_UP if scope.trace is None else UNPUBLISHED)
    tellers: dict[str, Callable[[Scope, list[Row], Report], None]] = {
        "example": _example_table,
        "workloads": _workloads,
        "ssd": _ssd,
        "fronts": _front_table,
    }
    for section in scope.sections:
        with made.drawn_of([(run, record) for run, record in finished if run.tags["section"] == section]):
            tellers[section](scope, rows, made)
    return made


def _example_table(scope: Scope, rows: list[Row], made: Report) -> None:
    lines: list[Row] = []
    for policy, expected in _example.METHODS.items():
        jobs = _example.started(policy)
        nodes, buffer = _example.used(jobs)
        lines.append({"policy": policy, "jobs": jobs, "expected": expected, "nodes": nodes, "buffer": buffer})
    columns: list[Column] = [
        ("published", lambda row: " ".join(map(str, row["expected"]))),
        ("ours", lambda row: " ".join(map(str, row["jobs"]))),
        ("nodes", lambda row: f"{row['nodes']} %"),
        ("buffer", lambda row: f"{row['buffer']} %"),
    ]
    made.shown.append(_tables.written("The motivating example: jobs that start at once", lines, ("policy",), columns))
    made.frames["example"] = _tables.all_numbers(
        [
            {**row, "jobs": " ".join(map(str, row["jobs"])), "expected": " ".join(map(str, row["expected"]))}
            for row in lines
        ]
    )
    made.figures["front-of-the-example"] = _figures.example
    five = counted(len(_example.JOBS), "job")
    made.headers["front-of-the-example"] = ["the motivating example", machine_text(_example.PLATFORM), five]


def _workloads(scope: Scope, rows: list[Row], made: Report) -> None:
    """Means over draws, and their ratio to the reference's, draw by draw."""
    every: list[Row] = []
    for workload in scope.settings.workloads.requests:
        lines = [_method(scope, rows, workload, policy, METRICS) for policy in scope.specs]
        every += lines
        title = f"{workload}: {scope.settings.workloads.draws} draws of requests"
        made.shown.append(_tables.written(title, lines, ("policy",), _columns(scope.settings.reference)))
    made.frames["workloads"] = _tables.all_numbers(every)
    made.figures["waits"] = partial(_figures.ratios, every, WAIT, scope.settings.reference)
    made.figures["slowdowns"] = partial(_figures.ratios, every, SLOWDOWN, scope.settings.reference)


def _ssd(scope: Scope, rows: list[Row], made: Report) -> None:
    """The same for S5 to S7, and what there is of SSDs in the nodes of running jobs: in use, and left unused."""
    machine = platforms.load(scope.settings.ssd.platform)
    mine = [{**row, WASTED.name: wasted(row, machine)} for row in rows if row["section"] == "ssd"]
    every: list[Row] = []
    for workload in scope.settings.ssd.requests:
        lines = [_method(scope, mine, workload, policy, (*METRICS, SSD, WASTED)) for policy in scope.ssd_specs]
        every += lines
        title = f"{workload}: {scope.settings.ssd.draws} draws of requests"
        shares = [_share(metric) for metric in (NODES, BUFFER, SSD, WASTED)]
        columns = [*shares, *_columns(scope.settings.reference)[2:]]
        made.shown.append(_tables.written(title, lines, ("policy",), columns))
    made.frames["ssd"] = _tables.all_numbers(every)
    made.figures["waits-with-ssd"] = partial(_figures.ratios, every, WAIT, scope.settings.reference)
    made.figures["wasted-ssd"] = partial(_figures.ratios, every, WASTED, scope.settings.reference)


def wasted(row: Row, machine: platforms.Platform) -> float:
    """The share of all SSDs, over time, that was in nodes of running jobs and not asked for by them."""
    kinds = machine.kinds
    assert kinds is not None
    capacity, larger, whole = kinds.capacity, kinds.large, kinds.on(machine.nodes)
    assert capacity is not None, "as of all nodes of two kinds"
    assert larger is not None
    assert whole is not None
    in_nodes = machine.nodes * capacity * row[NODES.name]
    in_nodes += (larger - capacity) * (kinds.large_nodes or 0) * row[f"{SSD.name}_large"]
    return float(in_nodes / whole - row[SSD.name])


def _method(scope: Scope, every: list[Row], workload: str, policy: str, metrics: Sequence[Metric]) -> Row:
    entry: Row = {"workload": workload, "policy": policy}
    rows = [row for row in every if row["workload"] == workload]
    for metric in metrics:
        values, bases = (_by_draw(rows, name, metric) for name in (policy, scope.settings.reference))
        ratios = statistics.spread([one / base for one, base in zip(values, bases, strict=True)])
        entry |= {metric.name: statistics.mean(values), f"ratio_{metric.name}": ratios.mean}
        entry |= {f"half_95_{metric.name}": ratios.half}
    return entry


def _by_draw(rows: list[Row], policy: str, metric: Metric) -> list[float]:
    mine = [row for row in rows if row["policy"] == policy]
    means = _tables.averaged(mine, "seed", ("draw",), metric.name)
    return [row[metric.name] for row in sorted(means, key=lambda row: row["draw"])]


def _share(metric: Metric) -> Column:
    return metric.title, lambda row: f"{100 * row[metric.name]:.1f} %"


def _columns(reference: str) -> list[Column]:
    def ratio(metric: Metric) -> Column:
        def text(row: Row) -> str:
            half = row[f"half_95_{metric.name}"]
            return f"{row[f'ratio_{metric.name}']:.3f}" + ("" if half is None else f" ± {half:.3f}")

        return f"to {reference}", text

    return [
        _share(NODES),
        _share(BUFFER),
        (WAIT.title, lambda row: WAIT.text(row[WAIT.name])),
        ratio(WAIT),
        ("bounded slowdown", lambda row: SLOWDOWN.text(row[SLOWDOWN.name])),
        ratio(SLOWDOWN),
    ]


def _front_table(scope: Scope, rows: list[Row], made: Report) -> None:
    fronts, lines, n_runs = _fronts.windows(scope), [], 0
    for mutation in scope.settings.fronts.mutations:
        found = _fronts.quality(scope, fronts, mutation)
        lines += [_found(found[:, g], mutation, n) for g, n in enumerate(scope.settings.fronts.generations)]
        n_runs = len(found)
    columns: list[Column] = [
        ("mean", lambda row: f"{row['mean']:.4f}"),
        ("lowest tenth", lambda row: f"{row['lowest_tenth']:.4f}"),
        ("least", lambda row: f"{row['least']:.4f}"),
        ("the whole front", lambda row: f"{100 * row['whole']:.0f} %"),
    ]
    much = f"{counted(len(fronts), 'window')}, {counted(n_runs, 'run')}"
    title = f"Hypervolume of the genetic front over the exact one's: {much}"
    made.shown.append(_tables.written(title, lines, ("mutation", "generations"), columns))
    made.frames["fronts"] = _tables.all_numbers(lines)
    made.figures["front-quality"] = partial(_figures.quality, lines)
    made.figures["front-of-a-window"] = partial(_figures.window, max(fronts, key=_fronts.spread))
    shared = [
        workload_of(scope.jobs(scope.settings.fronts.requests, 0)).name,
        machine_text(scope.settings.workloads.platform),
    ]
    made.headers["front-quality"] = [*shared, counted(len(fronts), "window")]
    made.headers["front-of-a-window"] = [*shared, "1 window"]


def _found(shares: np.ndarray, mutation: float, generations: int) -> Row:
    return {
        "mutation": mutation,
        "generations": generations,
        "mean": float(shares.mean()),
        "least": float(shares.min()),
        "lowest_tenth": float(np.quantile(shares, 0.1)),
        "whole": float((shares > 1 - 1e-12).mean()),
    }
