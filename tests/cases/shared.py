"""Machines that share their nodes, and jobs for them: small ones, by hand and at random."""

import dataclasses
from typing import Any

import numpy as np
import polars as pl

import forebay as fb
from forebay.core.failures import Failures, Outages
from forebay.platforms import NodeClass, Partition, Reservation
from forebay.platforms.tiers import node_local
from forebay.workload.workload import job_table

GB = 10**9


def machine(*classes: dict[str, Any], placement: str = "best-fit", **more: Any) -> fb.Platform:
    """A machine of these classes, all of whose nodes are shared."""
    made = tuple(NodeClass(**{"name": f"c{k}", **one}) for k, one in enumerate(classes))
    return fb.Platform(name="shared", classes=made, sharing=True, placement=placement, **more)


def jobs(*rows: dict[str, Any], names: dict[str, dict[int, str]] | None = None) -> fb.Workload:
    """Jobs that run as long as they may, numbered from 1 on; what a row leaves out is not said."""
    columns: dict[str, list[Any]] = {}
    usual = {"submit": 0.0, "walltime": 10.0, "nodes": 1}
    for name in dict.fromkeys(name for row in ({**usual}, *rows) for name in row):
        missing = -1 if name in ("gpu", "exclusive") else usual.get(name, 0)
        columns[name] = [row.get(name, missing) for row in rows]
    run_time = [row.get("run_time", row.get("walltime", 10.0)) for row in rows]
    table = job_table({**columns, "id": range(1, len(rows) + 1), "run_time": np.array(run_time, float)})
    return fb.Workload("by-hand", table, names=names or {})


def starts(result: fb.Result) -> dict[int, float]:
    """When each job started."""
    return dict(result.jobs.select("job_id", "starting_time").iter_rows())


def cores(result: fb.Result) -> dict[int, str]:
    """Which cores each job had, as intervals of ids."""
    return dict(result.jobs.select("job_id", "allocated_resources").iter_rows())


def random_case(seed: int, n_jobs: int = 60, local: bool = False) -> tuple[fb.Platform, fb.Workload]:
    """A machine of one to three classes, full of jobs of every shape that it can hold.

    With `local` nodes have storage, `ssd`, of two sizes on every other machine; two thirds of the jobs ask for some.
    """
    rng = np.random.default_rng(seed)
    classes = [
        {"nodes": int(rng.integers(1, 5)), "cores": int(rng.integers(2, 9)), "memory": int(rng.integers(4, 17)) * GB}
        for _ in range(rng.integers(1, 4))
    ]
    for k, one in enumerate(classes):
        if rng.random() < 0.5:
            one |= {"gpus": int(rng.integers(1, 5)), "gpu": "ab"[k % 2]}
    rows = []
    for submit in np.floor(np.cumsum(rng.exponential(3.0, n_jobs))):
        cls = classes[rng.integers(len(classes))]
        walltime = float(rng.integers(1, 40))
        row = {"submit": float(submit), "walltime": walltime, "run_time": float(rng.integers(1, walltime + 1))}
        if rng.random() < 0.5:
            parts = int(rng.integers(1, cls["nodes"] + 1))
            row["nodes"] = parts
        else:
            parts = int(rng.integers(1, 2 * cls["nodes"] + 1))
            row |= {"nodes": 0, "tasks": parts}
        each = int(rng.integers(1, cls["cores"] + 1)) if row["nodes"] else int(rng.integers(1, cls["cores"] // 2 + 1))
        row |= {"cores": parts * each, "exclusive": int(rng.random() < 0.2)}
        if rng.random() < 0.5:
            row["memory"] = parts * int(rng.integers(1, cls["memory"] // 2 + 1))
        if "gpus" in cls and rng.random() < 0.4:
            row |= {"gpus": parts, "gpu": -1 if rng.random() < 0.5 else "ab".index(cls["gpu"])}
        rows.append(row)
    placement = ("best-fit", "lowest", "worst-fit")[seed % 3]
    names = {"gpu": {0: "a", 1: "b"}} if any("gpu" in row for row in rows) else None
    tiers = _with_local(np.random.default_rng([seed, 1]), classes, rows) if local else ()
    return machine(*classes, placement=placement, tiers=tiers), jobs(*rows, names=names)


def _with_local(rng: np.random.Generator, classes: list[dict[str, Any]], rows: list[dict[str, Any]]) -> tuple[Any, ...]:
    nodes, capacity = sum(one["nodes"] for one in classes), int(rng.integers(4, 17))
    kinds = {}
    if nodes > 1 and rng.random() < 0.5:
        kinds = {"large": capacity + int(rng.integers(1, 17)), "large_nodes": int(rng.integers(1, nodes))}
    most = max(capacity, kinds.get("large", 0))
    for row in rows:
        if rng.random() < 0.67:
            row["ssd"] = (row["nodes"] or row["tasks"]) * int(rng.integers(1, most + 1))
    return (node_local.Tier(name="ssd", capacity=capacity, **kinds),)


def with_windows(
    seed: int, n_jobs: int = 60, local: bool = False, users: bool = True
) -> tuple[fb.Platform, fb.Workload]:
    """The same with partitions that overlap, and one to three reservations of some nodes; with `users`, some for one.

    Jobs are of two users, each in one partition or two.
    """
    machine, workload = random_case(seed, n_jobs, local)
    rng, n = np.random.default_rng([seed, 3]), machine.nodes

    def some() -> str:
        low = int(rng.integers(n))
        return f"{low}-{rng.integers(low, n)}"

    partitions = [Partition(name="all", nodes="all", default=True)]
    partitions += [Partition(name=f"p{k}", nodes=some()) for k in range(rng.integers(1, 4))]
    planned = [
        Reservation(
            name=f"r{k}",
            start=float(rng.integers(1, 3 * n_jobs)),
            duration=float(rng.choice((5, 20, 41))),
            nodes=some(),
            users=("1",) if users and rng.random() < 0.3 else (),
        )
        for k in range(rng.integers(1, 4))
    ]
    queues = [one.name for one in partitions] + ["p0,all" if len(partitions) == 2 else "p0,p1"]
    drawn = np.where(rng.random(n_jobs) < 0.5, 0, rng.integers(0, len(queues), n_jobs))
    table = workload.jobs.with_columns(queue=pl.Series(drawn), user=pl.Series(rng.integers(1, 3, n_jobs)))
    names = workload.names | {"queue": dict(enumerate(queues))}
    parts = {"partitions": tuple(partitions), "reservations": tuple(planned)}
    return machine.model_copy(update=parts), dataclasses.replace(workload, jobs=table, names=names)


def random_outages(seed: int, nodes: int, n: int = 8) -> list[tuple[int, float, float]]:
    """So many outages of nodes: which, from when, until when; some while the node is down already."""
    rng = np.random.default_rng([seed, 2])
    down = np.sort(rng.integers(0, 200, n)).astype(float)
    return list(
        zip(rng.integers(0, nodes, n).tolist(), down.tolist(), (down + rng.integers(1, 60, n)).tolist(), strict=True)
    )


def failing(outages: list[tuple[int, float, float]], **more: Any) -> Failures:
    """Failures of a machine as these outages have it."""
    node, down, up = (np.array(some) for some in zip(*outages, strict=True))
    return Failures(outages=Outages("by-hand", "", node.astype(np.int64), down.astype(float), up.astype(float)), **more)
