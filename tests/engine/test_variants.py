"""Compiled code for what a run uses does what all of it does, whichever capabilities those are."""

import dataclasses
from importlib import import_module

import numba
import numpy as np
import polars as pl
import pytest
from numba.core.registry import cpu_target

import forebay
from cases import dependent, flexible, pooled, shared, tiered, transfers
from forebay import kernels
from forebay._numba.jit import ready, variant_of
from forebay._numba.pointer import WrongFactError
from forebay._numba.store import store_for
from forebay._run.case import case_of
from forebay.core.codes import LogReason
from forebay.core.shapes import ANY, shape_of, shapes_of
from forebay.engine import entering
from forebay.engine.loop import run_compiled
from forebay.engine.variants import CAPABILITIES, FULL, VARIANTS, covering, facts_of, uses
from forebay.errors import InputError
from forebay.platforms import Partition, Platform, Reservation
from forebay.policies import Every, IoScheduled, Limited, Limits, Placed, load

compiled = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="the compiler is off")


class Dice(forebay.Policy):
    """Starts what fits in random order, wakes, rejects, interrupts and kills: all that a policy can do."""

    def decide(self, view, act):
        for job in view.rng.permutation(view.queue):
            draw = view.rng.random()
            if draw < 0.03 and np.isnan(view.jobs["start"][job]):
                act.reject(job)
            elif draw < 0.9 and act.fits(job):
                act.start(job)
        for job in view.running["job"].tolist():
            draw, begun = view.rng.random(), view.jobs["leg_start"][job] < view.now
            if draw < 0.02 and begun:
                act.interrupt(job)
            elif draw < 0.03 and begun:
                act.kill(job)
        if len(view.queue):
            act.wake(view.now + 1.5)


class Growing(Dice):
    """Resizes, too."""

    resizes = True

    def decide(self, view, act):
        for job in view.points:
            most = [size for size in view.sizes(job) if size <= view.size(job) + act.free[0]][-1]
            if most != view.size(job):
                act.resize(job, most)
        for job in view.queue:
            sizes = [size for size in view.sizes(job) if size <= act.free[0]]
            if sizes:
                act.start(job, nodes=sizes[0])


class Counting(Dice):
    needs = ("io",)


class Knowing(Dice):
    """Goes by what it has learned of each job's reads and writes."""

    known = "learned"

    def decide(self, view, act):
        for job in sorted(view.queue.tolist(), key=lambda job: (view.io(job), job)):
            if act.fits(job):
                act.start(job)


class Steering(forebay.Policy):
    """Weighs the transfers of what it starts."""

    steers = True

    def decide(self, view, act):
        for job in view.queue:
            if act.fits(job):
                act.start(job)
                act.io_weight(job, float(view.rng.integers(1, 4)))


class Columned(Dice):
    columns = ("urgent",)


def _pooled(machine=None, jobs=None, policy=None, legs=False):
    made, its = pooled.make(5, legs=legs)
    made = made if jobs is None else dataclasses.replace(made, jobs=jobs(made.jobs))
    its = its.model_copy(update=machine) if machine else its
    return {"workload": made, "platform": its, "policy": policy or Dice()}


def _made(pair, **more):
    return {"workload": pair[0], "platform": pair[1], "policy": Dice(), **more}


def _partitions():
    made, its = pooled.make(7, legs=False)
    changes = [{"at": 20.0, "state": "down"}, {"at": 45.0, "state": "up"}]
    shut = Partition(name="p", nodes="all", default=True, changes=changes)
    return _made((made, its.model_copy(update={"partitions": (shut,)})))


def _dependent():
    made, its = pooled.make(3, legs=False)
    return _made((dependent.with_dependencies(made, 3), its))


def _failing():
    return _made(transfers.make(3), job_model="io-aware", failures="mtbf=400s,downtime=20s,checkpoint=2s,period=9s")


def _growing():
    return {"workload": flexible.growing(), "platform": "flat:nodes=16", "policy": Growing()}


def _switched():
    off = {"after": 2.0, "boot": 1.5, "off_watts": 5}
    power = Platform(name="m", nodes=1, power={"idle": 100, "busy": 300, "shutdown": off}).power
    return _pooled({"power": power}, legs=True)


