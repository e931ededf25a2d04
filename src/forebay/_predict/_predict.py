"""When jobs of a moment will start."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np
import polars as pl

from forebay import explain
from forebay._predict import _given, _outlook, _snapshot
from forebay._predict._answer import Prediction
from forebay._predict._asking import Asked, ask, rng_of
from forebay._predict._calibration import Calibration
from forebay._predict._futures import Present, present
from forebay._predict._given import How, Manner
from forebay._predict._quantiles import LEVELS
from forebay._predict._scoring import How as Played
from forebay._predict._scoring import guesses, moments_of
from forebay._predict._submission import Request, new_job, request_of
from forebay._predict._world import Learned, World
from forebay._run.simulate import simulate
from forebay._support.progress import following
from forebay.errors import InputError
from forebay.learn import Likely, asked_of
from forebay.workload.dates import Moment, is_dated, seconds_of

FUTURES = 100
_FEW = 10
"""Futures of each prediction of the past that intervals are made by."""
_SOON = (3600.0, 4 * 3600.0, 24 * 3600.0)


class _Question(NamedTuple):
    world: World
    learned: Learned
    now: Present
    how: Manner
    calibration: Calibration


def predict(
    workload: Any,
    at: Moment | None = None,
    platform: Any = None,
    policy: Any = None,
    jobs: Any = None,
    submit: Request | Sequence[Request] = (),
    what_if: Request | Sequence[Request] = (),
    **how: Unpack[How],
) -> Prediction:
    """Tell when waiting jobs will start, from what is known at a moment.

    Parameters
    ----------
    workload
        A trace, of which nothing after the moment is looked at; a run that `forebay.open` opened, where it stands; or a
        snapshot, a file of JSON or what it holds.
    at
        The moment: seconds after the first job, or a date. A run that stands somewhere has its own.
    platform
        The machine, as `forebay.simulate` takes it.
    policy
        Who decides, as `forebay.simulate` takes it.
    jobs
        A job's number, or several; without any, all that wait.
    submit
        A job that is not submitted yet, such as "nodes=4,walltime=2h,partition=gpu", or several.
    what_if
        What to ask for in place of what each of these jobs asks for, such as "walltime=4h", or several.
    **how
        `recorded`: starts are those of the trace; else the policy is simulated up to the moment. `futures`: how many
        are played. `calibration`: how many earlier predictions intervals are made by; 0 = as drawn. `estimator`: what
        run times are learned by. `seed`, `job_model` and `progress` as elsewhere.

    Examples
    --------
    >>> found = fb.predict("table1", at=120, policy="fcfs-bb", futures=20)
    >>> found.table["job_id"].to_list()
    [3]
    """
    manner = _given.manner(dict(how), FUTURES)
    world, time = _placed(workload, at, platform, policy, manner)
    new, wishes = _several(submit), _several(what_if)
    learned = Learned(world, manner.estimator)
    total = manner.calibration + manner.futures * (1 + len(wishes))
    with following(manner.progress, "predict", total) as call:
        calibration, done = _calibrated(world, time, manner, call)
        now = present(learned, time)
        ids = [] if new and jobs is None else _given.asked_ids(world, time, jobs, now.waiting)
        question = _Question(world, learned, now, manner, calibration)
        return _answered(question, ids, new, wishes, _Steps(call, done, total))


def _several(given: Request | Sequence[Request]) -> list[Request]:
    """One request, or several."""
    return [given] if isinstance(given, str | Mapping) else list(given)


class _Steps:
    """Says how far it is."""

    def __init__(self, call: Any, done: int, total: int) -> None:
        self._call, self._done, self._total = call, done, total

    def __call__(self) -> None:
        self._done += 1
        if self._call is not None:
            self._call(min(self._done, self._total), self._total)


def _placed(workload: Any, at: Any, platform: Any, policy: Any, how: Manner) -> tuple[World, float]:
    """A world and the moment in it."""
    world = _given.stopped_of(workload)
    if world is not None:
        if at is not None:
            raise InputError("a run that was opened stands at its own moment: leave at out, or give the trace")
        return world, float(workload.now)
    document = _snapshot.found(workload)
    if document is not None:
        if at is not None:
            raise InputError("a snapshot is of its own moment: leave at out")
        return _snapshot.world_of(workload, document, platform, policy, how.seed)
    if at is None:
        raise InputError("at which moment? give at=SECONDS after the first job, or a date such as 2025-03-01T12:00")
    world = _given.world_of(workload, platform, policy, how, at)
    return world, seconds_of(world.workload, at)


def _calibrated(world: World, time: float, how: Manner, call: Any) -> tuple[Calibration, int]:
    """What predictions of the past were worth: of jobs that had to wait, and whose wait is over."""
    calibration = Calibration()
    waits = (world.start - world.submit)[world.start <= time]
    reach = float(np.quantile(waits, 0.95)) if len(waits) else 0.0
    jobs = moments_of(world, how.calibration, float(world.submit[0]) if len(world) else 0.0, time - reach, how.seed)
    if len(jobs):
        past = Played(_FEW, how.estimator, how.seed)
        guesses(world, jobs, past, calibration, lambda n: call(n, how.calibration) if call is not None else None)
    return calibration, len(jobs)


def _answered(question: _Question, ids: list[int], new: list[Request], wishes: list[Request], step: Any) -> Prediction:
    world, now = question.world, question.now
    w = world.workload
    named = [None] * len(ids) + [one if isinstance(one, str) else _words(one) for one in new]
    first = int(w.jobs["id"].max() or 0) + 1  # type: ignore[arg-type]
    for place, one in enumerate(new):
        row = new_job(w, one, f"submit {place + 1}", first + place)
        now = now.with_job(row, _likely(question, row))
        ids.append(first + place)
    played = _asked(question, now, step)
    table = _table(question, now, played, ids, named)
    what_ifs = [_what_if(question, now, ids, table, one, step) for one in wishes]
    ahead = _outlook.outlook(played.played, world.site.platform.nodes)
    waits = _outlook.waits(played.played, w.names)
    other = pl.concat(what_ifs) if what_ifs else None
    return Prediction(table, ahead, waits, other, _facts(question), partial(_snapshot.document, world, now.time))


def _asked(question: _Question, now: Present, step: Any) -> Asked:
    rng = rng_of(question.how.seed, 2)
    return ask(now, question.learned, rng, question.how.futures, step)


def _likely(question: _Question, row: pl.DataFrame) -> Likely:
    """How long a job that was never submitted may run."""
    asked = asked_of(question.world.workload, row.with_columns(pl.col("run_time")))[0]
    return question.learned.estimator.likely(asked)


def _words(given: Any) -> str:
    return ",".join(f"{key}={value}" for key, value in given.items())


def _table(question: _Question, now: Present, played: Asked, ids: list[int], named: list[str | None]) -> pl.DataFrame:
    """A row a job."""
    order = np.array(ids, np.int64)
    drawn, slurm = played.starts(order), played.slurm(order)
    rows = (
        now.table.select("id", "nodes", "walltime", "submit")
        .join(pl.DataFrame({"id": order, "place": np.arange(len(order))}), on="id")
        .sort("place")
    )
    found = np.array([question.calibration.quantiles(one) for one in drawn]).reshape(-1, len(LEVELS))
    columns: dict[str, Any] = {
        "job_id": order,
        "asked": pl.Series(named, dtype=pl.String),
        "nodes": rows["nodes"],
        "walltime": rows["walltime"],
        "waited": _waited(question, now, order),
    }
    columns |= {f"p{level * 100:02.0f}": found[:, place] for place, level in enumerate(LEVELS)}
    for seconds in _SOON:
        name = f"within_{seconds / 3600:g}h"
        columns[name] = [question.calibration.within(one, seconds) for one in drawn]
    columns["slurm"] = slurm
    columns["why"] = _reasons(question, now, ids)
    return pl.DataFrame(columns)


def _waited(question: _Question, now: Present, ids: np.ndarray) -> np.ndarray:
    """For how long jobs have been in the queue; those that are only thought of come now."""
    submit = dict(zip(question.world.workload.jobs["id"], question.world.submit, strict=True))
    return np.array([now.time - submit.get(int(one), now.time) for one in ids])


def _reasons(question: _Question, now: Present, ids: list[int]) -> pl.Series:
    """What each waits for now, in the words of `forebay.explain`."""
    site = question.world.site_at(now.time)
    result = simulate(now.requested(), site.platform, site.policy, site.seed, progress=False)
    pieces = explain.reasons(result).filter((pl.col("start") <= 0) & (pl.col("end") > 0))
    said = dict(pieces.select("job_id", "detail").iter_rows())
    return pl.Series([said.get(one) for one in ids], dtype=pl.String)


def _what_if(
    question: _Question, now: Present, ids: list[int], table: pl.DataFrame, wish: Request, step: Any
) -> pl.DataFrame:
    """The same jobs, each with another request, one at a time where there are several; others stay as they are."""
    made = request_of(question.world.workload, wish, "what_if")
    rows = []
    for place, job in enumerate(ids):
        found = _asked(question, now.with_request(job, made), step if place == 0 else (lambda: None))
        drawn = found.starts(np.array([job]))[0]
        levels = dict(
            zip([f"p{level * 100:02.0f}" for level in LEVELS], question.calibration.quantiles(drawn), strict=True)
        )
        before = table["p50"][place]
        rows.append(
            {"job_id": job, "what_if": wish if isinstance(wish, str) else _words(wish), "before": before, **levels}
        )
    return pl.DataFrame(rows)


def _facts(question: _Question) -> dict[str, Any]:
    world, how, now = question.world, question.how, question.now  # before jobs were added
    return {
        "workload": world.workload.name,
        "platform": world.site.platform.name,
        "policy": world.site.policy if isinstance(world.site.policy, str) else type(world.site.policy).__name__,
        "at": now.time,
        "epoch": world.workload.epoch if is_dated(world.workload) else None,
        "running": now.running,
        "waiting": len(now.waiting),
        "nodes": world.site.platform.nodes,
        "nodes_in_use": int(now.table["nodes"][: now.running].sum()),
        "futures": how.futures,
        "calibrated_by": len(question.calibration),
        "newcomers": {7 * 86400.0: "as in earlier weeks", 86400.0: "as on earlier days"}.get(now.past.rhythm, "none"),
        "seed": how.seed,
    }
