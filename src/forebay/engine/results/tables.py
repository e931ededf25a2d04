"""From the final tables to a Result: polars frames in the words of the field."""

from collections.abc import Callable, Iterable
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import polars as pl

from forebay.algorithms.setformat import group_intervals, write_sets
from forebay.core.codes import FINAL_STATE, NEVER_BEGUN, Flexibility, JobState, LogKind, LogReason
from forebay.core.schemas import MORE
from forebay.core.tables import State
from forebay.engine.build.table_roles import copied
from forebay.engine.causes import HeldBy
from forebay.engine.dependencies.tables import Standing
from forebay.engine.driver.history import Record
from forebay.engine.limits.tables import Place
from forebay.engine.results.run_alone import by_itself, parts_of
from forebay.engine.truth import Truth
from forebay.platforms.platform import Platform
from forebay.platforms.sharing import GPUS
from forebay.results import spent
from forebay.workload.names import column_of
from forebay.workload.workload import Workload

_TEXT_JOBS = 100_000
"""Jobs whose node sets are written as text at a time: bounds the memory in use."""
_FEW_JOBS = 2_000
"""Jobs up to which Python is faster at such texts than polars."""


def _lower(codes: type[IntEnum]) -> tuple[tuple[int, str], ...]:
    return tuple((code.value, code.name.lower()) for code in codes)


_KINDS, _REASONS = _lower(LogKind), _lower(LogReason)
_SAID = pl.DataFrame(schema={"time": pl.Float64, "job": pl.Int64, "reason": pl.String, "behind": pl.Int64})
_LINKS = pl.DataFrame(schema={"link": pl.String, "capacity": pl.Float64, "bytes": pl.Float64})
_TEXTS = dict.fromkeys(("reason", "slurm", "detail"), pl.String)
_HELD = pl.DataFrame(schema={"time": pl.Float64, "job": pl.Int64, **_TEXTS})
PLACING = ("together", "spread", "alone together", "alone")
"""How the parts of a job are placed on shared nodes: where there is room, or each on a node of its own; and the same on
nodes that the job has to itself."""
_FINALS = tuple((code.value, word) for code, word in FINAL_STATE.items())


class Left(NamedTuple):
    """What results are made of besides the record: the jobs, and a few columns of tables that can then go."""

    jobs: np.ndarray  # State's
    eligible: np.ndarray | None  # [job] when nobody was in its way any more; NaN = never; None where no job waits
    nodes: np.ndarray  # [job] that it asked for, whatever it was given; cores where nodes are shared
    cores: np.ndarray  # [node + 1] ids of cores, where nodes are shared; else empty
    number: np.ndarray  # [job] of its last leg
    way: np.ndarray  # [job] to run that was taken
    logged: np.ndarray  # [leg] whether its phases are in the log
    by_choice: bool  # whether jobs had several ways to run
    links: np.ndarray  # Truth's
    flexibility: np.ndarray  # [job] code; empty where nobody has an application
    compute_nodes: np.ndarray | None  # Program's
    allowed: np.ndarray | None  # [job] atoms that its last leg might run on, as bits; None where nodes are alike
    parts: np.ndarray  # [job] that it is on nodes that are shared; else empty
    placing: np.ndarray  # [job] how these are placed, as an index of PLACING; else empty
    alone: np.ndarray | None = None  # [job] seconds alone, where the log lacks them, else NaN; None if not needed


def left_of(state: State, truth: Truth, compute_nodes: np.ndarray | None = None) -> Left:
    """Taken when a run is over."""
    last = state.jobs["last_leg"]
    eligible = _eligible(state, truth)  # sets when jobs were submitted
    return Left(
        jobs=_alone(state.jobs),
        eligible=eligible,
        nodes=_asked(truth),
        cores=state.inside.first,
        number=state.legs["number"][last],
        way=state.legs["way"][last],
        logged=truth.scripts["logged"].copy(),
        by_choice=len(state.tiers.rates) > 0,
        links=_alone(truth.network.links),
        flexibility=_flexibility(truth),
        compute_nodes=compute_nodes,
        allowed=truth.legs["allowed"][truth.jobs["last_leg"]] if len(state.nodes.atoms) else None,
        **parts_of(truth),
        alone=by_itself(state, truth),
    )


