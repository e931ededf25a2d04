"""Random workloads on machines whose nodes fail: as their slow twin has them."""

import math

import pytest

import forebay as fb
from cases import breaking
from cases.chunks import chunks, uncompiled
from forebay.errors import StalledError
from twins import failures as twin
from twins.backfill import PRESETS
from twins.compare import ids
from twins.jobs import CANCELLED, REJECTED

MODEL = "io-aware"
CHUNKS, CHUNK = 20, 10


def told(view, job, end):
    """When a running job is expected to end, and to leave."""
    return float(end), view.safety(job).get("leaves", math.inf)


class Ours(fb.Policy):
    """First come, first served, with the interrupts of a fate."""

    def __init__(self, fate, guarded):
        self.fate, self.guarded = fate, guarded
        self.since, self.first, self.asked_for, self.ends = {}, {}, None, []

    def decide(self, view, act):
        table, now = view.jobs, view.now
        self.ends.append((now, {int(table["id"][job]): told(view, job, end) for end, job, _ in view.running}))
        for job in view.queue.tolist():
            self.first.setdefault(job, int(table["leg"][job]))
            if not act.fits(job):
                break
            act.start(job)
            self.since[job] = now
            self.fate.started(int(table["id"][job]))
        running = {
            int(table["id"][job]): int(table["leg"][job]) - self.first[job] in self.guarded[int(table["id"][job])]
            for job in view.running["job"].tolist()
            if self.since[job] < now
        }
        for number, how in self.fate.strike(now, running):
            act.interrupt(int((table["id"] == number).argmax()), checkpoint=how)
        if self.fate.next() not in (None, self.asked_for):
            self.asked_for = self.fate.next()
            act.wake(self.asked_for)


class Theirs(twin.Failing):
    """The same for the twin."""

    def __init__(self, *args, fate):
        super().__init__(*args)
        self.fate, self.asked_for, self.ends = fate, None, []

    def decide(self, now):
        self.ends.append((now, {job.id: (job.expected_end, job.leaves) for job in self.running}))
        for job in list(self.queue):
            place = self.fits_now(job)
            if place is None:
                break
            self.start(job, now, place)
            self.fate.started(job.id)
        running = {job.id: job.rule is not None for job in self.running if job.leg_start < now}
        for number, how in self.fate.strike(now, running):
            self.interrupt(next(job for job in self.running if job.id == number), now, how)
        if self.fate.next() not in (None, self.asked_for):
            self.asked_for = self.fate.next()
            self.event(self.asked_for, "wake", None)


def check(seed, policy, chunked=False):
    """One workload under one policy."""
    workload, platform, failures = breaking.make(seed, chunked)
    if policy == "fate":
        slow = Theirs(workload, platform, PRESETS["fcfs"], failures, MODEL, seed, fate=breaking.Fate(seed)).finished()
        guarded = {job.id: {leg for leg, rule in enumerate(job.rules) if rule} for job in slow.jobs}
        policy = Ours(breaking.Fate(seed), guarded)
    else:
        slow = twin.simulate(workload, platform, policy, failures, MODEL, seed)
    if slow.queue:
        with pytest.raises(StalledError, match=f"leaves {len(slow.queue)} job"):
            breaking.simulate(workload, platform, policy, failures, seed, MODEL)
        return
    jobs, log, n_decisions = breaking.simulate(workload, platform, policy, failures, seed, MODEL)
    breaking.check_log(log, slow.log)
    for row, job in zip(jobs.to_dicts(), slow.jobs, strict=True):
        assert (row["job_id"], row["final_state"]) == (job.id, job.state)
        if job.state in (REJECTED, CANCELLED):
            continue
        for name, value in (("starting_time", job.start), ("finish_time", job.finish), ("total_wait", job.waited)):
            assert breaking.same_times(row[name], value), (job.id, name, row[name], value)
        nodes = set().union(*(nodes for _, owner, _, nodes in slow.starts if owner == job.id))
        assert ids(row["allocated_resources"]) == nodes
    assert n_decisions == len(slow.decisions)
    if isinstance(policy, Ours):
        for (now, mine), (_, other) in zip(policy.ends, slow.ends, strict=True):
            assert mine.keys() == other.keys()
            pairs = [pair for job in mine for pair in zip(mine[job], other[job], strict=True)]
            assert all(breaking.same_times(*pair) for pair in pairs), (now, mine, other)


POLICIES = ("fcfs", "fcfs-easy", "fate")
LATE_CANCEL, LATE_RECOVERY = 57, 87  # seeds: a job is cancelled after the last end; one that is to leave recovers late
CHUNKS_AGAIN = 79  # a job gives its chunks back, is interrupted, takes them again and is interrupted once more


@uncompiled
@pytest.mark.parametrize("seed", range(4))
def test_as_its_twin_small(seed):
    for policy in POLICIES:
        check(seed, policy)


@pytest.mark.parametrize("seed", [LATE_CANCEL, LATE_RECOVERY])
def test_as_its_twin_where_it_was_not(seed):
    check(seed, "fate")


@pytest.mark.parametrize("chunk", chunks(1, CHUNKS))
def test_as_its_twin(chunk):
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        for policy in POLICIES:
            check(seed, policy)


@pytest.mark.parametrize("chunk", chunks(1, CHUNKS))
def test_buffers_of_chunks_as_their_twin(chunk):
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        for policy in POLICIES:
            check(seed, policy, chunked=True)


def test_chunks_that_are_taken_again():
    for policy in POLICIES:
        check(CHUNKS_AGAIN, policy, chunked=True)
