"""A Workload as `sacct -P` would list it."""

import re
from pathlib import Path

import polars as pl

from forebay._support.text import counted
from forebay.errors import InputError, brief
from forebay.workload import _cancelled, _source
from forebay.workload.names import column_of
from forebay.workload.workload import Workload

_COLUMNS = {"user": "UID", "group": "GID", "queue": "Partition", "account": "Account", "qos": "QOS"}
_NAMES = {"user": "User", "group": "Group"}
"""Columns of names, where they are not those of numbers."""

_BUFFER = "bb/generic"
_EXACT = 2**53  # a double tells whole numbers below this one apart
_AMOUNTS = ("memory", "burst_buffer", "gres_gpumem")  # in bytes; further demands are counted


def content(workload: Workload, path: Path) -> tuple[str, list[str]]:
    """The file's text, with times in seconds since 1970, and notes on what it cannot hold."""
    jobs = workload.jobs
    _refuse(workload, path)
    cancelled = _cancelled.untimed(jobs)
    epoch = workload.epoch
    submit = pl.col("submit") + epoch
    tres, kept = _tres(workload, path)
    columns: dict[str, pl.Expr | pl.Series] = {
        **_ids(jobs),
        "Submit": plain(submit),
        "ElapsedRaw": pl.when(cancelled).then(pl.lit("0")).otherwise(plain(pl.col("run_time"))),
        "Timelimit": _limit(),
        "NNodes": pl.col("nodes").cast(pl.String),
        **_who(workload, path),
        "Priority": plain(pl.col("priority")),
    }
    started = "recorded_start" in jobs.columns and not (jobs["recorded_start"].is_nan() & ~cancelled).any()
    if started:
        start = plain(pl.col("recorded_start") + epoch)
        columns["Start"] = pl.when(cancelled).then(pl.lit("Unknown")).otherwise(start)
    if cancelled.any():
        columns["End"] = pl.when(cancelled).then(plain(submit + pl.col("cancel"))).otherwise(pl.lit("Unknown"))
        columns["State"] = pl.when(cancelled).then(pl.lit("CANCELLED")).otherwise(pl.lit("COMPLETED"))
    if tres is not None:
        columns["AllocTRES"] = tres
    if "exclusive" in jobs.columns:
        words = {1: "NO", 0: "OK", -1: ""}  # Slurm's: whether others may be on its nodes
        columns["OverSubscribe"] = pl.col("exclusive").replace_strict(words, return_dtype=pl.String)
    if "features" in jobs.columns:
        columns["Constraints"] = _words(workload, "features", path)
    if workload.dependencies is not None:
        columns["Dependency"] = _dependencies(workload)
    table = jobs.select(**columns).with_columns(pl.col(pl.String).fill_null(""))
    text = table.write_csv(separator="|", quote_style="never")
    return text, _lost(workload, kept, started)


_UNWRITTEN = (pl.col("kind") == "think") | (pl.col("delay") % 60 != 0)
"""Dependencies that Slurm has no word for: delays are in minutes."""


def _dependencies(workload: Workload) -> pl.Series:
    """Whom each job waits for, as `--dependency` takes it."""
    jobs = workload.jobs
    names = jobs.select(parent="id", name=_ids(jobs)["JobID"])
    table = workload.dependencies if workload.dependencies is not None else pl.DataFrame()
    minutes = (pl.col("delay") / 60).cast(pl.Int64)
    one = pl.when(minutes > 0).then(pl.format("{}:{}+{}", "kind", "name", minutes)).otherwise(
        pl.format("{}:{}", "kind", "name")
    )  # fmt: skip
    words = (
        table.filter(~_UNWRITTEN)
        .join(names, on="parent", how="left", maintain_order="left")
        .group_by("job", maintain_order=True)
        .agg(word=one, any=pl.col("any").first())
        .select("job", word=pl.when("any").then(pl.col("word").list.join("?")).otherwise(pl.col("word").list.join(",")))
    )
    return jobs.join(words, left_on="id", right_on="job", how="left", maintain_order="left")["word"]


def _refuse(workload: Workload, path: Path) -> None:
    jobs = workload.jobs
    odd = jobs.filter(~(pl.col("submit").is_finite() & pl.col("run_time").is_finite()) | (pl.col("run_time") <= 0))
    if len(odd):
        raise InputError(f"{path}: job {odd['id'][0]} has no run time in seconds; write .json (Batsim) instead")
    if len(jobs) and float(jobs["submit"][0]) + workload.epoch < 0:
        raise InputError(f"{path}: jobs arrive before 1970, which sacct cannot say; write .swf instead")


def _ids(jobs: pl.DataFrame) -> dict[str, pl.Expr]:
    """JobID, and where it is that of an array's task or a component, JobIDRaw too."""
    number = pl.col("id").cast(pl.String)
    names = [
        pl.when(pl.col(one) >= 0).then(pl.format("{}" + mark + "{}", one, part))
        for one, part, mark in (("array", "array_task", "_"), ("het", "het_offset", "+"))
        if one in jobs.columns and part in jobs.columns
    ]
    return {"JobID": pl.coalesce(*names, number), **({"JobIDRaw": number} if names else {})}


