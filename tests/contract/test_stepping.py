"""Snapshot, run on, restore, run on: the same log, under every policy and for every kind of run."""

import pytest

import forebay as fb
from cases import classes, shared, site, specs, stepped, tiered
from cases.pooled import make as pooled_case
from constancy import runs
from contract.test_failures import case as failing_case
from engine.test_adhoc import ALL as ADHOC
from engine.test_adhoc import workload as adhoc_jobs
from forebay import policies
from forebay.workload import models

STORED = runs.stored()
SMALL = [*runs.small()]
EVERY = 6  # one in so many of the stored runs; each policy is among them several times


@pytest.fixture
def _stepped(monkeypatch):
    monkeypatch.setattr(fb, "simulate", stepped.simulate, raising=False)


def test_every_policy_is_among_the_runs():
    chosen = " ".join(name for name, _ in SMALL[::EVERY])
    assert all(f" {name}" in chosen for name in runs.names())


@pytest.mark.usefixtures("_stepped")
@pytest.mark.parametrize(("name", "run"), SMALL[::EVERY], ids=lambda value: value if isinstance(value, str) else "")
def test_what_one_call_gives_steps_give(name, run):
    assert runs.outcome(run) == STORED[name]


@pytest.mark.full
@pytest.mark.usefixtures("_stepped")
@pytest.mark.parametrize(("name", "run"), SMALL, ids=lambda value: value if isinstance(value, str) else "")
def test_what_one_call_gives_steps_give_everywhere(name, run):
    assert runs.outcome(run) == STORED[name]


def both(*given, rate=0.15, **options):
    once = fb.simulate(*given, **options)
    by_steps = stepped.simulate(*given, rate=rate, **options)
    assert by_steps.facts["log_sha256"] == once.facts["log_sha256"]
    assert runs.fingerprint(by_steps) == runs.fingerprint(once)
    for name in ("links", "placements", "chunks", "said", "held"):
        assert getattr(by_steps, name).equals(getattr(once, name)), name
    return once


INTERPRETED = ("fcfs-bb", "sas", "steal-malleable")
"""Policies of different kinds. With the compiler off each takes seconds, and steps are the engine's, not theirs."""


@pytest.mark.parametrize(
    "spec", [pytest.param(name, marks=pytest.mark.small) if name in INTERPRETED else name for name in specs.EVERY]
)
def test_failures(spec):
    """Nodes fail, jobs write checkpoints: on tiers of storage, or malleable ones with applications."""
    made, platform, model, kinds = failing_case(spec)
    for failures in kinds:
        once = both(made, platform, spec, job_model=model, failures=failures, seed=5)
    assert fb.summary(once)["n_failures"] > 0


FLEXIBLE = [name for name in policies.names() if getattr(policies.load(name), "resizes", False)]


@pytest.mark.small
@pytest.mark.parametrize("spec", FLEXIBLE)
def test_malleable_jobs(spec):
    made = models.generate("admire-io:jobs=15", 1)
    once = both(made, None, spec, job_model="application:kill=false")
    assert once.jobs.height == 15


@pytest.mark.small
@pytest.mark.parametrize("model", ["adhoc:block=1000000", "adhoc:servers=fixed"])
def test_file_systems_of_their_own(model):
    made = adhoc_jobs((0, 2, ADHOC), (10, 1, ADHOC), (20, 2, ADHOC), (30, 1, ADHOC))
    both(made, "flat:nodes=9,pfs=1GB/s", "fcfs-easy", job_model=model, rate=0.5)


@pytest.mark.small
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("spec", ["fcfs-easy", "conservative", "slurm"])
def test_shared_nodes(spec, seed):
    platform, made = shared.random_case(seed, 30)
    both(made, platform, spec)


@pytest.mark.small
@pytest.mark.parametrize("seed", range(3))
def test_classes_and_partitions(seed):
    made, platform, *_ = classes.make(seed)
    both(made, platform, "fcfs-easy")


@pytest.mark.small
@pytest.mark.parametrize("seed", range(3))
def test_limits_and_accounts(seed):
    made, platform = pooled_case(seed)
    made = site.with_accounts(made, seed)
    both(made, platform, "fcfs-bb+limits:user_jobs=2", seed=seed)


class Talks:
    """In plain Python, with a memory: takes turns between the ends of the queue, says so, and draws."""

    def setup(self, view):
        self.view, self.jobs, self.rng = view, view.jobs, view.rng
        self.turn, self.seen = 0, []

    def decide(self, view, act):
        assert self.view is view
        assert self.jobs is view.jobs
        assert self.rng is view.rng
        self.seen.append(float(view.now))
        queue = view.queue.tolist()
        self.turn += 1
        for job in queue if self.turn % 2 else queue[::-1]:
            if act.fits(job) and (self.rng.random() < 0.8 or not len(view.running)):
                act.start(job)
            else:
                act.say(job, f"its turn is not {self.turn % 3}")
        if queue and not len(view.running):
            act.wake(view.now + 1)


@pytest.mark.small
@pytest.mark.parametrize("seed", range(4))
def test_a_policy_in_plain_python_with_a_memory(seed):
    once = both(*pooled_case(seed, legs=False), Talks, seed=seed, rate=0.3)
    assert once.said.height > 0


@pytest.mark.small
@pytest.mark.parametrize("spec", specs.WITHOUT_TIMES)
def test_every_policy_can_take_over(spec):
    """It finds jobs that run and wait, and has no memory of them; all that fit are done."""
    made, platform = tiered.make(11)
    sim = fb.open(made, platform, "fcfs", job_model="tiered")
    while sim.decision < 12:
        sim.step()
    result = sim.fork(policy=spec).run().result()
    assert (result.jobs["final_state"] == "COMPLETED_SUCCESSFULLY").sum() == (
        made.jobs["nodes"] <= platform.nodes
    ).sum()
    assert result.facts["policy"] == spec
