"""Multifactor priorities beside those that `sprio` of a real Slurm (22.05) shows: see priorities.py."""

import os
import tempfile

import numpy as np
import polars as pl
import pytest

from real_slurm.accounting import lacking
from real_slurm.priorities import COLUMNS, RECORDED, SETTINGS, WEIGHTS, computed, record
from real_slurm.record import write

pytestmark = pytest.mark.small
INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"


def compare(table, setting, of_usage=0.0):
    """Each factor times its weight within rounding, and the sum; ages to the second, which is all that Slurm keeps.

    Slurm charges usage when its thread wakes up, which on a busy machine is a little late: `of_usage` is a part of the
    weight by which shares may differ then (0.02 % was seen).
    """
    late = of_usage * WEIGHTS["Fairshare"]
    waiting = table["sum"].is_not_null().to_numpy()
    for name, weight in WEIGHTS.items():
        real = table[name].to_numpy()[waiting]
        ours = computed(table, setting, **{f"PriorityWeight{name}": weight})[waiting]
        within = 1 + {"Age": 2 * weight / 600, "Fairshare": late}.get(name, 0)
        assert np.abs(np.where(ours == 1, np.minimum(real, 1), ours) - real).max() <= within, name
    ours = computed(table, setting, **{f"PriorityWeight{name}": weight for name, weight in WEIGHTS.items()})[waiting]
    assert np.abs(ours - table["sum"].to_numpy()[waiting]).max() <= len(WEIGHTS) + 2 * WEIGHTS["Age"] / 600 + late


@pytest.mark.skipif(not INTERPRETED, reason="its policy is plain Python that calls kernels: NUMBA_DISABLE_JIT=1")
@pytest.mark.parametrize("setting", SETTINGS)
def test_factors_are_those_of_sprio(setting):
    table = pl.read_csv(RECORDED / f"priorities-{setting}.csv")
    assert table["Fairshare"].drop_nulls().n_unique() == 4  # users differ
    compare(table, setting)


@pytest.mark.full
@pytest.mark.skipif(not INTERPRETED, reason="its policy is plain Python that calls kernels: NUMBA_DISABLE_JIT=1")
@pytest.mark.skipif(bool(lacking()), reason=f"not installed: {lacking()}; see scripts/install_slurm.sh")
@pytest.mark.skipif(os.getuid() != 0, reason="only root submits jobs in the names of other users")
@pytest.mark.parametrize("setting", SETTINGS)
def test_factors_are_those_of_sprio_now(tmp_path, setting):
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:  # other users have no way to folders of pytest's
        write(tmp_path / "now.csv", COLUMNS, record(setting, folder))
    compare(pl.read_csv(tmp_path / "now.csv"), setting, of_usage=0.002)
