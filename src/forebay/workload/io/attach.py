"""I/O for the jobs of an ordinary trace, of whatever is known: logs first, then shares, then a model."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from forebay._support.text import counted
from forebay.core.units import format_bytes
from forebay.errors import InputError
from forebay.workload import models
from forebay.workload.io.shares import Share
from forebay.workload.models import _checks as checks
from forebay.workload.models._buffered import past, within
from forebay.workload.models._in_turn import in_turn
from forebay.workload.workload import Workload

CONSTRAINT = "a buffer can only add a constraint here"
_NAME = "io"
_EVERY, _MOST = 3600.0, 10
_ENDS = 0.2  # of bytes that a share gives: input and output, half each; the rest are checkpoints


@dataclass(frozen=True)
class Known:
    """What is known: a table as `darshan.read` gives it, shares in order of precedence, a model for the rest.

    `buffered` lets jobs reserve a burst buffer for their checkpoints, where they do not ask for one already.
    """

    darshan: pl.DataFrame | None = None
    shares: Sequence[Share] = field(default_factory=tuple)
    model: str = ""
    buffered: bool = False


@dataclass
class _Moved:
    """Bytes of each job, seconds that are theirs, and from what this is known ("" = not at all)."""

    read: np.ndarray
    written: np.ndarray
    ends: np.ndarray
    seconds: np.ndarray
    source: np.ndarray


def attach(workload: Workload, known: Known, seed: int = 0) -> Workload:
    """The workload with phases: read, then compute and checkpoint in turn, compute once more, write.

    Darshan says how much is moved, not when: input is read first, and what is written goes out in equal parts, a
    checkpoint an hour (1 to 10) and one at the end. Of a share, 80 % are checkpoints. Seconds of I/O leave the run
    time: on the machine that is simulated they follow from its file system and its buffer. The same seed draws alike.
    """
    checks.whole_jobs(_NAME, workload)
    if known.darshan is None and not known.shares and not known.model:
        raise InputError(
            f"nothing says what jobs of {workload.name} read and write: {CONSTRAINT}; give --darshan, --share or "
            "--model"
        )
    if (workload.jobs["flop"] > 0).any():
        raise InputError(f"{workload.name}: I/O is taken off run times in seconds; here work is given in flop")
    moved = _moved(workload, known, models.stream(seed, _NAME))
    of_logs = moved.source != ""
    mine = _with_phases(_part(workload, of_logs), moved, of_logs, known)
    rest = _part(workload, ~of_logs)
    if known.model and len(rest):
        rest = models.attach(rest, [known.model], seed)
        if rest.legs is not None or rest.applications is not None or rest.phases is None:
            raise InputError(f"model {known.model!r} gives jobs no phases of I/O; take io-share")
    return _together(workload, mine, rest, _lines(workload, moved, known, seed))


def _part(w: Workload, chosen: np.ndarray) -> Workload:
    """Some of the jobs, when they arrived; what they wait for stays with the whole."""
    return replace(w, jobs=w.jobs.filter(pl.Series(chosen)), dependencies=None)


def _moved(workload: Workload, known: Known, rng: np.random.Generator) -> _Moved:
    n = len(workload)
    moved = _Moved(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.full(n, "", object))
    jobs = workload.jobs
    if known.darshan is not None:
        _from_logs(workload, known.darshan, moved)
    for share in known.shares:
        drawn = share.bytes_of(jobs, rng)  # for all jobs, so that logs do not change what others draw
        chosen = share.members(workload) & (moved.source == "")
        part = np.rint(drawn * _ENDS / 2)
        moved.read[chosen], moved.ends[chosen] = part[chosen], part[chosen]
        moved.written[chosen] = (drawn - part)[chosen]
        moved.seconds[chosen] = (drawn / share.rates(jobs))[chosen]
        moved.source[chosen] = f"share of {share.who}"
    return moved


def _from_logs(workload: Workload, darshan: pl.DataFrame, moved: _Moved) -> None:
    ids = {job: row for row, job in enumerate(workload.jobs["id"].to_list())}
    unknown = darshan.filter(~pl.col("job").is_in(list(ids)))
    if len(unknown):
        more = f" (and {len(unknown) - 1:,} more)" if len(unknown) > 1 else ""
        raise InputError(
            f"{unknown['source'][0]}: job {unknown['job'][0]}{more} is not in {workload.name}, whose jobs are "
            f"{min(ids)} to {max(ids)}; leave out logs of jobs that the trace lacks"
        )
    default = Share("all", 0.0).rates(workload.jobs)
    for job, read, written, seconds, _ in darshan.iter_rows():
        row = ids[job]
        run = float(workload.jobs["run_time"][row])
        spent = (read + written) / default[row] if np.isnan(seconds) else seconds
        moved.read[row], moved.written[row] = round(read), round(written)
        moved.ends[row] = -1.0  # in equal parts
        moved.seconds[row], moved.source[row] = min(spent, run), "Darshan"


def _with_phases(w: Workload, moved: _Moved, of_logs: np.ndarray, known: Known) -> Workload:
    """Jobs whose I/O is known."""
    if not len(w):
        return w
    ids, run = w.jobs["id"].to_numpy(), w.jobs["run_time"].to_numpy()
    read, written, ends, seconds = (one[of_logs] for one in (moved.read, moved.written, moved.ends, moved.seconds))
    count = np.clip(np.rint(run / _EVERY), 1, _MOST)
    last = np.where(ends < 0, np.rint(written / (count + 1)), ends)
    between, computing = written - last, np.maximum(run - seconds, 0.0)
    phases = in_turn(_NAME, ids, read, last, between, count, computing, w.jobs["communication"].to_numpy())
    jobs = w.jobs.with_columns(pl.Series("run_time", computing))
    if known.buffered and "burst_buffer" not in jobs.columns:
        jobs = jobs.with_columns(pl.Series("burst_buffer", between.astype(np.int64)))
    if "burst_buffer" in jobs.columns:
        phases = within(_NAME, phases, ids, jobs["burst_buffer"].to_numpy())
    else:  # without a reservation, checkpoints go where all else goes
        phases = past(phases)
    return checks.changed(w, "", jobs=jobs, phases=phases)


def _together(w: Workload, mine: Workload, rest: Workload, said: tuple[str, tuple[str, ...]]) -> Workload:
    """Both parts as one workload, in the order of arrival that it had."""
    parts = [one for one in (mine, rest) if len(one)]
    demands = [name for one in parts for name in one.resources]
    jobs = pl.concat([one.jobs for one in parts], how="diagonal")
    jobs = jobs.with_columns(pl.col(name).fill_null(0) for name in dict.fromkeys(demands) if name in jobs.columns)
    order = {job: row for row, job in enumerate(w.jobs["id"].to_list())}
    jobs = jobs.sort(pl.col("id").replace_strict(order, return_dtype=pl.Int64))
    phases = [one.phases for one in parts if one.phases is not None]
    line, notes = said
    return checks.changed(w, line, *notes, jobs=jobs, phases=pl.concat(phases) if phases else None)


def _lines(w: Workload, moved: _Moved, known: Known, seed: int) -> tuple[str, tuple[str, ...]]:
    """From what the answer comes: a line of provenance; and what is not known, as notes."""
    of = {source: int((moved.source == source).sum()) for source in dict.fromkeys(moved.source) if source}
    left = len(w) - sum(of.values())
    words = [f"{source} for {counted(n, 'job')}" for source, n in of.items()]
    words += [f"model {known.model} for {counted(left, 'job')}"] if known.model and left else []
    bytes_of = format_bytes(round(float((moved.read + moved.written).sum())))
    line = f"I/O from {', '.join(words) or 'nothing'}, seed {seed}: {bytes_of} by logs and shares"
    if left and not known.model:
        return line, (f"nothing says what {counted(left, 'job')} of {len(w):,} read and write: for them {CONSTRAINT}",)
    return line, ()
