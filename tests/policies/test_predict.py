"""Policies that predict run times: by hand, where there is nothing to predict from, and against a slow twin."""

import math
import random
from collections import defaultdict
from dataclasses import replace

import polars as pl
import pytest

import forebay
from cases import pooled
from cases.chunks import chunks, uncompiled
from forebay.core.limits import Limits
from forebay.errors import InputError
from forebay.policies import load
from forebay.policies._limited import Limited
from forebay.policies.plan_predict import PlanPredict
from forebay.policies.sjf_predict import SjfPredict
from policies.test_plan_best import Descent
from twins.backfill import Backfill
from twins.compare import compare
from twins.jobs import COMPLETED, TOO_LONG
from twins.predict import corrected, mean


def run(policy, *rows, nodes=3):
    """Starts and finishes by job id; jobs are (submit, seconds, walltime, nodes, user), and perhaps when withdrawn."""
    names = ("submit", "run_time", "walltime", "nodes", "user", "cancel")
    jobs = [
        {
            "id": i,
            **dict(zip(names, (*map(float, row[:3]), *row[3:5], float(row[5] if row[5:] else math.inf)), strict=True)),
        }
        for i, row in enumerate(rows, 1)
    ]
    result = forebay.simulate(pooled.workload(jobs), f"flat:nodes={nodes}", policy)
    found = result.jobs.select("job_id", "starting_time", "finish_time", "final_state").rows()
    return {i: (start, finish, state) for i, start, finish, state in found}


def passing(policy, *before, seconds=10, user=1):
    """Who may pass first, and all that happened: 8 asks for 1,000 s, 9 for 600 s, and one node of three is free.

    User 1's jobs take 10 s (those of `before`, if given, take their place), user 2's 500 s, up to 1,000 s. From then on
    job 6 has two nodes for 5,000 s, as it says, and job 7 waits for all three.
    """
    before = before or ((0, 10, 1000, 1, 1), (0, 10, 1000, 1, 1))
    rows = [*before, *[(1, 1, 1, 1, -1)] * (3 - len(before)), (2, 500, 600, 1, 2), (2, 500, 600, 1, 2)]
    rows += [(1050, 5000, 5000, 2, -1), (1051, 10, 10, 3, -1)]
    found = run(policy, *rows, (1052, seconds, 1000, 1, user), (1052, 10, 600, 1, 2))
    return (8 if found[8][0] < found[9][0] else 9), found


@pytest.mark.small
def test_short_jobs_in_the_past_let_one_pass():
    # sjf-bb goes by walltimes: 600 s before 1,000 s. Predicted are (1000 + 10 + 10) / 3 and (600 + 500 + 500) / 3 s.
    assert passing("sjf-bb")[0] == 9
    first, found = passing("sjf-predict")
    assert first == 8
    assert (found[8][0], found[9][0]) == (1052, 1062)
    # A walltime that counts as much as twenty jobs: 910 and 591 s.
    assert passing("sjf-predict:weight=20")[0] == 9
    # Only jobs of one request are alike, and of one shape: they all are, here.
    assert passing("sjf-predict:like=shape")[0] == 8


@pytest.mark.small
@pytest.mark.parametrize("ends", ["walltime", "predicted"])
@pytest.mark.parametrize(("seconds", "state"), [(900, COMPLETED), (2000, TOO_LONG)])
def test_nobody_is_killed_at_a_prediction(ends, seconds, state):
    _, found = passing(f"sjf-predict:ends={ends}", seconds=seconds)
    assert found[8] == (1052, 1052 + min(seconds, 1000), state)
    assert found[9][0] == found[8][1]


@pytest.mark.small
def test_a_job_of_an_unknown_user_keeps_its_walltime():
    nobody = ((0, 10, 1000, 1, -1), (0, 10, 1000, 1, -1))
    assert passing("sjf-predict", *nobody, user=-1)[0] == 9
    assert passing("sjf-predict", *nobody, user=1)[0] == 9  # there is nothing of user 1's to learn from