CASES = {
    "none": lambda: _pooled(legs=True),
    "transfers": lambda: _made(transfers.make(0), job_model="io-aware"),
    "servers": lambda: _made(transfers.make(2), job_model="io-aware"),
    "tiers": lambda: _made(tiered.make(4), job_model="tiered"),
    "counters": lambda: _pooled(policy=Counting()),
    "columns": lambda: _pooled(jobs=lambda jobs: jobs.with_columns(urgent=pl.lit(1.0)), policy=Columned()),
    "kinds": lambda: _made(pooled.with_kinds(*pooled.make(6, legs=False), 6)),
    "classes": lambda: _made(pooled.with_classes(*pooled.make(6, legs=False), 6)),
    "limits": lambda: _pooled(policy=Limited(Dice(), Limits(user_jobs=2))),
    "reservations": lambda: _pooled({"reservations": (Reservation(name="r", start=30.0, duration=20.0),)}),
    "partitions": _partitions,
    "dependencies": _dependent,
    "shared-nodes": lambda: _made(shared.random_case(3)[::-1]),
    "failures": _failing,
    "applications": _growing,
    "power": _switched,
    "ticks": lambda: _pooled(policy=Every(Dice(), 4.0), legs=True),
    "known-io": lambda: _made(transfers.make(0), job_model="io-aware", policy=Knowing()),
    "steering": lambda: _made(transfers.make(0), job_model="io-aware", policy=Steering()),
    "io-scheduling": lambda: _made(transfers.make(0), job_model="io-aware", policy=IoScheduled(Dice(), "set-10")),
    "placing": lambda: _made(transfers.make(2), job_model="io-aware", policy=Placed(Dice(), "spread")),
}
"""A run for every capability."""


def _tables(given):
    case = case_of(
        *(given.get(name) for name in ("workload", "platform", "policy")),
        0,
        given.get("job_model"),
        given.get("failures"),
    )
    return case.built()[:2]


def _left(given):
    """All that a run leaves."""
    result = forebay.simulate(**given, seed=1)
    return result.facts["log_sha256"], result.log.write_csv(), result.jobs.write_csv()


@pytest.fixture
def entered(monkeypatch):
    """Runs enter this variant of the engine, which is compiled first."""
    monkeypatch.setattr(entering, "_chosen", {})

    def enter(variant):
        monkeypatch.setenv("FOREBAY_VARIANT", variant)
        ready(run_compiled, *facts_of(variant))
        entering._chosen.clear()

    return enter


@pytest.mark.parametrize("name", CASES)
def test_a_capability_shows_in_the_tables(name):
    used = uses(*_tables(CASES[name]()))
    assert name == "none" or name in used
    assert used or name == "none"
    assert covering(used)[-1] == FULL
    assert len(_left(CASES[name]())) == 3  # facts are checked, whether the compiler is on or off


def test_there_is_a_case_for_each_capability():
    assert {*CASES} == {"none", *CAPABILITIES}


ALWAYS = ("none", "transfers", "servers", "known-io", "power", "ticks", "steering", "io-scheduling", "placing")
"""Those whose variants are compiled in every run: the smallest, the next, and the whole. Each takes a compiler 12 s."""


@compiled
@pytest.mark.parametrize(
    "name", [name if name in ALWAYS else pytest.param(name, marks=pytest.mark.full) for name in CASES]
)
def test_each_capability_by_itself(name, entered):
    """In the smallest variant that has it, and in that which has all."""
    given = CASES[name]()
    found = []
    for variant in (covering_of(given)[0], FULL):
        entered(variant)
        state, truth = _tables(given)
        assert entering.loop_for(state, truth)[0] is ready(run_compiled, *facts_of(variant))
        found.append(_left(given))
    assert found[0] == found[1]


def covering_of(given):
    return sorted(
        (one for one, has in VARIANTS.items() if uses(*_tables(given)) <= has), key=lambda one: len(VARIANTS[one])
    )


def _with_limits(given):
    return given | {"policy": Limited(given["policy"], Limits(user_jobs=2))}


def _with_failures(given):
    return given | {"failures": "mtbf=300s,downtime=20s"}


def _with_counters(given):
    return given | {"policy": Counting()}


def _with_window(given):
    window = Reservation(name="r", start=30.0, duration=20.0)
    return given | {"platform": given["platform"].model_copy(update={"reservations": (window,)})}


ADDED = {
    "limits": _with_limits,
    "failures": _with_failures,
    "counters": _with_counters,
    "reservations": _with_window,
}
PAIRS = [
    (name, more)
    for name in CASES
    for more in ADDED
    if name not in (more, "none", "applications")
    and (name, more) != ("kinds", "counters")
    and any({name, more} <= has for variant, has in VARIANTS.items() if variant != FULL)
]
"""Two capabilities in one run: those that a variant has which has not all."""


