"""A run as plain data, its key, and how it is carried out.

Whatever can change the outcome is in the description, and so in the key; names and tags are for people. Two runs with
one key are one and the same run.
"""

import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay._support.reading import read_bytes
from forebay.errors import InputError
from forebay.experiments import files, generators
from forebay.experiments.objects import marks
from forebay.results import Record

if TYPE_CHECKING:
    import polars as pl

    from forebay.workload import Workload


REMARKS = "remarks"
"""Of a run's record: what is to be said of metrics of the user's own that are left empty."""


@dataclass(frozen=True)
class Jobs:
    """Where jobs come from and what is done to them, in this order: read or made, completed, cut."""

    source: str  # a file, the name of an embedded workload, or with `made` the spec of a model or generator
    made: bool = False
    sha256: str = ""  # of the file's bytes, or of a generator's sources; empty where there is no file
    models: tuple[str, ...] = ()  # specs of models that complete the jobs
    draw: int = 0  # the seed of all these models
    part: tuple[int, int] | None = None  # (k, n): the k-th of n parts over equal periods
    first: int | None = None  # only so many of the jobs that arrive first
    users: str = ""  # a trace that has the users of these jobs, by their numbers
    users_sha256: str = ""


@dataclass(frozen=True)
class Added:
    """Seconds added to each run time, uniform from 0 to `most`: the same for every policy that meets these jobs."""

    most: float
    stream: tuple[int, ...]  # seeds the generator
    later: float = 0.0  # at most so many seconds later each job arrives


@dataclass(frozen=True)
class Run:
    """One simulation. The name is what messages call it, tags are what tables group it by."""

    name: str
    jobs: Jobs
    platform: str  # empty: the one that the workload names
    policy: str
    job_model: str  # empty: what suits the workload and the platform
    seed: int = 0
    added: Added | None = None
    known: bool = False  # whether users ask for just the time their jobs take, as added to
    failures: str = ""  # a spec of what fails; empty: as the platform says
    amounts: tuple[tuple[str, float], ...] = ()  # what the machine has more or less of than the platform says
    window: tuple[float, float] | None = None  # seconds: numbers are of this part of the run alone
    only: tuple[str, ...] = ()  # conditions: numbers of jobs are of those for which all hold
    metrics: tuple[str, ...] = ()  # of the user's own: files, or marks of what only this process has
    labels: bool = False  # whether users, groups and accounts go by labels
    keep: tuple[str, ...] = ()  # measures of every job that figures will need, such as waiting_time
    tags: Mapping[str, Any] = field(default_factory=dict, hash=False)
    effort: float = 1.0  # a guess at how long it takes, compared with others: long ones go first

    @cached_property
    def key(self) -> str:
        """A hash of all that can change the outcome; a file counts by its bytes, wherever it lies.

        By those that it had when it was first asked: a run does not become another one while it is under way.
        """
        return hashlib.sha256(json.dumps(self.plain(), sort_keys=True).encode()).hexdigest()[:24]

    def __getstate__(self) -> dict[str, Any]:
        """Without the key: the worker that carries the run out looks at the files again, and a change is found."""
        return {name: value for name, value in vars(self).items() if name != "key"}

    def plain(self) -> dict[str, Any]:
        """The description without what is only for people."""
        jobs = dict(vars(self.jobs))  # asdict would copy deep: half of what a key takes
        if self.jobs.made:
            jobs["source"] = files.named(self.jobs.source)
        elif self.jobs.sha256:
            del jobs["source"]
        if self.jobs.users_sha256:
            del jobs["users"]
        platform, policy = files.named(self.platform), files.named(self.policy)
        found = {platform: files.digest(self.platform), policy: files.digest(self.policy)}
        failures: dict[str, Any] = {}
        if self.failures:
            trace, name = files.trace_in(self.failures), files.named_trace(self.failures)
            failures = {"failures": name}
            found[name] = files.digest_of_file(Path(trace)) if trace else ""
        window = {"window": [end if math.isfinite(end) else None for end in self.window]} if self.window else {}
        amounts = {"amounts": dict(self.amounts)} if self.amounts else {}
        only: dict[str, Any] = {"only": list(self.only)} if self.only else {}
        own = {"metrics": files.described_metrics(self.metrics)} if self.metrics else {}
        return {
            "jobs": jobs,
            "platform": platform,
            "policy": policy,
            "job_model": self.job_model,
            "seed": self.seed,
            "added": None if self.added is None else asdict(self.added),
            "known": self.known,
            "keep": list(self.keep),
            "files": {spec: digest for spec, digest in found.items() if digest},
            **failures,
            **window,
            **only,
            **amounts,
            **own,
            **({"labels": True} if self.labels else {}),
        }


