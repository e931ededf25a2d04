"""Runs of policies on shaken copies of the trace: how many, on all cores, and the files that keep them."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay._support.files import replacing
from forebay._support.reading import read_bytes, read_text
from forebay.experiments.execution import executor, parallel

if TYPE_CHECKING:
    from forebay._support.progress import Reporter
    from forebay.experiments.comparison.entrants import Entrants
    from forebay.experiments.comparison.shaking import Replica
    from forebay.experiments.comparison.workspace import Workspace
    from forebay.experiments.execution.executor import Tell
    from forebay.experiments.setting import Setting

USUAL = (10, 5, 3)
"""Default numbers of replicas, the same for every policy: the largest that time allows. Fewer than three say too little
about the spread. Coarse steps, since verdicts should not depend on how busy a machine is."""
MOST_RUNS, MOST_JOBS, MOST_SECONDS = 80, 250_000, 120.0
"""By default, the most of all replicas together: runs, jobs in them, and seconds of processor time, as the runs on the
trace itself took. A busy machine takes longer, and should not have other verdicts."""
NUMBERS, JOBS = "replicas.json", "replicas.parquet"
_FORMAT = 2


@dataclass(frozen=True)
class _Task:
    policy: str
    number: int


def planned(documents: Sequence[dict[str, Any]], reference: str, asked: int | None) -> int:
    """How many replicas every policy gets, the same for all: else rows of one table would rest on unlike grounds."""
    from forebay.experiments.comparison.blocks import FEWEST_JOBS

    n, n_jobs = len(documents), documents[0]["jobs"]
    if n < 2 or reference not in [document["policy"] for document in documents]:
        return 0
    if asked is not None:
        return asked
    if n_jobs < FEWEST_JOBS:
        return 0
    took = _seconds(documents)
    fits = (
        count
        for count in USUAL
        if count * n <= MOST_RUNS and count * n * n_jobs <= MOST_JOBS and count * took <= MOST_SECONDS
    )
    return next(fits, 0)


def _seconds(documents: Sequence[dict[str, Any]]) -> float:
    """Of a core, that one run of every policy takes."""
    return float(sum(document.get("processor_seconds", document["seconds"]) for document in documents))


def remark(documents: Sequence[dict[str, Any]], planned: int, asked: int | None) -> list[str]:
    """Why there are none, where they would have helped."""
    from forebay.core.units import format_seconds
    from forebay.experiments.comparison.blocks import FEWEST_JOBS

    if planned or asked is not None or len(documents) < 2 or documents[0]["jobs"] < FEWEST_JOBS:
        return []
    few = USUAL[-1]
    took = few * _seconds(documents)
    return [f"no replicas: {few} of each policy would take {format_seconds(took)} of a core; --replicas {few} has them"]


def read(place: Path) -> "list[Replica]":
    """Replicas that a policy's folder has, in order of their numbers."""
    import polars as pl

    from forebay.experiments.comparison.shaking import MEASURES, Replica

    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError, pl.exceptions.PolarsError):
        document = json.loads(read_text(place / NUMBERS))
        if document["format"] == _FORMAT:
            jobs = pl.read_parquet(read_bytes(place / JOBS)).partition_by("replica", as_dict=True)
            found = {number: {name: table[name].to_numpy() for name in MEASURES} for (number,), table in jobs.items()}
            return [Replica(one["replica"], one["summary"], found[one["replica"]]) for one in document["replicas"]]
    return []


def _write(place: Path, replicas: "Sequence[Replica]", ids: Any) -> None:
    import polars as pl

    from forebay._support.text import as_json

    entries = [{"replica": one.number, "summary": one.summary} for one in replicas]
    columns = [pl.DataFrame({"job_id": ids, **one.measures}) for one in replicas]
    tables = [
        table.select(pl.lit(one.number, pl.Int64).alias("replica"), pl.all())
        for table, one in zip(columns, replicas, strict=True)
    ]
    with replacing(place / JOBS, place / NUMBERS) as [jobs, numbers]:
        pl.concat(tables).write_parquet(jobs)
        numbers.write_text(as_json({"format": _FORMAT, "replicas": entries}) + "\n", encoding="utf-8")


def carry_out(
    setting: "Setting",
    entrants: "Entrants",
    policies: Sequence[str],
    wanted: int,
    made: "Workspace",
    count: int,
    reporter: "Reporter",
) -> "dict[str, list[Replica]]":
    """The `wanted` replicas of each policy; existing ones are not repeated. A policy that fails has none."""
    found = {policy: {one.number: one for one in read(made.place(policy))} for policy in policies if wanted}
    tasks = [
        _Task(policy, number) for number in range(1, 1 + wanted) for policy in policies if number not in found[policy]
    ]
    ids, ended, failed = setting.workload.jobs["id"], 0, set()

    with reporter.progress(len(tasks), "replicas") as watch:

        def done(task: _Task, outcome: Any) -> None:
            nonlocal ended
            ended += 1
            watch.at(f"{task.policy}, replica {task.number}", ended)
            if isinstance(outcome, executor.Failure):
                failed.add(task.policy)
                return
            mine = found[task.policy]
            mine[task.number] = outcome
            _write(made.place(task.policy), [mine[number] for number in sorted(mine)], ids)

        work = partial(_perform, setting, entrants)
        parallel.spread_out(tasks, work, len(ids), count, lambda *_: None, done, parallel.bound(setting, entrants))
    return {
        policy: [mine[number] for number in range(1, 1 + wanted)]
        for policy, mine in found.items()
        if policy not in failed
    }


def _perform(setting: "Setting", entrants: "Entrants", task: _Task, tell: "Tell") -> "Replica":
    from forebay.experiments.comparison.shaking import Replica, measures_of, seed_of, shaken

    copy = replace(
        entrants.setting(task.policy, setting),
        workload=shaken(setting.workload, setting.seed, task.number),
        seed=seed_of(setting.seed, task.number),
    )
    policy = entrants.load(task.policy)
    result, document = copy.simulate(policy, task.policy, lambda ended, _: tell(ended))
    return Replica(task.number, document["summary"], measures_of(result, setting.workload.jobs["id"]))
