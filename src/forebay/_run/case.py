"""All that a run is made of, checked and put together once, for a run by one call or step by step."""

import pickle
import platform as machine
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from importlib.metadata import version
from numbers import Integral
from os import PathLike
from typing import Any, NamedTuple

import numba
import numpy as np
import polars as pl

from forebay import _plugins
from forebay._run import compilation
from forebay._run.labels import loaded_on
from forebay._run.names import on_site
from forebay._run.needs import check_needs, wishes_on
from forebay._support import forks
from forebay._support.last import Last
from forebay._support.text import counted
from forebay.core.codes import JobState
from forebay.core.failures import Failures
from forebay.core.limits import Limits
from forebay.core.tables import State
from forebay.engine.build.defaults import settle
from forebay.engine.build.feasibility import sized, sizing_notes
from forebay.engine.build.program import Program
from forebay.engine.build.tables import build, default_model, make_program
from forebay.engine.build.template import Mould
from forebay.engine.contention.frames import links_frame
from forebay.engine.driver.history import Record
from forebay.engine.failures.build import Draws, draws
from forebay.engine.failures.frames import may_have_broken_off, with_attempts
from forebay.engine.limits.build import Site, site_of
from forebay.engine.limits.frames import held_frame
from forebay.engine.limits.tables import Meters
from forebay.engine.partitions.build import never_started
from forebay.engine.placing.build import draw as draw_places
from forebay.engine.policy_io.needs import NO_WISHES, Wishes
from forebay.engine.power.build import with_watts
from forebay.engine.reservations.build import reserved_of
from forebay.engine.results import tables as collect
from forebay.engine.results.left import Left
from forebay.engine.truth import Truth
from forebay.engine.variants import uses
from forebay.engine.warm_start import on_late_starts
from forebay.errors import InputError, wrong_type
from forebay.metrics._energy import with_energy
from forebay.platforms import load as load_platform
from forebay.platforms import names as platform_names
from forebay.platforms.failures import check as check_failures
from forebay.platforms.failures import load as load_failures
from forebay.platforms.platform import Platform
from forebay.policies import names as policy_names
from forebay.policies._limited import apart, manner_of
from forebay.results import Result
from forebay.results._waits import with_run_alone
from forebay.workload import Workload, read
from forebay.workload._source import size_told
from forebay.workload.dates import is_dated
from forebay.workload.dependencies import count_kinds, run_notes

_SHORT = 10_000
"""Jobs up to which tables are made, and kept, for speed rather than for little memory."""


class Tables(NamedTuple):
    """A run that is about to begin."""

    state: State
    truth: Truth
    notes: list[str]
    draw: Draws | None
    rng: np.random.Generator


class End(NamedTuple):
    """A run that is over."""

    left: Left
    decisions: int
    notes: list[str]


