"""What became of the machine's time: solved by hand, and against every node looked at second by second."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases.chunks import examples
from cases.failing import Tape, guarded, toy
from forebay import metrics
from forebay.metrics.accounts import ACCOUNTS

pytestmark = pytest.mark.small


def node_seconds(result):
    found = metrics.accounts(result)
    assert found["account"].to_list() == list(ACCOUNTS)
    return {name: pytest.approx(3600 * hours) for name, hours, _ in found.rows()}


def nonzero(result):
    return {name: amount for name, amount in node_seconds(result).items() if amount != 0}


def test_the_example_of_the_deliverable_without_stealing():
    """Job 3 loses a second on six nodes; then 8 + 5 + 60 + 60 + 2 are of use, of 8 x 25."""
    result = toy(steals=False)
    assert result.jobs["turnaround_time"].to_list() == [8, 5, 15, 25, 3]
    assert nonzero(result) == {"useful": 135, "lost_to_failures": 6, "down": 5, "idle": 200 - 135 - 6 - 5}
    found = metrics.summary(result)
    assert found["useful_utilisation"] == 135 / 200
    assert found["lost_to_failures_node_hours"] == 6 / 3600
    assert (found["max_flow"], found["mean_flow"]) == (25, pytest.approx(11.2))
    assert found["node_weighted_flow"] == pytest.approx(256 / 15)
    assert (found["n_failures"], found["n_steals"], found["n_failed"]) == (1, 0, 0)
    # All are taken until 1, and from 5 to 6: seven by jobs, one is down.
    assert found["free_node_share"] == 23 / 25


def test_the_example_of_the_deliverable_with_stealing():
    result = toy(steals=True)
    assert result.jobs["turnaround_time"].to_list() == [8, 11, 11, 21, 10]
    want = {"useful": 135, "lost_to_failures": 6, "lost_to_policy": 1, "down": 5, "idle": 168 - 147}
    assert nonzero(result) == want
    found = metrics.summary(result)
    assert (found["max_flow"], found["mean_flow"]) == (21, pytest.approx(12.2))
    assert found["node_weighted_flow"] == pytest.approx(221 / 15)
    assert (found["n_failures"], found["n_steals"]) == (1, 1)
    assert found["free_node_share"] == 11 / 21  # the last eleven seconds


def test_checkpoints_recovery_and_a_job_that_is_given_up():
    """Job by job, in node-seconds:

    useful      4 x 10 + 4 x 2 + 2 x 5 + 2 x 13  +  3 x 10 + 3 x 7
    checkpoint  4 x 2 + 2 x 2                    +  3 x 2
    recovery    4 x 3                            +  3 x (2 + 1 + 3)          +  1
    failures    4 x 8                            +  3 x 20                   +  15 + 2
    stealing                                        3 x 2
    """
    want = {"useful": 135, "checkpoint": 18, "recovery": 31, "lost_to_failures": 109, "lost_to_policy": 6}
    want |= {"down": 20 + 60 + 1 + 31}
    assert nonzero(guarded()) == want | {"idle": 800 - sum(want.values())}
    assert (metrics.n_failures(guarded()), metrics.n_steals(guarded()), metrics.n_failed(guarded())) == (4, 3, 1)


def test_the_columns_of_the_job_table():
    columns = guarded().jobs.select("job_id", "n_attempts", "lost_time", "checkpoint_time", "recovery_time")
    assert columns.rows() == [(1, 2, 8, 4, 3), (2, 5, 22, 2, 6), (3, 2, 17, 0, 1)]


def test_a_window_cuts_what_crosses_its_borders():
    """From 11 to 27: job 1 saves for a second, loses 8 and recovers for 2; job 2 loses 9 and works for 6."""
    part = metrics.window(guarded(), 11, 27)
    want = {"checkpoint": 4, "lost_to_failures": 4 * 8 + 3 * 9, "recovery": 4 * 2, "useful": 3 * 6, "down": 2 * 7}
    assert nonzero(part) == want | {"idle": 160 - sum(want.values())}
    assert (metrics.n_failures(part), metrics.n_steals(part)) == (2, 0)
    assert metrics.summary(part)["max_flow"] is None  # no job is submitted in it
    assert metrics.summary(metrics.window(guarded(), 11, 33))["mean_flow"] == 19  # job 3, from 30 to 49
    assert metrics.n_steals(metrics.window(guarded(), 33, 64)) == 1  # an end of a window is outside


def test_windows_side_by_side_add_up():
    whole = guarded()
    parts = [metrics.accounts(metrics.window(whole, a, b))["node_hours"].to_numpy() for a, b in ((0, 19), (19, 80))]
    np.testing.assert_allclose(sum(parts), metrics.accounts(whole)["node_hours"].to_numpy(), rtol=1e-12)


def test_a_checkpoint_under_way_at_the_walltime_is_no_loss():
    tape = Tape(1)
    tape.submit(0, 1, 1)
    tape.start(0, 1, "0")
    tape.phase(6, 8, 1, "save", complete=False)
    tape.end(8, 1, "walltime")
    assert nonzero(tape.result()) == {"useful": 6, "checkpoint": 2}


def test_a_node_that_fails_while_it_is_down():
    tape = Tape(2)
    tape.submit(0, 1, 1)
    tape.start(0, 1, "0")
    tape.down(1, 1)
    tape.down(3, 1)
    tape.up(7, 1)
    tape.end(10, 1)
    assert metrics.outages(tape.result()).rows() == [(1, 1, 7)]
    assert nonzero(tape.result()) == {"useful": 10, "down": 6, "idle": 4}
    assert metrics.n_failures(tape.result()) == 2


def test_other_runs_do_not_have_these_names(run):
    assert not {"useful_utilisation", "n_failures", "max_flow"} & set(metrics.summary(run))
    assert metrics.accounts(run)["share"].to_list() == pytest.approx([415 / 600, 0, 0, 0, 0, 0, 185 / 600])


def test_no_jobs(empty):
    assert metrics.accounts(empty) is None
    assert metrics.free_node_share(empty) is None


class Machine:
    """A machine on which anything may happen in any second, and what became of every second of every node."""

    def __init__(self, draw, nodes, n_jobs):
        self.draw, self.tape, self.n = draw, Tape(nodes), nodes
        self.holder = dict.fromkeys(range(nodes))  # a job, "down", or None
        self.attempts = {}  # job -> [(second, nodes, doing)] since its start
        self.doing, self.seconds = {}, dict.fromkeys(ACCOUNTS, 0)
        self.kept = {job: [] for job in range(n_jobs)}  # accounts that change if the job is given up
        self.waiting, self.over, self.now = list(range(n_jobs)), set(), 0
        for job in range(n_jobs):
            self.tape.submit(0, job, 1)

    def nodes_of(self, what):
        return [node for node, holder in self.holder.items() if holder == what]

    def start(self, job):
        free = self.nodes_of(None)
        if free:
            mine = self.draw.sample(free, self.draw.randint(1, len(free)))
            self.holder |= dict.fromkeys(mine, job)
            self.tape.start(self.now, job, " ".join(map(str, mine)))
            self.waiting.remove(job)
            self.attempts[job], self.doing[job] = [], "work"

    def begin(self, job, what):
        self.tape.row(self.now, job, "begin_phase", None, 0, what)
        self.doing[job] = what

    def finish(self, job, complete):
        what = self.doing[job]
        if what != "work":
            self.tape.row(self.now, job, "end_phase", None, 0 if complete or what == "recover" else -1, what)
            if complete and what == "save":
                self.settle(job)
            self.doing[job] = "work"

    def settle(self, job, lost=None):
        """The pieces of an attempt so far are safe, or lost."""
        names = {"recover": "recovery", "save": lost or "checkpoint", "work": lost or "useful"}
        self.kept[job] += [(names[doing], nodes) for nodes, doing in self.attempts[job]]
        self.attempts[job] = []

    def leave(self, job, reason, again):
        self.finish(job, complete=False)
        lost = {"node_down": "lost_to_failures", "interrupted": "lost_to_policy"}.get(reason)
        self.settle(job, lost)
        self.tape.end(self.now, job, reason, again)
        self.holder |= dict.fromkeys(self.nodes_of(job))
        del self.attempts[job]
        if again:
            self.waiting.append(job)
            return
        self.over.add(job)
        given_up = {"useful": "lost_to_failures", "checkpoint": "lost_to_failures"} if lost else {}
        for name, nodes in self.kept[job]:
            self.seconds[given_up.get(name, name)] += nodes

    def resize(self, job):
        mine, free = self.nodes_of(job), self.nodes_of(None)
        if free and self.draw.random() < 0.5:
            self.tape.grow(self.now, job, str(free[0]))
            self.holder[free[0]] = job
        elif len(mine) > 1:
            self.tape.shrink(self.now, job, str(mine[-1]))
            self.holder[mine[-1]] = None

    def change(self):
        node = self.draw.randrange(self.n)
        holder, luck = self.holder[node], self.draw.random()
        if holder is None and self.waiting:
            self.start(self.draw.choice(self.waiting))
        elif holder == "down":
            self.tape.up(self.now, node)
            self.holder[node] = None
        elif luck < 0.15:
            if holder is not None:
                self.leave(holder, "node_down", again=self.draw.random() < 0.8)
            self.tape.down(self.now, node)
            self.holder[node] = "down"
        elif holder is None:
            return
        elif luck < 0.25:
            self.leave(holder, "interrupted", again=True)
        elif luck < 0.4:
            self.leave(holder, self.draw.choice(["completed", "walltime"]), again=False)
        elif luck < 0.5:
            self.resize(holder)
        elif self.doing[holder] != "work":
            self.finish(holder, complete=True)
            if luck < 0.7:
                self.leave(holder, "interrupted", again=True)
        else:
            self.begin(holder, self.draw.choice(["save", "save", "recover"]))

    def run(self):
        while len(self.over) < len(self.kept):
            for _ in range(self.draw.randint(0, 3)):
                self.change()
            if len(self.over) == len(self.kept):
                return
            for job in self.attempts:
                self.attempts[job].append((len(self.nodes_of(job)), self.doing[job]))
            self.seconds["down"] += len(self.nodes_of("down"))
            self.seconds["idle"] += len(self.nodes_of(None))
            self.now += 1


@settings(max_examples=examples(150), deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 5))
def test_every_second_of_every_node_is_in_one_account(seed, nodes, n_jobs):
    machine = Machine(random.Random(seed), nodes, n_jobs)
    machine.run()
    result = machine.tape.result(failures={})
    if machine.now == 0:
        assert metrics.accounts(result) is None
        return
    found = metrics.accounts(result)
    seconds = [round(3600 * hours, 9) for hours in found["node_hours"]]
    assert seconds == [machine.seconds[name] for name in ACCOUNTS]
    assert sum(seconds) == nodes * machine.now
    assert found["share"].sum() == pytest.approx(1, rel=1e-12)
