"""Stepping through a run: what a user does with it, and what it says to mistakes."""

import dataclasses
import pickle

import pytest

import forebay as fb
from cases import pooled
from forebay.errors import (
    BadActionError,
    InputError,
    OversubscribedError,
    StalledError,
    StartedEarlyError,
    StartedTwiceError,
    UnknownJobError,
)

pytestmark = pytest.mark.small


def start_what_fits(sim):
    for job in sim.view.queue:
        if sim.act.fits(job):
            sim.act.start(job)


def test_by_hand():
    with fb.open("table1") as sim:
        assert (sim.now, sim.decision, sim.policy, sim.over) == (0, 1, "ByHand", False)
        assert sim.view.queue.tolist() == [0, 1]
        while not sim.over:
            start_what_fits(sim)
            sim.step()
        result = sim.result()
    filler = fb.simulate("table1", policy="filler")
    assert result.jobs["starting_time"].equals(filler.jobs["starting_time"])
    assert result.facts["policy"] == "ByHand"
    with pytest.raises(InputError, match="this run was closed; open another one"):
        sim.step()


def test_the_policy_decides_unless_the_caller_did():
    sim = fb.open("table1", policy="fcfs")
    sim.run(until=120)
    waits = sim.view.queue.tolist()
    assert waits == [2, 3]
    sim.act.start(3)  # fcfs would not: job 3 (row 2) is before it, and does not fit
    sim.step()
    assert sim.view.jobs["start"][3] == 120
    result = sim.run().result()
    assert result.facts["notes"][-1] == f"1 decision of {result.facts['decisions']} were taken by hand"
    assert result.jobs["starting_time"][3] == 120


def test_a_step_in_which_nobody_decides():
    sim = fb.open("table1", policy="fcfs")
    sim.step(decide=False)
    assert not len(sim.view.running)
    assert sim.step()
    assert len(sim.view.running)


@pytest.mark.parametrize("until", [0, 59.5, 60, 61, 1e9])
def test_run_until_stands_at_the_first_decision_from_then_on(until):
    decisions = []
    sim = fb.open("table1", policy="fcfs-bb")
    while not sim.over:
        decisions.append(sim.now)
        sim.step()
    sim = fb.open("table1", policy="fcfs-bb").run(until=until)
    assert sim.now == min([time for time in decisions if time >= until], default=660)
    assert sim.run(until=1).now == sim.now  # it never goes back


def test_futures_of_a_fork_are_its_own():
    sim = fb.open("table1", policy="fcfs").run(until=120)
    one, other = sim.fork(), sim.fork(policy="fcfs-bb")
    before = sim.snapshot()
    waits = [fb.summary(run.run().result())["mean_waiting_time"] for run in (one, other)]
    assert waits[1] < waits[0]
    assert sim.now == 120
    assert other.result().facts["notes"][-1] == "fcfs decided until t = 120 s, fcfs-bb from there on"
    hashes = {run.run().result().facts["log_sha256"] for run in (sim, fb.open("table1", policy="fcfs").restore(before))}
    assert hashes == {one.result().facts["log_sha256"]}


def test_a_result_stays_as_it_is_when_its_run_goes_back():
    sim = fb.open("table1", policy="fcfs-bb")
    before = sim.snapshot()
    result = sim.run().result()
    kept = [frame.clone() for frame in (result.jobs, result.log, result.placements)]
    sim.restore(before).fork(policy="filler").run()
    sim.step(decide=False)
    sim.run()
    for frame, copy in zip((result.jobs, result.log, result.placements), kept, strict=True):
        assert frame.equals(copy)
    assert sim.result().facts["log_sha256"] != result.facts["log_sha256"]


def test_snapshots_can_be_kept_in_a_file():
    made, platform = pooled.make(4, legs=False)
    sim = fb.open(made, platform, "plan-2", seed=3)
    for _ in range(9):
        sim.step()
    kept = pickle.dumps(sim.snapshot())
    wanted = sim.run().result().facts["log_sha256"]
    there = fb.open(made, platform, "plan-2", seed=3).restore(pickle.loads(kept))
    assert there.decision == 10
    assert there.run().result().facts["log_sha256"] == wanted


OTHERS = {
    "workload": {"workload": "table1"},
    "hash of jobs and machine": {"workload": dataclasses.replace(pooled.make(5, legs=False)[0], name="random")},
    "platform": {"platform": "flat:nodes=40,burst_buffer=900B"},
    "job model": {"job_model": "alloc-only:kill=false"},
    "policy": {"policy": "fcfs"},
    "seed": {"seed": 8},
    "failures": {"failures": "mtbf=1h"},
}


@pytest.mark.parametrize("what", OTHERS)
def test_a_snapshot_of_another_run_is_refused(what):
    made, platform = pooled.make(4, legs=False)
    given = {"workload": made, "platform": platform, "policy": "fcfs-bb"}
    given["workload"] = dataclasses.replace(made, name="random")
    other = given | OTHERS[what] | ({"platform": None} if what == "workload" else {})
    snapshot, sim = fb.open(**other).snapshot(), fb.open(**given)
    with pytest.raises(InputError, match=f"this is a snapshot of another run: its {what} is .*, and here it is"):
        sim.restore(snapshot)
    assert sim.step()  # nothing has changed


