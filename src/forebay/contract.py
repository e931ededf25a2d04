"""The contract of a policy, checked on many small random workloads; a breach is explained with the smallest of them.

Whoever writes a policy can run this: `forebay check-policy mine.py:Mine`, or `check_policy(...)` in one's own tests.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from forebay._numba.pointer import pointer
from forebay.core.codes import JobState
from forebay.core.tables import State
from forebay.core.view import Actions, View
from forebay.engine.build import build, make_program
from forebay.engine.collect import log_hash
from forebay.engine.run import params_of, run
from forebay.engine.truth import Truth
from forebay.errors import InputError, PolicyError
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import node_local, shared_bb
from forebay.platforms.tiers._base import BaseTier
from forebay.platforms.tiers.shared_bb import Placement
from forebay.policies import load as load_policy
from forebay.policies._limited import apart
from forebay.workload.workload import LEG_SCHEMA, PHASE_SCHEMA, Workload, job_table

RULES = {
    "legal": "every action is one the engine can carry out: nothing oversubscribed, started twice or too early",
    "finishes": "every job that fits the machine starts and ends, unless the policy rejects it",
    "repeats": "the same workload and seed give the same log, in a new run and in another object",
    "tidy": "nothing is written but actions and the policy's own memory",
}
"""What every policy promises, by name."""
MAX_TRIES = 500
"""How many smaller cases are tried in search of the smallest: a few seconds."""


class Check(NamedTuple):
    """One rule's outcome."""

    name: str
    ok: bool
    text: str


@dataclass(frozen=True)
class Report:
    """What a check found."""

    policy: str
    checks: list[Check]
    explanation: str  # empty when all is well

    @property
    def passed(self) -> bool:
        """Whether the policy keeps every rule."""
        return all(check.ok for check in self.checks)


@dataclass(frozen=True)
class Leg:
    """A leg of a small job: seconds, walltime, nodes, burst buffer, what it carries over, and its SSD on each node."""

    seconds: float
    walltime: float
    nodes: int
    buffer: int
    carry: str = ""
    ssd: int = 0


@dataclass(frozen=True)
class Job:
    """A job of a small case."""

    submit: float
    legs: tuple[Leg, ...]
    cancel: float = math.inf  # seconds until its user withdraws it


@dataclass(frozen=True)
class Case:
    """A machine and a few jobs: small enough to read."""

    nodes: int
    buffer: int
    jobs: tuple[Job, ...]
    servers: int = 0  # that the buffer lies on in chunks, evenly; 0 = it is a pool
    large: int = 0  # nodes with 2 B of SSD, the last ones, where the others have 1 B; 0 = none has any

    def platform(self) -> Platform:
        """The machine."""
        tiers: list[BaseTier] = []
        if self.buffer:
            placement: Placement = "chunked" if self.servers else "pooled"
            servers = self.servers or None
            tiers.append(
                shared_bb.Tier(name="burst_buffer", capacity=self.buffer, placement=placement, servers=servers)
            )
        if self.large:
            tiers.append(node_local.Tier(name="ssd", capacity=1, large=2, large_nodes=self.large))
        return Platform(name="case", nodes=self.nodes, tiers=tuple(tiers))

    def workload(self) -> Workload:
        """The jobs as a Workload."""
        jobs = job_table(
            {
                "id": np.arange(1, len(self.jobs) + 1),
                "submit": np.array([job.submit for job in self.jobs], float),
                "walltime": np.array([job.legs[0].walltime for job in self.jobs], float),
                "run_time": np.array([job.legs[0].seconds for job in self.jobs], float),
                "nodes": np.array([job.legs[0].nodes for job in self.jobs]),
                "user": np.arange(len(self.jobs)) % 3,
                "cancel": np.array([job.cancel for job in self.jobs], float),
                "burst_buffer": np.array([job.legs[0].buffer for job in self.jobs]),
                "ssd": np.array([job.legs[0].nodes * job.legs[0].ssd for job in self.jobs]),
            }
        )
        rows = [
            (i + 1, k, leg) for i, job in enumerate(self.jobs) if len(job.legs) > 1 for k, leg in enumerate(job.legs)
        ]
        if not rows:
            return Workload("case", jobs)
        legs = pl.DataFrame(
            [(i, k, leg.walltime, leg.nodes, leg.carry, leg.buffer, leg.nodes * leg.ssd) for i, k, leg in rows],
            schema={**LEG_SCHEMA, "burst_buffer": pl.Int64, "ssd": pl.Int64},
            orient="row",
        )
        phases = pl.DataFrame(
            [(i, k, "compute", leg.seconds, 0.0, 0.0, 0.0, None) for i, k, leg in rows],
            schema=PHASE_SCHEMA,
            orient="row",
        )
        return Workload("case", jobs, legs, phases)

    def text(self) -> str:
        """The case as a table to read."""
        chunks = f" in chunks on {self.servers} server(s)" if self.servers else ""
        kinds = f", 1 B of SSD in every node and 2 B in the last {self.large}" if self.large else ""
        lines = [f"machine: {self.nodes} node(s), {self.buffer} B of burst buffer{chunks}{kinds}"]
        for i, job in enumerate(self.jobs):
            legs = "; then ".join(
                f"{leg.nodes} node(s), {leg.buffer} B, runs {leg.seconds:g} s of {leg.walltime:g} s asked"
                + (f", {leg.ssd} B of SSD a node" if self.large else "")
                + (f", carries {leg.carry}" if leg.carry else "")
                for leg in job.legs
            )
            withdrawn = "" if job.cancel == math.inf else f", withdrawn after {job.cancel:g} s"
            lines.append(f"job {i + 1} (row {i}): submitted at {job.submit:g} s{withdrawn}, {legs}")
        return "\n".join(lines)


