"""Volumes, requests and statements of jobs for slow and fast storage, against what the docstring says.

Bounds are four standard errors wide where something is drawn.
"""

import numpy as np
import polars as pl
import pytest

import forebay as fb
from forebay.core.schemas import STATED
from forebay.errors import InputError
from forebay.platforms import load
from forebay.workload import models
from forebay.workload.models import feitelson96, sas2019

pytestmark = pytest.mark.small

RATE = 1e9


def make(jobs=2000, rate=RATE, **more):
    return sas2019.generate(np.random.default_rng(1), jobs=jobs, rate=rate, **more)


def run_times(jobs=2000, **more):
    """Of the same jobs as feitelson96 draws them: what each takes alone on slow storage."""
    known = {"nodes": 128, "gap": 500.0, "mean": 5400.0, "shortest": 1800.0, "longest": 86400.0, "repeats": 2}
    plain = feitelson96.generate(np.random.default_rng(1), jobs=jobs, **known | more)
    return plain.jobs["run_time"].to_numpy()


def moved(w, kind):
    """Bytes of a kind, job by job."""
    sums = w.phases.filter(pl.col("kind") == kind).group_by("job").agg(pl.col("bytes").sum())
    return w.jobs.select("id").join(sums, left_on="id", right_on="job", how="left")["bytes"].fill_null(0).to_numpy()


def seconds(w):
    sums = w.phases.group_by("job").agg(pl.col("seconds").sum())
    return w.jobs.select("id").join(sums, left_on="id", right_on="job", how="left")["seconds"].to_numpy()


def test_jobs_are_those_of_feitelson96():
    w = make()
    known = {"gap": 500.0, "mean": 5400.0, "shortest": 1800.0, "longest": 86400.0, "repeats": 2}
    plain = feitelson96.generate(np.random.default_rng(1), jobs=2000, nodes=128, **known)
    same = ["id", "submit", "nodes", "walltime", "user"]
    assert w.jobs.select(same).equals(plain.jobs.select(same))
    assert w.provenance[0].startswith("made by sas2019: ")


@pytest.mark.parametrize("more", [{}, {"io": 0.5, "data": 0.3}, {"io": 1.0, "spread": 2.0}, {"rate": 1e7}])
def test_phases_add_up_to_the_run_time(more):
    """Computing and, at `rate`, all that is moved: to within the rounding of three volumes to whole bytes."""
    w = make(**more)
    rate = more.get("rate", RATE)
    total = seconds(w) + sum(moved(w, kind) for kind in ("read", "write", "checkpoint")) / rate
    assert total == pytest.approx(run_times(), rel=1e-12, abs=3 / rate)
    assert w.jobs["run_time"].to_numpy() == pytest.approx(seconds(w), rel=1e-12)
    assert (w.phases["bytes"] >= 0).all()
    assert set(w.phases["kind"]) <= {"read", "compute", "checkpoint", "write"}


def test_alone_on_slow_storage_a_job_takes_its_run_time():
    w = make(jobs=3)
    for number, length in zip(w.jobs["id"], run_times(jobs=3), strict=True):
        one = fb.Workload("one", w.jobs.filter(pl.col("id") == number), phases=w.phases.filter(pl.col("job") == number))
        result = fb.simulate(one, "sas2019:slow=1GB/s", "tier-slow")
        assert result.jobs["execution_time"].to_list() == [pytest.approx(length, rel=1e-9)]


def test_shares_of_input_and_output():
    """Half of `io` each. Normal with a spread of half the mean and cut at 0, the mean is 1.00424 and the standard
    deviation 0.489 of that (2 standard deviations above 0: F(2) + f(2) / 2), so over 20,000 jobs the standard error of
    the mean is 0.35 % of it.
    """
    w, run = make(jobs=20_000), run_times(jobs=20_000)
    for kind in ("read", "write"):
        share = moved(w, kind) / RATE / run
        assert share.mean() == pytest.approx(0.05 * 1.00424, abs=4 * 0.0035 * 0.05)
        assert share.std() == pytest.approx(0.05 * 0.489, rel=4 / (2 * 20_000) ** 0.5)
        assert (share == 0).mean() == pytest.approx(0.02275, abs=4 * (0.02275 / 20_000) ** 0.5)
    read, write = (moved(w, kind) / run for kind in ("read", "write"))
    assert abs(np.corrcoef(read, write)[0, 1]) < 4 / 20_000**0.5


