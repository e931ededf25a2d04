"""Sizes, run times, repetitions and load against what the docstring says."""

import numpy as np
import pytest

from cases.chunks import compiles
from forebay import simulate
from forebay.errors import InputError
from forebay.workload import models
from forebay.workload.info import describe
from forebay.workload.models import feitelson96

pytestmark = pytest.mark.small


def once(jobs=40_000, **more):
    """Jobs that are run once, so that draws are independent."""
    return feitelson96.generate(np.random.default_rng(1), jobs=jobs, repeats=1, **more)


def test_sizes_are_harmonic_with_powers_of_two():
    """Without emphasis P(1) / P(2) = 2^1.5; with an emphasis of 4, P(2) / P(3) = 4 x 1.5^1.5."""
    plain = feitelson96.size_shares(128, 1.5, 1.0)
    assert plain.sum() == pytest.approx(1)
    assert plain[0] / plain[1] == pytest.approx(2**1.5)
    shares = feitelson96.size_shares(128, 1.5, 4.0)
    assert shares[1] / shares[2] == pytest.approx(4 * 1.5**1.5)
    size = once().jobs["nodes"].to_numpy()
    for n in (1, 2, 3, 4, 8):
        share = shares[n - 1]
        assert (size == n).mean() == pytest.approx(share, abs=4 * (share * (1 - share) / 40_000) ** 0.5)


def test_run_times_are_hyper_exponential_by_size():
    """Mean of a serial job: 0.9484 x 1800 + 0.0516 x 12600 = 2357 s; rounding up adds half a second."""
    jobs = once(longest=1e9).jobs
    run = jobs.filter(jobs["nodes"] == 1)["run_time"].to_numpy()
    short = 0.95 - 0.2 / 128
    mean = short * 1800 + (1 - short) * 12600
    assert run.mean() == pytest.approx(mean + 1.5, abs=4 * run.std() / len(run) ** 0.5)
    assert run.std() / run.mean() > 1.2  # an exponential has 1


def test_larger_jobs_run_longer():
    jobs = once(order=0.5).jobs
    large, small = (jobs.filter(one)["run_time"].mean() for one in (jobs["nodes"] > 64, jobs["nodes"] <= 16))
    assert large > 1.15 * small


def test_run_times_keep_to_their_bounds():
    run = once(shortest=1800.0, longest=86400.0, mean=20_000.0).jobs["run_time"]
    assert run.min() >= 1800
    assert run.max() <= 86400


def test_repetitions_follow_their_power():
    """With two runs at most, P(2) = 2^-2.5 / (1 + 2^-2.5) = 0.1502; gaps of a day let all of them come."""
    w = models.generate("feitelson96:repeats=2,jobs=20000,gap=1d", 2)
    first = int(w.provenance[0].split(":")[1].split()[0].replace(",", ""))
    assert 20_000 / first - 1 == pytest.approx(0.1502, abs=4 * (0.1277 / first) ** 0.5)


def test_a_repetition_comes_when_the_run_before_would_end():
    for seed in range(20):
        jobs = feitelson96.generate(np.random.default_rng(seed), jobs=2, repeats=2, repeat_order=0.0, gap=1e6).jobs
        if jobs["run_time"][0] == jobs["run_time"][1]:
            assert jobs["submit"][1] == pytest.approx(jobs["run_time"][0], abs=1)
            return
    pytest.fail("no job was repeated")


def test_in_a_closed_loop_runs_are_the_same_and_each_follows_the_one_before():
    """The same jobs as without; of the runs of a job, alike in size and time, each names the one before it."""
    given = {"jobs": 400, "nodes": 32, "load": 0.9}
    free, closed = (feitelson96.generate(np.random.default_rng(3), closed=one, **given) for one in (False, True))
    assert closed.jobs.equals(free.jobs)
    assert free.dependencies is None
    sizes, runs = (dict(closed.jobs.select("id", name).rows()) for name in ("nodes", "run_time"))
    pairs = closed.dependencies.select("job", "parent").rows()
    assert len(pairs) == 400 - int(closed.provenance[0].split(":")[1].split()[0])  # all but the first run of each job
    assert len({job for job, _ in pairs}) == len({parent for _, parent in pairs}) == len(pairs)
    assert all(parent < job and (sizes[job], runs[job]) == (sizes[parent], runs[parent]) for job, parent in pairs)
    assert set(closed.dependencies["kind"]) == {"think"}


@compiles
def test_a_run_is_submitted_when_the_one_before_it_has_ended():
    """Where jobs wait, that is later than the time at which it would be without the loop."""
    w = feitelson96.generate(np.random.default_rng(3), jobs=120, nodes=16, load=2.0, closed=True)
    jobs = simulate(w, policy="fcfs", job_model="alloc-only").jobs
    came, ended = (dict(jobs.select("job_id", name).rows()) for name in ("submission_time", "finish_time"))
    planned = dict(w.jobs.select("id", "submit").rows())
    pairs = w.dependencies.select("job", "parent").rows()
    assert [came[job] for job, _ in pairs] == pytest.approx([ended[parent] for _, parent in pairs])
    assert max(came[job] - planned[job] for job, _ in pairs) > 600


@pytest.mark.parametrize("load", [0.2, 0.8, 3.0])
@pytest.mark.parametrize("jobs", [100, 3000])
def test_load_is_met(load, jobs):
    w = models.generate(f"feitelson96:jobs={jobs},load={load}", 4)
    assert describe(w)["offered_load"] == pytest.approx(load, rel=0.03)


def test_gap_is_the_mean_time_between_jobs():
    submit = once(gap=100.0).jobs["submit"].to_numpy()
    assert np.diff(submit).mean() == pytest.approx(100, abs=4 * 100 / 200)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"nodes": 0}, "nodes is 0"),
        ({"power_of_two": 0.0}, "power_of_two is 0"),
        ({"short": 1.2}, "short is 1.2; give a share"),
        ({"shortest": 10.0, "longest": 5.0}, "shortest is 10; give at most longest"),
        ({"load": 0.0}, "load is 0; give a number above 0"),
    ],
)
def test_bad_parameters_are_named(given, says):
    with pytest.raises(InputError, match=says):
        feitelson96.generate(np.random.default_rng(0), **given)
