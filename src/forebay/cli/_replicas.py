"""Runs of policies on shaken copies of the trace: how many, on all cores, and the files that keep them."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay._files import replacing
from forebay.cli import _parallel, _runs
from forebay.experiments import executor

if TYPE_CHECKING:
    from forebay.cli._bench import Bench
    from forebay.experiments.executor import Tell
    from forebay.experiments.replicas import Replica

USUAL = 10
"""Replicas of policies that are quick, if nobody says how many."""
FEWEST = 3
"""Fewer tell too little of the spread to be worth their time."""
MOST_RUNS, MOST_JOBS = 80, 250_000
"""Runs that all replicas together are at most, and jobs that they have, if nobody says how many. Counts, not seconds:
verdicts must not depend on how busy a machine is."""
QUICK = 5.0
"""Seconds of a run above which a policy has no replicas unless they are asked for."""
NUMBERS, JOBS = "replicas.json", "replicas.parquet"
_FORMAT = 1


@dataclass(frozen=True)
class _Task:
    policy: str
    number: int


def planned(documents: Sequence[dict[str, Any]], reference: str, asked: int | None) -> dict[str, int]:
    """How many replicas each policy gets: as many as are asked for, else some of the quick ones."""
    from forebay.experiments.blocks import FEWEST_JOBS

    names = [document["policy"] for document in documents]
    if len(names) < 2 or reference not in names:
        return {}
    if asked is not None:
        return dict.fromkeys(names, asked)
    n_jobs = documents[0]["jobs"]
    quick = [document["policy"] for document in documents if _is_quick(document)]
    if n_jobs < FEWEST_JOBS or reference not in quick or len(quick) < 2:
        return {}
    count = min(USUAL, MOST_RUNS // len(quick), MOST_JOBS // (n_jobs * len(quick)))
    return dict.fromkeys(quick, count) if count >= FEWEST else {}


def _is_quick(document: dict[str, Any]) -> bool:
    """Whether runs of a policy are quick: compiled, and no plans of all that waits."""
    from forebay.policies import family_of, names

    name = document["policy"].partition("+")[0].partition(":")[0]
    return name in names() and family_of(name) != "plan" and document["seconds"] < QUICK


def read(place: Path) -> "list[Replica]":
    """Replicas that a policy's folder has, in order of their numbers."""
    import polars as pl

    from forebay.experiments.replicas import MEASURES, Replica

    with suppress(OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError):
        told = json.loads((place / NUMBERS).read_text(encoding="utf-8"))
        if told["format"] == _FORMAT:
            jobs = pl.read_parquet(place / JOBS).partition_by("replica", as_dict=True)
            found = {number: {name: table[name].to_numpy() for name in MEASURES} for (number,), table in jobs.items()}
            return [Replica(one["replica"], one["summary"], found[one["replica"]]) for one in told["replicas"]]
    return []


def _write(place: Path, replicas: "Sequence[Replica]", ids: Any) -> None:
    import polars as pl

    from forebay._text import as_json

    told = [{"replica": one.number, "summary": one.summary} for one in replicas]
    columns = [pl.DataFrame({"job_id": ids, **one.measures}) for one in replicas]
    tables = [
        table.select(pl.lit(one.number, pl.Int64).alias("replica"), pl.all())
        for table, one in zip(columns, replicas, strict=True)
    ]
    with replacing(place / JOBS, place / NUMBERS) as [jobs, numbers]:
        pl.concat(tables).write_parquet(jobs)
        numbers.write_text(as_json({"format": _FORMAT, "replicas": told}) + "\n", encoding="utf-8")


def carry_out(setting: _runs.Setting, wanted: dict[str, int], made: "Bench", count: int) -> "dict[str, list[Replica]]":
    """Every replica that is wanted; those that are there already are not repeated. A policy that fails has none."""
    from forebay.cli._progress import progress

    found = {policy: {one.number: one for one in read(made.place(policy))} for policy in wanted}
    tasks = [
        _Task(policy, number)
        for number in range(1, 1 + max(wanted.values(), default=0))
        for policy in wanted
        if number <= wanted[policy] and number not in found[policy]
    ]
    ids, ended, failed = setting.workload.jobs["id"], 0, set()

    with progress(len(tasks), "replicas") as watch:

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

        _parallel.spread_out(tasks, partial(_perform, setting), len(ids), count, lambda *_: None, done)
    return {
        policy: [found[policy][number] for number in range(1, 1 + wanted[policy])]
        for policy in wanted
        if policy not in failed
    }


def _perform(setting: _runs.Setting, task: _Task, tell: "Tell") -> "Replica":
    from forebay.experiments.replicas import Replica, measures_of, seed_of, shaken

    copy = replace(
        setting,
        workload=shaken(setting.workload, setting.seed, task.number),
        seed=seed_of(setting.seed, task.number),
    )
    policy = _runs.load_policy(task.policy)
    result, document = copy.simulate(policy, task.policy, lambda ended, _: tell(ended))
    return Replica(task.number, document["summary"], measures_of(result, setting.workload.jobs["id"]))
