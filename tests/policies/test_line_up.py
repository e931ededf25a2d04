"""`act.backfill` and what looks ahead: on every kind of machine as the built-in policies, and as plain sums."""

import os
import random

import numpy as np
import pytest

import forebay as fb
from cases import classes, pooled, shared, transfers
from cases.chunks import chunks, interpreted
from forebay._run import compilation
from forebay.core.outlook import Blocks as Protocol
from forebay.errors import BadActionError, StalledError
from forebay.workload.models import burst_buffer
from forebay.workload.workload import job_table

WORDS = ("arrival", "walltime", "priority", "nodes", "area", "user", "group", "queue")


def _site(seed):
    while (made := classes.make(seed)) is None:
        seed += 1000
    return made[:2]


MACHINES = {
    "pools": pooled.make,
    "kinds": lambda seed: pooled.with_kinds(*pooled.make(seed), seed),
    "classes": lambda seed: pooled.with_classes(*pooled.make(seed), seed),
    "site": _site,
    "transfers": transfers.make,
    "shared": lambda seed: shared.random_case(seed, n_jobs=40)[::-1],
}


def key(view, job, word):
    """What a queue is ordered by, said a second time."""
    nodes, walltime = float(view.demand(job)[0]), view.walltime(job)
    if word in ("priority", "user", "group", "queue"):
        return float(view.jobs[word][job])
    return {"walltime": walltime, "nodes": nodes, "area": nodes * walltime if nodes else 0.0, "arrival": 0.0}[word]


def in_line(view, word, descending):
    """The queue by a word, in plain Python; who has begun goes first, as he came."""
    begun = view.legs["number"][view.jobs["leg"][view.queue]] + view.jobs["urgency"][view.queue] > 0
    first = view.queue[begun].tolist()
    rest = view.queue[~begun].tolist()
    if word != "arrival":
        sign = -1 if descending else 1
        rest.sort(key=lambda job: (sign * key(view, job, word), view.jobs["id"][job]))
    return first + rest


class ByWord(fb.Policy):
    def __init__(self, word, descending, **how):
        self.word, self.descending, self.how = word, descending, how

    def decide(self, view, act):
        act.backfill(self.word, descending=self.descending, **self.how)


class ByList(ByWord):
    def decide(self, view, act):
        act.backfill(in_line(view, self.word, self.descending), **self.how)


class ByHand(ByWord):
    """Starts in order itself, as far as jobs fit; the rest is the kernel's."""

    def decide(self, view, act):
        line = in_line(view, self.word, self.descending)
        started = []
        while line and act.fits(line[0]):
            started.append(line.pop(0))
            act.start(started[-1], fb.LogReason.IN_ORDER)
        act.backfill(started + line, **self.how)  # whom it has started it passes over


class Checked(ByList):
    """Holds what the verb leaves against sums, and what looks ahead against a profile and itself."""

    def decide(self, view, act):
        before = {job: view.earliest(job) for job in view.queue.tolist()}
        assert {job for job, time in before.items() if time == view.now} == {j for j in before if act.fits(j)}
        started = act.backfill(in_line(view, self.word, self.descending), **self.how)
        profile = view.profile()
        assert profile.times[0] == view.now
        assert (np.diff(profile.times) > 0).all()
        assert profile.free[0].tolist() == act.free
        for job in view.queue.tolist():
            if job in started:
                assert view.earliest(job) == view.now
                continue
            begin = view.earliest(job)
            assert (begin == view.now) == act.fits(job)
            assert begin == np.inf or view.fits_at(job, begin)
            assert not any(view.fits_at(job, time) for time in profile.times if time < begin)
            if begin < np.inf:
                assert begin in profile.times
                assert (profile.at(begin)[: len(view.demand(job))] >= view.demand(job)).all()


def outcome(make, seed, policy):
    workload, machine = make(seed)
    try:
        return fb.simulate(workload, machine, policy, job_model="alloc-only").facts["log_sha256"]
    except StalledError as error:  # jobs that carry resources lock each other out
        return str(error)


def draw(seed):
    rng = random.Random(f"line {seed}")
    how = {"depth": rng.choice((0, 1, 1, 1, 2, 3)), "reserve": rng.choice(("all", "nodes"))}
    if rng.random() < 0.2:
        how["conservative"] = True
    word, descending = rng.choice(WORDS), rng.random() < 0.5
    depth = "all" if "conservative" in how else how["depth"]
    spec = f"fcfs-bb:order={word},descending={str(descending).lower()},depth={depth},reserve={how['reserve']}"
    return word, descending, how, spec