def from_file(path: Path, users: Path | None = None, **more: Any) -> Jobs:
    """Jobs of a file, perhaps with the users of another, with the digests of their bytes."""
    if users is not None:
        more |= {"users": str(users), "users_sha256": files.digest_of_file(users)}
    return Jobs(str(path), sha256=files.digest_of_file(path), **more)


def made_by(spec: str, **more: Any) -> Jobs:
    """Jobs that a model or a generator in a user's file makes."""
    return Jobs(spec, made=True, sha256=files.digest(spec), **more)


own_file = files.digest
"""The digest of a user's file that a spec names (mine.py:Mine, machine.toml); empty if it names none."""


@lru_cache(maxsize=4)
def workload_of(jobs: Jobs) -> "Workload":
    """The workload; the last few are remembered, since many runs share one."""
    from forebay.workload import models, operations, read

    if jobs.made:
        own = files.path_in(jobs.source)
        workload = (generators if own else models).generate(jobs.source, jobs.draw)
        _check_same(jobs.source, jobs.sha256, files.digest(jobs.source) if own else "")
    else:
        workload = read(jobs.source)
        _check_same(jobs.source, jobs.sha256)
    if jobs.users:
        trace = read(jobs.users)
        _check_same(jobs.users, jobs.users_sha256)
        workload = operations.attach_table(
            workload, trace.jobs.select("id", "user"), f"users of {Path(jobs.users).name}"
        )
    workload = models.attach(workload, jobs.models, jobs.draw)
    if jobs.part is not None:
        workload = operations.split(workload, jobs.part[1])[jobs.part[0]]
    return workload if jobs.first is None else operations.first(workload, jobs.first)


def _check_same(source: str, sha256: str, now: str = "") -> None:
    if sha256 and (now or files.digest_of_file(Path(source))) != sha256:
        raise InputError(f"{source}: has changed since the work began; begin again")


def lengthened(workload: "Workload", added: Added) -> "Workload":
    """The workload with seconds added to every run time, and every job submitted some seconds later."""
    import numpy as np
    import polars as pl

    from forebay.workload._source import deadlines_later

    rng = np.random.default_rng(list(added.stream))
    extra, later = (rng.uniform(0, most, len(workload)) for most in (added.most, added.later))
    line = f"0 to {added.most:g} s added to run times, stream {', '.join(map(str, added.stream))}"
    if added.later:
        line += f"; submitted up to {added.later:g} s later"
    due = deadlines_later(workload.jobs, pl.Series(later))
    jobs = workload.jobs.with_columns(pl.col("run_time") + pl.Series(extra), pl.col("submit") + pl.Series(later), *due)
    jobs = jobs.drop("recorded_start", strict=False)  # of other jobs than these
    return replace(workload, jobs=jobs.sort("submit", "id"), provenance=(*workload.provenance, line))


