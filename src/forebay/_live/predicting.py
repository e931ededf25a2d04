"""When jobs of the live queue will start, beside what Slurm says itself."""

from collections.abc import Sequence
from typing import NamedTuple

from forebay import _predict
from forebay._live.commands import Slurm
from forebay._live.snapshot import Moment, moment
from forebay.errors import InputError, brief, nearest


class LiveStart(NamedTuple):
    """Seconds from now within which a job starts, by chance, and Slurm's own answer where it has one."""

    job: str
    user: str
    p10: float
    p50: float
    p90: float
    slurm: float | None
    why: str | None


def starts(
    slurm: Slurm,
    jobs: Sequence[str],
    user: str | None,
    submit: Sequence[str],
    policy: str | None,
    futures: int,
    seed: int,
) -> tuple[list[LiveStart], list[str]]:
    """Read the queue and predict."""
    found = moment(slurm)
    by_number = {number: name for name, number in found.ids.items()}
    wanted = _wanted(found, jobs, user, bool(submit))
    if not wanted and not submit:
        return [], found.notes
    answer = _predict.predict(
        found.document, None, None, policy, wanted or None, list(submit), futures=futures, seed=seed
    )
    said = {job.called: job.start - found.now for job in found.jobs if job.waits and job.start > 0}
    arrays = {str(job.array): job.start - found.now for job in found.jobs if job.tasks and job.start > 0}
    users = {job.called: job.user for job in found.jobs} | {
        name: job.user for job in found.jobs if job.tasks for name in found.ids if name.startswith(f"{job.array}_")
    }
    rows = []
    for row in answer.table.iter_rows(named=True):
        name = row["asked"] or by_number[row["job_id"]]
        own = said.get(name, arrays.get(name.partition("_")[0]))
        quantiles = (float(row["p10"]), float(row["p50"]), float(row["p90"]))
        rows.append(
            LiveStart(name, users.get(name, ""), *quantiles, None if own is None else max(own, 0.0), row["why"])
        )
    return rows, [*found.notes, *_predict_notes(answer)]


def _predict_notes(answer: _predict.Prediction) -> list[str]:
    from forebay._predict import _words

    return _words.notes(answer.facts)


def _wanted(found: Moment, jobs: Sequence[str], user: str | None, thought: bool) -> list[int]:
    """Numbers of the jobs asked for, of those that wait and are not held."""
    waiting = {row["id"] for row in found.document["jobs"] if "start" not in row and not row.get("held")}
    named = {name: number for name, number in found.ids.items() if number in waiting}
    if user is not None:
        own = {row["id"] for row in found.document["jobs"] if row.get("user") == user}
        named = {name: number for name, number in named.items() if number in own}
    if not jobs:
        return [] if thought and user is None else list(named.values())
    numbers = []
    for job in jobs:
        mine = [number for name, number in named.items() if name == job or name.startswith(f"{job}_")]
        if not mine:
            state = next((one.state.lower() for one in found.jobs if job in (one.called, str(one.id))), None)
            why = f"job {brief(job)} does not wait for its turn" + (f": it is {state}" if state else "")
            raise InputError(f"{why}; {nearest(job, named) if named else 'no job does'}")
        numbers += mine
    return numbers
