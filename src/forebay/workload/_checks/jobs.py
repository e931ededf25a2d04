"""What every reader asks of its jobs before it hands them out, so that nothing behind it has to ask again."""

from pathlib import Path

import polars as pl

from forebay._support.input_limits import LONGEST
from forebay.core.codes import PhaseKind
from forebay.core.schemas import JOB_SCHEMA, LEG_SCHEMA, MORE
from forebay.errors import InputError, listed
from forebay.workload import dependencies
from forebay.workload._checks import applications
from forebay.workload._checks.rules import (
    AMOUNT,
    LENGTH,
    LIMIT,
    MOST_NODES,
    Rule,
    amount,
    counted,
    limit,
    refuse,
    within,
)
from forebay.workload.workload import RELEASED, RELEASED_PART, Workload

_KINDS = [kind.name.lower() for kind in PhaseKind]


def checked(w: Workload, path: Path) -> Workload:
    """`w`, if all its numbers make sense; else the first that does not, by file, job and column."""
    refuse(
        w.jobs,
        "id",
        f"{path}: job",
        [
            _SUBMIT if "running_since" not in w.jobs.columns else _SUBMIT_OF_PERIOD,
            *(rule for rule in _JOB_RULES if rule[0] in w.jobs.columns),
            _some_nodes(w.jobs.columns),
            *(counted(name) for name in w.jobs.columns if name not in JOB_SCHEMA | MORE and name not in w.own),
        ],
    )
    if not abs(w.epoch) <= LONGEST:
        raise InputError(f"{path}: its first job arrives {w.epoch:g} s after 1970; times must be in seconds")
    if w.legs is not None:
        _check_legs(w, w.legs, f"{path}: leg of job")
    if w.phases is not None:
        _check_phases(w, w.phases, f"{path}: phase of job")
    if w.applications is not None:
        applications.check(w, w.applications, path)
    dependencies.check(w, f"{path}: ")
    return w


_FROM_MINUS_1 = ("account", "qos", "gpu", "features", "array", "array_task", "array_limit", "het", "het_offset")
_SUBMIT: Rule = (
    "submit",
    within("submit", 0, LONGEST),
    f"within {LONGEST:g} s after the first one's; are all times in seconds?",
)
_SUBMIT_OF_PERIOD: Rule = (
    "submit",
    within("submit", -LONGEST, LONGEST),
    f"within {LONGEST:g} s of the period's beginning; are all times in seconds?",
)
_JOB_RULES: list[Rule] = [
    ("run_time", within("run_time", 0, LONGEST), LENGTH),
    ("walltime", limit("walltime"), LIMIT),
    ("cancel", limit("cancel"), LIMIT),
    ("flop", amount("flop"), AMOUNT),
    ("communication", amount("communication"), AMOUNT),
    ("nodes", within("nodes", 0, MOST_NODES), f"from 1 to {MOST_NODES:,}"),
    ("priority", pl.col("priority").is_finite(), "a finite number"),
    *((name, pl.col(name) >= -1, "a number from 0 up, or -1") for name in _FROM_MINUS_1),
    ("tasks", within("tasks", 0, MOST_NODES), f"from 0 to {MOST_NODES:,}"),
    ("exclusive", within("exclusive", -1, 1), "0, 1, or -1 where it is not said"),
    (
        "recorded_start",
        within("recorded_start", -LONGEST, LONGEST) | pl.col("recorded_start").is_nan(),
        f"within {LONGEST:g} s of the first submission, or NaN",
    ),
    (
        "running_since",
        within("running_since", -LONGEST, 0) | pl.col("running_since").is_nan(),
        f"a time up to second 0 within {LONGEST:g} s, or NaN",
    ),
]


def _some_nodes(columns: list[str]) -> Rule:
    """Without nodes, a job must ask for tasks or cores."""
    others = [name for name in ("tasks", "cores") if name in columns]
    some = pl.any_horizontal(pl.col(name) > 0 for name in ("nodes", *others))
    return "nodes", some, f"from 1 to {MOST_NODES:,}{', or 0 of a job that gives tasks or cores' if others else ''}"


def _check_legs(w: Workload, legs: pl.DataFrame, where: str) -> None:
    """Legs of jobs that exist, numbered 0, 1, ..., that carry what there is."""
    in_file = pl.col("leg").rank("ordinal").over("job") - 1
    rules: list[Rule] = [
        ("job", pl.col("job").is_in(w.jobs["id"].implode()), "the id of a job in the file"),
        ("leg", pl.col("leg") == in_file, "0, 1, 2, ... for each job"),
        ("walltime", limit("walltime"), LIMIT),
        ("nodes", within("nodes", 0, MOST_NODES), f"from 0 to {MOST_NODES:,}"),
    ]
    rules += [counted(name) for name in legs.columns if name not in LEG_SCHEMA]
    refuse(legs, "job", where, rules)
    unknown = set(" ".join(legs["carry"]).split()) - {"nodes", *w.resources}
    if unknown:
        first = legs.filter(pl.col("carry").str.split(" ").list.set_intersection(sorted(unknown)).list.len() > 0)[
            "job"
        ][0]
        raise InputError(
            f"{where} {first}: carry names {listed(sorted(unknown), 3)}; known: {listed(['nodes', *w.resources])}"
        )


def _check_phases(w: Workload, phases: pl.DataFrame, where: str) -> None:
    """Phases of known kinds, in legs that exist, that give back what there is."""
    single = w.jobs.select(job="id", leg=pl.lit(0, pl.Int64))
    if w.legs is not None:
        single = pl.concat([single.join(w.legs, on="job", how="anti"), w.legs.select("job", "leg")])
    known = ["nodes", *w.resources]
    lost = phases.join(single, on=["job", "leg"], how="anti")
    if len(lost):
        raise InputError(f"{where} {lost['job'][0]}: its leg {lost['leg'][0]} does not exist; correct its job or leg")
    rules: list[Rule] = [("seconds", within("seconds", 0, LONGEST), LENGTH)]
    rules += [(name, amount(name), AMOUNT) for name in ("flop", "communication", "bytes")]
    rules += [
        ("kind", pl.col("kind").is_in(_KINDS), f"one of {', '.join(_KINDS)}"),
        (
            "release",
            pl.col("release").is_null()
            | pl.col("release").is_in(known)
            | (RELEASED.is_in(known) & RELEASED_PART.is_not_null()),
            f"one of {listed(known)}, perhaps with = and a whole number above 0, or none",
        ),
    ]
    refuse(phases, "job", where, rules)