@compiled
@pytest.mark.full
@pytest.mark.parametrize(("name", "more"), PAIRS)
def test_pairs(name, more, entered):
    given, found = ADDED[more](CASES[name]()), []
    assert {name, more} <= uses(*_tables(given))
    assert covering_of(given)[0] != FULL
    for variant in (covering_of(given)[0], FULL):
        entered(variant)
        found.append(_left(given))
    assert found[0] == found[1]


EASY = ("fcfs", "fcfs-easy", "fcfs-bb", "filler")


@compiled
@pytest.mark.parametrize("name", ["none", "transfers"])
def test_a_policy_by_its_numbers(name, entered):
    """Backfilling in order of arrival with one reservation at most is compiled alone, and does the same."""
    for policy in EASY:
        given, found = CASES[name]() | {"policy": policy}, []
        for variant in (covering_of(given)[0], FULL):
            entered(variant)
            found.append(_left(given))
        assert found[0] == found[1]


def test_shapes_are_chosen_by_the_numbers():
    def narrowest(*specs):
        policies = list(map(load, specs))
        return shapes_of(policies, [one.params() for one in policies])[0]

    in_order, few = load("fcfs").shapes
    assert narrowest(*EASY) == in_order
    assert narrowest("fcfs-easy", "sjf-bb") == few
    assert narrowest("fcfs-easy", "conservative-bb") == ANY
    assert narrowest("fcfs-easy", "fcfs-bb:reservations=pinned") == ANY
    assert all(shape_of(one.text) == one for one in (in_order, few, ANY))


@compiled
def test_each_variant_and_shape_has_a_file_of_its_own():
    kernel, shapes = load("fcfs").kernel(), [*load("fcfs").shapes, ANY]
    known = [(facts_of(variant)[0], shape.facts) for variant in VARIANTS for shape in shapes]
    names = {
        store_for(kernel.py_func)._name(variant_of(kernel, *facts)._signature, cpu_target.target_context.codegen())
        for facts in known
    }
    assert len(names) == len({*known})


def test_every_variant_but_the_whole_leaves_something_out():
    known = [facts_of(variant) for variant in VARIANTS]
    assert len({*known}) == len(VARIANTS)
    assert known[-1] == (frozenset(), frozenset())
    assert covering({"failures", "limits"}) == [FULL]


def test_a_fact_that_does_not_hold_stops_a_run_by_its_name(monkeypatch):
    """However one comes in: by one call, by steps, by a fork, by what policies in Python build on, or watched."""
    given = CASES["limits"]() | {"policy": "fcfs-easy+limits:user_jobs=2"}
    sim = forebay.open(**given)
    monkeypatch.setattr(entering, "covering", lambda used: ["rigid"])
    for enter in (lambda: forebay.simulate(**given), lambda: forebay.open(**given), sim.fork):
        with pytest.raises(WrongFactError, match=r"Truth.held has 32768 rows, and .* knows 0; this is a bug"):
            enter()
    monkeypatch.undo()
    monkeypatch.setattr(entering, "ways_in", lambda used, shapes=(ANY,): [("rigid", ANY)])
    state, _ = _tables(CASES["shared-nodes"]())
    for enter in (
        lambda: entering.block_for(_kernel("availability.queries", "earliest"), state),
        lambda: entering.policy_for(load("fcfs"), load("fcfs").kernel(), state, load("fcfs").params()),
    ):
        with pytest.raises(WrongFactError, match=r"State.inside.asks has \d+ rows"):
            enter()


def _kernel(module, name):
    return getattr(import_module(f"forebay.policies._kernels.{module}"), name)


def test_a_variant_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setenv("FOREBAY_VARIANT", "rigit")
    with pytest.raises(InputError, match="FOREBAY_VARIANT is 'rigit': did you mean 'rigid'"):
        covering([])


class Mine(forebay.Policy):
    """A user's own kernel, compiled for any run."""

    def kernel(self):
        return mine


@forebay.policy_kernel
def mine(state, params, memory, rng):
    have = kernels.what_is_left(state)
    for j in kernels.line_of(state, 0, 1.0):
        if j >= 0 and kernels.fits(state, have, j):
            kernels.start(state, have, j, LogReason.IN_ORDER)


@compiled
@pytest.mark.parametrize("name", ["none", "transfers"])
def test_a_users_kernel_runs_with_any_variant(name, entered):
    given, found = CASES[name]() | {"policy": Mine()}, []
    for variant in (covering_of(given)[0], FULL):
        entered(variant)
        found.append(_left(given))
    assert found[0] == found[1]