def _tres(workload: Workload, path: Path) -> tuple[pl.Expr | None, set[str]]:
    """What jobs have of cores, memory, GPUs, burst buffers and licences, as a list; and the columns that it holds."""
    jobs, items, kept = workload.jobs, [], set()
    for column in ("cores", "memory", "burst_buffer", "gpus", *_source.demands(workload)):
        name = _tres_name(column)
        if column in jobs.columns and name and column not in kept:
            kept.add(column)
            amount = _kibibytes(column) if column in _AMOUNTS else pl.col(column).cast(pl.String)
            items.append(pl.when(pl.col(column) > 0).then(pl.format(f"{name}={{}}", amount)))
    if {"gpus", "gpu"} <= set(jobs.columns):
        kept.add("gpu")
        word = _words(workload, "gpu", path)
        typed = (pl.col("gpu") >= 0) & (pl.col("gpus") > 0)
        items.append(pl.when(typed).then(pl.format("gres/gpu:{}={}", word, "gpus")))
    return pl.concat_str(items, separator=",", ignore_nulls=True) if items else None, kept


def _tres_name(column: str) -> str | None:
    """What Slurm calls a demand; None where it has no word for it."""
    known = {"cores": "cpu", "memory": "mem", "gpus": "gres/gpu", "burst_buffer": _BUFFER}
    found = re.fullmatch(r"(license|gres)_(.+)", column)
    return known.get(column) or (f"{found[1]}/{found[2]}" if found else None)


def _kibibytes(column: str) -> pl.Expr:
    """Bytes in Slurm's smallest unit, with the part of one that is left."""
    return pl.format("{}K", plain(pl.col(column) / 1024))


def plain(number: pl.Expr) -> pl.Expr:
    """Numbers as text; whole ones without a point."""
    whole = (number == number.floor()) & (number.abs() < _EXACT)
    return pl.when(whole).then(number.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(number.cast(pl.String))


def _limit() -> pl.Expr:
    seconds = pl.col("walltime")
    rest = seconds % 3600
    hours, minutes = (one.floor().cast(pl.Int64, strict=False).cast(pl.String) for one in (seconds / 3600, rest / 60))
    clock = pl.format("{}:{}:{}", hours.str.zfill(2), minutes.str.zfill(2), plain(rest % 60))
    return pl.when(seconds.is_finite()).then(clock).otherwise(pl.lit("UNLIMITED"))


def _who(workload: Workload, path: Path) -> dict[str, pl.Series]:
    """Columns that tell whose jobs they are: numbers, and names where numbers have them."""
    found = {}
    for column, name in _COLUMNS.items():
        if column not in workload.jobs.columns:
            continue
        numbers, names = workload.jobs[column], workload.names.get(column, {})
        if column in _NAMES or not names:
            found[name] = numbers.cast(pl.String).set(numbers < 0, None)
        if names:
            found[_NAMES.get(column, name)] = _words(workload, column, path)
    return found


def _words(workload: Workload, column: str, path: Path) -> pl.Series:
    """The name behind each number of a column, if a listing can hold them all."""
    never = r"[|,=:\r\n\0]" if column == "gpu" else r"[|\r\n\0]"
    names = workload.names.get(column, {}).values()
    odd = next((one for one in names if re.search(never, one) or one != one.strip()), None)
    if odd is not None:
        raise InputError(
            f"{path}: the {column} {brief(odd)} cannot be written: sacct divides columns by '|', and quotes nothing; "
            "write .parquet.zip instead"
        )
    return column_of(workload.jobs, workload.names, column)


def _lost(workload: Workload, kept: set[str], started: bool) -> list[str]:
    jobs = workload.jobs
    others = [name for name in _source.demands(workload) if name not in kept]
    lost = {name: int((jobs[name] != 0).sum()) for name in ("flop", "communication", *others)}
    lost |= {name: int((jobs[name] > 0).sum()) for name in ("tasks", "array_limit") if name in jobs.columns}
    notes = [f"{name} of {counted(count, 'job')} is not written" for name, count in lost.items() if count]
    notes += _cancelled.written_notes(jobs)
    if workload.legs is not None or workload.phases is not None:
        notes.append("legs and phases are not written: sacct has jobs only")
    notes += _source.application_notes(workload) + _source.own_notes(workload, "sacct")
    if workload.dependencies is not None and (untold := len(workload.dependencies.filter(_UNWRITTEN))):
        what = counted(untold, "dependency is", "dependencies are")
        notes.append(f"{what} not written: Slurm has no think times, and delays in minutes alone")
    if "recorded_start" in jobs.columns and not started:
        notes.append("recorded starts are not written: some are unknown, and to sacct such a job never started")
    if workload.platform is not None:
        notes.append(f"the platform {workload.platform!r} is not kept: name it again when you simulate")
    return notes
