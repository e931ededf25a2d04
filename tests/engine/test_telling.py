"""What a policy is told of running jobs, links and tiers: by hand, and what must hold in every random run."""

import numpy as np
import polars as pl
import pytest

import forebay as fb
from cases import transfers
from engine.test_io_by_hand import workload
from forebay.core.codes import PhaseKind
from forebay.core.running import held_of
from forebay.errors import BadActionError, InputError

pytestmark = pytest.mark.small

GB = 10**9
FILES = "flat:nodes=8,pfs=4GB/s"
STAGED = "flat:nodes=8,pfs=4GB/s,burst_buffer=100GB"


class Watcher(fb.Policy):
    """Starts what fits in order, wakes at given times, and notes what `look` finds at each decision."""

    needs = ("io",)

    def __init__(self, look, times=()):
        self.look, self.times, self.seen = look, times, {}

    def setup(self, view):
        self.seen = {}

    def decide(self, view, act):
        self.seen.setdefault(view.now, self.look(view))
        for job in view.queue:
            if not act.fits(job):
                break
            act.start(job)
        later = [time for time in self.times if time > view.now]
        if later:
            act.wake(min(later))


def seen(made, machine, look, times, model="io-aware"):
    policy = Watcher(look, times)
    fb.simulate(made, machine, policy, job_model=model)
    return policy.seen


def near(*values):
    return [pytest.approx(value, rel=1e-12) for value in values]


def two_readers():
    """10 GB each in 1 and in 3 streams over 4 GB/s: 1 and 3 GB/s until 10/3 s, then the first has all of it."""
    phases = [(job, kind, seconds, 0, size) for job in (1, 2) for kind, seconds, size in READ_THEN_WORK]
    return workload((1, 0, 60, 600), (3, 0, 60, 600), phases=phases)


READ_THEN_WORK = (("read", 0, 10 * GB), ("compute", 60, 0))


def test_two_readers_share_a_link():
    found = seen(two_readers(), FILES, lambda view: [view.activity(job) for job in (0, 1)], (1.0, 4.0))
    assert [one.phase for one in found[0.0]] == [None, None]
    first, second = found[1.0]
    assert (first.phase, first.done, second.phase) == (PhaseKind.READ, 0, PhaseKind.READ)
    assert [first.moved, first.left, first.rate] == near(1 * GB, 9 * GB, 1 * GB)
    assert [second.moved, second.left, second.rate] == near(3 * GB, 7 * GB, 3 * GB)
    # the second has moved its last byte at 10/3 s; the first then has 20/3 GB left, 8/3 of which go by 4 s
    first, second = found[4.0]
    assert [first.moved, first.left, first.rate] == near(6 * GB, 4 * GB, 4 * GB)
    assert second == (PhaseKind.COMPUTE, 1, 0, 0, 0, 0, 0)


def test_the_load_of_links_and_of_tiers():
    found = seen(two_readers(), FILES, lambda view: (view.links, view.tier("pfs")), (1.0, 6.0))
    links, tier = found[1.0]
    assert links["pfs read"] == (4 * GB, pytest.approx(4 * GB), 4)
    assert links["pfs write"] == (4 * GB, 0, 0)
    assert tier == (np.inf, np.inf, pytest.approx(4 * GB), 4)
    assert found[6.0][0]["pfs read"] == (4 * GB, 0, 0)
    assert found[6.0][1][2:] == (0, 0)


def test_rates_count_what_begins_in_the_same_instant():
    """A job's phase changes in the instant of a decision: what it begins shares the link at once."""
    # both jobs compute for 10 s and write then; the wake comes in that instant
    phases = [(job, *row) for job in (1, 2) for row in (("compute", 10, 0, 0), ("write", 0, 0, 8 * GB))]
    made = workload((1, 0, 10, 600), (3, 0, 10, 600), phases=phases)
    found = seen(made, FILES, lambda view: ([view.activity(j) for j in (0, 1)], view.link("pfs write")), (10.0, 11.0))
    activities, link = found[10.0]
    assert [one.rate for one in activities] == near(1 * GB, 3 * GB)
    assert [one.left for one in activities] == near(8 * GB, 8 * GB)
    assert link == (4 * GB, pytest.approx(4 * GB), 4)
    assert [one.rate for one in found[11.0][0]] == near(1 * GB, 3 * GB)


