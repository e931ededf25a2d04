"""Who may start only after whom: a table of its own beside the jobs, since a job may wait for many.

A row is one job, one of its parents, what the parent must have done (`kind`), and how long ago (`delay`). A job with
several rows waits for all of them; with `any`, for one.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from polars.exceptions import PolarsError

from forebay._support.input_limits import LONGEST
from forebay._support.text import counted
from forebay.core.schemas import DEPENDENCY_KINDS, DEPENDENCY_SCHEMA
from forebay.errors import InputError, brief, listed
from forebay.workload._checks.rules import LENGTH, Rule, refuse, within
from forebay.workload.workload import Workload

_NEUTRAL: dict[str, Any] = {"kind": "afterok", "delay": 0.0, "any": False}
_SHOWN = 8
"""Jobs of a cycle that a message names."""


def dependency_table(columns: Any) -> pl.DataFrame:
    """A table of dependencies from the columns that you have; the rest takes its neutral value.

    Parameters
    ----------
    columns
        A dictionary of lists, or a data frame. `job` (the one that waits) and `parent` (the one that it waits for) are
        needed, by their ids. `kind` is "after" (the parent has begun), "afterany" (ended), "afterok" (ended well, the
        default), "afternotok" (ended otherwise) or "think" (the job is submitted only once the parent has ended);
        `delay` is in seconds, 0 by default; `any` tells whether one of the job's parents is enough.

    Returns
    -------
    polars.DataFrame
        What `forebay.Workload` takes as `dependencies`.

    Examples
    --------
    >>> jobs = fb.workload.job_table(
    ...     {"id": [1, 2], "submit": [0, 0], "walltime": [60, 60], "run_time": [30, 30], "nodes": [1, 1]}
    ... )
    >>> after = fb.workload.dependency_table({"job": [2], "parent": [1], "delay": [5]})
    >>> fb.simulate(fb.Workload("two", jobs, dependencies=after), "flat:nodes=2").jobs["starting_time"].to_list()
    [0.0, 35.0]
    """
    try:
        frame = pl.DataFrame(columns)
    except (PolarsError, TypeError, ValueError) as error:
        raise InputError(
            f"the dependency table: {brief(columns)} is no table ({error}); give lists of equal length"
        ) from None
    missing = [name for name in DEPENDENCY_SCHEMA if name not in {*frame.columns, *_NEUTRAL}]
    if missing:
        raise InputError(f"the dependency table lacks {', '.join(missing)}; it has {listed(frame.columns)}")
    odd = [name for name in frame.columns if name not in DEPENDENCY_SCHEMA]
    if odd:
        raise InputError(f"the dependency table has a column {brief(odd[0])}; known: {listed(DEPENDENCY_SCHEMA)}")
    neutral = {name: value for name, value in _NEUTRAL.items() if name not in frame.columns}
    frame = frame.with_columns(pl.lit(value).alias(name) for name, value in neutral.items())
    return frame.select(*(_cast(frame[name], dtype) for name, dtype in DEPENDENCY_SCHEMA.items()))


def _cast(column: pl.Series, dtype: Any) -> pl.Series:
    """A column as it is kept; refused where that would change a value."""
    found = column.cast(dtype, strict=False)
    wrong = found.is_null() | (found.cast(column.dtype, strict=False) != column)
    if len(column) and wrong.any():
        row = int(wrong.arg_max() or 0)
        raise InputError(f"the dependency table: row {row} of {column.name} is {brief(column[row])}; give {dtype}")
    return found


def check(w: Workload, before: str = "") -> None:
    """Refuse dependencies on jobs that are not there, of no known kind, or that go round in a circle."""
    table = w.dependencies
    if table is None:
        return
    ids = w.jobs["id"].implode()
    mixed = pl.col("any").n_unique().over("job") == 1
    rules: list[Rule] = [
        ("job", pl.col("job").is_in(ids), "the id of a job"),
        ("parent", pl.col("parent").is_in(ids), "the id of a job; is a job missing, or is it a slip?"),
        ("parent", pl.col("parent") != pl.col("job"), "another job: nobody can wait for itself"),
        ("kind", pl.col("kind").is_in(DEPENDENCY_KINDS), f"one of {', '.join(DEPENDENCY_KINDS)}"),
        ("delay", within("delay", 0, LONGEST), LENGTH),
        ("any", mixed, "the same in all rows of a job: all of its parents, or any one"),
    ]
    refuse(table, "job", f"{before or f'{w.name}: '}dependency of job", rules)
    refuse_circle(*rows_of(w, table), w.jobs["id"].to_list(), f"{before or f'{w.name}: '}jobs")


def refuse_circle(job: np.ndarray, parent: np.ndarray, names: Sequence[object], who: str) -> None:
    """Refuse jobs that wait for one another, by their names."""
    circle = [str(names[place]) for place in _circle(job, parent)]
    if circle:
        shown = [*circle[:_SHOWN], *(["..."] if len(circle) > _SHOWN else []), circle[0]]
        way = listed([" after ".join(shown)], width=300)
        raise InputError(
            f"{who} wait for one another in a circle of {len(circle):,}: {way}; take one of these dependencies out"
        )


def rows_of(w: Workload, table: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The places, in the job table, of the jobs that wait and of their parents."""
    ids = w.jobs["id"].to_numpy()
    order = np.argsort(ids, kind="stable")
    places = (order[np.searchsorted(ids, table[name].to_numpy(), sorter=order)] for name in ("job", "parent"))
    job, parent = places
    return job, parent


