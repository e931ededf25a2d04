"""Who displaces whom, and when, beside a real Slurm (22.05) with preempt/qos: see preemption.py."""

import polars as pl
import pytest

from real_slurm.accounting import lacking
from real_slurm.preemption import CASES, COLUMNS, RECORDED, record, simulated
from real_slurm.record import write

pytestmark = pytest.mark.small


def compare(table, case):
    """The same jobs start in time, and the same are displaced; up to the last time that was watched."""
    watched, within = table["submit"].max() + 60.0, CASES[case].within
    for word, ours in zip(("start", "displaced"), simulated(table, case), strict=True):
        real = dict(table.filter(pl.col(word).is_not_null()).select("name", word).iter_rows())
        ours = {name: when for name, when in ours.items() if when < watched}
        assert ours.keys() == real.keys(), word
        assert all(abs(ours[name] - when) <= within for name, when in real.items()), (word, ours, real)


@pytest.mark.parametrize("case", CASES)
def test_the_same_jobs_are_displaced(case):
    table = pl.read_csv(RECORDED / "preemption.csv").filter(pl.col("case") == case)
    assert table["displaced"].is_not_null().any()
    compare(table, case)


@pytest.mark.full
@pytest.mark.skipif(bool(lacking()), reason=f"not installed: {lacking()}; see scripts/install_slurm.sh")
def test_a_real_one_now(tmp_path):
    write(tmp_path / "now.csv", COLUMNS, record("behind", tmp_path / "slurm"))
    compare(pl.read_csv(tmp_path / "now.csv"), "behind")
