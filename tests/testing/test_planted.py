"""Defects that show only where there is something to meet: a full link, a large job, a resize, a failed node.

Each policy is sound but for one line. The check must lead to it, and name the rule that it breaks.
"""

from dataclasses import dataclass

import pytest

import forebay as fb
from forebay.testing import check_policy

GB = 10**9


class Sound(fb.Policy):
    """Starts what fits, in order of arrival."""

    def decide(self, view, act):
        for job in view.queue:
            if act.fits(job):
                act.start(job)
        self.err(view, act)

    def err(self, view, act):
        """Where the others go wrong."""


class FullLink(Sound):
    needs = ("io",)

    def err(self, view, act):
        assert all(link.load < 0.99 * link.capacity for link in view.links.values())


class NamedLink(Sound):
    """Knows the links of a file system by their names; a second write is one too many."""

    needs = ("io",)

    def err(self, view, act):
        assert view.link("pfs read").streams + view.link("pfs write").streams < 4


class FastLink(Sound):
    """Two gigabytes a second are more than it can count."""

    needs = ("io",)

    def err(self, view, act):
        assert all(link.load < 2e9 for link in view.links.values())


class LargeJob(Sound):
    def err(self, view, act):
        assert all(view.demand(job)[0] <= 100 for job in view.queue)


@dataclass
class Bounded(Sound):
    """A limit of its own, and a comparison that should be <=."""

    max_nodes: int = 128

    def decide(self, view, act):
        for job in view.queue:
            if act.fits(job) and view.demand(job)[0] != self.max_nodes:
                act.start(job)


@dataclass
class Threshold(Sound):
    """Forgets jobs of a size between two of its cases."""

    threshold: float = 50e9

    def decide(self, view, act):
        for job in view.queue:
            buffer = view.demand(job)[1] if len(view.resources) > 1 else 0
            small, large = buffer < self.threshold, buffer > self.threshold
            if (small or large) and act.fits(job):
                act.start(job)


class Hours(Sound):
    """Fails once a job has waited for a day."""

    def __init__(self, patience: float = 24.0):
        self.patience = patience

    def err(self, view, act):
        assert all(view.now - view.jobs["submit"][job] < 3600 * self.patience for job in view.queue)


class LongQueue(Sound):
    MOST = 60

    def err(self, view, act):
        assert len(view.queue) <= self.MOST


class AfterResize(Sound):
    """Once it has resized a job, it starts the next one twice."""

    resizes = True

    def setup(self, view):
        self.resized = False

    def decide(self, view, act):
        for job in view.queue:
            if act.fits(job):
                act.start(job)
                if self.resized:
                    act.start(job)
        for job in view.points:
            if view.wants(job) == 0 and view.size(job) > view.sizes(job)[0]:
                act.resize(job, view.sizes(job)[0])
                self.resized = True


class WakesForEver(Sound):
    def err(self, view, act):
        if len(view.running):
            act.wake(view.now + 1e-3)


class Preempts(Sound):
    """Lets a job of higher priority displace another, also one that has started in this instant."""

    def decide(self, view, act):
        priority = view.jobs["priority"]
        for job in sorted(view.queue, key=lambda job: -priority[job]):
            if act.fits(job):
                act.start(job)
                continue
            lower = [one for one in view.running["job"] if priority[one] < priority[job]]
            if lower:
                act.interrupt(lower[0])
            return


class Chunky(Sound):
    """Counts bytes, where chunks must find room on servers."""

    def decide(self, view, act):
        for job in view.queue:
            if all(need <= left for need, left in zip(view.demand(job), act.free, strict=True)):
                act.start(job)


class SharesBadly(Sound):
    def err(self, view, act):
        assert not view.shared or len(view.running) < 3


class BothTiers(Sound):
    """Takes the fast tier wherever it may, whether there is room or not."""

    def decide(self, view, act):
        for job in view.queue:
            way = view.ways(job)[-1]
            if way > 0 or act.fits(job):
                act.start(job, way=way)


def _when(trigger):
    class Trips(Sound):
        resizes = True

        def err(self, view, act):
            assert not view.because(trigger)

    return Trips


PLANTED = {
    "a full link": (FullLink, "legal"),
    "a link by its name": (NamedLink, "legal"),
    "a fast link": (FastLink, "legal"),
    "more than 100 nodes": (LargeJob, "legal"),
    "its own limit of nodes": (Bounded, "finishes"),
    "its own threshold of bytes": (Threshold, "finishes"),
    "a wait of its own patience": (Hours, "legal"),
    "a long queue": (LongQueue, "legal"),
    "twice after a resize": (AfterResize, "legal"),
    "wakes for ever": (WakesForEver, "rests"),
    "displaces a job that has just started": (Preempts, "legal"),
    "bytes instead of chunks": (Chunky, "legal"),
    "shared nodes": (SharesBadly, "legal"),
    "tiers": (BothTiers, "legal"),
} | {
    f"called for {trigger.name.lower()}": (_when(trigger), "legal") for trigger in fb.Trigger if trigger.name != "WAKE"
}
"""Of a defect, the policy that has it and the rule that it breaks."""


ALWAYS = ("a full link", "more than 100 nodes", "its own threshold of bytes", "twice after a resize", "wakes for ever")


@pytest.mark.parametrize(
    "what", [what if what in ALWAYS else pytest.param(what, marks=pytest.mark.full) for what in PLANTED]
)
def test_a_planted_defect_is_found(what):
    policy, rule = PLANTED[what]
    report = check_policy(policy, n_cases=100)
    assert rule in [check.name for check in report.checks if not check.ok], report.tried.text()
    assert "smallest workload" in report.explanation


def test_without_the_defect_nothing_is_found():
    report = check_policy(Sound, n_cases=30)
    assert report.passed, report.explanation
    assert set(report.tried.triggers) >= {"submit", "job ended", "node down"}
    assert [*report.tried.verbs] == ["start"]