@pytest.mark.small
def test_what_did_not_run_to_its_end_teaches_nothing():
    # Of user 1: a job that is too large, one withdrawn while it waits behind others, one while it runs, after 5 s. One
    # that ran 5 s by itself would teach that job 8 takes (1000 + 5) / 2 s, less than job 9's 533.
    too_large, waits, runs = (0, 5, 1000, 4, 1), (3, 5, 1000, 3, 1, 5), (0, 900, 1000, 1, 1, 5)
    assert passing("sjf-predict", too_large, waits, runs)[0] == 9
    assert passing("sjf-predict", too_large, waits, (0, 5, 1000, 1, 1))[0] == 8


@pytest.mark.small
def test_killed_at_its_walltime_is_an_end_too():
    # (600 + 600 + 600) / 3 s and (1000 + 20 + 20) / 3 s: user 1's jobs ran for 20 s, as long as they might
    assert passing("sjf-predict:weight=0", (0, 90, 20, 1, 1), (0, 90, 20, 1, 1))[0] == 8
    # By request nothing is known of 1,000 s.
    assert passing("sjf-predict:weight=0,like=request", (0, 90, 20, 1, 1), (0, 90, 20, 1, 1))[0] == 9


@pytest.mark.small
def test_what_took_no_time_is_predicted_too():
    assert passing("sjf-predict:weight=0", (0, 0, 1000, 1, 1))[0] == 8


@pytest.mark.small
def test_nodes_are_part_of_a_shape():
    two = ((0, 10, 1000, 2, 1), (20, 10, 1000, 2, 1))
    assert passing("sjf-predict:like=request", *two)[0] == 8
    assert passing("sjf-predict:like=shape", *two)[0] == 9


@pytest.mark.small
def test_ends_as_predicted_and_corrected():
    """Three nodes; job 3 has two from 1,000 on, job 4 waits for all three. Others may pass if they end before job 3.

    Its user's jobs took 100 s, so that is at 1,100 as predicted, and at 11,000 by its walltime. Past 1,100 it is
    expected a minute later: at 1,160. Jobs of 80 and 45 s pass, those of 95 and 55 s do not, until job 4 has run.
    """
    past = [(0, 100, 10_000, 1, 1)] * 2
    rows = [*past, (1000, 600, 10_000, 2, 1), (1001, 10, 10, 3, -1)]
    waits = [(1010, 95, 95, 1, -1), (1010, 80, 80, 1, -1), (1110, 55, 55, 1, -1), (1110, 45, 45, 1, -1)]
    starts = {
        ends: [run(f"sjf-predict:weight=0,ends={ends}", *rows, *waits)[i][0] for i in range(4, 9)]
        for ends in ("walltime", "predicted")
    }
    assert starts["predicted"] == [1600, 1610, 1010, 1610, 1110]
    # By walltimes they all pass, one after the other, shortest first of those that wait.
    assert starts["walltime"] == [1600, 1090, 1010, 1230, 1185]


def users(workload, column):
    return replace(workload, jobs=workload.jobs.with_columns(user=column.cast(pl.Int64)))


TWINS = (("sjf-bb", "sjf-predict"), ("plan-best", "plan-predict"))


def log(workload, platform, policy, *given):
    search = ("exhaustive=3",) if policy.startswith("plan") else ()
    search += ("estimator=recent",) if policy == "plan-predict" else ()
    spec = ",".join((*search, *given))
    return forebay.simulate(workload, platform, f"{policy}:{spec}" if spec else policy).facts["log_sha256"]


@pytest.mark.parametrize(("base", "policy"), TWINS)
def test_without_a_past_it_is_the_policy_it_is_made_of(base, policy):
    """No user known, or each with one job: the same log, with ends either way and whatever is alike."""
    different = 0
    for seed in range(6000, 6008):
        workload, platform = habits(seed)
        for column in (pl.lit(-1), pl.col("id")):
            strangers = users(workload, column)
            for given in ((), ("ends=predicted", "window=1"), ("like=user", "weight=0")):
                assert log(strangers, platform, policy, *given) == log(strangers, platform, base)
        different += log(workload, platform, policy) != log(workload, platform, base)
    assert different > 3  # users with a past do make a difference


