"""Policies that break a rule are caught, by the right rule, on a case that can be read; sound ones are not."""

import numba
import pytest

import forebay as fb
from forebay.testing import RULES, check_policy


class InOrder:
    """A sound policy, to show that the checks do not cry wolf."""

    def decide(self, view, act):
        for job in view.queue:
            if not act.fits(job):
                break
            act.start(job)


class Greedy:
    def decide(self, view, act):
        for job in view.queue:
            act.start(job)


class Twice:
    def decide(self, view, act):
        for job in view.queue:
            if act.fits(job):
                act.start(job)
                act.start(job)


class Picky:
    def decide(self, view, act):
        for job in view.queue:
            if act.fits(job) and view.demand(job)[0] < 3:
                act.start(job)


class Forgetful:
    """Counts decisions across runs: nothing resets it."""

    calls = 0

    def decide(self, view, act):
        self.calls += 1
        for job in view.queue:
            if act.fits(job) and (self.calls % 2 or not len(view.running)):
                act.start(job)


class Vandal:
    def decide(self, view, act):
        view._state.jobs["priority"][0] += 1.0


class Scribbler:
    def decide(self, view, act):
        view.jobs["priority"][0] = 1.0


class Broken:
    def decide(self, view, act):
        raise KeyError("no such thing")


class Grower(InOrder):
    """Gives a job at its point one node more than it has, whatever it may have."""

    resizes = True

    def decide(self, view, act):
        for job in view.points:
            if act.free[0] > 0 and view.wants(job) == 0:
                act.resize(job, view.size(job) + 1)
        super().decide(view, act)


class Silent(Grower):
    resizes = False

    def decide(self, view, act):
        for job in view.running["job"].tolist():
            if len(view.sizes(job)) > 1 and view.flexibility(job).name == "MALLEABLE" and act.free[0] > 0:
                act.resize(job, view.sizes(job)[-1])
        InOrder.decide(self, view, act)


def test_a_sound_python_policy_passes():
    report = check_policy(InOrder(), n_cases=40)
    assert report.passed, report.explanation
    assert [check.name for check in report.checks] == list(RULES)


@pytest.mark.parametrize(
    ("policy", "rule", "says", "most_jobs"),
    [
        (Greedy, "legal", "test act.fits", 2),
        (Twice, "legal", "started already in the same decision", 1),
        (Picky, "finishes", "leaves 1 job waiting", 1),
        (Forgetful, "repeats", "setup(self, view)", 4),
        (Vandal, "tidy", "changed the table 'jobs'", 1),
        (Scribbler, "tidy", "read-only", 1),
        (Broken, "legal", "KeyError", 1),
        (Grower, "legal", "see view.sizes", 1),
        (Silent, "legal", "resizes = True", 2),
    ],
)
def test_a_breach_is_named_and_made_small(policy, rule, says, most_jobs):
    report = check_policy(policy(), n_cases=40)
    assert not report.passed
    assert [check.name for check in report.checks if not check.ok] == [rule]
    assert says in report.explanation
    assert "smallest workload" in report.explanation
    assert 1 <= report.explanation.split("The smallest workload that shows it:")[1].count("submitted at") <= most_jobs


@pytest.mark.full
@pytest.mark.parametrize(("policy", "most_jobs"), [(Forgetful, 4), (Silent, 2)])
def test_with_all_tries_it_is_small_too(policy, most_jobs, all_tries):
    report = check_policy(policy(), n_cases=40)
    assert 1 <= report.explanation.split("The smallest workload that shows it:")[1].count("submitted at") <= most_jobs


def test_a_kernel_that_writes_to_the_tables_is_caught():
    @fb.policy_kernel
    def decide(state, params, memory, rng):
        state.jobs[0]["priority"] += 1.0

    class Kernel(fb.Policy):
        def kernel(self):
            return decide

    report = check_policy(Kernel(), n_cases=5)
    assert [check.name for check in report.checks if not check.ok] == ["tidy"]


class Spins:
    """In order, and never at rest while a job runs."""

    def decide(self, view, act):
        if len(view.running):
            act.wake(view.now + 1e-3)
        for job in view.queue:
            if not act.fits(job):
                break
            act.start(job)


def test_a_policy_that_spins_is_named():
    report = check_policy(Spins(), n_cases=1)
    assert [check.name for check in report.checks if not check.ok] == ["rests"]
    assert "called for the 1,000th time in a row by nothing but itself" in report.explanation


BEYOND = """
import forebay as fb
from forebay.core.verbs import act_start


@fb.policy_kernel
def beyond(state, params, memory, rng):
    counts = state.counts[0]
    for i in range(counts["queue_first"], counts["queue_last"] + 10**6):
        act_start(state, state.queue[i], 0)


class Beyond(fb.Policy):
    def kernel(self):
        return beyond
"""


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="the compiler is off")
def test_an_index_out_of_bounds_is_named_with_its_line(tmp_path):
    """Compiled, it would end this process without a word: it is tried with the compiler off first."""
    path = tmp_path / "mine.py"
    path.write_text(BEYOND)
    report = check_policy(f"{path}:Beyond", n_cases=5)
    assert not report.passed
    assert "IndexError" in report.explanation
    assert "act_start(state, state.queue[i], 0)" in report.explanation
