"""Slurm's way to say whom a job waits for, as in `--dependency=afterok:123:124,after:125+10?afterany:126`."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import polars as pl

from forebay.errors import brief
from forebay.workload.dependencies import dependency_table
from forebay.workload.formats._sacct_values import UNKNOWN, UnreadableError

LIMIT = r"(?:^|\s)(?:--array=|--array\s+|-a\s*)[^\s%]+%([0-9]{1,9})"
"""How many tasks of an array may run at a time, in a line that submits it."""

LINE = r"(?:^|\s)(?:--dependency=|--dependency\s+|-d\s*)([^\s]+)"
"""What a line that submits a job says of its dependencies."""

_KINDS = {"after", "afterany", "afterok", "afternotok"}
_ALIKE = {"aftercorr", "singleton", "expand", "afterburstbuffer"}  # Slurm's, which are not read
_TARGET = re.compile(r"([0-9]{1,18})(?:_([0-9]{1,18}|\*))?(?:\+([0-9]{1,9}))?")
_STATE = re.compile(r"\([a-z ]*\)")  # how far a dependency is, as squeue tells


@dataclass
class Depends:
    """What one word says: (kind, job, task or None, minutes), and whether one of them is enough."""

    targets: list[tuple[str, int, int | None, int]] = field(default_factory=list)
    any: bool = False
    odd: Counter[str] = field(default_factory=Counter)  # kinds that are not read


def parse(text: str) -> Depends:
    """A word of a column Dependency."""
    made = Depends()
    text = _STATE.sub("", text.strip().strip("'\""))
    if text.lower() in UNKNOWN:
        return made
    if "?" in text and "," in text:
        raise UnreadableError(f"is {brief(text)}; Slurm allows ',' or '?' between dependencies, not both")
    made.any = "?" in text
    for part in re.split(r"[,?]", text):
        kind, *targets = part.split(":")
        if kind in _ALIKE:
            made.odd[kind] += 1
        elif kind not in _KINDS or not targets:
            raise UnreadableError(f"is {brief(text)}; it must be such as afterok:123:124,after:125+10")
        else:
            made.targets += [(kind, *_target(one, text)) for one in targets]
    if made.any and made.odd:  # the other parents alone would be more than is asked
        made.targets = []
    return made


def _target(one: str, text: str) -> tuple[int, int | None, int]:
    found = _TARGET.fullmatch(one)
    if not found:
        raise UnreadableError(f"is {brief(text)}: {brief(one)} names no job; write its number, such as 123 or 123_4")
    task = int(found[2]) if found[2] and found[2] != "*" else None
    return int(found[1]), task, int(found[3] or 0)


def word(table: pl.DataFrame) -> pl.Expr:
    """Whom each record says that it waits for: its own column, else the line that submitted it."""
    found: list[pl.Expr] = []
    if "Dependency" in table.columns:
        found.append(pl.when(~pl.col("Dependency").str.to_lowercase().is_in(list(UNKNOWN))).then("Dependency"))
    if "SubmitLine" in table.columns:
        found.append(pl.col("SubmitLine").str.extract(LINE))
    return pl.coalesce(*found, pl.lit(""))


def edges(jobs: pl.DataFrame) -> tuple[pl.DataFrame | None, Counter[str]]:
    """The dependencies of jobs with columns `id`, `raw`, `depends`, and of arrays `array` and `array_task`.

    And counts of those that are not kept: by kind, or "missing" for jobs that are not there. A job that ran after
    another had failed waits for its end: here nothing tells that the other will fail.
    """
    waiting = jobs.filter(pl.col("depends") != "")
    lost: Counter[str] = Counter()
    if not len(waiting):
        return None, lost
    own = dict(zip(jobs["raw"].to_list(), jobs["id"].to_list(), strict=True))
    tasks: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for array, task, number in jobs.filter(pl.col("array") >= 0).select("array", "array_task", "id").iter_rows():
        tasks[array][task] = number
    rows = []
    for number, text in waiting.select("id", "depends").iter_rows():
        told = parse(text)
        lost += told.odd
        mine: list[tuple[int, int, str, float, bool]] = []
        for kind, job, task, minutes in told.targets:
            parents = list(_parents(job, task, own, tasks))
            if kind == "afternotok":
                lost[kind] += 1
                kind = "afterany"  # noqa: PLW2901
            lost["missing"] += not parents
            if not parents and told.any:  # one that is not there is taken as met, and one is enough
                mine = []
                break
            mine += [(number, parent, kind, 60.0 * minutes, told.any) for parent in parents if parent != number]
        rows += mine
    if not rows:
        return None, lost
    columns = zip(*rows, strict=True)
    return dependency_table(dict(zip(("job", "parent", "kind", "delay", "any"), columns, strict=True))), lost


def _parents(job: int, task: int | None, own: dict[int, int], tasks: dict[int, dict[int, int]]) -> Iterator[int]:
    """Who is meant: a task of an array, all of an array's tasks, or the job of that number."""
    if task is not None:
        if task in tasks.get(job, {}):
            yield tasks[job][task]
    elif job in tasks:
        yield from tasks[job].values()
    elif job in own:
        yield own[job]