def random_case(rng: np.random.Generator, kinds: bool = True) -> Case:
    """A few jobs with many ties, on a machine where they collide; some too large, past their walltime or withdrawn.

    Some machines have nodes of two kinds, unless the policy refuses these.
    """
    nodes, buffer = int(rng.integers(1, 9)), int(rng.integers(0, 11))
    n = int(rng.integers(1, 16))
    submits = np.sort(rng.integers(0, max(2, 3 * n), n))
    cancels = np.where(rng.random(n) < 0.1, rng.integers(1, 20, n), np.inf)
    jobs = tuple(
        Job(float(submit), _random_legs(rng, nodes, buffer), float(cancel))
        for submit, cancel in zip(submits, cancels, strict=True)
    )
    servers = int(rng.integers(1, 4)) if buffer and rng.random() < 0.4 else 0
    case = Case(nodes, max(buffer, servers), jobs, servers)
    if nodes == 1 or servers or rng.random() < 0.6 or not kinds:
        return case
    return replace(
        case, large=int(rng.integers(1, nodes)), jobs=tuple(_with_ssd(job, int(rng.integers(0, 3))) for job in jobs)
    )


def _with_ssd(job: Job, ssd: int) -> Job:
    return replace(job, legs=tuple(replace(leg, ssd=ssd if leg.nodes else 0) for leg in job.legs))


def _takes_kinds(spec: Any) -> bool:
    """Whether a policy can be asked for decisions where nodes are of two kinds."""
    policy, _ = apart(load_policy(spec))
    if not hasattr(policy, "params_on"):
        return True
    try:
        params_of(policy, ("nodes", "burst_buffer", "ssd", "ssd_large"))
    except InputError:
        return False
    return True


def _random_legs(rng: np.random.Generator, nodes: int, buffer: int) -> tuple[Leg, ...]:
    def leg(n: int, b: int, carry: str = "") -> Leg:
        seconds = int(rng.integers(1, 12))
        walltime = max(1, seconds + int(rng.integers(-3, 8)))
        return Leg(float(seconds), float(walltime), n, b, carry)

    too_large = rng.random() < 0.05
    n, b = int(rng.integers(1, nodes + 1)) + nodes * too_large, int(rng.integers(0, buffer + 1))
    if rng.random() < 0.8:
        return (leg(n, b),)
    return (leg(0, b), leg(n, b, "burst_buffer"), leg(0, b, "burst_buffer"))


def check_policy(spec: Any, seed: int = 0, n_cases: int = 100) -> Report:
    """Try `spec` on random cases; report each rule, and for each one broken the smallest case that shows it."""
    rng = np.random.default_rng(seed)
    broken: dict[str, Case] = {}
    kinds = _takes_kinds(spec)
    for _ in range(n_cases):
        case = random_case(rng, kinds)
        breach = _breach(spec, case)
        if breach is not None:
            broken.setdefault(breach[0], case)
    checks = [Check(name, name not in broken, text) for name, text in RULES.items()]
    return Report(str(spec), checks, "\n\n".join(_explain(spec, rule, case) for rule, case in broken.items()))


def _explain(spec: Any, rule: str, case: Case) -> str:
    """A breach in words, with the smallest case that shows it."""
    small = _shrink(case, partial(_breaks, spec, rule))
    _, message = _breach(spec, small) or (rule, "")
    return f"{message}\n\nThe smallest workload that shows it:\n{small.text()}"


def _breach(spec: Any, case: Case) -> tuple[str, str] | None:
    """The rule that the policy breaks on a case and how, or None."""
    policy, limits = apart(load_policy(spec))
    platform, workload = case.platform(), case.workload()
    state, truth, _ = build(workload, platform, make_program(workload, platform, "alloc-only"), limits)
    tables = state, truth
    try:
        first = _run(policy, *tables, platform.resources)
        again = _run(policy, *tables, platform.resources)
        other = _run(apart(load_policy(spec))[0], *tables, platform.resources)
    except _WroteError as error:
        return "tidy", str(error)
    except PolicyError as error:
        return ("finishes" if type(error).__name__ == "StalledError" else "legal"), str(error)
    if first.unfinished:
        return "finishes", f"job {first.unfinished[0]} never ended"
    if first.hash != again.hash:
        return "repeats", "a second run of the same object gave another log: forget the first run in setup(self, view)"
    if first.hash != other.hash:
        return "repeats", "another object gave another log: use view.rng for randomness, and no global state"
    return None