def _alone(table: np.ndarray) -> np.ndarray:
    """Without the tables that lie in one block with it, and would stay as long as it does."""
    return table if table.base is None else copied(table)


def _eligible(state: State, truth: Truth) -> np.ndarray | None:
    """When each job joined the queue, if some waited for others or outside; to policies, they were submitted then."""
    gone = np.zeros(len(state.jobs), bool)
    if len(truth.dependencies.jobs):
        gone |= truth.dependencies.jobs["standing"] == Standing.GONE
    if len(truth.meters.place):
        gone |= truth.meters.place == Place.LEFT
    elif not len(truth.dependencies.jobs):
        return None
    joined = state.jobs["submit"].copy()
    state.jobs["submit"] = truth.jobs["submit"]
    eligible: np.ndarray = np.where(gone, np.nan, joined)
    return eligible


def _asked(truth: Truth) -> np.ndarray:
    """What each job asks for, in what ids of nodes count."""
    if not len(truth.asks):
        return truth.jobs["nodes"].copy()
    most: np.ndarray = np.maximum.reduceat(truth.demands[:, 0], truth.jobs["leg"])
    return most


def _flexibility(truth: Truth) -> np.ndarray:
    """Who decides on each job's size; rigid, if it has no application."""
    row, kind = truth.rounds.row, truth.rounds.jobs["kind"]
    codes: np.ndarray = np.where(row >= 0, kind[row], Flexibility.RIGID) if len(row) else row
    return codes


@lru_cache
def _dictionary(names: tuple[tuple[int, str], ...], nothing: int | None) -> tuple[np.ndarray, pl.Series]:
    """The place of each code in a column of words. One may stand for nothing."""
    table = np.zeros(max(code for code, _ in names) + 1, np.uint32)
    for place, (code, _) in enumerate(names):
        table[code] = place
    kind = pl.Enum([word for _, word in names])
    return table, pl.Series([None if code == nothing else word for code, word in names], dtype=kind)


def _words(codes: np.ndarray, names: Iterable[tuple[int, str]], nothing: int | None = None) -> pl.Series:
    """Codes as an Enum column: one byte a row, readable. Null of the code that stands for nothing."""
    table, words = _dictionary(tuple(names), nothing)
    column: pl.Series = words[table[codes]]
    return column


def log_frame(record: Record, jobs: np.ndarray, resources: tuple[str, ...]) -> pl.DataFrame:
    """The log with ids and words instead of rows and codes. Uses the record's up."""
    log, job = record.log, record.log.take("job")
    resource = _words(log.take("resource") + 1, [*enumerate(resources, 1), (0, "none")], nothing=0)
    frame = pl.DataFrame(
        {
            "time": log.take("time"),
            "job": jobs["id"][job],
            "kind": _words(log.take("kind"), _KINDS),
            "leg": log.take("leg"),
            "resource": resource,
            "amount": log.take("amount"),
            "reason": _words(log.take("reason"), _REASONS),
        }
    )
    if (job >= 0).all():
        return frame
    return frame.with_columns(pl.when(pl.Series(job >= 0)).then("job").alias("job"))  # rows of nodes have none


def _allocations(record: Record, n_jobs: int) -> pl.Series:
    """The nodes that each job ever had as text, empty for a job that had none."""
    columns = [record.log["job"][record.placements["row"]], record.placements["low"], record.placements["high"]]
    low, high = np.empty_like(columns[1]), np.empty_like(columns[2])
    first = np.zeros(n_jobs + 1, np.int64)
    group_intervals(*columns, first, low, high)
    del columns  # a million jobs have ten million intervals
    widest = 2 * len(str(int(high.max(initial=0)))) + 2
    parts = []
    for begin in range(0, n_jobs, _TEXT_JOBS):
        end = min(begin + _TEXT_JOBS, n_jobs)
        text = np.empty(int(first[end] - first[begin]) * widest + end - begin + 1, np.uint8)
        n = write_sets(first, low, high, begin, end, text)
        lines = text[: n - 1].tobytes().decode()
        if end - begin < _FEW_JOBS:  # setting polars to work takes longer
            parts.append(pl.Series(lines.split("\n")))
        else:
            parts.append(pl.Series([lines]).str.split("\n").explode())
    return pl.concat(parts)