@pytest.mark.small
@pytest.mark.parametrize("kind", interpreted(MACHINES, ("pools", "shared")))
@pytest.mark.parametrize("chunk", chunks(1, 10))
def test_the_verb_gives_the_logs_of_the_built_in_policies(kind, chunk):
    """By a word, by a list, and after starts of the policy's own."""
    for seed in range(10 * chunk, 10 * chunk + 10):
        word, descending, how, spec = draw(seed)
        expected = outcome(MACHINES[kind], seed, spec)
        for policy in (ByWord, ByList, ByHand):
            assert outcome(MACHINES[kind], seed, policy(word, descending, **how)) == expected, (seed, policy, spec)


@pytest.mark.small
@pytest.mark.parametrize("kind", interpreted(MACHINES, ("pools", "shared")))
def test_what_looks_ahead_agrees_with_itself(kind):
    for seed in range(6):
        word, descending, how, spec = draw(seed)
        policy = Checked(word, descending, **how)
        assert outcome(MACHINES[kind], seed, policy) == outcome(MACHINES[kind], seed, spec)


class Sums(fb.Policy):
    """The earliest start on a machine of pools, counted in plain Python from who runs and who was started."""

    def decide(self, view, act):
        started = act.backfill(depth=0)
        soon = view.now + 1.0  # who is past his walltime is taken to end then
        ends = [(end if end > view.now else soon, view.releases[leg]) for end, _, leg in view.running]
        ends += [(view.now + view.walltime(job), view.releases[view.leg_of(job, 0)]) for job in started]
        for job in view.queue.tolist():
            if job in started:
                continue
            free, begin = np.array(act.free), view.now
            for end, back in sorted(ends, key=lambda pair: pair[0]):
                if (free >= view.demand(job)).all():
                    break
                free, begin = free + back, end
            begin = begin if (free >= view.demand(job)).all() else np.inf
            assert view.earliest(job) == pytest.approx(begin, rel=1e-9)


@pytest.mark.small
def test_the_earliest_start_is_what_plain_sums_give():
    for seed in range(30):
        fb.simulate(*pooled.make(seed, legs=False), Sums())


def _jobs(nodes, walltimes, submit=None):
    n = len(nodes)
    return fb.Workload(
        "few",
        job_table(
            {"id": np.arange(1, n + 1), "submit": np.array(submit or [0.0] * n), "nodes": np.array(nodes)}
            | {name: np.array(walltimes, float) for name in ("walltime", "run_time")}
        ),
    )


@pytest.mark.small
def test_expected_times_decide_who_passes():
    """Four nodes. Job 1 has three of them for 100 s; job 2 wants four; job 3 asks for 200 s on one, and is expected to
    take 50: by walltimes it delays job 2 and waits, by what is expected it passes.
    """

    class Told(fb.Policy):
        def decide(self, view, act):
            seconds = np.zeros(len(view.jobs))
            seconds[2] = 50.0
            act.backfill(expected=seconds)

    class Asked(fb.Policy):
        def decide(self, view, act):
            act.backfill()

    few = _jobs([3, 4, 1], [100, 50, 200])
    assert fb.simulate(few, "flat:nodes=4", Told()).jobs["starting_time"].to_list() == [0, 200, 0]
    assert fb.simulate(few, "flat:nodes=4", Asked()).jobs["starting_time"].to_list() == [0, 100, 150]


class Once(fb.Policy):
    """Does one thing at the first decision, then fills."""

    def __init__(self, what):
        self.what = what

    def decide(self, view, act):
        if view.now == 0:
            self.what(view, act)
        act.backfill(depth=0)