@dataclass
class Ground:
    """What runs of a workload on a machine share, whatever the policy."""

    workload: Workload  # with what the machine adds to it
    platform: Platform  # with what the workload adds to it
    named: Platform  # as it was named
    job_model: str
    program: Program
    failing: Failures | None
    site: Site  # without a policy's limits
    first: tuple[Mould, list[str]] | None = None  # how a run begins

    def tables(self) -> tuple[State, Truth, list[str]]:
        """How a run begins. What is built once is copied for others: that takes a tenth of the time."""
        if len(self.workload) > _SHORT:
            return self.built(self.site, NO_WISHES)
        if self.first is None:
            state, truth, notes = self.built(self.site, NO_WISHES)
            self.first = Mould(state, truth), notes
        mould, notes = self.first
        return *mould.tables(), list(notes)

    def built(self, site: Site, wishes: Wishes) -> tuple[State, Truth, list[str]]:
        """The same, from the beginning."""
        site = site._replace(meters=Meters(*(table.copy() for table in site.meters)))
        return build(self.workload, self.platform, self.program, site, self.failing, wishes)

    @cached_property
    def described(self) -> bytes:
        """The machine in words, for `pickle.loads`: every result has its own, which takes `copy.deepcopy` 0.04 ms."""
        return pickle.dumps(self.platform.describe())

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What there is to say before a run."""
        sizing = sizing_notes(self.workload, self.named, self.platform)
        return *_notes_on(self.workload, self.named), *sizing, *self.program.notes


_last: Last[Ground] = Last()


def _ground(workload: Workload, named: Platform, job_model: str | None, failures: Any) -> Ground:
    known = failures is None or isinstance(failures, Failures)  # what is read from a file may be another next time
    kept = _last.of(workload, job_model, failures) if known else None
    if kept is not None and kept.named is named:
        return kept
    settled = with_watts(settle(workload, named), named)
    chosen = sized(settled, named)
    model = _plugins.spelled("engine.jobmodels", job_model) if job_model else default_model(settled, chosen)
    program = make_program(settled, chosen, model)
    site = site_of(settled, chosen, program, None)
    made = Ground(settled, chosen, named, model, program, _failures(failures, chosen), site)
    return _last.keep(made, workload, job_model, failures) if known else made


@dataclass(frozen=True)
class Case:
    """A workload on a machine under a policy."""

    ground: Ground
    scheduler: Any  # the policy without its limits
    limits: Limits | None
    policy: str  # its name
    spec: str  # that makes it; empty for an object
    said: list[str]  # of it, before a run
    site: Site
    wishes: Wishes
    seed: int

    @property
    def workload(self) -> Workload:
        """With what the machine adds to it."""
        return self.ground.workload

    @property
    def platform(self) -> Platform:
        """With what the workload adds to it."""
        return self.ground.platform

    @property
    def job_model(self) -> str:
        """How jobs behave."""
        return self.ground.job_model

    @property
    def program(self) -> Program:
        """What jobs do."""
        return self.ground.program

    @property
    def failing(self) -> Failures | None:
        """How nodes fail, if they do."""
        return self.ground.failing

    def built(self, once: bool = False) -> tuple[State, Truth, list[str]]:
        """How a run begins; what begins once needs no mould for others."""
        asked = self.limits is not None or self.wishes.asks()  # which is in the tables
        return self.ground.built(self.site, self.wishes) if once or asked else self.ground.tables()

    def tables(self, once: bool = False) -> Tables:
        """What a run needs: each its own."""
        state, truth, notes = self.built(once)
        compilation.prepare([self.scheduler], used=uses(state, truth))
        # How nodes fail has draws of its own: every policy meets the same failures, whatever it draws itself.
        failing, draw = self.failing, None
        if failing is not None:
            draw = draws(truth, failing, self.platform.nodes, failing.seed if failing.seed >= 0 else self.seed)
        draw_places(truth.placing, self.seed)
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(0,)))
        return Tables(state, truth, notes, draw, rng)

    def under(self, policy: Any) -> "Case":
        """The same with another policy."""
        loaded, name, spec = loaded_on(policy, self.ground.named, self.ground.named.name)
        scheduler, limits, said = _scheduler(loaded, self.workload, self.platform)
        check_needs(scheduler, name, self.ground)
        site = site_of(self.workload, self.platform, self.program, limits)
        wishes = wishes_on(scheduler, name, self.ground, manner_of(loaded))
        return replace(
            self, scheduler=scheduler, limits=limits, policy=name, spec=spec, said=said, site=site, wishes=wishes
        )

    def end(self, state: State, truth: Truth, notes: list[str]) -> End:
        """What results are made of besides the record, without the rest of the tables: that can then go."""
        left = collect.left_of(state, truth, self.program.compute_nodes)
        remarks = [
            *on_late_starts(self.workload, state),
            *never_started(self.platform, truth.doors),
            *run_notes(self.workload, state.jobs["state"] == JobState.REJECTED),
        ]
        return End(left, int(truth.cursor[0]["n_decisions"]), notes + remarks)

    def result(self, end: End, record: Record) -> Result:
        """What a run that is over leaves. The record is used up."""
        workload, chosen, limits = self.workload, self.platform, self.limits
        left, decisions, notes = end
        facts = {
            "workload": workload.name,
            "workload_sha256": workload.sha256,
            "provenance": list(workload.provenance),
            "platform": pickle.loads(self.ground.described),
            "policy": self.policy,
            **({"spec": self.spec} if self.spec not in ("", self.policy) else {}),
            "job_model": self.job_model,
            "seed": self.seed,
            "jobs": len(workload),
            "decisions": decisions,
            "log_sha256": record.sha256(),
            "seconds": record.seconds,
            "processor_seconds": record.processor_seconds,
            "notes": [*self.ground.notes, *self.said, *notes],
            "dropped": dict(workload.dropped),
            **({"epoch": workload.epoch} if is_dated(workload) else {}),
            "versions": dict(versions()),
            **({"failures": self.failing.describe()} if self.failing else {}),
            **({"dependencies": count_kinds(workload)} if workload.dependencies is not None else {}),
            **({"reserved": reserved_of(workload, chosen)} if chosen.reservations else {}),
            **({"limits": limits.describe()} if limits else {}),
            **self.wishes.manner.describe(),
        }
        result = Result.later(
            partial(_frames, left, record, workload, chosen, self.site),
            resources=dict(zip(chosen.resources, chosen.capacities, strict=True)),
            facts=facts,
        )
        if len(workload) > _SHORT:
            assert result.jobs is not None  # of a long run the record takes more memory than its tables
        return result


def _frames(left: Left, record: Record, workload: Workload, platform: Platform, site: Site) -> dict[str, pl.DataFrame]:
    """The tables of a Result. The record is used up."""
    jobs = collect.jobs_frame(left, record, workload, platform)
    broken = may_have_broken_off(record)
    log = collect.log_frame(record, left.jobs, platform.resources)
    frames = {
        "jobs": with_run_alone(with_attempts(jobs, log) if broken else jobs, left.alone),
        "log": log,
        "placements": collect.placements_frame(record),
        "chunks": collect.chunks_frame(record),
        "said": collect.said_frame(record, left.jobs),
        "held": held_frame(record, left.jobs, site.why),
        "links": links_frame(left, platform.fabric().names),
    }
    return with_energy(frames, platform) if platform.power else frames


def case_of(
    workload: Workload | str | PathLike[str],
    platform: str | PathLike[str] | Platform | None,
    policy: Any,
    seed: int,
    job_model: str | None,
    failures: str | PathLike[str] | Mapping[str, Any] | Failures | None,
) -> Case:
    """What `forebay.simulate` was given, as a case; an error where that cannot be used."""
    forks.check()
    workload, seed = workload_of(workload), checked_seed(seed)
    named = machine_of(workload) if platform is None else platform_of(platform)
    loaded, name, spec = loaded_on(policy, named, workload.platform if platform is None else platform)
    scheduler, limits, said = _scheduler(loaded, workload, named)
    if job_model is not None and not isinstance(job_model, str):
        raise wrong_type("the job model", job_model, 'its name, such as "io-aware" or "alloc-only:kill=false"')
    ground = _ground(workload, named, job_model, failures)
    check_needs(scheduler, name, ground)
    site = ground.site if limits is None else site_of(ground.workload, ground.platform, ground.program, limits)
    wishes = wishes_on(scheduler, name, ground, manner_of(loaded))
    return Case(ground, scheduler, limits, name, spec, said, site, wishes, seed)


def _scheduler(loaded: Any, workload: Workload, platform: Platform) -> tuple[Any, Limits | None, list[str]]:
    """The policy, its limits, and notes on it."""
    scheduler, limits = apart(loaded)
    scheduler, said = on_site(scheduler, workload, platform)
    return scheduler, limits, said


@cache
def versions() -> dict[str, str]:
    """Of what a result depends on; looking one up takes longer than a short run."""
    return {
        "forebay": version("forebay"),
        "numba": numba.__version__,
        "numpy": np.__version__,
        "polars": pl.__version__,
        "python": machine.python_version(),
    }


def _notes_on(workload: Workload, machine: Platform) -> list[str]:
    """What its reader has to say of a workload; of the machine's size only where that is the machine."""
    try:
        own = None if workload.platform is None else load_platform(workload.platform)
    except InputError:  # a header may name a machine that cannot be; then the other one counts alone
        own = None
    if machine is own or machine == own:
        return list(workload.notes)
    found = size_told(workload.notes)
    notes = [note for note in workload.notes if note not in found]
    if own is not None and own.nodes != machine.nodes and not found:
        notes.append(
            f"the machine has {counted(machine.nodes, 'node')}, but {workload.name} names one of {own.nodes:,}"
        )
    return notes


