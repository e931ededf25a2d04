"""The policy slurm compared with a real Slurm (22.05) on shared nodes in two partitions that overlap: see site.py."""

import os

import numpy as np
import pytest

from real_slurm.agreement import concordance, cycles, in_step, simulated
from real_slurm.site import machine, read

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
OPTIONS = {"bf_interval": 5.0, "bf_resolution": 5.0}
interpreted = pytest.mark.skipif(
    not INTERPRETED, reason="its policy is plain Python that calls kernels: NUMBA_DISABLE_JIT=1"
)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_run_by_itself_starts_jobs_in_nearly_the_real_order(seed):
    recorded = read(f"site-{seed}")
    ours = simulated(recorded, "slurm:bf_interval=5,bf_resolution=5", machine())
    assert concordance(recorded["start"].to_numpy(), ours) > 0.95


@pytest.mark.full
@interpreted
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_each_decision_is_as_the_real_one_in_the_same_cycles(seed):
    """What is left are seconds: Slurm counts in whole ones, and a cycle that starts a job may last into the next."""
    from real_slurm.forced import Forced

    recorded = read(f"site-{seed}")
    real = recorded["start"].to_numpy()
    policy = Forced(real, recorded["allocated"], cycles(f"site-{seed}"), **OPTIONS)
    simulated(recorded, policy, machine())
    off = policy.wanted - real
    assert np.mean(abs(off) <= 2) >= 0.96
    assert all(policy.picked[k] == policy.had(k) for k in np.flatnonzero(off == 0))


@pytest.mark.full
@interpreted
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_run_in_the_same_cycles_keeps_in_step(seed):
    off = in_step(read(f"site-{seed}"), cycles(f"site-{seed}"), machine(), **OPTIONS)
    assert np.mean(abs(off) <= 2) >= 0.95