def _phase_times(log: np.ndarray, n_jobs: int, kind: LogReason) -> np.ndarray:
    """Seconds that each job spent in phases of a kind that one job goes through one after the other."""
    rows = log[log["reason"] == kind]
    begun, ended = rows[rows["kind"] == LogKind.BEGIN_PHASE], rows[rows["kind"] == LogKind.END_PHASE]
    begun, ended = (part[np.argsort(part["job"], kind="stable")] for part in (begun, ended))
    return np.bincount(begun["job"], ended["time"] - begun["time"], n_jobs)


def staging_frame(left: Left, record: Record) -> pl.DataFrame | None:
    """What staging took of each job's time, null for jobs that did none; None if nobody did any."""
    if not left.logged.any():
        return None
    n_jobs = len(left.jobs)
    first_leg = left.jobs["last_leg"] - left.number  # of the way it ran
    legs = record.rows(left.logged[first_leg[record.log["job"]] + record.log["leg"]] != 0)
    held = np.zeros(n_jobs)  # seconds that legs with staging ran
    for kind, sign in ((LogKind.START, -1), (LogKind.END, 1)):
        rows = legs[legs["kind"] == kind]
        held += sign * np.bincount(rows["job"], rows["time"], n_jobs)
    computes = legs[(legs["kind"] == LogKind.BEGIN_PHASE) & (legs["reason"] == LogReason.COMPUTE)]
    compute_start = np.full(n_jobs, np.nan)
    np.fmin.at(compute_start, computes["job"], computes["time"])
    ran = np.bincount(legs["job"][legs["kind"] == LogKind.START], minlength=n_jobs) > 0
    columns = {
        "stage_in_time": _phase_times(legs, n_jobs, LogReason.STAGE_IN),
        "io_time": np.maximum(held - _phase_times(legs, n_jobs, LogReason.COMPUTE), 0.0),
        "compute_start": compute_start,
    }
    return pl.DataFrame({name: np.where(ran, column, np.nan) for name, column in columns.items()}).fill_nan(None)


def _mean_nodes(left: Left, record: Record) -> np.ndarray:
    """The nodes that each job had on average over its run; NaN of those without any length."""
    log, n_jobs, finish = record.log, len(left.jobs), left.jobs["finish"]
    job, time, kind = log["job"], log["time"], log["kind"]
    sign = np.isin(kind, (LogKind.START, LogKind.ACQUIRE)) * 1 - np.isin(kind, (LogKind.END, LogKind.RELEASE))
    held = (sign != 0) & (log["resource"] == 0)
    # From the job's own end back: sums of times since the beginning of a long run would lose digits.
    area = np.bincount(job[held], (sign * log["amount"] * (finish[job] - time))[held], n_jobs)
    length = finish - left.jobs["start"]
    mean: np.ndarray = np.divide(area, length, out=np.full(n_jobs, np.nan), where=length > 0)
    return mean


def sizes_frame(left: Left, record: Record) -> pl.DataFrame | None:
    """Who may change the size of each job, the nodes it had on average, and how often these changed; None if nobody."""
    if (left.flexibility == Flexibility.RIGID).all():
        return None
    log = record.log
    changed = log["reason"] == LogReason.RESIZED
    moments = np.unique(np.stack([log["job"][changed].astype(float), log["time"][changed]]), axis=1)[0].astype(np.int64)
    return pl.DataFrame(
        {
            "type": _words(left.flexibility, _lower(Flexibility)).cast(pl.String),
            "mean_nodes": pl.Series(_mean_nodes(left, record)).fill_nan(None),
            "n_resizes": np.bincount(moments, minlength=len(left.jobs)),
        }
    )


