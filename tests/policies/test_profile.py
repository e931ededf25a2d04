"""Reservations that a policy in Python lays: what the built-in policies lay, and never more than there is."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forebay as fb
from cases.chunks import chunks, interpreted
from forebay._run import compilation
from forebay.errors import BadActionError, StalledError
from forebay.workload.workload import job_table
from policies.test_line_up import MACHINES


class Conservative(fb.Policy):
    """Starts jobs in order as long as they fit; then each holds a reservation."""

    def __init__(self, reserve):
        self.reserve = reserve

    def decide(self, view, act):
        line = view.queue.tolist()
        while line and act.fits(line[0]):
            act.start(line.pop(0), fb.LogReason.IN_ORDER)
        profile = view.profile(self.reserve)
        for job in line:
            start = profile.earliest(job)
            if start == view.now and act.fits(job):
                act.start(job, fb.LogReason.BACKFILLED, beside=profile)
            else:
                profile.reserve(job, start)


class InOneGo(Conservative):
    """The same with `lay`: who holds a reservation from now on starts in its place."""

    def decide(self, view, act):
        line = view.queue.tolist()
        while line and act.fits(line[0]):
            act.start(line.pop(0), fb.LogReason.IN_ORDER)
        profile = view.profile(self.reserve)
        planned = profile.plan(line)
        starts = profile.lay(line)
        assert starts.tolist() == planned.tolist()
        for job in [job for job, start in zip(line, starts, strict=True) if start == view.now]:
            act.start(job, fb.LogReason.BACKFILLED, beside=profile)


def outcome(make, seed, policy):
    workload, machine = make(seed)
    try:
        return fb.simulate(workload, machine, policy, job_model="alloc-only").facts["log_sha256"]
    except StalledError as error:  # jobs that carry resources lock each other out
        return str(error)


@pytest.mark.small
@pytest.mark.parametrize("kind", interpreted(MACHINES, ("pools", "shared")))
@pytest.mark.parametrize("chunk", chunks(1, 10))
def test_conservative_backfilling_by_hand_gives_the_log_of_the_built_in(kind, chunk):
    for seed in range(8 * chunk, 8 * chunk + 8):
        for reserve, spec in (("all", "conservative-bb"), ("nodes", "conservative")):
            expected = outcome(MACHINES[kind], seed, spec)
            assert outcome(MACHINES[kind], seed, Conservative(reserve)) == expected, (seed, spec)
        if kind in ("pools", "transfers"):  # elsewhere places hang on the order in which jobs are laid
            assert outcome(MACHINES[kind], seed, InOneGo("all")) == outcome(MACHINES[kind], seed, "conservative-bb")


class Shuffles(fb.Policy):
    """Reserves, lays, releases and copies at random, and holds all of it against sums and against each other."""

    def __init__(self, seed, counts):
        self.seed, self.counts = seed, counts

    def decide(self, view, act):
        rng = random.Random(f"{self.seed} {view.now}")
        self._try_out(rng, view, view.profile())
        act.backfill(depth=0)

    def _try_out(self, rng, view, profile):
        queue = view.queue.tolist()
        for _ in range(min(6, 2 * len(queue))):
            before = profile.times, profile.free, profile.room
            job, held = rng.choice(queue), profile.reserved
            if job in held:
                profile.release(job)
            elif rng.random() < 0.3:
                planned = profile.plan([job])
                assert profile.lay([job]).tolist() == planned.tolist()
            else:
                self._reserve(rng, view, profile, job)
            if rng.random() < 0.2:
                kept = profile.copy()
                profile.lay([one for one in queue if one not in profile.reserved])
                assert (profile.free >= 0).all()
                profile = kept
            self._check(view, profile)
            assert (before[1] >= 0).all()
        for job in profile.reserved:
            profile.release(job)
        fresh = view.profile()
        for time in profile.times:
            assert profile.at(time).tolist() == fresh.at(time).tolist()

    def _reserve(self, rng, view, profile, job):
        after = rng.choice((view.now, rng.choice(profile.times.tolist()), view.now + rng.random() * 50))
        begin = profile.earliest(job, after)
        times = [time for time in [after, *profile.times.tolist()] if time >= after]
        soonest = next((time for time in sorted(times) if profile.fits(job, time)), np.inf)
        assert begin == soonest
        if self.counts:
            assert begin == next((time for time in sorted(times) if self._has_room(view, profile, job, time)), np.inf)
        assert profile.earliest_each([job], after).tolist() == [begin]
        profile.reserve(job, begin)
        assert profile.reserved.get(job, np.inf) == begin

    def _has_room(self, view, profile, job, time):
        """By plain sums over what is shown."""
        end = time + view.walltime(job)
        rows = [profile.at(time), *profile.free[(profile.times > time + 1e-6) & (profile.times < end - 1e-6)]]
        return all((row >= view.demand(job)).all() for row in rows)

    def _check(self, view, profile):
        assert (profile.free >= 0).all()
        assert (profile.free <= view.capacity[: profile.free.shape[1]]).all()
        assert (profile.room >= 0).all()
        assert (np.diff(profile.times) > 0).all()


@pytest.mark.small
@pytest.mark.parametrize("kind", interpreted(MACHINES, ("pools", "shared")))
@settings(deadline=None, max_examples=6)
@given(seed=st.integers(0, 10_000))
def test_no_moment_holds_more_than_there_is_and_the_earliest_is_that_of_a_search(kind, seed):
    outcome(MACHINES[kind], seed, Shuffles(seed, counts=kind == "pools"))


def _jobs(nodes, walltimes, submit=None):
    n = len(nodes)
    columns = {"id": np.arange(1, n + 1), "submit": np.array(submit or [0.0] * n), "nodes": np.array(nodes)}
    return fb.Workload(
        "few", job_table(columns | {name: np.array(walltimes, float) for name in ("walltime", "run_time")})
    )


class Once(fb.Policy):
    """Does one thing at the first decision, then fills."""

    def __init__(self, what):
        self.what, self.kept = what, None

    def decide(self, view, act):
        if view.now == 0:
            self.kept = view.profile()
            self.what(view, act, self.kept)
        act.backfill(depth=0)


@pytest.mark.small
@pytest.mark.parametrize(
    ("what", "says"),
    [
        (lambda view, act, p: (p.reserve(0, 0), p.reserve(1, 5)), r"job 2 \(row 1\) at 5 s, where it .* at 10 s"),
        (lambda view, act, p: (p.reserve(0, 0), p.reserve(0, 20)), "twice in one profile"),
        (lambda view, act, p: p.lay([0, 1, 0]), "twice in one profile"),
        (lambda view, act, p: (p.reserve(0, 0), p.lay([1, 0])), "twice in one profile"),
        (lambda view, act, p: p.release(0), "holds no reservation"),
        (lambda view, act, p: (p.reserve(0, np.inf), p.release(0), p.release(0)), "holds no reservation"),
        (lambda view, act, p: (p.reserve(0, 0), p.reserve(0, np.inf)), "twice in one profile"),
        (lambda view, act, p: p.reserve(2, 0), "row 2, whose job has not arrived"),
        (lambda view, act, p: p.earliest(2), r"row 2, whose job has not arrived; .*\(job 2 has row 1\)"),
        (lambda view, act, p: p.lay([1, 2]), "row 2, whose job has not arrived"),
        (lambda view, act, p: p.lay([1, 9]), "row 9, whose job|named row 9"),
        (lambda view, act, p: p.lay("ab"), "give a list of jobs"),
        (lambda view, act, p: p.earliest("first"), "name it by its row"),
        (lambda view, act, p: p.reserve(0, -1.0), "from view.now on"),
        (lambda view, act, p: p.fits(0, "soon"), "from view.now on"),
        (lambda view, act, p: p.earliest(0, float("nan")), "from view.now on"),
        (lambda view, act, p: view.profile("node"), "'all' or 'nodes'"),
        (lambda view, act, p: (p.reserve(0, 0), act.start(1, beside=p)), "has no room for it now"),
        (lambda view, act, p: (p.reserve(0, 20), act.start(0, beside=p)), "from 20 s on; release"),
        (lambda view, act, p: act.start(0, beside=p, nodes=[1]), "leave that out"),
    ],
)
def test_mistakes_are_named(what, says):
    """Four nodes; jobs 1 and 2 want three and two. Job 3 comes later, and its row is still blank."""
    with pytest.raises(fb.ForebayError, match=says):
        fb.simulate(_jobs([3, 2, 1], [10, 10, 10], [0.0, 0.0, 5.0]), "flat:nodes=4", Once(what))


@pytest.mark.small
def test_a_profile_is_of_its_decision():
    class Keeps(Once):
        def decide(self, view, act):
            if view.now > 0:
                self.kept.earliest(view.queue[0])
            super().decide(view, act)

    with pytest.raises(BadActionError, match=r"made at 0 s; call view\.profile\(\)"):
        fb.simulate(
            _jobs([3, 2, 1], [10, 10, 10], [0.0, 0.0, 5.0]), "flat:nodes=4", Keeps(lambda view, act, profile: None)
        )


@pytest.mark.small
def test_a_reservation_by_hand():
    """Four nodes, three of them busy for 10 s from now on; a job on two fits behind, and beside one on one."""

    def look(view, act, profile):
        profile.reserve(0, 0.0)
        assert profile.earliest(1) == 10.0
        assert profile.earliest(1, after=12.5) == 12.5
        assert profile.fits(1, 11)
        assert not profile.fits(1, 9.5)
        profile.reserve(1, 12.5)
        assert profile.times.tolist() == [0.0, 10.0, 12.5, 22.5]
        assert profile.free[:, 0].tolist() == [1, 4, 2, 4]
        assert profile.reserved == {0: 0.0, 1: 12.5}
        profile.release(0)
        assert profile.at(3.0)[0] == 4
        profile.reserve(0, np.inf)
        assert profile.reserved == {1: 12.5}
        assert repr(profile) == "<Profile at 0 s: 4 times, 1 reserved>"

    fb.simulate(_jobs([3, 2, 1], [10, 10, 10], [0.0, 0.0, 5.0]), "flat:nodes=4", Once(look))


@pytest.mark.small
def test_what_holds_nothing_can_be_released():
    """A loop that reserves for all at their earliest times releases all alike, also those that never fit."""

    def look(view, act, profile):
        for lay in (lambda: profile.reserve(0, np.inf), lambda: profile.lay([0], after=np.inf)):
            before = profile.times.tolist(), profile.free.tolist()
            lay()
            other = profile.copy()
            profile.release(0)
            other.release(0)
            assert (profile.times.tolist(), profile.free.tolist()) == before
        profile.reserve(0, np.inf)
        profile.reserve(0, 5.0)
        assert profile.reserved == {0: 5.0}
        profile.release(0)
        assert profile.reserved == {}
        assert profile.free[:, 0].max() == profile.free[:, 0].min() == 4

    fb.simulate(_jobs([3, 2, 1], [10, 10, 10], [0.0, 0.0, 5.0]), "flat:nodes=4", Once(look))


def test_what_a_profile_needs_is_ready_before_the_run():
    """Words of the policy tell: also the name of an argument."""
    needed = set(compilation.needed([Conservative("all")]))
    assert {compilation.BLOCKS[name] for name in ("profile", "reserve", "beside")} <= needed