def test_drains_run_beside():
    # a checkpoint of 4 GB to nodes' buffer takes no time here; its drain takes 1 s of the 4 GB/s
    phases = [(1, "compute", 5, 0, 0), (1, "drain", 0, 0, 4 * GB), (1, "compute", 5, 0, 0)]
    made = workload((1, 4 * GB, 10, 600), phases=phases)
    tiers = "burst_buffer", "pfs"
    found = seen(made, STAGED, lambda view: (view.activity(0), *map(view.tier, tiers)), (5.25, 7.0))
    doing, buffer, files = found[5.25]
    assert (doing.phase, doing.done, doing.moved, doing.left) == (PhaseKind.COMPUTE, 2, 0, 0)
    assert [doing.beside_left, doing.beside_rate] == near(3 * GB, 4 * GB)
    assert buffer == (100 * GB, 96 * GB, pytest.approx(4 * GB), 1)
    assert files.load == pytest.approx(4 * GB)
    assert found[7.0][0] == (PhaseKind.COMPUTE, 2, 0, 0, 0, 0, 0)


def test_who_started_and_who_ended():
    made = workload((8, 0, 10, 600), (8, 0, 5, 600), (8, 0, 5, 600))
    news = seen(made, FILES, lambda view: (view.started.tolist(), view.ended.tolist()), (3.0,), "alloc-only")
    assert news == {0.0: ([], []), 3.0: ([0], []), 10.0: ([], [0]), 15.0: ([1], [1]), 20.0: ([2], [2])}


class _Plain(Watcher):
    needs = ()


@pytest.mark.parametrize("seed", range(12))
def test_looking_changes_nothing_and_what_is_told_adds_up(seed):
    made, machine = transfers.make(seed)
    model = transfers.policy(seed)[2]
    policy = Watcher(lambda view: look(view, machine))
    watched = fb.simulate(made, machine, policy, job_model=model)
    plain = fb.simulate(made, machine, _Plain(lambda view: None), job_model=model)
    assert watched.facts["log_sha256"] == plain.facts["log_sha256"]
    phases = phases_in(watched)
    ids = watched.jobs["job_id"].to_list()
    for now, found in policy.seen.items():
        for job, doing in found.items():
            told = {kind for begin, end, kind in phases.get(ids[job], ()) if begin <= now + 1e-6 and now - 1e-6 <= end}
            if doing.phase is not None and ids[job] in phases:
                assert doing.phase.name.lower() in told | {"drain"}, (now, job, doing, told)


def look(view, machine):
    """What must hold in every instant of every run, and what each running job does."""
    found = {int(job): view.activity(int(job)) for job in view.running["job"]}
    for doing in found.values():
        assert min(doing[2:]) >= 0
        assert (doing.left == 0) or doing.phase not in (None, PhaseKind.COMPUTE)
    for link in view.links.values():
        assert 0 <= link.load <= link.capacity
        assert (link.load > 0) <= (link.streams > 0)
    tiers = [view.tier(tier.name) for tier in machine.tiers if tier.files or tier.buffers]
    rates = sum(doing.rate + doing.beside_rate for doing in found.values())
    # every byte goes to or from some tier, and to two where it is staged
    assert max((tier.load for tier in tiers), default=0) <= rates * (1 + 1e-9)
    assert rates <= sum(tier.load for tier in tiers) * (1 + 1e-9)
    held = sum((view.held(job) for job in range(len(view.jobs))), np.zeros(len(view.resources), np.int64))
    assert held.tolist() == (view.capacity - view.free).tolist()
    by_user = sum((usage.held for usage in view.users.values()), np.zeros(len(view.resources), np.int64))
    assert by_user.tolist() == held.tolist()
    kernel = [[held_of(view._state, job, r) for r in range(len(held))] for job in found]
    assert kernel == [view.held(job).tolist() for job in found]
    return found


def phases_in(result):
    """Of each job, by its id: when each phase began and ended, and its kind."""
    found = {}
    rows = result.log.filter(pl.col("kind").is_in(["begin_phase", "end_phase"]))
    open_ = {}
    for time, job, kind, reason in rows.select("time", "job", "kind", "reason").iter_rows():
        if kind == "begin_phase":
            open_.setdefault((job, reason), []).append(time)
        elif open_.get((job, reason)):
            found.setdefault(job, []).append((open_[job, reason].pop(0), time, reason))
    return found


def test_a_policy_that_has_not_asked_is_told_how():
    with pytest.raises(BadActionError, match=r"has not said that it needs it; give its class needs = \(\"io\",\)"):
        fb.simulate("table1", policy=_Plain(lambda view: view.links))
    with pytest.raises(
        BadActionError, match=r"asked about a link 'pfs reed': did you mean 'pfs .*\? It has pfs read, pfs write"
    ):
        seen(two_readers(), FILES, lambda view: view.link("pfs reed"), ())

    class Greedy(_Plain):
        needs = ("future",)

    with pytest.raises(InputError, match="needs 'future'; all that a policy can ask for there is 'io'"):
        fb.simulate("table1", policy=Greedy(lambda view: None))
