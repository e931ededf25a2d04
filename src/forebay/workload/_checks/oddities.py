"""What looks odd in a workload: things that are often slips of a trace rather than facts of a machine.

The jobs of each kind that can be removed safely are found by functions of their own, which `cleaning` uses too: what
one reports, the other removes.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from forebay._support.text import counted
from forebay.core.units import format_bytes, format_seconds
from forebay.workload import _cancelled, _source, dates
from forebay.workload._checks import flurries as _flurries
from forebay.workload.names import called
from forebay.workload.workload import Workload

Flags = NDArray[np.bool_]

_DAY = 86400.0
_FEW = 100  # jobs: fewer say nothing about gaps and estimates
_GAP = 20  # times the mean time between submissions
_PAST = 3600.0  # seconds beyond its walltime: schedulers kill within minutes
_NO_TIME = "run time not positive"


def findings(w: Workload, n_nodes: int | None) -> list[str]:
    """A sentence for each oddity; `n_nodes` is the machine's size where known."""
    found = [*_left_out(w), *_withdrawn(w), *_order(w), *_moved(w)]
    if n_nodes:
        found += _jobs(wider(w, n_nodes), f"wider than the machine's {counted(n_nodes, 'node')}")
    found += _jobs(idle(w), "without any work, neither seconds nor flop")
    found += _jobs(timeless(w), "with a walltime that is not above 0")
    found += _jobs(
        _overdue(w),
        "runs an hour or more past its walltime, and over twice as long",
        "run an hour or more past their walltime, and over twice as long",
    )
    found += _jobs(
        _again(w),
        "equals an earlier one of the same user in all but its number",
        "equal an earlier one of the same user in all but their number",
    )
    if len(w) >= _FEW:
        found += _gaps(np.sort(w.jobs["submit"].to_numpy()))
        found += _surges(w)
        found += _estimates(w)
    return found


def _moved(w: Workload) -> list[str]:
    """That run times are not all of it, where phases move data."""
    if w.phases is None or not (moving := w.phases.filter(pl.col("bytes") > 0)).height:
        return []
    jobs, moved = moving["job"].n_unique(), format_bytes(int(moving["bytes"].sum()))
    return [
        f"phases of {counted(jobs, 'job')} read and write {moved}: run times, load and use of walltimes are without "
        "that; a job whose I/O takes longer than its walltime allows is killed"
    ]


def wider(w: Workload, n_nodes: int) -> Flags:
    """Jobs that ask for more nodes than there are."""
    return w.jobs["nodes"].to_numpy() > n_nodes


def idle(w: Workload) -> Flags:
    """Jobs with nothing to do; what a job with phases or an application does stands there."""
    jobs = w.jobs
    nothing = (jobs["run_time"] <= 0) & (jobs["flop"] <= 0)
    if w.phases is not None:
        nothing &= ~jobs["id"].is_in(w.phases["job"].implode())
    if w.applications is not None:
        nothing &= ~jobs["id"].is_in(w.applications.jobs["job"].implode())
    return nothing.to_numpy()


def timeless(w: Workload) -> Flags:
    """Jobs that would be killed as they start."""
    return w.jobs["walltime"].to_numpy() <= 0


def flurries(w: Workload) -> tuple[Flags, pl.DataFrame]:
    """Jobs of flurries, and these: see `_flurries`."""
    return _flurries.flurries(w.jobs["submit"].to_numpy(), w.jobs["user"].to_numpy())


def largest(w: Workload, found: pl.DataFrame) -> str:
    """The first of some flurries in words."""
    user, start, seconds, jobs = found.row(0)
    when = dates.date_of(w, float(w.jobs["submit"].min() or 0) + start)  # type: ignore[arg-type]
    since = f"from {when} UTC on" if when else f"from {format_seconds(start)} after the first job on"
    return (
        f"the largest is {counted(jobs, 'job')} of user {called(w.names, 'user', user)} ({_percent(jobs / len(w))} of "
        f"all), nine tenths of them within {format_seconds(seconds)}, {since}"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "under 1 %"


def _jobs(odd: Flags, one: str, many: str = "") -> list[str]:
    """What is odd of so many jobs; `many` where it is said otherwise of several."""
    count = int(odd.sum())
    return [counted(count, f"job {one}", f"jobs {many or one}")] if count else []


def _left_out(w: Workload) -> list[str]:
    """Records that a reader did not make jobs of."""
    found = []
    if count := w.dropped.get(_cancelled.DROPPED):
        who = counted(count, "record cancelled before it started is", "records cancelled before they started are")
        found.append(f"{who} left out: to keep such, `convert --keep-cancelled`")
    if count := w.dropped.get(_NO_TIME):
        who = counted(count, "record without a run time above 0 is", "records without a run time above 0 are")
        found.append(f"{who} left out: ended at once, or the run time was lost")
    return found


def _withdrawn(w: Workload) -> list[str]:
    after = w.jobs["cancel"].filter(w.jobs["cancel"].is_finite()).to_numpy()
    if not len(after):
        return []
    return [
        f"{counted(len(after), 'job is', 'jobs are')} cancelled by users, at the median "
        f"{format_seconds(np.median(after))} after submission"
    ]


def _order(w: Workload) -> list[str]:
    late = int((w.jobs["submit"].diff() < 0).sum())
    now = [f"{counted(late, 'job comes', 'jobs come')} after one that is submitted later"] if late else []
    return [*_source.order_told(w.notes), *now]


def _overdue(w: Workload) -> Flags:
    run, walltime = w.jobs["run_time"].to_numpy(), w.jobs["walltime"].to_numpy()
    return (run >= walltime + _PAST) & (run > 2 * walltime)


def _again(w: Workload) -> Flags:
    """Jobs recorded twice, perhaps. Where users are not known, jobs of an array look the same too often to tell."""
    shape = pl.struct(pl.exclude("id", "recorded_start"))
    again = w.jobs.select(again=~shape.is_first_distinct() & (pl.col("user") >= 0))["again"]
    return again.to_numpy()


def _gaps(submit: NDArray[np.float64]) -> list[str]:
    """Times without a submission, longer than a day and far beyond the mean: the machine was down, or the log cut."""
    between = np.diff(submit)
    long = between > max(_DAY, _GAP * float(between.mean()))
    if not long.any():
        return []
    k = int(between.argmax())
    return [
        f"{counted(int(long.sum()), 'gap')} of over a day without a submission; the longest, "
        f"{format_seconds(between[k])}, begins {format_seconds(submit[k])} after the first job"
    ]


def _surges(w: Workload) -> list[str]:
    found = flurries(w)[1]
    if not len(found):
        return []
    several = counted(len(found), "flurry", "flurries")
    return [f"{several}: a user submits more in a day than all others do in a usual week; {largest(w, found)}"]


def _estimates(w: Workload) -> list[str]:
    asked = w.jobs.filter(pl.col("walltime").is_finite() & pl.col("cancel").is_infinite())
    share = float((asked["run_time"] == asked["walltime"]).to_numpy().mean()) if len(asked) else 0.0
    return [f"{100 * share:.0f} % of walltimes equal the run time: users did not ask so"] if share >= 0.5 else []
