"""From the final tables to a Result: polars frames in the words of the field."""

import numpy as np
import polars as pl

from forebay.algorithms.nodes.setformat import group_intervals, write_sets
from forebay.core.codes import FINAL_STATE, NEVER_BEGUN, JobState, LogKind, LogReason
from forebay.core.schemas import MORE
from forebay.core.tables import State
from forebay.engine.adhoc.frames import servers_frame
from forebay.engine.build.table_roles import copied
from forebay.engine.contention.frames import staging_frame
from forebay.engine.dependencies.frames import eligible_of
from forebay.engine.driver.history import Record
from forebay.engine.io_scheduling.frames import measured, transfers_frame
from forebay.engine.malleable.frames import flexibility_of, sizes_frame
from forebay.engine.results.left import Left
from forebay.engine.results.run_alone import by_itself
from forebay.engine.results.words import lower, words
from forebay.engine.shared_nodes.frames import asked_of, parts_of, shared_frame
from forebay.engine.truth import Truth
from forebay.platforms.platform import Platform
from forebay.platforms.sharing import GPUS
from forebay.workload.names import column_of
from forebay.workload.workload import Workload

_TEXT_JOBS = 100_000
"""Jobs whose node sets are written as text at a time: bounds the memory in use."""
_FEW_JOBS = 2_000
"""Jobs up to which Python is faster at such texts than polars."""


_KINDS, _REASONS = lower(LogKind), lower(LogReason)
_SAID = pl.DataFrame(schema={"time": pl.Float64, "job": pl.Int64, "reason": pl.String, "behind": pl.Int64})
_FINALS = tuple((code.value, word) for code, word in FINAL_STATE.items())
_MORE = (shared_frame, staging_frame, transfers_frame, sizes_frame, servers_frame)
"""Further columns of the job table, in this order: each a frame, or None where no job has any."""


def left_of(state: State, truth: Truth, compute_nodes: np.ndarray | None = None) -> Left:
    """Taken when a run is over."""
    last, eligible = state.jobs["last_leg"], eligible_of(state, truth)
    return Left(
        jobs=_submitted(state, truth, eligible is not None),
        eligible=eligible,
        nodes=asked_of(truth),
        cores=state.inside.first,
        number=state.legs["number"][last],
        way=state.legs["way"][last],
        logged=truth.scripts["logged"].copy(),
        by_choice=len(state.tiers.rates) > 0,
        links=_alone(truth.network.links),
        flexibility=flexibility_of(truth),
        compute_nodes=compute_nodes,
        allowed=truth.legs["allowed"][truth.jobs["last_leg"]] if len(state.nodes.atoms) else None,
        **parts_of(truth),
        alone=by_itself(state, truth),
        io=measured(truth),
    )


def _submitted(state: State, truth: Truth, later: bool) -> np.ndarray:
    """The job table, with the times at which jobs were submitted where policies see `later` ones."""
    if not later:
        return _alone(state.jobs)
    jobs = copied(state.jobs)
    jobs["submit"] = truth.jobs["submit"]
    return jobs


def _alone(table: np.ndarray) -> np.ndarray:
    """Without the tables that lie in one block with it, and would stay as long as it does."""
    return table if table.base is None else copied(table)


def log_frame(record: Record, jobs: np.ndarray, resources: tuple[str, ...]) -> pl.DataFrame:
    """The log with ids and words instead of rows and codes. Uses the record's up."""
    log, job = record.log, record.log.take("job")
    resource = words(log.take("resource") + 1, [*enumerate(resources, 1), (0, "none")], nothing=0)
    frame = pl.DataFrame(
        {
            "time": log.take("time"),
            "job": jobs["id"][job],
            "kind": words(log.take("kind"), _KINDS),
            "leg": log.take("leg"),
            "resource": resource,
            "amount": log.take("amount"),
            "reason": words(log.take("reason"), _REASONS),
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
        "final_state": words(state, _FINALS),
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
    frame = pl.DataFrame(columns | _as_submitted(workload, platform))
    if workload.names:
        frame = frame.with_columns(column_of(source, workload.names, column) for column in workload.names)
    if platform.divided and left.allowed is not None:
        frame = frame.with_columns(allowed=left.allowed)
    if left.eligible is not None:
        eligible = _known(left.eligible)
        frame = frame.with_columns(eligible_time=eligible, planned_time=pl.col("starting_time") - eligible)
    if left.by_choice:
        tiers = pl.Series([tier.name for tier in platform.ways]).gather(left.way)
        frame = frame.with_columns(pl.select(pl.when(~pl.Series(never)).then(tiers).alias("tier"))["tier"])
    more = [f(left, record) for f in _MORE]
    parts = [part for part in more if part is not None]
    return pl.concat([frame, *parts], how="horizontal") if parts else frame


def _as_submitted(workload: Workload, platform: Platform) -> dict[str, pl.Series]:
    """What jobs said of themselves, and what they asked for beside nodes."""
    source = workload.jobs
    recorded = [name for name in MORE if name in source.columns]
    asked = (*platform.resources[1:], *((GPUS,) if platform.sharing else ()))  # those of all types
    demands = [name for name in dict.fromkeys(asked) if name in source.columns]
    return {
        name: source[name].fill_nan(None) if MORE.get(name) == pl.Float64 else source[name]
        for name in ("user", "group", "queue", "priority", *recorded, *demands, *workload.own)
    }
