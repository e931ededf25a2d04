"""From what is said of failures to the tables of a run, and the draws that follow."""

import copy
from math import gamma, inf
from typing import Any

import numpy as np

from forebay._support.text import counted
from forebay.core.codes import PhaseKind
from forebay.core.failures import Failures
from forebay.engine.build.leg_balance import Ledger
from forebay.engine.build.program import Program
from forebay.engine.failures.tables import BLOCK, Resilience, make_resilience
from forebay.engine.truth import Truth
from forebay.errors import InputError
from forebay.platforms.fabric import Fabric
from forebay.platforms.platform import Platform
from forebay.platforms.wires import Wire
from forebay.workload.workload import Workload

_IN_BUFFER = (PhaseKind.STAGE_IN, PhaseKind.CHECKPOINT, PhaseKind.DRAIN, PhaseKind.STAGE_OUT, PhaseKind.FETCH)
"""Kinds of phases whose data is gone when their job gives its buffer back."""


def check_failures(workload: Workload, platform: Platform, failures: Failures | None, ledger: Ledger) -> None:
    """Refuse nodes that a waiting job keeps, and checkpoints that go nowhere, or take no time."""
    if not failures:
        return
    if ledger.carries[:, 0].any():
        raise InputError(
            f"{workload.name}: jobs keep nodes while they wait for their next leg, and a node may fail then; let each "
            "leg ask for its own, or run without failures"
        )
    if failures.checkpoint_bytes and _slowest(platform.fabric()) == inf:
        raise InputError(
            f"failures: checkpoint_bytes go to the file system, and {platform.name} has none; add a tier of kind pfs "
            "(or pfs=5GB/s to flat), or give checkpoint, a time, instead"
        )


def sizes_of(platform: Platform, failures: Failures | None, n_jobs: int) -> dict[str, int]:
    """How large tables of State are."""
    if not failures:
        return {}
    return {"down": platform.nodes, "safety": n_jobs if failures.writes else 0}


def write_bytes(failures: Failures | None) -> bool:
    """Whether jobs write checkpoints over links."""
    return failures is not None and failures.checkpoint_bytes > 0


def make_tables(failures: Failures | None, platform: Platform, n_jobs: int) -> Resilience:
    """The tables that these failures need; empty ones without any."""
    if failures is None:
        return make_resilience()
    outages = failures.outages
    n_failures = BLOCK if outages is None else len(outages.node) + 1
    tables = make_resilience(n_failures if outages or failures.draws else 1, platform.nodes, n_jobs)
    if outages is not None:
        rows = tables.failures[:-1]
        rows["time"], rows["node"], rows["downtime"] = outages.down, outages.node, outages.up - outages.down
    return tables


def fill_resilience(truth: Truth, platform: Platform, program: Program, failures: Failures | None) -> list[str]:
    """Fill in the rule that jobs follow; returns what users should know of it."""
    if not failures:
        return []
    rule, scripts = truth.resilience.rule[0], truth.scripts
    rule["cost"], rule["bytes"], rule["period"] = failures.checkpoint, failures.checkpoint_bytes, failures.period
    rule["recovery"] = failures.recovery if failures.recovery >= 0 else failures.checkpoint
    rule["node_mtbf"] = failures.machine_mtbf(platform.nodes) * platform.nodes
    rule["max_attempts"], rule["known"] = failures.max_attempts, failures.known
    if not failures.writes:
        return []
    for way, wire in enumerate(_wires(platform.fabric()) if failures.checkpoint_bytes else ()):
        rate, cap = _alone(wire, platform.fabric())
        rule["rate"][way], rule["cap"][way], rule["delay"][way] = rate, cap, wire.delay
    unsafe = np.zeros(len(scripts), bool)
    unsafe[program.phase_leg[np.isin(program.kind, _IN_BUFFER)]] = True
    scripts["guarded"] = ~unsafe
    scripts["seconds"][~unsafe] = inf  # what its checkpoints will take is not known
    _add_checkpoints(truth, program)
    without = len(np.unique(program.leg_job[unsafe]))
    if not without:
        return []
    jobs = counted(without, "job keeps its data", "jobs keep their data")
    return [f"{jobs} in a buffer, which is gone after a failure: their legs then start again, without checkpoints"]