def _circle(job: np.ndarray, parent: np.ndarray) -> list[int]:
    """Jobs that wait for one another, each for the next; empty if there are none."""
    if (parent < job).all():  # nearly always: parents are submitted first
        return []
    children: defaultdict[int, list[int]] = defaultdict(list)
    waits: defaultdict[int, int] = defaultdict(int)
    for child, one in zip(job.tolist(), parent.tolist(), strict=True):
        children[one].append(child)
        waits[child] += 1
    free = [one for one in children if not waits.get(one)]
    while free:
        for child in children.get(free.pop(), ()):
            waits[child] -= 1
            if not waits[child]:
                free.append(child)
    # Who still waits has a parent that does: from one such parent to the next, until one is met again.
    left = {child for child, count in waits.items() if count}
    if not left:
        return []
    parents = {child: one for child, one in zip(job.tolist(), parent.tolist(), strict=True) if {child, one} <= left}
    way: dict[int, int] = {}
    at = min(left)
    while at not in way:
        way[at] = len(way)
        at = parents[at]
    return list(way)[way[at] :]


def only(table: pl.DataFrame | None, ids: pl.Series) -> tuple[pl.DataFrame | None, list[str]]:
    """The dependencies among these jobs, and a note on those whose parents are not among them: they count as met."""
    if table is None:
        return None, []
    mine = table.filter(pl.col("job").is_in(ids.implode()))
    kept = mine.filter(pl.col("parent").is_in(ids.implode()))
    # With any of several parents, one that is left out is met, and so is the job.
    freed = mine.filter(pl.col("any")).join(kept, on=["job", "parent"], how="anti")["job"]
    kept = kept.filter(~pl.col("job").is_in(freed.implode()))
    return kept, lost_notes(len(mine) - len(kept))


def lost_notes(count: int) -> list[str]:
    """A note on dependencies that cannot be kept."""
    if not count:
        return []
    what = counted(count, "dependency is on a job that is", "dependencies are on jobs that are")
    return [f"{what} left out: taken as met"]


def renumbered(table: pl.DataFrame | None, old: pl.Series, new: pl.Series) -> pl.DataFrame | None:
    """The same between jobs with other ids."""
    if table is None:
        return None
    made = table.with_columns(pl.col(name).replace_strict(old, new) for name in ("job", "parent"))
    return made.sort("job", "parent", maintain_order=True)


def lost_in(workload: Workload, form: str) -> list[str]:
    """A note for formats that have no dependencies."""
    if workload.dependencies is None:
        return []
    what = counted(len(workload.dependencies), "dependency is", "dependencies are")
    return [f"{what} not written: {form} has none"]


def count_kinds(w: Workload) -> dict[str, int]:
    """How many dependencies there are of each kind."""
    table = w.dependencies
    if table is None:
        return {}
    return {kind: n for kind in DEPENDENCY_KINDS if (n := int((table["kind"] == kind).sum()))}


def longest_chain(w: Workload) -> int:
    """How many jobs at most stand one behind the other."""
    if w.dependencies is None:
        return 1
    job, parent = rows_of(w, w.dependencies)
    children: defaultdict[int, list[int]] = defaultdict(list)
    waits: defaultdict[int, int] = defaultdict(int)
    for child, one in zip(job.tolist(), parent.tolist(), strict=True):
        children[one].append(child)
        waits[child] += 1
    length = {one: 1 for one in children if one not in waits}
    free, longest = list(length), 1
    while free:
        one = free.pop()
        for child in children.get(one, ()):
            length[child] = max(length.get(child, 1), length[one] + 1)
            longest = max(longest, length[child])
            waits[child] -= 1
            if not waits[child]:
                free.append(child)
    return longest


def run_notes(w: Workload, rejected: np.ndarray) -> list[str]:
    """What the user of a run should know of jobs that waited for others."""
    if w.dependencies is None:
        return []
    thinks = w.dependencies.filter(pl.col("kind") == "think")["job"].n_unique()
    waits = w.jobs["id"].is_in(w.dependencies["job"].implode()).to_numpy()
    gone = int((waits & rejected).sum())
    notes = []
    if thinks:
        who = counted(thinks, "job is", "jobs are")
        notes.append(f"closed loop: {who} submitted when others end; submission times are those of this run")
    if gone:
        who = counted(gone, "job that waits for others was", "jobs that wait for others were")
        notes.append(f"{who} rejected: what they wait for never happened, or the machine has no room")
    return notes
