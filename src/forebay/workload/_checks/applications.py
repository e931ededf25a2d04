"""What applications must be so that a run need not ask: rows in order, for every task at every size."""

from pathlib import Path

import polars as pl

from forebay.errors import InputError
from forebay.workload._checks.rules import AMOUNT, LIMIT, MOST_NODES, Rule, amount, limit, refuse, within
from forebay.workload.applications import KINDS, STAGES, TYPES, Applications
from forebay.workload.workload import Workload

MOST_ROUNDS = 2**31 - 1

_KEYS = {
    "jobs": ["job"],
    "sizes": ["job", "nodes"],
    "loops": ["job", "loop"],
    "tasks": ["job", "task"],
    "amounts": ["job", "task", "nodes"],
    "requests": ["job", "loop", "round", "nodes"],
}
_FROM_0 = "0, 1, 2, ... for each job"


def check(w: Workload, tables: Applications, path: Path) -> None:
    """Complain of the first thing that is wrong."""
    where = f"{path}: application of job"
    for name, keys in _KEYS.items():
        rows = getattr(tables, name).select(keys)
        if not rows.equals(rows.unique().sort(keys)):
            raise InputError(
                f"{path}: applications: rows of {name} must be in the order of {', '.join(keys)}, and differ there"
            )
    refuse(tables.jobs, "job", where, [_known("job", w.jobs["id"], "the id of a job"), _word("type", TYPES)])
    _sizes(w, tables, where)
    _loops(tables, where)
    _amounts(tables, where)
    sizes = tables.sizes.select("job", "nodes")
    _all_in(tables.requests, tables.loops, ["job", "loop"], where, "requests in a loop")
    _all_in(tables.requests, sizes, ["job", "nodes"], where, "requests at a size")
    _all_in(tables.requests, sizes.rename({"nodes": "wants"}), ["job", "wants"], where, "requests for a size")
    refuse(tables.requests, "job", where, [("round", pl.col("round") >= -1, "-1, or rounds that are over")])


def _known(name: str, values: pl.Series, what: str) -> Rule:
    return name, pl.col(name).is_in(values.implode()), what


def _word(name: str, words: tuple[str, ...]) -> Rule:
    return name, pl.col(name).is_in(words), f"one of {', '.join(words)}"


def _numbered(name: str) -> Rule:
    return name, pl.col(name) == pl.col(name).rank("ordinal").over("job") - 1, _FROM_0


def _all_in(rows: pl.DataFrame, known: pl.DataFrame, keys: list[str], where: str, what: str) -> None:
    lost = rows.join(known, on=keys, how="anti")
    if len(lost):
        raise InputError(f"{where} {lost['job'][0]}: {what} that it does not have, {keys[-1]} {lost[keys[-1]][0]}")


def _sizes(w: Workload, tables: Applications, where: str) -> None:
    rules: list[Rule] = [
        _known("job", tables.jobs["job"], "a job of the table of jobs"),
        ("nodes", within("nodes", 1, MOST_NODES), f"from 1 to {MOST_NODES:,}"),
        ("walltime", limit("walltime"), LIMIT),
    ]
    refuse(tables.sizes, "job", where, rules)
    several = tables.sizes.filter(pl.len().over("job") > 1).join(tables.jobs.filter(type="rigid"), on="job", how="semi")
    if len(several):
        raise InputError(f"{where} {several['job'][0]}: it is rigid and has several sizes; give it one")
    preferred = w.jobs.select(job="id", nodes="nodes").join(tables.jobs, on="job", how="semi")
    _all_in(preferred, tables.sizes, ["job", "nodes"], where, "it prefers a size")


def _loops(tables: Applications, where: str) -> None:
    job = _known("job", tables.jobs["job"], "a job of the table of jobs")
    rounds = ("rounds", within("rounds", 1, MOST_ROUNDS), f"from 1 to {MOST_ROUNDS:,}")
    refuse(tables.loops, "job", where, [job, _numbered("loop"), rounds])
    aside = pl.col("stage") != "run"
    refuse(
        tables.tasks,
        "job",
        where,
        [
            job,
            _numbered("task"),
            _word("stage", STAGES),
            _word("kind", KINDS),
            ("loop", (pl.col("loop") == -1) == aside, "-1 in stages other than run, and only there"),
        ],
    )
    _all_in(tables.tasks.filter(~aside), tables.loops, ["job", "loop"], where, "tasks in a loop")
    _all_in(tables.jobs, tables.loops, ["job"], where, "loops")
    _all_in(tables.loops, tables.tasks, ["job", "loop"], where, "tasks for a loop")


def _amounts(tables: Applications, where: str) -> None:
    rules: list[Rule] = [(name, amount(name), AMOUNT) for name in ("seconds", "flop", "communication", "bytes")]
    streams, nodes = pl.col("streams"), pl.col("nodes")
    striped = (streams % nodes == 0) & (streams // nodes <= nodes)
    text = "from 0 to its nodes or, striped, a multiple of them up to their square"
    rules.append(("streams", (streams >= 0) & ((streams <= nodes) | striped), text))
    refuse(tables.amounts, "job", where, rules)
    stages = tables.tasks.select("job", "task", "stage")
    _all_in(tables.amounts, stages, ["job", "task"], where, "amounts of a task")
    added = tables.sizes.group_by("job").agg(nodes=pl.int_ranges(1, pl.max("nodes") - pl.min("nodes") + 1).first())
    wanted = pl.concat(
        [
            stages.filter(pl.col("stage") != "expansion").join(tables.sizes.select("job", "nodes"), on="job"),
            stages.filter(stage="expansion").join(added.explode("nodes").drop_nulls(), on="job"),
        ]
    )
    keys = ["job", "task", "nodes"]
    _all_in(wanted, tables.amounts, keys, where, "it needs amounts for a number of nodes")
    _all_in(tables.amounts, wanted, keys, where, "amounts for a number of nodes")
