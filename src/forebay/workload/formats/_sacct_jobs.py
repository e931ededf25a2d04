"""Blocks of a listing to the jobs in them: which records are jobs that ran, and what each of these asked for."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from forebay.core.units import INT64_MAX
from forebay.errors import listed
from forebay.workload import _cancelled
from forebay.workload._checks.rules import MOST_NODES
from forebay.workload.formats import _sacct_depends as depends
from forebay.workload.formats import _sacct_values as values
from forebay.workload.formats._sacct_rows import Block
from forebay.workload.formats._sacct_table import MOMENTS, WAYS, Known, Rows, replaced

CODED = ("user", "group", "queue", "account", "qos", "gpu", "features")
"""Columns of words, kept as numbers in order of appearance."""

RENUMBERED = ("requeued job", "array task", "component", "other")
_TASK = RENUMBERED.index("array task")

_PENDING = "PENDING"
_RUNNING = ("RUNNING", "SUSPENDED")
_NODES = ("NNodes", "AllocNodes", "ReqNodes")
_CPUS = ("NCPUS", "AllocCPUS", "ReqCPUS")
_MOST_CPUS = 10**12
_MOST_TASKS = 1_000_000  # that records of several become in all: a line may claim any number
_SEVERAL = r"^[0-9]{1,18}_\[(.*)\]$"  # JobID of array tasks that never ran, in one record
_EXCLUSIVE = r"(^|\s)--exclusive(\s|$)"  # --exclusive=user shares nodes with jobs of the same user
_ALONE = ("NO", "EXCLUSIVE")  # what OverSubscribe says of a job that has its nodes to itself
_RUN = ("raw number", "array", "array_task", "het", "het_offset", "submit", "start", "cancel")
"""What no two runs share: where jobs are requeued, they start at another time."""
_KEPT = (
    *("id", "kind", "submit", "run_time", "nodes", "start", "walltime", "priority", "cancel"),
    *("cores", "memory", "gpus", "exclusive", "array", "array_task", "het", "het_offset", *CODED),
    "recorded_reason",
    *("raw number", "depends", "job name", "name"),
)


@dataclass
class Found:
    """What the blocks so far have given."""

    columns: set[str]  # that the file has
    unit: str = "line"  # of places in it
    keep_cancelled: bool = False
    tables: list[pl.DataFrame] = field(default_factory=list)
    codes: dict[str, dict[str, int]] = field(default_factory=lambda: {name: {"": -1} for name in CODED})
    shown: dict[str, dict[str, str]] = field(default_factory=lambda: {"user": {}, "group": {}})  # names by number
    dropped: Counter[str] = field(default_factory=Counter)
    records: int = 0
    way: tuple[int, int] | None = None  # how times are written, and where that was first seen
    endless: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)  # of jobs that a note tells of
    known: dict[str, Known] = field(default_factory=dict)  # what words mean, by column
    limits: dict[int, int] = field(default_factory=dict)  # of arrays: tasks that may run at a time
    clusters: set[str] = field(default_factory=set)
    named: bool = False  # whether names of jobs are kept: who waits for those of its own name needs them
    largest: int = 0  # job number of any record, also of one that is left out

    def add(self, block: Block) -> list[tuple[int, str]]:
        """Keep the block's jobs, count why others are none; lines that cannot be read are returned, with the reason."""
        rows = Rows(block.table, block.wrong, self.known)
        self.records += len(rows) + len(rows.wrong)
        self._name(rows)
        self.clusters.update(name for name in rows.words("Cluster").unique() if name)
        rows.read_moments()
        self._agree_on_times(rows)
        self._drop(rows)
        rows.refuse(
            rows.table["submit"].is_null(),
            lambda row: (
                f"job {listed([row['name']])} ran, but its Submit time is not known; correct or remove the line"
            ),
        )
        self._size(rows)
        self._times(rows)
        self._demands(rows)
        self._who(rows)
        amounts = [name for name in rows.table.columns if name.startswith("amount ")]
        self.tables.append(self._spread(rows.table.select(*_KEPT, *amounts)).drop("name"))
        return sorted(rows.wrong, key=lambda one: one[0])

    def _name(self, rows: Rows) -> None:
        """Numbers of jobs, arrays and heterogeneous jobs; steps are left out."""
        name, raw = rows.words("JobID"), rows.words("JobIDRaw")
        rows.set(name=name.set(name == "", None).fill_null(raw), raw=raw.set(raw == "", None))
        rows.refuse(rows.table["name"] == "", lambda _: "the JobID is empty; every record has one")
        numbers = rows.table.select(
            pl.coalesce("raw", "name").str.extract(r"^([0-9]{1,18})").cast(pl.Int64).max()
        ).item()
        self.largest = max(self.largest, numbers or 0)
        steps = rows.table["name"].str.contains(r"\.[^\]]*$")  # not the dots of a list that is cut short: `7_[1-9,...]`
        self._leave_out(rows, "job step", steps)
        own = pl.coalesce("raw", "name")  # JobIDRaw is a number for array tasks and components too
        rows.set(id=own.str.extract(r"^([0-9]{1,18})$").cast(pl.Int64))
        for one, part, mark in (("array", "array_task", "_"), ("het", "het_offset", r"\+")):
            pattern = rf"^([0-9]{{1,18}}){mark}([0-9]{{1,18}})$"
            rows.set(
                **{
                    column: pl.col("name").str.extract(pattern, k).cast(pl.Int64).fill_null(-1)
                    for k, column in ((1, one), (2, part))
                }
            )
        rows.set(**{"raw number": pl.col("id").fill_null(-1)})
        rows.set(**{"job name": rows.words("JobName") if self.named else pl.lit("")})
        rows.read("n tasks", rows.table["name"].str.extract(_SEVERAL).fill_null(""), _n_tasks, pl.Int64)
        self._read_limits(rows)
        words = rows.table.with_columns(Dependency=depends.word(rows.table))["Dependency"]
        rows.read("depends on", words, _readable, pl.String)
        rows.set(depends=pl.col("depends on").fill_null(""))
        rows.set(
            kind=pl.when(own.str.contains("+", literal=True)).then(2)
            .when(own.str.contains("_", literal=True)).then(_TASK)
            .otherwise(3)
        )  # fmt: skip

    def _read_limits(self, rows: Rows) -> None:
        """How many tasks of an array may run at a time: `1001_[1-100%5]`, or `--array=1-100%5` where it was submitted.

        Records that are left out tell it, too: tasks that still wait stand together in one.
        """
        name = pl.col("name")
        extracted = pl.coalesce(
            name.str.extract(r"^[0-9]{1,18}_\[[^%\]]*%([0-9]{1,9})\]$"),
            *([pl.col("SubmitLine").str.extract(depends.LIMIT)] if "SubmitLine" in rows.table.columns else []),
        ).cast(pl.Int64)
        found = rows.table.select(array=name.str.extract(r"^([0-9]{1,18})_").cast(pl.Int64), limit=extracted)
        for array, limit in found.filter(pl.col("array").is_not_null() & (pl.col("limit") > 0)).unique().iter_rows():
            self.limits[array] = min(limit, self.limits.get(array, limit))

    def _leave_out(self, rows: Rows, why: str, which: pl.Series) -> None:
        if which.any():
            self._count_out(why, rows.table.filter(which))
            rows.keep(~which)

    def _count_out(self, why: str, table: pl.DataFrame) -> None:
        """Records that are left out; one that stands for several array tasks counts as these."""
        count = int(table["n tasks"].sum()) if "n tasks" in table.columns else len(table)
        self.dropped[why] += count
        self.records += count - len(table)

    def _spread(self, table: pl.DataFrame) -> pl.DataFrame:
        """A job of its own for each array task, where one record tells that several were cancelled."""
        withdrawn, several = pl.col("cancel").is_finite(), pl.col("name").str.extract(_SEVERAL)
        self.counts["withdrawn"] += int(table.select(withdrawn.sum()).item())
        of_several = table.select(pl.when(withdrawn).then(several)).to_series()
        if not of_several.count():
            return table
        made: list[list[int] | None] = []
        for text in of_several:
            tasks = values.tasks(text or "")
            count = sum(map(len, tasks))
            fits = 0 < count <= _MOST_TASKS - self.counts["spread"]
            made.append([task for some in tasks for task in some] if fits else None)
            self.counts["whole arrays"] += text is not None and not fits
            self.counts["spread"] += count if fits else 0
        known = pl.col("tasks").is_not_null()
        table = table.with_columns(tasks=pl.Series(made, dtype=pl.List(pl.Int64))).with_columns(
            array=pl.when(known).then(pl.col("name").str.extract(r"^([0-9]+)_").cast(pl.Int64)).otherwise("array"),
            id=pl.when(~known).then("id"),
            kind=pl.when(known).then(_TASK).otherwise("kind"),
            tasks=pl.when(known).then("tasks").otherwise(pl.concat_list("array_task")),
        )
        spread = table.drop("array_task").explode("tasks").rename({"tasks": "array_task"})
        self.counts["withdrawn"] += len(spread) - len(table)
        self.records += len(spread) - len(table)
        return spread.select(table.drop("tasks").columns)

    def _agree_on_times(self, rows: Rows) -> None:
        """All times of a file are written in one way: mixed, some would be in another time zone than others."""
        if self.way is None:
            first = pl.coalesce(pl.when(pl.col(f"{name} way") > 0).then(f"{name} way") for name in MOMENTS)
            first_row = rows.table.select("line", way=first).filter(pl.col("way").is_not_null()).head(1)
            if len(first_row):
                self.way = int(first_row["way"][0]), int(first_row["line"][0])
        if self.way is None:
            return
        way, place = self.way
        for column in MOMENTS:
            written = rows.table[f"{column} way"]
            rows.refuse(
                (written > 0) & (written != way),
                lambda row, column=column: (  # type: ignore[misc]
                    f"{column} is {WAYS[row[f'{column} way']]}, but times from {self.unit} {place} on were "
                    f"{WAYS[way]}; write all in one way (SLURM_TIME_FORMAT)"
                ),
            )

    def _drop(self, rows: Rows) -> None:
        """Leave out records of no use; columns `submit`, `start`, `run_time`, `running` and `cancel` of the others."""
        rows.read("state", rows.words("State"), values.state, pl.String)
        self._leave_out(rows, "still pending", rows.table["state"] == _PENDING)
        rows.read("raw run", rows.words("ElapsedRaw"), values.elapsed, pl.Float64)
        given = rows.words("Elapsed").set(rows.table["raw run"].is_not_null(), "")
        rows.read_length("run", given)
        # Who waits for others was eligible when these had ended, which they will do at other times here.
        submit = (
            pl.when(pl.col("depends") != "").then(pl.coalesce("Submit time", "Eligible time"))
            .otherwise(pl.coalesce("Eligible time", "Submit time"))
        )  # fmt: skip
        start, end = pl.col("Start time"), pl.col("End time")
        rows.set(submit=submit, start=start, running=pl.col("state").is_in(_RUNNING))
        rows.set(run_time=pl.coalesce("raw run", "run", end - start, 0.0))
        gone = pl.col("state").str.starts_with("CANCELLED")
        unstarted = pl.lit("Start" in self.columns) & pl.col("start").is_null()
        reason = (
            pl.when(unstarted).then(
                pl.when(gone).then(pl.lit(_cancelled.DROPPED))
                .when("running").then(pl.lit("still running"))
                .otherwise(pl.lit("never started"))
            )
            .when((pl.col("run_time") <= 0) & ~pl.col("running"))
            .then(pl.when(gone).then(pl.lit(_cancelled.DROPPED)).otherwise(pl.lit("run time not positive")))
            .otherwise(pl.lit(""))
        )  # fmt: skip
        rows.set(reason=reason, cancel=pl.lit(math.inf))
        if self.keep_cancelled:
            after = end - pl.col("submit")  # how long after its arrival the job was cancelled
            known = (after > 0) & (start.is_null() | (start >= end))
            withdrawn = pl.col("reason") == _cancelled.DROPPED
            rows.set(
                cancel=pl.when(withdrawn & known).then(after).otherwise(math.inf),
                reason=pl.when(~withdrawn).then("reason").when(known).then(pl.lit("")).otherwise(
                    pl.lit(_cancelled.UNTOLD)
                ),
            )  # fmt: skip
        for why, _ in _tally(rows.table["reason"]):
            if why:
                self._leave_out(rows, why, rows.table["reason"] == why)

    def _size(self, rows: Rows) -> None:
        rows.read_tres()
        rows.read_first_count("cpus", _CPUS, "tres cpus")
        rows.read_first_count("nodes", _NODES, "tres nodes")
        guessed = rows.table["nodes"].is_null() & (rows.table["cpus"] > 0).fill_null(False)
        self.counts["cpus for nodes"] += int(guessed.sum())
        rows.set(nodes=pl.when(guessed).then("cpus").otherwise(pl.col("nodes").fill_null(0)))
        self._leave_out(rows, "no nodes", rows.table["nodes"] <= 0)
        for column, word, most in (("nodes", "nodes", MOST_NODES), ("cpus", "CPUs", _MOST_CPUS)):
            rows.refuse(
                (rows.table[column] > most).fill_null(False),
                lambda row, column=column, word=word, most=most: (  # type: ignore[misc]
                    f"job {listed([row['name']])} has {row[column]} {word}, {most:,} at most; correct it"
                ),
            )
        rows.set(cores=pl.col("cpus").fill_null(0))

    def _times(self, rows: Rows) -> None:
        """Walltimes and priorities; and run times of jobs that had none yet."""
        raw = rows.words("TimelimitRaw")
        words = raw.set(raw == "", None).fill_null(rows.words("Timelimit"))
        rows.set(limit=words, raw=raw != "")
        for column, which in (("TimelimitRaw", pl.col("raw")), ("Timelimit", ~pl.col("raw"))):
            mine = rows.table.select(pl.when(which).then("limit").otherwise(pl.lit(""))).to_series()
            rows.read(column, mine.alias(column), values.time_limit, pl.Float64)
        rows.set(walltime=pl.when("raw").then("TimelimitRaw").otherwise("Timelimit"))
        for word, count in _tally(rows.table.filter(pl.col("walltime").is_infinite())["limit"]):
            self.endless[word or "none given"] += count
        rows.read("priority", rows.words("Priority"), values.priority, pl.Float64)
        limited, withdrawn = pl.col("walltime").is_finite(), pl.col("cancel").is_finite()
        rows.set(
            run_time=pl.when(withdrawn).then(pl.when(limited).then("walltime").otherwise("cancel"))
            .when("running").then(pl.max_horizontal("run_time", pl.when(limited).then("walltime")))
            .otherwise("run_time")
        )  # fmt: skip
        self._leave_out(rows, "still running, and nothing tells how long", rows.table["run_time"] <= 0)
        self.counts["running"] += int(rows.table["running"].sum())

    def _demands(self, rows: Rows) -> None:
        """Memory in all, GPUs, and whether nodes are the job's own."""
        words = rows.words("ReqMem").set(rows.table["tres memory"].is_not_null(), "")
        rows.set(ReqMem=words)
        rows.read("asked memory", words, lambda text: values.memory(text)[0], pl.Float64)
        rows.read("asked each", rows.words("ReqMem"), lambda text: values.memory(text)[1], pl.String)
        rows.set(each=pl.coalesce("tres each", "asked each"), memory=pl.coalesce("tres memory", "asked memory"))
        rows.refuse(
            ((rows.table["each"] == "c") & rows.table["cpus"].is_null()).fill_null(False),
            lambda row: f"ReqMem is '{row['ReqMem']}', for each CPU, and the number of CPUs is not known; add NCPUS",
        )
        times = pl.when(pl.col("each") == "n").then("nodes").when(pl.col("each") == "c").then("cpus").otherwise(1)
        rows.set(memory=(pl.col("memory") * times).round())
        rows.refuse(rows.table["memory"] >= INT64_MAX, lambda _: f"memory is {values.TOO_MANY}")
        line, share = rows.words("SubmitLine"), rows.words("OverSubscribe")
        alone = line.str.contains(_EXCLUSIVE) | share.str.to_uppercase().is_in(_ALONE)
        rows.set(
            memory=pl.col("memory").cast(pl.Int64),
            exclusive=pl.when(alone).then(1).when(share != "").then(0).otherwise(-1).cast(pl.Int64),
        )
        self.counts["mixed"] += int(rows.table["mixed"].sum())
        self.counts["component"] += int((rows.table["het"] >= 0).sum())

    def _who(self, rows: Rows) -> None:
        """What tells users, groups, queues, accounts and qualities of service apart; numbers keep their names too."""
        table = rows.table.select(
            **{
                name.lower(): rows.words(name)
                for name in ("UID", "User", "GID", "Group", "Account", "Partition", "QOS", "Constraints", "Reason")
            },
            gpu="gpu",
        )
        for number, name in (("uid", "user"), ("gid", "group")):
            both = table.select(number, name).filter((pl.col(number) != "") & (pl.col(name) != ""))
            for key, word in both.unique(subset=[number], keep="first", maintain_order=True).iter_rows():
                self.shown[name].setdefault(key, word)
        words = table.select(
            user=_first("uid", "user"), group=_first("gid", "group", "account"), queue="partition", account="account",
            qos="qos", gpu="gpu", features=_known("constraints"),
            recorded_reason=_known("reason"),
        )  # fmt: skip
        rows.set(**{name: self._coded(words[name]) for name in CODED}, recorded_reason=words["recorded_reason"])

    def _coded(self, words: pl.Series) -> pl.Series:
        codes = self.codes[words.name]
        every = words.unique(maintain_order=True)
        made = [codes.setdefault(word, len(codes) - 1) for word in every]
        return replaced(words, every, pl.Series(made, dtype=pl.Int32))

    def table(self) -> pl.DataFrame:
        """All jobs, in the order of the file."""
        frame = pl.concat(self.tables, how="diagonal") if self.tables else pl.DataFrame()
        return self._once(frame.with_columns(pl.col("^amount .*$").fill_null(0)))

    def _once(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Each run once, as it was listed last: listings of two months both have the jobs that ran between them."""
        if frame.is_empty() or len(self.clusters) > 1:  # clusters may number their jobs alike
            return frame
        numbered = (pl.col("raw number") >= 0) | (pl.col("array") >= 0) | (pl.col("het") >= 0)
        last = frame.select(pl.struct(*_RUN).is_last_distinct() | ~numbered).to_series()
        if not last.all():
            self.dropped["listed again"] += int((~last).sum())
        return frame.filter(last)


def _readable(text: str) -> str:
    """A word that says whom a job waits for, if it can be read; "" if that is none."""
    parsed = depends.parse(text)
    return text if parsed.targets or parsed.odd or parsed.singleton else ""


def _n_tasks(text: str) -> int:
    """How many array tasks a record stands for: one, unless its JobID lists several."""
    return sum(map(len, values.tasks(text))) or 1


def _tally(words: pl.Series) -> Iterator[tuple[str, int]]:
    """How often each word occurs, in order of appearance."""
    return words.to_frame("word").group_by("word", maintain_order=True).len().iter_rows()


def _first(*columns: str) -> pl.Expr:
    """The first word that is not empty."""
    return pl.coalesce(*(pl.when(pl.col(name) != "").then(name) for name in columns), pl.lit(""))


def _known(column: str) -> pl.Expr:
    return pl.when(pl.col(column).str.to_lowercase().is_in(list(values.UNKNOWN))).then(pl.lit("")).otherwise(column)


def ids(found: pl.Series, kinds: pl.Series, last: int) -> tuple[pl.Series, Iterator[tuple[str, int]]]:
    """Whole numbers: a job's own where it has one, else a new one beyond `last`; and how many of each kind got one."""
    taken = found.is_null() | ~found.is_first_distinct()
    new = last + taken.cast(pl.Int64).cum_sum()
    kind = pl.select(pl.when(found.is_not_null()).then(0).otherwise(kinds)).to_series().filter(taken)
    counted: dict[Any, int] = dict.fromkeys(kind.unique(maintain_order=True), 0) | dict(Counter(kind))
    return found.zip_with(~taken, new), ((RENUMBERED[number], count) for number, count in counted.items())
