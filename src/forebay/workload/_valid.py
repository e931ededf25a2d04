"""What every reader asks of its jobs before it hands them out, so that nothing behind it has to ask again."""

from pathlib import Path

import polars as pl

from forebay.core.codes import PhaseKind
from forebay.core.schemas import JOB_SCHEMA, LEG_SCHEMA
from forebay.errors import InputError, brief, listed
from forebay.workload.workload import RELEASED, RELEASED_PART, Workload

LONGEST = 1e15
"""Seconds, 30 million years: a larger number is in other units, or a slip; and doubles get coarse there."""

MOST_NODES = 10**9
"""Of one job. Sums over all jobs of a trace stay far within 64 bits."""

_LENGTH = f"seconds from 0 to {LONGEST:g}"
_LIMIT = f"seconds above 0, {LONGEST:g} at most"
_AMOUNT = "a finite number from 0 up"
_KINDS = [kind.name.lower() for kind in PhaseKind]


def checked(w: Workload, path: Path) -> Workload:
    """`w`, if all its numbers make sense; else the first that does not, by file, job and column."""
    _refuse(
        w.jobs,
        "id",
        f"{path}: job",
        [*_JOB_RULES, *(_counted(name) for name in w.jobs.columns if name not in JOB_SCHEMA)],
    )
    if not abs(w.epoch) <= LONGEST:
        raise InputError(f"{path}: its first job arrives {w.epoch:g} s after 1970; times must be in seconds")
    if w.legs is not None:
        _check_legs(w, w.legs, f"{path}: leg of job")
    if w.phases is not None:
        _check_phases(w, w.phases, f"{path}: phase of job")
    return w


def _within(name: str, least: float, most: float) -> pl.Expr:
    """Not so for NaN, which polars takes to be larger than all else."""
    return pl.col(name).is_between(least, most)


def _limit(name: str) -> pl.Expr:
    return (pl.col(name) > 0) & ((pl.col(name) <= LONGEST) | pl.col(name).is_infinite())


def _amount(name: str) -> pl.Expr:
    return (pl.col(name) >= 0) & pl.col(name).is_finite()


def _counted(name: str) -> tuple[str, pl.Expr, str]:
    return name, pl.col(name) >= 0, "a whole number from 0 up"


_Rule = tuple[str, pl.Expr, str]  # a column, what must hold of it, and that in words

_JOB_RULES: list[_Rule] = [
    (
        "submit",
        _within("submit", 0, LONGEST),
        f"within {LONGEST:g} s after the first one's; are all times in seconds?",
    ),
    ("run_time", _within("run_time", 0, LONGEST), _LENGTH),
    ("walltime", _limit("walltime"), _LIMIT),
    ("cancel", _limit("cancel"), _LIMIT),
    ("flop", _amount("flop"), _AMOUNT),
    ("communication", _amount("communication"), _AMOUNT),
    ("nodes", _within("nodes", 1, MOST_NODES), f"from 1 to {MOST_NODES:,}"),
    ("priority", pl.col("priority").is_finite(), "a finite number"),
]


def _refuse(frame: pl.DataFrame, key: str, where: str, rules: list[_Rule]) -> None:
    """Complain of the first rule that a row breaks; one pass where all is well, which is nearly always."""
    held = frame.select(rule.all().alias(str(k)) for k, (_, rule, _) in enumerate(rules)).row(0)
    for fine, (name, rule, must) in zip(held, rules, strict=True):
        if not fine:
            row = frame.filter(~rule).row(0, named=True)
            raise InputError(f"{where} {row[key]}: {name} is {brief(row[name])}; it must be {must}")


def _check_legs(w: Workload, legs: pl.DataFrame, where: str) -> None:
    """Legs of jobs that exist, numbered 0, 1, ..., that carry what there is."""
    in_file = pl.col("leg").rank("ordinal").over("job") - 1
    rules: list[_Rule] = [
        ("job", pl.col("job").is_in(w.jobs["id"].implode()), "the id of a job in the file"),
        ("leg", pl.col("leg") == in_file, "0, 1, 2, ... for each job"),
        ("walltime", _limit("walltime"), _LIMIT),
        ("nodes", _within("nodes", 0, MOST_NODES), f"from 0 to {MOST_NODES:,}"),
    ]
    rules += [_counted(name) for name in legs.columns if name not in LEG_SCHEMA]
    _refuse(legs, "job", where, rules)
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
    rules: list[_Rule] = [("seconds", _within("seconds", 0, LONGEST), _LENGTH)]
    rules += [(name, _amount(name), _AMOUNT) for name in ("flop", "communication", "bytes")]
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
    _refuse(phases, "job", where, rules)