def machine_of(workload: Workload) -> Platform:
    """The platform that a workload names itself."""
    if workload.platform is None:
        raise InputError(
            f"{workload.name} does not say how large its machine is (no MaxProcs or nb_res); "
            'name one: --platform flat:nodes=100, in Python platform="flat:nodes=100"'
        )
    return load_platform(workload.platform)


def _failures(given: Any, platform: Platform) -> Failures | None:
    """What can fail of this machine, as given for this run or else by the platform; None where nothing can."""
    failures = platform.failures if given is None else load_failures(given)
    if failures is None or not (failures.draws or failures.outages or failures.writes):
        return None
    check_failures(failures, platform.nodes)
    return failures


def workload_of(given: Any) -> Workload:
    """A workload, or the one that a file or a name stands for."""
    if isinstance(given, str | PathLike):
        return read(given)
    if not isinstance(given, Workload):
        hint = "a Workload, or what forebay.read takes; of a table of jobs make forebay.Workload(name, table)"
        raise wrong_type("the workload", given, hint)
    return given


def platform_of(given: Any) -> Platform:
    """The platform, unless it is a policy: the second argument is easily taken for it."""
    if isinstance(given, str):
        name = given.partition(":")[0]
        if name in policy_names() and name not in platform_names():
            raise InputError(f"{given!r} is a policy, where the platform is expected; write policy={given!r}")
    return load_platform(given)


def checked_seed(given: Any) -> int:
    """A seed, also one of NumPy, as a plain number."""
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise wrong_type("the seed", given, "a whole number from 0 up")
    if given < 0:
        raise InputError(f"the seed is {given}; give a whole number from 0 up")
    return int(given)
