"""No policy is below a bound: random cases of every kind that bounds are known for."""

import re

import numpy as np
import pytest

import forebay as fb
from forebay._bounds._objective import METRICS
from forebay.testing.drawing import KINDS, random_case
from forebay.testing.kinds import Failing, Sizes

POLICIES = ("fcfs", "fcfs-easy", "fcfs-bb", "sjf-bb", "filler")
_PLAIN = [kind for kind in KINDS if not isinstance(kind, Failing | Sizes)]


def check(seed, lp=False):
    """Every policy against every bound of one case; gives how many bounds say more than nothing."""
    case = random_case(np.random.default_rng(seed), _PLAIN)
    jobs, machine = case.workload(), case.platform()
    try:
        least = fb.bounds(jobs, machine, lp=lp, steps=25)
    except fb.ForebayError as error:
        assert re.search("no job of it runs for sure|submitted when others end", str(error))  # noqa: PT017
        return 0
    assert set(least.table["metric"]) <= set(METRICS)
    telling = 0
    for policy in POLICIES:
        result = fb.simulate(jobs, machine, policy)
        numbers = fb.summary(result)
        for row in least.table.iter_rows(named=True):
            value = numbers[row["metric"]]
            assert row["value"] <= value + 1e-9 * max(1.0, abs(value)), (seed, policy, row, case.text())
            telling += row["bound"] != "alone" and row["value"] > 1e-6
        gaps = least.gaps({policy: result})
        assert gaps["gap"].null_count() == 0
        assert (gaps["gap"] >= 0).all()
    return telling


@pytest.mark.parametrize("n_cases", [15, pytest.param(50, marks=pytest.mark.full)])
def test_random_cases(n_cases):
    """Bounds that prove nothing would pass, too: most of these say something."""
    telling = [check(seed, lp=seed % 5 == 0) for seed in range(n_cases)]
    assert np.count_nonzero(telling) > 0.6 * n_cases


@pytest.mark.full
@pytest.mark.parametrize("block", range(20))
def test_a_thousand_random_cases(block):
    """Fifty at a time."""
    for seed in range(1000 + 50 * block, 1050 + 50 * block):
        check(seed, lp=seed % 5 == 0)


@pytest.mark.parametrize("policy", ["fcfs-bb", "sjf-bb"])
@pytest.mark.parametrize("machine", ["dragonfly-96", "flat:nodes=96,burst_buffer=auto,pfs=5GB/s"])
def test_jobs_that_move_data(machine, policy):
    """Each job takes at least as long as bounds take it to, whatever else is on the links; and so do all together."""
    from forebay._bounds._bounds import _read
    from forebay._bounds._jobs import jobs_of
    from forebay.engine.build.tables import make_program

    jobs = fb.read("default")
    jobs = fb.Workload(jobs.name, jobs.jobs.head(150), platform=jobs.platform)
    settled, sized, model = _read(jobs, machine, "io-aware")
    certain = jobs_of(settled, sized, make_program(settled, sized, model))
    result = fb.simulate(jobs, machine, policy, job_model="io-aware")
    ran = dict(zip(result.jobs["job_id"].cast(int), result.jobs["execution_time"], strict=True))
    seconds = np.array([ran[job] for job in certain.ids.tolist()])
    assert (certain.total <= seconds * (1 + 1e-9)).all()
    assert (certain.total > 0.5 * seconds).mean() > 0.9  # close to it, too
    least = fb.bounds(jobs, machine, job_model="io-aware")
    assert "transfers have every link to themselves" in least.relaxed
    assert not least.table["metric"].str.contains("slowdown").any()
    numbers = fb.summary(result)
    for row in least.table.iter_rows(named=True):
        assert row["value"] <= numbers[row["metric"]] * (1 + 1e-9), row