def given_to(run: Run) -> tuple["Workload", Any, int, str | None, str | None]:
    """What a run is made of, beside its policy: workload, machine, seed, job model and failures."""
    from forebay._run.disguise import disguised
    from forebay._run.simulate import machine_of
    from forebay.platforms import load
    from forebay.platforms.variation import varied
    from forebay.workload.operations import perfect_estimates

    workload, machine = workload_of(run.jobs), marks.of(run.platform)
    if run.labels:
        workload, machine = disguised(workload, load(machine) if machine else machine_of(workload))
    if run.added is not None:
        workload = lengthened(workload, run.added)
    if run.known:
        workload = perfect_estimates(workload)
    machine = varied(load(machine), run.amounts) if run.amounts else machine or None
    return workload, machine, run.seed, run.job_model or None, run.failures or None


UNNAMED = " or none"
"""Behind a condition on the partition that jobs go to which name none."""


def those(workload: "Workload", conditions: tuple[str, ...]) -> "pl.Series":
    """The ids of the jobs for which all these conditions hold."""
    import polars as pl

    from forebay.workload.operations import parse_condition

    jobs = workload.jobs
    for text in conditions:
        wanted = parse_condition(text.removesuffix(UNNAMED), jobs.schema, workload.names)
        jobs = jobs.filter(wanted | (pl.col("queue") < 0) if text.endswith(UNNAMED) else wanted)
    return jobs["id"]


def bound(run: Run) -> bool:
    """Whether a run can be carried out in this process alone, which has its objects."""
    from forebay.metrics._own.own import stays_here

    return stays_here(run.metrics) or any(map(marks.is_mark, (run.policy, run.platform)))


def perform(run: Run) -> Record:
    """Carry a run out. Nothing of the machine or the moment is among the numbers."""
    from forebay._run.simulate import simulate
    from forebay.metrics._own.files import named
    from forebay.metrics._period import closed
    from forebay.metrics._summary import collected
    from forebay.metrics._table import counted, measure
    from forebay.metrics.window import window

    workload, machine, seed, behaviour, failures = given_to(run)
    result = simulate(workload, machine, marks.of(run.policy), seed, behaviour, False, failures)
    if run.window is not None:
        result = window(result, *closed(run.window, result))
    if run.only:
        result = replace(
            result, jobs=result.jobs.filter(result.jobs["job_id"].is_in(those(workload, run.only).implode()))
        )
    facts = {name: result.facts[name] for name in ("workload", "provenance", "notes", "log_sha256", "versions")}
    jobs = counted(result).select(measure(name).alias(name) for name in run.keep).collect() if run.keep else None
    measures = {} if jobs is None else {name: jobs[name].to_numpy().astype(float) for name in run.keep}
    numbers, remarks = collected(result, named(run.metrics))
    document = {"key": run.key, "name": run.name, "run": run.plain(), "summary": numbers, "facts": facts}
    document |= {REMARKS: remarks} if remarks else {}
    return Record(document | {"seconds": result.facts["seconds"]}, measures)


def moved(run: Run, change: Callable[[str], str]) -> Run:
    """The run with each path in it changed."""

    def with_path(spec: str, path: str) -> str:
        return spec.replace(path, change(path), 1) if path else spec

    jobs = run.jobs
    source = with_path(jobs.source, files.path_in(jobs.source) if jobs.made else jobs.source if jobs.sha256 else "")
    return replace(
        run,
        jobs=replace(jobs, source=source, users=with_path(jobs.users, jobs.users)),
        platform=with_path(run.platform, files.path_in(run.platform)),
        policy=with_path(run.policy, files.path_in(run.policy)),
        failures=with_path(run.failures, files.trace_in(run.failures)),
        metrics=tuple(with_path(one, files.path_of_metrics(one)) for one in run.metrics),
    )


def files_of(run: Run) -> set[Path]:
    """Every file that a run reads, by its full path."""
    from forebay._support.own_file import sources

    found: set[Path] = set()

    def note(path: str) -> str:
        if path.endswith(".py"):
            found.update(sources(Path(path)))
        elif path.endswith(".toml") and (trace := files.outages_of(path, read_bytes(Path(path)))):
            found.add(Path(os.path.abspath(trace)))
        found.add(Path(os.path.abspath(path)))
        return path

    moved(run, note)
    return found
