"""What looks odd in a workload: things that are often slips of a trace rather than facts of a machine.

The jobs of each kind that can be removed safely are found by functions of their own, which `cleaning` uses too: what
one reports, the other removes.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from forebay._text import counted
from forebay.core.units import format_seconds
from forebay.workload import _cancelled, _source
from forebay.workload.names import called
from forebay.workload.workload import Workload

Flags = NDArray[np.bool_]

_DAY = 86400.0
_FLURRY = 10  # times as many jobs as all users submit on an average day
_FEW = 100  # jobs: fewer in a day are no flurry, and fewer in all tell nothing of gaps and estimates
_GAP = 20  # times the mean time between submissions
_PAST = 3600.0  # seconds beyond its walltime: schedulers kill within minutes
_NO_TIME = "run time not positive"


def findings(w: Workload, n_nodes: int | None) -> list[str]:
    """A sentence for each oddity; `n_nodes` is the machine's size where known."""
    found = [*_left_out(w), *_withdrawn(w), *_order(w)]
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
        found += _flurries(w)
        found += _estimates(w)
    return found


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
    """Jobs of users on days on which they submit far more than all users do on an average day; and those days.

    The days have columns `user`, `day` (from 0) and `jobs`, the largest first. Flurries are those of Tsafrir &
    Feitelson, "Instability in parallel job scheduling simulation: the role of workload flurries" (IPDPS 2006); the
    numbers that make one are set here.
    """
    submit, user = w.jobs["submit"].to_numpy(), w.jobs["user"].to_numpy()
    if len(w) < _FEW:
        return np.zeros(len(w), np.bool_), pl.DataFrame(schema={"user": pl.Int64, "day": pl.Int64, "jobs": pl.UInt32})
    day = ((submit - submit.min()) // _DAY).astype(np.int64)
    usual = len(w) / (int(day.max()) + 1)
    each = pl.DataFrame({"user": user, "day": day})
    counts = each.filter(pl.col("user") >= 0).group_by("user", "day").agg(jobs=pl.len())
    many = counts.filter(pl.col("jobs") >= max(_FEW, _FLURRY * usual)).sort(
        "jobs", "user", "day", descending=[True, False, False]
    )
    part = each.join(many, on=["user", "day"], how="left", maintain_order="left")["jobs"].is_not_null()
    return part.to_numpy(), many


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


def _flurries(w: Workload) -> list[str]:
    days = flurries(w)[1]
    if not len(days):
        return []
    user, day, jobs = days.row(0)
    who = called(w.names, "user", user)
    return [
        f"{counted(len(days), 'flurry', 'flurries')}: a user submits over {_FLURRY} times an average day's jobs in one "
        f"day; the largest is {counted(jobs, 'job')} of user {who} on day {day + 1}"
    ]


def _estimates(w: Workload) -> list[str]:
    asked = w.jobs.filter(pl.col("walltime").is_finite() & pl.col("cancel").is_infinite())
    share = float((asked["run_time"] == asked["walltime"]).to_numpy().mean()) if len(asked) else 0.0
    return [f"{100 * share:.0f} % of walltimes equal the run time: users did not ask so"] if share >= 0.5 else []
