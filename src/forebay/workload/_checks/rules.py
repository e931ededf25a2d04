"""Rules that rows of a table must keep, and the complaint about the first that does not."""

import polars as pl

from forebay._support.input_limits import LONGEST
from forebay.errors import InputError, brief

MOST_NODES = 10**9
"""Of one job. Sums over all jobs of a trace stay far within 64 bits."""

LENGTH = f"seconds from 0 to {LONGEST:g}"
LIMIT = f"seconds above 0, {LONGEST:g} at most"
AMOUNT = "a finite number from 0 up"

Rule = tuple[str, pl.Expr, str]
"""A column, what must hold of it, and that in words."""


def within(name: str, least: float, most: float) -> pl.Expr:
    """Not so for NaN, which polars takes to be larger than all else."""
    return pl.col(name).is_between(least, most)


def limit(name: str) -> pl.Expr:
    """A walltime, or none."""
    return (pl.col(name) > 0) & ((pl.col(name) <= LONGEST) | pl.col(name).is_infinite())


def amount(name: str) -> pl.Expr:
    """As much as there may be of anything."""
    return (pl.col(name) >= 0) & pl.col(name).is_finite()


def counted(name: str) -> Rule:
    """A whole number of something."""
    return name, pl.col(name) >= 0, "a whole number from 0 up"


def refuse(frame: pl.DataFrame, key: str, where: str, rules: list[Rule]) -> None:
    """Complain of the first rule that a row breaks; one pass where all is well, which is nearly always."""
    if not len(frame):
        return
    held = frame.select(rule.all().alias(str(k)) for k, (_, rule, _) in enumerate(rules)).row(0)
    for fine, (name, rule, must) in zip(held, rules, strict=True):
        if not fine:
            row = frame.filter(~rule).row(0, named=True)
            raise InputError(f"{where} {row[key]}: {name} is {brief(row[name])}; it must be {must}")