@pytest.mark.small
@pytest.mark.parametrize(
    ("what", "told"),
    [
        (lambda view, act: act.backfill([0, 0]), "row 0 twice, job 1"),
        (lambda view, act: act.backfill([0, 7]), "row 7"),
        (
            lambda view, act: act.backfill([2]),
            r"row 2, whose job has not arrived; .*by their rows.*\(job 2 has row 1\)",
        ),
        (lambda view, act: act.backfill(view.jobs["id"][view.queue]), "not by their ids"),
        (lambda view, act: act.backfill("aria"), "area"),
        (lambda view, act: act.backfill(3), "give a list of jobs"),
        (lambda view, act: act.backfill([0.5]), "give a list of jobs"),
        (lambda view, act: act.backfill([[0]]), "give a list of jobs"),
        (lambda view, act: act.backfill(depth=-1), "from 0 up"),
        (lambda view, act: act.backfill(depth=1.5), "from 0 up"),
        (lambda view, act: act.backfill(reserve="node"), "'all' or 'nodes'"),
        (lambda view, act: act.backfill(expected=[1.0]), "for each row"),
        (lambda view, act: act.backfill(expected=[1.0, -1.0, 0.0]), "from 0 up"),
        (lambda view, act: view.earliest(2), "row 2, whose job has not arrived"),
        (lambda view, act: view.fits_at(0, -1.0), "from view.now on"),
        (lambda view, act: view.fits_at(0, "soon"), "from view.now on"),
        (lambda view, act: view.earliest("first"), "name it by its row"),
    ],
)
def test_mistakes_are_told(what, told):
    """Job 3 comes later, and its row is still blank."""
    with pytest.raises(fb.ForebayError, match=told):
        fb.simulate(_jobs([1, 2, 1], [10, 10, 10], [0.0, 0.0, 5.0]), "flat:nodes=4", Once(what))


@pytest.mark.small
def test_a_view_without_blocks_says_so():
    """Of tables that nobody runs."""
    from forebay.core.tables import Sizes, empty_state
    from forebay.core.view import View

    view = View(empty_state(Sizes()), ("nodes",), np.random.default_rng(0))
    with pytest.raises(BadActionError, match=r"forebay\.simulate"):
        view.profile()
    assert {"backfill", "earliest", "fits_at", "profile"} <= set(vars(Protocol))


DATA = os.environ.get("FOREBAY_DATA")
PARTS = f"{DATA}/kopanski"


class LargestFirst(fb.Policy):
    def __init__(self, **how):
        self.how = how

    def decide(self, view, act):
        leg = view.jobs["leg"][view.queue]
        area = view.demands[leg, 0] * view.legs["walltime"][leg]
        act.backfill(view.queue[np.lexsort((view.jobs["id"][view.queue], -area))], **self.how)


@pytest.mark.skipif(not DATA, reason="needs FOREBAY_DATA, the folder with traces")
@pytest.mark.parametrize("buffers", [pytest.param(False, marks=pytest.mark.full), True])
@pytest.mark.parametrize(
    ("how", "more"),
    [
        ({}, ""),
        pytest.param({"conservative": True}, ",depth=all", marks=pytest.mark.full),
        pytest.param({"depth": 5}, ",depth=5", marks=pytest.mark.full),
    ],
)
def test_largest_area_first_on_a_whole_trace(how, more, buffers):
    workload, machine = fb.read(f"{DATA}/swf/KTH-SP2-1996-2.1-cln.swf.gz"), None
    if buffers:
        workload = burst_buffer.attach(workload, np.random.default_rng(0))
        machine = f"flat:nodes={fb.platform(workload.platform).nodes},burst_buffer=2TB"
    spec = f"fcfs-bb:order=area,descending=true{more}"
    built_in = fb.simulate(workload, machine, spec).facts["log_sha256"]
    assert fb.simulate(workload, machine, LargestFirst(**how)).facts["log_sha256"] == built_in


@pytest.mark.skipif(not DATA, reason="needs FOREBAY_DATA, the folder with traces")
def test_largest_area_first_on_chunks():
    workload = fb.read(f"{PARTS}/alloc-only/part-3.json.gz")
    spec = "fcfs-bb:order=area,descending=true"
    built_in = fb.simulate(workload, "dragonfly-96", spec, job_model="alloc-only").facts["log_sha256"]
    mine = fb.simulate(workload, "dragonfly-96", LargestFirst(), job_model="alloc-only")
    assert mine.facts["log_sha256"] == built_in


def test_what_a_policy_builds_on_is_ready_before_its_run():
    """Also where a function within its method calls it; others do not wait for it."""

    class Within(fb.Policy):
        def decide(self, view, act):
            act.backfill(sorted(view.queue, key=lambda job: -view.earliest(job)))

    class Without(fb.Policy):
        def decide(self, view, act):
            act.start(view.queue[0])

    assert {compilation.BLOCKS["backfill"], compilation.BLOCKS["earliest"]} <= set(compilation.needed([Within()]))
    assert not set(compilation.BLOCKS.values()) & set(compilation.needed([Without()]))
