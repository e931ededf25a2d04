"""The policy slurm beside what a real Slurm (22.05) did with 100 random jobs on 8 nodes: see record.py.

A schedule is chaotic: a job that starts a second later moves all that follow. So three things are held: that each
decision is as the real one's, on what really ran (`forced`); that a run whose schedulers run when the real ones did
keeps in step; and that a run by itself starts jobs in nearly the real order, after nearly the real waits.
"""

import os

import numpy as np
import pytest

from real_slurm.agreement import concordance, cycles, in_step, one_by_one, read, simulated
from real_slurm.cluster import missing
from real_slurm.record import COLUMNS, record

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
SPEC = "slurm:bf_interval=5,bf_resolution=5,reservations=pinned"


@pytest.mark.parametrize("seed", range(1, 11))
def test_a_run_by_itself_starts_jobs_in_nearly_the_real_order(seed):
    recorded = read(f"nodes-{seed}")
    real, submit = recorded["start"].to_numpy(), recorded["submit"].to_numpy()
    ours = simulated(recorded, SPEC)
    assert concordance(real, ours) > 0.95
    assert 0.75 < (ours - submit).mean() / (real - submit).mean() < 1.1


@pytest.mark.parametrize(("setting", "interval"), [("often", 1), ("nodes", 5)])
def test_a_run_by_itself_is_as_near_to_slurm_as_slurm_is_to_itself(setting, interval):
    """The same jobs were recorded three times. Of pairs of jobs, 98 % start in the same order in two of these."""
    spec = f"slurm:bf_interval={interval},bf_resolution={interval},reservations=pinned"
    repeated, simulations = [], []
    for seed in range(6, 11):
        runs = [read(f"{setting}-{seed}{which}") for which in ("", "-a", "-b")]
        starts = [(run["start"] - run["submit"][0]).to_numpy() for run in runs]
        repeated += [concordance(starts[i], starts[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
        simulations += [concordance(run["start"].to_numpy(), simulated(run, spec)) for run in runs]
    assert np.mean(simulations) > np.mean(repeated) - 0.01
    assert min(simulations) > min(repeated) - 0.01


@pytest.mark.parametrize(("setting", "option"), [("licenses", ",bf_licenses=true"), ("no_bf_licenses", "")])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_with_licences(setting, option, seed):
    recorded = read(f"{setting}-{seed}")
    assert concordance(recorded["start"].to_numpy(), simulated(recorded, SPEC + option)) > 0.93


@pytest.mark.full
@pytest.mark.skipif(not INTERPRETED, reason="its policy is plain Python that calls kernels: NUMBA_DISABLE_JIT=1")
@pytest.mark.parametrize(("setting", "interval", "least"), [("often", 1.0, 0.94), ("nodes", 5.0, 0.8)])
@pytest.mark.parametrize("seed", range(1, 11))
def test_each_decision_is_as_the_real_one(setting, interval, least, seed):
    options = {"bf_interval": interval, "bf_resolution": interval, "reservations": "pinned"}
    off = one_by_one(read(f"{setting}-{seed}"), **options)
    assert np.mean(abs(off) <= 2) >= least
    assert np.mean(abs(off) <= interval + 2) >= 0.95


@pytest.mark.full
@pytest.mark.skipif(not INTERPRETED, reason="its policy is plain Python that calls kernels: NUMBA_DISABLE_JIT=1")
@pytest.mark.parametrize(("setting", "interval"), [("often", 1.0), ("nodes", 5.0)])
@pytest.mark.parametrize("seed", range(6, 11))
def test_each_decision_is_as_the_real_one_in_the_same_cycles(setting, interval, seed):
    name, options = f"{setting}-{seed}", {"bf_interval": interval, "bf_resolution": interval, "reservations": "pinned"}
    off = one_by_one(read(name), cycles(name), **options)
    assert np.mean(abs(off) <= 2) >= 0.97
    assert np.mean(abs(off) <= interval + 2) >= 0.98


@pytest.mark.skipif(not INTERPRETED, reason="its policy is plain Python that calls kernels: NUMBA_DISABLE_JIT=1")
@pytest.mark.parametrize("seed", range(6, 11))
def test_a_run_in_the_same_cycles_keeps_in_step(seed):
    """All 100 jobs in the real order, and nearly all to the second: nodes come free up to some seconds late."""
    recorded = read(f"nodes-{seed}")
    options = {"bf_interval": 5.0, "bf_resolution": 5.0, "reservations": "pinned"}
    off, real = in_step(recorded, cycles(f"nodes-{seed}"), **options), recorded["start"].to_numpy()
    assert concordance(real, real + off) > 0.999
    assert np.mean(abs(off) <= 2) >= 0.9


@pytest.mark.full
@pytest.mark.skipif(not INTERPRETED, reason="its policy is plain Python that calls kernels: NUMBA_DISABLE_JIT=1")
@pytest.mark.parametrize("setting", ["licenses", "no_bf_licenses"])
def test_each_decision_with_licences_is_as_the_real_one(setting):
    options = {"bf_interval": 5.0, "bf_resolution": 5.0, "reservations": "pinned", "bf_licenses": setting == "licenses"}
    off = one_by_one(read(f"{setting}-3"), cycles(f"{setting}-3"), **options)
    assert np.mean(abs(off) <= 2) >= 0.96


@pytest.mark.full
@pytest.mark.skipif(bool(missing()), reason=f"not installed: {missing()}; see scripts/install_slurm.sh")
def test_a_real_one_now(tmp_path):
    import polars as pl

    rows, times = record(11, "often", tmp_path, n_jobs=15)
    recorded = pl.DataFrame(rows, schema=list(COLUMNS), orient="row")
    assert set(recorded["state"]) == {"COMPLETED"}
    ours = simulated(recorded, "slurm:bf_interval=1,bf_resolution=1,reservations=pinned")
    assert concordance(recorded["start"].to_numpy(), ours) > 0.85
    assert {which for _, which in times} >= {"main", "backfill"}