class Believing:
    """A run that decides by predictions: walltimes are exchanged for the time of a decision, but for who starts."""

    def believe(self, like="shape", window=8, weight=1.0, ends="walltime"):
        self.like, self.window, self.weight, self.ends = like, window, weight, ends
        self.past, self.noted, self.first, self.guesses, self.guessed = defaultdict(list), set(), {}, {}, 0
        return self

    def alike(self, job):
        """What jobs have in common from which it is predicted."""
        request = (int(min(job.columns["walltime"], 1e15)), max(leg.demand[0] for leg in job.legs))
        return (job.columns["user"], *request[: ("user", "request", "shape").index(self.like)])

    def guess(self, job, now):
        """How long the job's leg is believed to take."""
        asked = job.legs[job.leg].walltime
        if len(job.legs) > 1 or job.columns["user"] < 0:
            return asked
        if job in self.queue:
            past = self.past[self.alike(job)][-self.window :]
            self.first[job] = self.guesses[job] = min(max(mean(asked, self.weight, past), 1.0), asked)
            self.guessed += self.guesses[job] < asked
        elif self.ends == "walltime":
            return asked
        elif now - job.leg_start >= self.guesses[job]:
            self.guesses[job] = min(corrected(self.first[job], now - job.leg_start), asked)
        return self.guesses[job]

    def decide(self, now):
        for job in self.jobs:
            if job.state in (COMPLETED, TOO_LONG) and job not in self.noted:
                self.noted.add(job)
                if len(job.legs) == 1 and job.columns["user"] >= 0:
                    self.past[self.alike(job)].append(job.finish - job.start)
        legs = {job: job.legs[job.leg] for job in (*self.queue, *self.running)}
        self.asked = {job: leg.walltime for job, leg in legs.items()}
        believed = {job: self.guess(job, now) for job in legs}
        for job, leg in legs.items():
            leg.walltime = believed[job]
        try:
            super().decide(now)
        finally:
            for job, leg in legs.items():
                leg.walltime = self.asked[job]

    def start(self, job, now, place):
        leg = job.legs[job.leg]
        believed, leg.walltime = leg.walltime, self.asked[job]
        try:
            super().start(job, now, place)
        finally:
            leg.walltime = believed


class Backfilled(Believing, Backfill):
    """The twin of sjf-predict."""


class Planned(Believing, Descent):
    """The twin of plan-predict."""


def habits(seed):
    """Jobs of four users, one of them unknown, of two shapes each that take about the same time, mostly."""
    rng = random.Random(f"habits {seed}")
    shapes = [
        (
            user,
            float(rng.choice((300, 1800, 7200, 40_000))),
            rng.randint(1, 6),
            rng.randint(0, 8),
            rng.choice((5, 20, 80)),
        )
        for user in (0, 1, 2, -1)
        for _ in range(2)
    ]
    jobs, submit = [], 0.0
    for number in rng.sample(range(1, 200), 40):
        user, walltime, nodes, buffer, share = rng.choice(shapes)
        seconds = rng.choice((share, share, rng.randint(1, 100), 120)) * walltime / 100
        jobs.append(
            {"id": number, "submit": submit, "walltime": walltime, "run_time": float(round(seconds)), "nodes": nodes}
            | {"burst_buffer": buffer, "user": user}
        )
        submit += rng.choice((0, 0, rng.randint(0, 600), rng.randint(0, 4000)))
    return pooled.workload(jobs), pooled.platform(rng.randint(6, 9), 10)


def parameters(seed):
    """Random parameters of predictions."""
    rng = random.Random(f"predict {seed}")
    return {
        "like": rng.choice(("user", "request", "shape")),
        "window": rng.choice((1, 2, 8)),
        "weight": rng.choice((0.0, 0.5, 1.0, 3.0)),
        "ends": rng.choice(("walltime", "predicted")),
    }


