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

SINGLETON = "singleton"
_CORRESPONDING = "aftercorr"
_KINDS = {"after", "afterany", "afterok", "afternotok", _CORRESPONDING}
_ALIKE = {"expand", "afterburstbuffer"}  # Slurm's, which are not read
_TARGET = re.compile(r"([0-9]{1,18})(?:_([0-9]{1,18}|\*))?(?:\+([0-9]{1,9}))?")
_STATE = re.compile(r"\([a-z ]*\)")  # how far a dependency is, as squeue tells


@dataclass
class Depends:
    """What one word says: (kind, job, task or None, minutes), and whether one of them is enough."""

    targets: list[tuple[str, int, int | None, int]] = field(default_factory=list)
    any: bool = False
    singleton: bool = False  # whether it waits for all earlier jobs of its user and name
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
        if kind == SINGLETON and not made.any:
            made.singleton = True
        elif kind in {SINGLETON, *_ALIKE}:  # with "?", several who must all have ended cannot stand beside one
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


def _tasks(jobs: pl.DataFrame) -> dict[int, dict[int, int]]:
    """The jobs of each array, by their place in it."""
    tasks: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for array, task, number in jobs.filter(pl.col("array") >= 0).select("array", "array_task", "id").iter_rows():
        tasks[array][task] = number
    return tasks


def edges(jobs: pl.DataFrame) -> tuple[pl.DataFrame | None, Counter[str]]:
    """The dependencies of jobs with columns `id`, `raw`, `depends`, `array`, `array_task`, `het`, `user`, `job name`.

    And counts of those that are not kept: by kind, or "missing" for jobs that are not there. A job that ran after
    another had failed waits for its end: here nothing tells that the other will fail.
    """
    waiting = jobs.filter(pl.col("depends") != "")
    lost: Counter[str] = Counter()
    if not len(waiting):
        return None, lost
    own = dict(zip(jobs["raw"].to_list(), jobs["id"].to_list(), strict=True))
    tasks = _tasks(jobs)
    rows: list[tuple[int, int, str, float, bool]] = []
    alone: set[int] = set()
    for number, place, text in waiting.select("id", "array_task", "depends").iter_rows():
        parsed = parse(text)
        lost += parsed.odd
        if parsed.singleton:
            alone.add(number)
        mine: list[tuple[int, int, str, float, bool]] = []
        for kind, job, task, minutes in parsed.targets:
            if kind == _CORRESPONDING:
                kind = "afterok"  # noqa: PLW2901
                task = place if place in tasks.get(job, {}) else task  # noqa: PLW2901
            parents = list(_parents(job, task, own, tasks))
            if kind == "afternotok":
                lost[kind] += 1
                kind = "afterany"  # noqa: PLW2901
            lost["missing"] += not parents
            if not parents and parsed.any:  # one that is not there is taken as met, and one is enough
                mine = []
                break
            mine += [(number, parent, kind, 60.0 * minutes, parsed.any) for parent in parents if parent != number]
        rows += mine
    rows += _one_at_a_time(jobs, alone, lost)
    if not rows:
        return None, lost
    columns = zip(*rows, strict=True)
    return dependency_table(dict(zip(("job", "parent", "kind", "delay", "any"), columns, strict=True))), lost


def _one_at_a_time(
    jobs: pl.DataFrame, alone: set[int], lost: Counter[str]
) -> Iterator[tuple[int, int, str, float, bool]]:
    """Who of these waits for the end of which earlier jobs of its user and name: by number, as Slurm tells earlier.

    Those before an earlier one of these have ended when it has, so that they need not be named.
    """
    if not alone:
        return
    first = pl.when(pl.col("array") >= 0).then("array").when(pl.col("het") >= 0).then("het").otherwise("raw")
    known = (pl.col("user") >= 0) & (pl.col("job name") != "")
    table = jobs.filter(known).sort(first, "array_task", maintain_order=True)
    lost[SINGLETON] += len(alone) - int(table["id"].is_in(list(alone)).sum())
    since: defaultdict[tuple[int, str], list[tuple[int, int]]] = defaultdict(list)
    for number, het, user, name in table.select("id", "het", "user", "job name").iter_rows():
        earlier = since[user, name]
        if number in alone:
            # Components of one heterogeneous job do not wait for one another.
            yield from ((number, one, "afterany", 0.0, False) for one, other in earlier if het < 0 or other != het)
            if het < 0:
                earlier.clear()
        earlier.append((number, het))


def _parents(job: int, task: int | None, own: dict[int, int], tasks: dict[int, dict[int, int]]) -> Iterator[int]:
    """Who is meant: a task of an array, all of an array's tasks, or the job of that number."""
    if task is not None:
        if task in tasks.get(job, {}):
            yield tasks[job][task]
    elif job in tasks:
        yield from tasks[job].values()
    elif job in own:
        yield own[job]