def test_without_spread_shares_are_exact():
    w, run = make(spread=0.0, io=0.2), run_times()
    for kind in ("read", "write"):
        assert moved(w, kind) == pytest.approx(0.1 * RATE * run, abs=0.5)


def test_checkpoints_are_whole_and_take_at_most_their_share():
    w, run, size = make(data=0.2, memory=4e9), run_times(), make().jobs["nodes"].to_numpy()
    got, one = moved(w, "checkpoint"), 4e9 * size
    long = run >= 3600
    assert not got[~long].any()
    assert (got[long] <= 0.2 * run[long] * RATE).all()
    assert (got[long] + one[long] > 0.2 * run[long] * RATE).all()
    assert got / one == pytest.approx(np.rint(got / one), abs=1e-9)
    assert long.any()
    assert not long.all()


@pytest.mark.parametrize("writes", [1, 4, 10])
def test_checkpoints_are_put_together_into_equal_writes(writes):
    w = make(data=0.2, memory=4e9, writes=writes)
    by_job = w.phases.filter(pl.col("kind") == "checkpoint").group_by("job")
    found = by_job.agg(pl.len(), pl.col("bytes").min().alias("least"), pl.col("bytes").max().alias("most"))
    assert found["len"].max() == writes
    assert found["least"].to_numpy() == pytest.approx(found["most"].to_numpy())
    computes = w.phases.filter(pl.col("kind") == "compute").group_by("job").agg(pl.len().alias("computes"))
    both = computes.join(found, on="job", how="left").with_columns(pl.col("len").fill_null(0))
    assert (both["computes"] == both["len"] + 1).all()  # a job computes before, between and after them


def test_order_of_phases():
    w = make(jobs=200, data=0.2, memory=4e9)
    for _, phases in w.phases.group_by("job", maintain_order=True):
        kinds = phases["kind"].to_list()
        middle = kinds[kinds[0] == "read" : len(kinds) - (kinds[-1] == "write")]
        assert middle[::2] == ["compute"] * len(middle[::2])
        assert middle[1::2] == ["checkpoint"] * len(middle[1::2])


def test_requests_hold_a_checkpoint_and_the_larger_of_input_and_output():
    w = make(data=0.2, memory=4e9)
    checkpoint = np.where(moved(w, "checkpoint") > 0, 4e9 * w.jobs["nodes"].to_numpy(), 0)
    assert (w.jobs["fast"].to_numpy() == np.maximum(moved(w, "read"), moved(w, "write")) + checkpoint).all()


def told(w):
    return w.jobs.select(STATED).to_numpy().T.astype(float)


def true(w):
    return np.array([moved(w, kind) for kind in ("read", "write", "checkpoint")])


def test_statements_are_normal_around_the_truth():
    """With theta = 0.2 nothing is cut (5 standard deviations); over n jobs the mean of what is standard normal has an
    error of n^-1/2, its standard deviation one of (2n)^-1/2.
    """
    w = make(jobs=20_000, theta=0.2)
    for said, right in zip(told(w), true(w), strict=True):
        some = right > 0
        z = (said[some] - right[some]) / (0.2 * right[some])
        assert z.mean() == pytest.approx(0, abs=4 / len(z) ** 0.5)
        assert z.std() == pytest.approx(1, abs=4 / (2 * len(z)) ** 0.5)
        assert not said[~some].any()
    errors = [(said - right)[true(w).min(axis=0) > 0] for said, right in zip(told(w), true(w), strict=True)]
    assert len(errors[0]) > 1000
    signs = np.sign(errors)
    for i, j in ((0, 1), (0, 2), (1, 2)):  # a user's mistakes have nothing to do with one another
        assert abs((signs[i] * signs[j]).mean()) < 4 / len(errors[0]) ** 0.5


