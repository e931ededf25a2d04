"""What `check-policy` says of policies that spin, that delay the head, and of kernels that read past a table."""

import pytest

import forebay as fb
from forebay.testing import check_policy, watch


class Fills(fb.Policy):
    def decide(self, view, act):
        act.backfill(depth=0)


class WakesNow(Fills):
    def decide(self, view, act):
        super().decide(view, act)
        if view.because(fb.Trigger.SUBMIT):
            act.wake(view.now)


class Restless(Fills):
    def decide(self, view, act):
        super().decide(view, act)
        if len(view.running):
            act.wake(view.now + 1e-4)


class Yielding(Fills):
    """Interrupts what runs a moment after it has started it, for ever."""

    def decide(self, view, act):
        late = [job for job in view.running["job"] if view.jobs["leg_start"][job] < view.now]
        if view.triggers == fb.Trigger.WAKE and late:
            act.interrupt(late[0])
        else:
            super().decide(view, act)
        act.wake(view.now + 1e-4)


class Easy(fb.Policy):
    def decide(self, view, act):
        act.backfill()


class Impatient(fb.Policy):
    """Reserves for the head by hand, and forgets what the head itself will need."""

    def decide(self, view, act):
        line = view.queue.tolist()
        while line and act.fits(line[0]):
            act.start(line.pop(0))
        if line:
            shadow = view.earliest(line[0])
            spare = view.profile().at(shadow)[0]
            for job in line[1:]:
                short = view.now + view.walltime(job) <= shadow
                if act.fits(job) and (short or view.demand(job)[0] <= spare):
                    act.start(job)


@pytest.mark.small
@pytest.mark.parametrize(
    ("policy", "says"),
    [(WakesNow, "which is now"), (Restless, "nothing but itself"), (Yielding, "nothing but itself")],
)
def test_a_policy_that_spins_is_named(policy, says, monkeypatch):
    monkeypatch.setattr(watch, "MOST_WAKES", 40)  # without a compiler a thousand take long
    report = check_policy(policy(), n_cases=2)
    assert [check.name for check in report.checks if not check.ok] == ["rests"]
    assert "spins" in report.explanation
    assert says in report.explanation


@pytest.mark.small
@pytest.mark.parametrize("policy", [Easy(), "fcfs-bb", "conservative-bb", "fcfs"])
def test_who_reserves_for_the_head_does_not_delay_it(policy):
    report = check_policy(policy, n_cases=8, head_never_delayed=True)
    assert report.passed, report.explanation
    assert report.checks[-1].name == "head"


@pytest.mark.parametrize("policy", [Fills(), "filler", Impatient()])
def test_who_delays_the_head_is_shown_on_a_small_case(policy):
    report = check_policy(policy, n_cases=40, head_never_delayed=True)
    assert [check.name for check in report.checks if not check.ok] == ["head"]
    assert "which has waited longest" in report.explanation
    assert report.explanation.count("submitted at") <= 4
    assert check_policy(policy, n_cases=8).passed


BEYOND = """
import forebay as fb


@fb.policy_kernel
def decide(state, params, memory, rng):
    for i in range(len(state.queue) + 1):
        if state.queue[i] < 0:
            return


class Beyond(fb.Policy):
    def kernel(self):
        return decide
"""


def test_an_index_out_of_bounds_is_told_by_its_line(tmp_path):
    """And before anything is compiled, where it would end the process."""
    (tmp_path / "mine.py").write_text(BEYOND)
    report = check_policy(f"{tmp_path / 'mine.py'}:Beyond", n_cases=2)
    assert not report.passed
    assert "IndexError" in report.explanation
    assert "line 8, in decide" in report.explanation