def _breaks(spec: Any, rule: str, case: Case) -> bool:
    breach = _breach(spec, case)
    return breach is not None and breach[0] == rule


class _WroteError(PolicyError):
    """A decision changed a table that is not its own."""


class _Outcome(NamedTuple):
    hash: str
    unfinished: list[int]


class _Watched:
    """A policy whose every decision is checked for writing where it may not."""

    def __init__(self, policy: Any, state: State):
        self._policy, self._state = policy, state

    def setup(self, view: View) -> None:
        """Prepare the policy, compiled or not."""
        kernel = self._policy.kernel() if hasattr(self._policy, "kernel") else None
        if kernel is None:
            if hasattr(self._policy, "setup"):
                self._policy.setup(view)
            self._decide = self._policy.decide
            return
        integers, floats = self._policy.memory(len(view.jobs), len(view.resources))
        memory = (np.zeros(integers, np.int64), np.zeros(floats))
        params = params_of(self._policy, view.resources)
        tables = pointer(self._state)
        self._decide = lambda view, act: kernel(tables, params, memory, view.rng)

    def decide(self, view: View, act: Actions) -> None:
        """Let the policy decide, then compare every table with what it was."""
        before = _snapshot(self._state)
        try:
            self._decide(view, act)
        except ValueError as error:
            if "read-only" in str(error):
                raise _WroteError(f"at t = {view.now:g} s the policy wrote to a table of the view: {error}") from None
            raise
        for name, was, now in zip(State._fields, before, _snapshot(self._state), strict=True):
            if was != now:
                raise _WroteError(
                    f"at t = {view.now:g} s the policy changed the table {name!r}; "
                    "read it only, and act through act.start, act.wake and act.reject"
                )


def _run(policy: Any, state: State, truth: Truth, resources: tuple[str, ...]) -> _Outcome:
    """One run on copies of the tables."""
    state, truth = _copy(state), _copy(truth)
    run(state, truth, _Watched(policy, state), resources, np.random.default_rng(0))
    return _Outcome(log_hash(truth), state.jobs["id"][state.jobs["state"] < JobState.COMPLETED].tolist())


def _copy(tables: Any) -> Any:
    return type(tables)(*(_copy(table) if isinstance(table, tuple) else table.copy() for table in tables))


def _snapshot(state: State) -> list[bytes]:
    """Every table's bytes, leaving out what a policy may write: actions, picks and how many."""
    clock = state.clock.copy()
    clock["n_actions"] = clock["n_picks"] = 0
    tables = state._replace(clock=clock, actions=state.actions[:0], picks=state.picks[:0])
    return [table.tobytes() for table in tables]


def _shrink(case: Case, still: Callable[[Case], bool]) -> Case:
    """The smallest case found by leaving out jobs and rounding down numbers while `still` holds."""
    tries, shrunk = 0, True
    while shrunk:
        shrunk = False
        for smaller in _smaller(case):
            tries += 1
            if tries > MAX_TRIES:
                return case
            if still(smaller):
                case, shrunk = smaller, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    """Simpler variants of a case, boldest first."""
    n = len(case.jobs)
    size = n // 2
    while size >= 1:
        for at in range(0, n, size):
            if size < n:
                yield replace(case, jobs=case.jobs[:at] + case.jobs[at + size :])
        size //= 2
    for nodes in range(case.large + 1, case.nodes):
        yield replace(case, nodes=nodes)
    if case.large:
        yield replace(case, large=0, jobs=tuple(_with_ssd(job, 0) for job in case.jobs))
    if case.large > 1:
        yield replace(case, large=1)
    if case.buffer:
        yield replace(case, buffer=0, servers=0)
    if case.servers:
        yield replace(case, servers=0)
    for i, job in enumerate(case.jobs):
        for simpler in _simpler(job):
            jobs = [*case.jobs[:i], simpler, *case.jobs[i + 1 :]]
            yield replace(case, jobs=tuple(sorted(jobs, key=lambda one: one.submit)))


def _simpler(job: Job) -> Iterator[Job]:
    if len(job.legs) > 1:
        yield replace(job, legs=(replace(job.legs[1], carry=""),))
    if job.cancel < math.inf:
        yield replace(job, cancel=math.inf)
    if job.submit > 0:
        yield replace(job, submit=0.0)
        yield replace(job, submit=job.submit - 1)
    for k, leg in enumerate(job.legs):
        for changes in (
            {"seconds": 1.0, "walltime": 1.0},
            {"walltime": leg.seconds},
            {"nodes": min(1, leg.nodes)},
            {"nodes": leg.nodes - 1},
            {"buffer": 0},
            {"ssd": 0},
        ):
            simpler = replace(leg, **changes)
            if simpler != leg and simpler.nodes >= 0:
                yield replace(job, legs=(*job.legs[:k], simpler, *job.legs[k + 1 :]))