def _add_checkpoints(truth: Truth, program: Program) -> None:
    """Let the walltimes that policies see include the checkpoints; see `checkpoints._walltime`."""
    rule, scripts = truth.resilience.rule[0], truth.scripts
    nodes = np.maximum(program.nodes[program.leg_job], 1)
    cost = np.full(len(nodes), rule["cost"])
    if rule["bytes"] > 0:
        cost = rule["delay"][0] + rule["bytes"] * nodes / np.minimum(rule["rate"][0], rule["cap"][0] * nodes)
    period = np.sqrt(2 * cost * rule["node_mtbf"] / nodes) if rule["period"] == 0 else rule["period"]
    asked = scripts["asked"]
    finite = np.isfinite(asked)
    saves = np.maximum(np.ceil(np.where(finite, asked, 0.0) / period * (1.0 - 1e-12)) - 1.0, 0.0)
    padded = np.where(scripts["guarded"] & finite, asked + saves * cost, asked)
    scripts["walltime"] = truth.legs["walltime"] = padded


def _wires(fabric: Fabric) -> tuple[Wire, Wire]:
    assert fabric.read is not None
    assert fabric.write is not None
    return fabric.write, fabric.read


def _alone(wire: Wire, fabric: Fabric) -> tuple[float, float]:
    """Bytes/s that a job has over a wire when alone, and each of its nodes at most."""
    capacity = dict(zip(fabric.names, fabric.capacity.tolist(), strict=True))
    rate = min((capacity[name] / load for name, load in wire.links.items()), default=inf)
    return (min(rate, wire.cap), inf) if wire.whole else (rate, wire.cap)


def _slowest(fabric: Fabric) -> float:
    """Bytes/s that limit a checkpoint; inf where nothing does."""
    return inf if fabric.write is None else max(min(_alone(wire, fabric)) for wire in _wires(fabric))


class Draws:
    """Fills the table of failures with the next ones, again and again. The first have been drawn."""

    def __init__(self, truth: Truth, failures: Failures, nodes: int, seed: int):
        self._rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[1])
        self._shape, self._downtime = failures.shape, failures.downtime
        self._scale = failures.machine_mtbf(nodes) / gamma(1.0 + 1.0 / failures.shape)
        self._table, self._cursor, self._last = truth.resilience.failures, truth.cursor, 0.0
        if failures.outages is None and failures.draws:
            self()

    def __call__(self) -> None:
        table, rng = self._table, self._rng
        table["time"] = self._last + np.cumsum(self._scale * rng.weibull(self._shape, len(table)))
        table["u"], table["node"], table["downtime"] = rng.random(len(table)), -1, self._downtime
        self._last = float(table["time"][-1])
        self._cursor["next_failure"] = 0

    def onto(self, truth: Truth) -> "Draws":
        """The same for a copy of the run."""
        other = copy.copy(self)
        other._rng = np.random.default_rng(0)
        other._table, other._cursor, other.memory = truth.resilience.failures, truth.cursor, self.memory
        return other

    @property
    def memory(self) -> tuple[dict[str, Any], float]:
        """Where the draws have come to, beside what stands in the tables of a run."""
        return dict(self._rng.bit_generator.state), self._last

    @memory.setter
    def memory(self, value: tuple[dict[str, Any], float]) -> None:
        self._rng.bit_generator.state, self._last = value


def draws(truth: Truth, failures: Failures, nodes: int, seed: int) -> Draws:
    """How this machine's nodes will fail."""
    return Draws(truth, failures, nodes, seed)