def servers_frame(left: Left, record: Record) -> pl.DataFrame | None:
    """The nodes on which each job computes, and how many others served it on average; None if nobody has servers."""
    if left.compute_nodes is None:
        return None
    # A mean of n nodes may be less than n in its last bits.
    servers = np.maximum(_mean_nodes(left, record) - left.compute_nodes, 0.0)
    return pl.DataFrame({"compute_nodes": left.compute_nodes, "mean_servers": pl.Series(servers).fill_nan(None)})


def shared_frame(left: Left, record: Record) -> pl.DataFrame | None:
    """The nodes of which each job had a part, its parts, and how they are placed; None where nodes are not shared."""
    if not len(left.cores):
        return None
    job, placed = record.log["job"][record.placements["row"]].astype(np.int64), record.placements
    low, high = (np.searchsorted(left.cores, placed[end], side="right") - 1 for end in ("low", "high"))
    across = high - low + 1
    node = np.repeat(low - np.concatenate([[0], np.cumsum(across)[:-1]]), across) + np.arange(across.sum())
    pairs = np.unique(np.repeat(job, across) * len(left.cores) + node)
    nodes, placing = np.bincount(pairs // len(left.cores), minlength=len(left.jobs)), enumerate(PLACING)
    return pl.DataFrame({"nodes": nodes, "parts": left.parts, "placing": _words(left.placing, placing)})


def may_have_broken_off(record: Record) -> bool:
    """Whether anything at all speaks for failures or interrupts."""
    if (record.log["kind"] == LogKind.NODE_DOWN).any():
        return True
    reasons = (LogReason.NODE_DOWN, LogReason.INTERRUPTED, LogReason.SAVE, LogReason.RECOVER)
    return bool(np.isin(record.log["reason"], reasons).any())


def with_attempts(jobs: pl.DataFrame, log: pl.DataFrame) -> pl.DataFrame:
    """The job table with what failures and interrupts did to each job; as it is, if there were none."""
    kind, reason = pl.col("kind"), pl.col("reason")
    broken_off = (kind == "end") & reason.is_in(["node_down", "interrupted"])
    if not log.select(((kind == "node_down") | reason.is_in(["save", "recover"]) | broken_off).any()).item():
        return jobs
    row = jobs.select(pl.col("job_id").alias("job")).with_row_index("place")
    starts = log.filter(pl.col("kind") == "start").select("job").join(row, on="job", maintain_order="left")
    pieces = spent(log).join(row, on="job", maintain_order="left")
    n_attempts = np.bincount(starts["place"].to_numpy(), minlength=jobs.height)
    length = (pieces["end"] - pieces["start"]).to_numpy()

    def seconds(*what: str) -> pl.Series:
        chosen = pieces["what"].is_in(what).to_numpy()
        total = np.bincount(pieces["place"].to_numpy()[chosen], length[chosen], jobs.height)
        return pl.Series(np.where(n_attempts > 0, total, np.nan)).fill_nan(None)

    return jobs.with_columns(
        n_attempts=pl.Series(n_attempts),
        lost_time=seconds("lost_to_failures", "lost_to_policy"),
        checkpoint_time=seconds("checkpoint"),
        recovery_time=seconds("recovery"),
    )


def placements_frame(record: Record) -> pl.DataFrame:
    """Which nodes a row of the log gave to its job or took back."""
    return pl.DataFrame({name: record.placements.take(name) for name in ("row", "low", "high")})


def chunks_frame(record: Record) -> pl.DataFrame:
    """On which servers a start put its job's chunks; no rows where no buffer is in chunks."""
    return pl.DataFrame({name: record.stored.take(name) for name in ("row", "server", "bytes")})


def said_frame(record: Record, jobs: np.ndarray) -> pl.DataFrame:
    """What the policy said of waiting jobs, with ids instead of rows."""
    if not record.said:
        return _SAID.clone()
    ids = jobs["id"].tolist()
    rows = [(time, ids[j], text, ids[other] if other >= 0 else None) for time, j, text, other in record.said]
    return pl.DataFrame(rows, schema=_SAID.schema, orient="row")


def held_frame(record: Record, jobs: np.ndarray, why: Callable[[int, int, int], tuple[str, str, str]]) -> pl.DataFrame:
    """From when on a job was held back, and by what: a row for each change; no rows where nothing was limited."""
    held = np.column_stack([record.held[name] for name in ("by", "row", "part")])
    if not len(held):
        return _HELD.clone()
    causes, which = np.unique(held, axis=0, return_inverse=True)
    words = [why(*one) if one[0] != HeldBy.NOTHING else ("", "", "") for one in causes.tolist()]
    columns = {name: pl.Series([word[k] for word in words])[which.ravel()] for k, name in enumerate(_TEXTS)}
    return pl.DataFrame({"time": record.held["time"], "job": jobs["id"][record.held["job"]], **columns})


def links_frame(left: Left, names: tuple[str, ...]) -> pl.DataFrame:
    """What crossed each shared link; no rows where nothing moved."""
    links = left.links
    if not len(links):
        return _LINKS.clone()
    links = links[: len(names)]  # behind them are nodes' own devices
    return pl.DataFrame({"link": names, "capacity": links["capacity"], "bytes": links["bytes"]}, schema=_LINKS.schema)


def _known(values: np.ndarray) -> pl.Series:
    """Numbers, null where there is none."""
    return pl.Series(values, nan_to_null=True)


def _same(text: str, n: int) -> pl.Series:
    return pl.Series([text]).new_from_index(0, n)


def jobs_frame(left: Left, record: Record, workload: Workload, platform: Platform) -> pl.DataFrame:
    """The job table of a Result. Column by column: of a short run, each turn of polars' engine takes longer than it."""
    jobs, source, n = left.jobs, workload.jobs, len(left.jobs)
    submit, start, finish, state = jobs["submit"], jobs["start"], jobs["finish"], jobs["state"]
    execution, turnaround = finish - start, finish - submit
    never = np.isin(state, NEVER_BEGUN)
    # A job of no length has no stretch: 0 / 0 and x / 0 would poison every mean.
    stretch = np.divide(turnaround, execution, out=np.full(n, np.nan), where=execution > 0)
    ids = pl.Series(jobs["id"])
    columns = {
        "job_id": ids,
        "workload_name": _same(workload.name, n),
        "profile": ids.cast(pl.String),
        "submission_time": submit,
        "requested_number_of_resources": left.nodes,
        "requested_time": np.where(np.isinf(jobs["walltime"]), -1.0, jobs["walltime"]),
        "success": (state == JobState.COMPLETED).astype(np.int64),
        "final_state": _words(state, _FINALS),
        "starting_time": _known(start),
        "execution_time": _known(execution),
        "finish_time": _known(finish),
        "waiting_time": _known(start - submit),
        "turnaround_time": _known(turnaround),
        "stretch": _known(stretch),
        "allocated_resources": _allocations(record, n),
        "consumed_energy": np.full(n, -1.0),
        "metadata": _same("", n),
        "total_wait": _known(np.where(never, np.nan, jobs["waited"])),
        "n_legs": left.number + 1,
    }
    told = [name for name in MORE if name in source.columns]
    asked = (*platform.resources[1:], *((GPUS,) if platform.sharing else ()))  # those of all types
    demands = [name for name in dict.fromkeys(asked) if name in source.columns]
    for name in ("user", "group", "queue", "priority", *told, *demands, *workload.own):
        columns[name] = source[name].fill_nan(None) if MORE.get(name) == pl.Float64 else source[name]
    frame = pl.DataFrame(columns)
    if workload.names:
        frame = frame.with_columns(column_of(source, workload.names, column) for column in workload.names)
    if platform.divided and left.allowed is not None:
        frame = frame.with_columns(allowed=left.allowed)
    if left.eligible is not None:
        eligible = _known(left.eligible)
        frame = frame.with_columns(eligible_time=eligible, planned_time=pl.col("starting_time") - eligible)
    if left.by_choice:
        words = pl.Series([tier.name for tier in platform.ways]).gather(left.way)
        frame = frame.with_columns(pl.select(pl.when(~pl.Series(never)).then(words).alias("tier"))["tier"])
    more = [f(left, record) for f in (shared_frame, staging_frame, sizes_frame, servers_frame)]
    parts = [part for part in more if part is not None]
    return pl.concat([frame, *parts], how="horizontal") if parts else frame