def test_a_snapshot_of_another_version_is_refused(monkeypatch):
    from forebay._run import simulation

    snapshot = fb.open("table1").snapshot()
    monkeypatch.setattr(simulation, "versions", lambda: {"forebay": "0.0.9"})
    with pytest.raises(InputError, match=r"its version of forebay is .*, and here it is 0\.0\.9"):
        fb.open("table1").restore(snapshot)


def test_what_is_no_snapshot():
    with pytest.raises(InputError, match=r"the snapshot .*what sim.snapshot\(\) gave"):
        fb.open("table1").restore("yesterday")
    with pytest.raises(InputError, match="until"):
        fb.open("table1", policy="fcfs").run(until="noon")
    with pytest.raises(InputError, match="until is nan"):
        fb.open("table1", policy="fcfs").run(until=float("nan"))


def test_nothing_is_done_after_the_end():
    sim = fb.open("table1", policy="fcfs").run()
    for act in (sim.step, sim.run, lambda: sim.act.start(0)):
        with pytest.raises(BadActionError, match=r"the run was over at t = 1200 s; read sim.result\(\), or go back"):
            act()


@pytest.mark.parametrize("stepped", [False, True])
def test_a_run_that_is_over_is_kept_but_not_forked(stepped):
    """However it came to its end: by `run` a compiled policy decides many times between two looks."""
    sim = fb.open("table1", policy="fcfs")
    while stepped and sim.step():
        pass
    end = (sim if stepped else sim.run()).snapshot()
    message = rf"the run was over at t = {sim.now:g} s, and a fork would have nothing left to decide; fork it before"
    with pytest.raises(InputError, match=message):
        sim.fork()
    with pytest.raises(InputError, match=message):
        sim.fork(policy="fcfs-easy")
    assert sim.restore(end).over


def test_no_result_before_the_end():
    sim = fb.open("table1", policy="fcfs").run(until=300)
    with pytest.raises(InputError, match=r"the run is not over: \d of 8 jobs have ended; call sim.run\(\) first"):
        sim.result()


def test_a_start_that_cannot_be_is_refused_and_changes_nothing():
    sim = fb.open("table1").run(until=0)
    sim.act.start(0)
    with pytest.raises(StartedTwiceError, match="job 1 was started in this decision"):
        sim.act.start(0)
    sim.act.start(1)
    sim.step()
    with pytest.raises(StartedTwiceError, match=r"job 1 runs already; start jobs of view.queue"):
        sim.act.start(0)
    with pytest.raises(OversubscribedError, match=r"at t = 60 s job 3 does not fit: it needs 3 nodes, and 2 are free"):
        sim.act.start(2)
    with pytest.raises(StartedEarlyError, match="row 7 is not submitted yet"):
        sim.act.start(7)
    with pytest.raises(UnknownJobError):
        sim.act.start(99)
    while not sim.over:
        start_what_fits(sim)
        sim.step()
    assert (sim.result().jobs["final_state"] == "COMPLETED_SUCCESSFULLY").all()


def test_a_run_that_raised_can_be_restored():
    sim = fb.open("table1", policy="fcfs").run(until=120)
    before = sim.snapshot()
    sim.act.start(3, nodes=[0, 1])  # which are not free: only the engine knows
    with pytest.raises(OversubscribedError, match="not free") as error:
        sim.step()
    with pytest.raises(InputError, match="this run cannot go on: at t = 120 s the policy picked nodes"):
        sim.step()
    with pytest.raises(InputError, match="this run cannot go on"):
        sim.snapshot()
    assert "job 4" in str(error.value)
    assert (
        sim.restore(before).run().result().facts["log_sha256"]
        == fb.simulate("table1", policy="fcfs").facts["log_sha256"]
    )


def test_who_leaves_jobs_waiting_is_told_so():
    sim = fb.open("table1")
    with pytest.raises(StalledError, match="leaves 8 jobs waiting"):
        sim.run()


def test_snapshots_come_before_acts():
    sim = fb.open("table1")
    start_what_fits(sim)
    for take in (sim.snapshot, sim.fork):
        with pytest.raises(InputError, match=r"take snapshots and forks before you act, or after sim.step\(\)"):
            take()
    sim.step()
    assert sim.snapshot().decision == 2


class Files:
    """Keeps what cannot be copied."""

    def setup(self, view):
        self.lines = (line for line in "abc")

    def decide(self, view, act):
        start = [job for job in view.queue if act.fits(job)][:1]
        for job in start:
            act.start(job)


def test_a_policy_that_cannot_be_copied():
    sim = fb.open("table1", policy=Files())
    with pytest.raises(
        InputError, match=r"policy Files keeps what cannot be copied .*generator.*there are no snapshots"
    ):
        sim.snapshot()
    assert sim.run().result().jobs.height == 8


def test_words():
    sim = fb.open("table1", policy="fcfs").run(until=120)
    assert repr(sim) == "<Simulation of fcfs at 120 s: decision 3, 0 of 8 jobs ended>"
    assert repr(sim.snapshot()).startswith("<Snapshot of fcfs at 120 s: decision 3, ")
    assert repr(sim.run()) == "<Simulation of fcfs at 1,200 s: over, 8 of 8 jobs ended>"
    sim.close()
    assert repr(sim) == "<Simulation of fcfs: closed>"