def test_statements_are_never_below_0():
    """With theta = 1 that cuts off one standard deviation: F(-1) = 0.1587 of the jobs say 0."""
    w = make(jobs=20_000, theta=1.0)
    said, right = told(w)[0], true(w)[0]
    assert said.min() == 0
    some = right > 0
    assert (said[some] == 0).mean() == pytest.approx(0.1587, abs=4 * (0.1587 * 0.8413 / some.sum()) ** 0.5)


def test_jobs_are_the_same_for_every_theta_and_noise():
    plain = make()
    assert not set(STATED) & set(plain.jobs.columns)  # without mistakes there is nothing to tell
    wrong = [make(theta=theta, noise=noise) for theta, noise in ((0.1, 0), (0.8, 0), (0.8, 1), (0.8, 2))]
    for w in wrong:
        assert w.jobs.drop(STATED).equals(plain.jobs)
        assert w.phases.equals(plain.phases)
        assert w.platform == plain.platform
    for a, b in ((0, 1), (1, 2), (2, 3)):
        for name in STATED:
            assert not wrong[a].jobs[name].equals(wrong[b].jobs[name])
    assert make(theta=0.8, noise=1).jobs.equals(wrong[2].jobs)
    assert not make(theta=0.8, noise=10**6).jobs.equals(wrong[2].jobs)  # as soon as any other


def test_a_child_is_that_which_would_be_spawned():
    for k in (0, 1, 20):
        children = np.random.default_rng(np.random.SeedSequence(7, spawn_key=(3,))).spawn(k + 1)
        ours = sas2019._child(np.random.default_rng(np.random.SeedSequence(7, spawn_key=(3,))), k)
        assert ours.random(3).tolist() == children[k].random(3).tolist()


def test_mistakes_grow_with_theta_for_the_same_draw():
    small, large = make(theta=0.1), make(theta=0.2)
    for a, b, right in zip(told(small), told(large), true(small), strict=True):
        assert b - right == pytest.approx(2 * (a - right), abs=1.5)  # of rounding


def test_totals_are_told():
    """Of the run time of all jobs; `io` and `data` are shares of each, less what does not make a whole checkpoint."""
    w, run = make(data=0.2, memory=1e9), run_times()
    spent = 100 * (moved(w, "read") + moved(w, "write")).sum() / RATE / run.sum()
    checkpoints = 100 * moved(w, "checkpoint").sum() / RATE / run.sum()
    line = w.provenance[0]
    assert line.endswith(f"; {spent:.3g} % of their time on input and output, {checkpoints:.3g} % on checkpoints")
    assert spent == pytest.approx(10, rel=0.1)
    assert 0 < checkpoints < 20


def test_a_machine_with_that_slow_tier_is_named():
    w = models.generate("sas2019:jobs=20,nodes=64,rate=2GB", 1)
    assert w.platform is not None
    assert load(w.platform) == load("sas2019:nodes=64,slow=2GB/s")
    assert fb.simulate(w, policy="sas").facts["job_model"] == "tiered"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("theta=1.5", "theta is 1.5; give a share from 0 to 1"),
        ("theta=-0.1", "theta is -0.1; give a share from 0 to 1"),
        ("theta=nan", "theta is nan"),
        ("io=2", "io is 2; give a share from 0 to 1"),
        ("data=-1", "data is -1; give a share from 0 to 1"),
        ("rate=0GB", "rate is 0; give a number above 0"),
        ("memory=0GB", "memory is 0; give a number above 0"),
        ("spread=-1", "spread is -1; give a number from 0 up"),
        ("noise=-1", "noise is -1; give a number from 0 up"),
        ("writes=1000000", "writes is 1000000; give 10,000 at most"),
        ("writes=0", "writes is 0; give a number from 1 up"),
        ("jobs=0", "jobs is 0"),
    ],
)
def test_what_makes_no_sense_is_refused(given, says):
    with pytest.raises(InputError) as caught:
        models.generate(f"sas2019:{given}", 1)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("p", [-0.1, 1.1, "nan"])
def test_probabilities_of_a_draw_are_checked(p):
    with pytest.raises(InputError, match="give a probability from 0 to 1"):
        fb.simulate(make(jobs=3), policy=f"tier-random:p={p}")
