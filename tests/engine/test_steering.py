"""Transfers under the policy's hand: weighed, held and capped, by hand and against exact fractions."""

import random

import numpy as np
import pytest

import forebay as fb
from cases.chunks import compiles
from engine.test_flows import INF, random_case
from forebay.engine.contention.kernels import finish, join, settle
from forebay.engine.contention.tables import make_network
from forebay.engine.steering.kernels import steer
from forebay.errors import BadActionError, StalledError
from policies.test_known_io import GB, jobs
from twins import sharing as naive

pytestmark = pytest.mark.small


def run(capacity, routes, events):
    """When each transfer ends, by the kernels."""
    n = 1 + max(event[2] for event in events)
    net = make_network([*capacity, INF], routes, n, n + 1, (n + 1) * (len(capacity) + 1), steered=True)
    ended, ends, waiting = np.zeros(n, np.int64), {}, list(events)
    while waiting or net.state[0]["n_timers"] > 0:
        first = net.timers[0]["time"] if net.state[0]["n_timers"] > 0 else INF
        now = min(first, waiting[0][0] if waiting else INF)
        for i in range(finish(net, now, ended)):
            ends[int(ended[i])] = float(now)
        while waiting and waiting[0][0] <= now:
            _, kind, name, *rest = waiting.pop(0)
            if kind == "join":
                join(net, name, rest[0], rest[1], float(rest[2]), float(now))
            elif name not in ends:
                transfer = net.transfers[name]
                steer(net, name, float(rest[0]), float(rest[1]) / transfer["weight"], float(now))
        settle(net, float(now))
    return ends, net.links["bytes"].tolist()


def weighted_case(rng):
    """Random joins, and changes of share and cap while they run; who is held is let go in the end."""
    capacity, routes, events = random_case(rng)
    begins = [event for event in events if event[1] == "join"]
    for time, _, name, *_ in list(begins):
        for _ in range(rng.randint(0, 2)):
            share = rng.choice((0.25, 0.5, 1, 3, 10))
            when, cap = time + rng.randint(0, 8) / 2, rng.choice((INF, INF, 0.5, 2, 0))
            begins.append((when, "steer", name, share, cap))
            if cap == 0:
                begins.append((when + 40, "steer", name, share, INF))
    return capacity, routes, sorted(begins, key=lambda event: (event[0], event[1] == "steer"))


@compiles
@pytest.mark.parametrize("chunk", range(10))
def test_exact_fractions_agree(chunk):
    """A hundred systems each, a thousand in all; ends within 1e-9 of their size, and every byte is counted once."""
    for seed in range(100 * chunk, 100 * (chunk + 1)):
        capacity, routes, events = weighted_case(random.Random(f"weighted {seed}"))
        (ours, crossed), exact = run(capacity, routes, events), naive.steered(capacity, routes, events)
        assert sorted(ours) == sorted(exact), seed
        for name, end in exact.items():
            assert ours[name] == pytest.approx(float(end), rel=1e-9), (seed, name)
        moved = [(routes[event[3]][1], event[5]) for event in events if event[1] == "join"]
        for k in range(len(capacity)):
            assert crossed[k] == pytest.approx(sum(loads.get(k, 0) * size for loads, size in moved), rel=1e-9)


class Steer(fb.Policy):
    """Starts all; says at times what it is given: (time, verb, job, arguments)."""

    steers = True

    def __init__(self, *says):
        self.says = says

    def decide(self, view, act):
        for job in view.queue.tolist():
            act.start(job)
        for time, verb, job, *rest in self.says:
            if time == view.now:
                getattr(act, f"io_{verb}")(job, *rest)
            elif time > view.now:
                act.wake(time)


def ends(*says, machine="flat:nodes=4,pfs=1GB/s", phases=((0, "write", 0, 30 * GB), (1, "write", 0, 30 * GB))):
    made = jobs((0, 1, 1, 1000, 1), (0, 1, 1, 1000, 1), phases=phases)
    return fb.simulate(made, machine, Steer(*says), job_model="io-aware").jobs["finish_time"].to_list()


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        ([], [60, 60]),
        ([(0, "weight", 0, 2)], [45, 60]),  # 2/3 and 1/3 GB/s: at 45 the other has 15 left
        ([(0, "weight", 0, 2), (30, "weight", 0, 1)], [50, 60]),  # 20 and 10 have moved; 10 at a half each
        ([(0, "hold", 0), (30, "release", 0)], [60, 30]),  # one after the other
        ([(10, "hold", 0), (20, "release", 0)], [60, 50]),  # 5 each; then 10; half each until 15 more have moved
        ([(0, "cap", 0, 0.25 * GB)], [120, 40]),  # the other one has 0.75 GB/s, and ends after 30 / 0.75
        ([(0, "cap", 0, 0.25 * GB), (40, "cap", 0, INF)], [60, 40]),
        ([(0, "weight", 0, 2), (0, "weight", 0, 1)], [60, 60]),  # the last one counts
        ([(0, "hold", 0, fb.PhaseKind.READ)], [60, 60]),  # of another kind
        ([(0, "hold", 0, fb.PhaseKind.WRITE), (30, "release", 0)], [60, 30]),
    ],
)
def test_verbs_by_hand(says, expected):
    assert ends(*says) == pytest.approx(expected, rel=1e-12)


def test_a_run_that_may_be_steered_and_is_not_has_the_same_hash():
    made = fb.read("table1")

    class Usual(Steer):
        steers = False

    one, other = (fb.simulate(made, "flat:nodes=40,burst_buffer=100TB,pfs=1GB/s", kind()) for kind in (Steer, Usual))
    assert one.facts["log_sha256"] == other.facts["log_sha256"]


def test_what_makes_no_sense_is_refused():
    for says, words in (
        ([(0, "weight", 0, 0)], "gave 0 as a weight of I/O; give a number above 0"),
        ([(0, "weight", 0, -1)], "gave -1 as a weight"),
        ([(0, "weight", 0, INF)], "gave inf as a weight"),
        ([(0, "weight", 0, float("nan"))], "gave nan as a weight"),
        ([(0, "cap", 0, 0)], "gave 0 as a cap on I/O"),
        ([(0, "cap", 0, 1e-3)], "capped the I/O of job 0 so low that a phase would take more than a century"),
    ):
        with pytest.raises(BadActionError, match=words):
            ends(*says)
    with pytest.raises(BadActionError, match="held the I/O of job 1, which does none"):
        ends((0, "hold", 1), phases=((0, "write", 0, 30 * GB),))
    made = jobs((0, 1, 1, float("inf"), 1), phases=((0, "write", 0, GB),))
    with pytest.raises(StalledError, match="holds the I/O of 1 running job, job 0 first"):
        fb.simulate(made, "flat:nodes=4,pfs=1GB/s", Steer((0, "hold", 0)), job_model="io-aware:kill=false")

    class Silent(Steer):
        steers = False

    with pytest.raises(BadActionError, match="has not said that it does"):
        fb.simulate(jobs((0, 1, 1, 100, 1), phases=((0, "write", 0, GB),)), "flat:nodes=4,pfs=1GB/s",
                    Silent((0, "hold", 0)), job_model="io-aware")  # fmt: skip