def check_seed(seed, workload, platform, limits=None, plans=True):
    """Both twins on one workload."""
    model, predictions = "alloc-only" if seed % 3 else "alloc-only:kill=false", parameters(seed)
    family = {"depth": 1 + seed % 2 * 2, "backfill_order": ("walltime", "area")[seed % 5 == 0]}
    planning = {"exhaustive": 2, "steps": 2, "moves": 3, "rounds": 2, "alpha": 2.0, "keep": seed % 4 == 0}
    pairs = [(Backfilled(workload, platform, family, model, limits=limits), SjfPredict(**family, **predictions))]
    if plans:
        pairs.append(
            (
                Planned(workload, platform, planning, model, limits=limits),
                PlanPredict(**planning, **predictions, estimator="recent"),
            )
        )
    for slow, fast in pairs:
        slow.believe(**predictions).finished()
        compare(slow, workload, platform, Limited(fast, Limits(**limits)) if limits else fast)
        yield slow


@pytest.mark.parametrize("chunk", chunks(1, 8))
def test_predictions_equal_the_naive_ones(chunk):
    """On users with habits, who are known by what they did."""
    for seed in range(6100 + 5 * chunk, 6105 + 5 * chunk):
        assert all(slow.guessed for slow in check_seed(seed, *habits(seed), plans=seed % 3 == 0))


@uncompiled
@pytest.mark.parametrize("seed", range(6200, 6204))
def test_predictions_equal_the_naive_ones_small(seed):
    assert all(slow.guessed for slow in check_seed(seed, *habits(seed), plans=False))


@pytest.mark.parametrize("chunk", chunks(1, 8))
def test_any_jobs_equal_the_naive_ones(chunk):
    """Legs, jobs that are withdrawn, that have no walltime or are too large, and limits."""
    for seed in range(6300 + 5 * chunk, 6305 + 5 * chunk):
        workload, platform = pooled.make(seed)
        workload = users(workload, pl.when(pl.col("user") == 3).then(-1).otherwise(pl.col("user")))
        for _ in check_seed(seed, pooled.with_cancels(workload, seed), platform):
            pass
        for _ in check_seed(seed + 1, workload, platform, pooled.limits(seed), plans=seed % 3 == 0):
            pass


@pytest.mark.small
@pytest.mark.parametrize("policy", ["sjf-predict", "plan-predict"])
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("window=0", "window is 0; give a count from 1 up"),
        ("weight=-1", "weight is -1; give a number from 0 up"),
        ("weight=nan", "weight is nan"),
        ("weight=inf", "weight is inf"),
        ("like=usr", "like is 'usr'.*user"),
        ("ends=x", "ends is 'x'.*(predicted|walltime)"),
    ],
)
def test_what_makes_no_sense_is_refused(policy, given, words):
    with pytest.raises(InputError, match=words):
        load(f"{policy}:{given}")


@pytest.mark.small
@pytest.mark.parametrize(
    ("spec", "words"), [("sjf-predict:depth=-1", "depth is -1"), ("plan-predict:alpha=0", "alpha")]
)
def test_what_the_base_refuses_is_refused(spec, words):
    with pytest.raises(InputError, match=words):
        load(spec)


@pytest.mark.small
def test_a_leg_is_believed_by_its_own_walltime():
    """Job 1's row says 100 s, its only leg 20: without a past it is the leg that counts, as without predictions."""
    rows = [(1, 0.0, 100.0, 2), (2, 1.0, 50.0, 3), (3, 2.0, 30.0, 1)]
    jobs = forebay.workload.workload.job_table(
        {name: [row[k] for row in rows] for k, name in enumerate(("id", "submit", "walltime", "nodes"))}
        | {"user": [1, 2, 3], "run_time": [15.0, 50.0, 30.0]}
    )
    leg = {"job": 1, "number": 0, "walltime": 20.0, "nodes": 2, "carry": ""}
    phase = {"job": 1, "leg": 0, "kind": "compute", "seconds": 15.0, "flop": 0.0, "communication": 0.0, "bytes": 0.0}
    given = pooled.workload(jobs.to_dicts(), [leg], [phase | {"release": None}])
    starts = [
        forebay.simulate(given, "flat:nodes=3", policy).jobs["starting_time"].to_list()
        for policy in ("sjf-bb", "sjf-predict")
    ]
    assert starts == [[0.0, 15.0, 65.0]] * 2
