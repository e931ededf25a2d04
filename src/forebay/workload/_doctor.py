"""What looks odd in a workload: things that are often slips of a trace rather than facts of a machine."""

import numpy as np
from numpy.typing import NDArray

from forebay.core.units import format_seconds
from forebay.workload.workload import Workload

_DAY = 86400.0
_FLURRY = 10  # times as many jobs as all users submit on an average day
_FEW = 100  # jobs: fewer in a day are no flurry, and fewer in all tell nothing of gaps and estimates
_GAP = 20  # times the mean time between submissions


def findings(w: Workload, n_nodes: int | None) -> list[str]:
    """A sentence for each oddity; `n_nodes` is the machine's size where known."""
    jobs = w.jobs
    found = []
    if n_nodes:
        found += _jobs(jobs["nodes"].to_numpy() > n_nodes, f"wider than the machine's {n_nodes:,} nodes")
    work = (jobs["run_time"] + jobs["flop"]).to_numpy()
    found += _jobs(work <= 0, "without any work, neither seconds nor flop")
    found += _jobs(jobs["walltime"].to_numpy() <= 0, "with a walltime that is not above 0")
    if len(w) >= _FEW:
        submit = np.sort(jobs["submit"].to_numpy())
        found += _gaps(submit)
        found += _flurries(jobs["submit"].to_numpy(), jobs["user"].to_numpy())
        found += _estimates(jobs["run_time"].to_numpy(), jobs["walltime"].to_numpy())
    return found


def _jobs(odd: NDArray[np.bool_], what: str) -> list[str]:
    count = int(odd.sum())
    return [f"{count:,} job(s) {what}"] if count else []


def _gaps(submit: NDArray[np.float64]) -> list[str]:
    """Times without a submission, longer than a day and far beyond the mean: the machine was down, or the log cut."""
    between = np.diff(submit)
    long = between > max(_DAY, _GAP * float(between.mean()))
    if not long.any():
        return []
    k = int(between.argmax())
    return [
        f"{int(long.sum()):,} gap(s) of over a day without a submission; the longest, {format_seconds(between[k])}, "
        f"begins {format_seconds(submit[k])} after the first job"
    ]


def _flurries(submit: NDArray[np.float64], user: NDArray[np.int64]) -> list[str]:
    """Days on which one user submits far more than all users do on an average day (Tsafrir & Feitelson 2006)."""
    day = ((submit - submit.min()) // _DAY).astype(np.int64)
    usual = len(submit) / (int(day.max()) + 1)
    pairs, counts = np.unique(np.column_stack([user, day])[user >= 0], axis=0, return_counts=True)
    many = counts >= max(_FEW, _FLURRY * usual)
    if not many.any():
        return []
    worst = int(counts.argmax())
    return [
        f"{int(many.sum()):,} flurry(ies): a user submits over {_FLURRY} times an average day's jobs in one day; the "
        f"largest is {int(counts[worst]):,} jobs of user {pairs[worst, 0]} on day {pairs[worst, 1] + 1}"
    ]


def _estimates(run: NDArray[np.float64], walltime: NDArray[np.float64]) -> list[str]:
    asked = np.isfinite(walltime)
    share = float((run == walltime)[asked].mean()) if asked.any() else 0.0
    return [f"{100 * share:.0f} % of walltimes equal the run time: users did not ask so"] if share >= 0.5 else []
