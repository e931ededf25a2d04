"""Run times without I/O, by hand."""

import numpy as np
import pytest

from forebay.errors import InputError
from forebay.workload import read, write
from forebay.workload.models import io_phases
from forebay.workload.workload import Workload, job_table

pytestmark = pytest.mark.small


def jobs(nodes, run, **more):
    n = len(nodes)
    columns = {"id": np.arange(n), "submit": np.arange(n), "walltime": [7200.0] * n, "run_time": run, "nodes": nodes}
    return Workload("x", job_table(columns | more), provenance=("made for a test",))


def test_run_times_by_hand():
    """40 x 1.25 GB / 1.25 GB/s = 40 s off each; 40 x 12.5 GB / 1.25 GB/s = 400 s, at most 95 % of the run time."""
    total = np.array([1_250_000_000, 5_000_000_000, 12_500_000_000, 12_500_000_000, 0])
    w = io_phases.attach(
        jobs([1, 4, 1, 1, 2], [100.0, 100.0, 1000.0, 300.0, 50.0], burst_buffer=total), np.random.default_rng(0)
    )
    assert w.jobs["run_time"].to_list() == pytest.approx([60.0, 60.0, 600.0, 15.0, 50.0])
    assert w.jobs["walltime"].to_list() == [7200.0] * 5
    silent = (w.jobs["communication"] == 0).to_list()
    assert silent == [True, False, True, True, False]


def test_parameters_change_the_rule():
    w = jobs([1, 1], [100.0, 10.0], burst_buffer=np.array([10**9, 10**9]))
    w = io_phases.attach(w, np.random.default_rng(0), kappa=2.0, bandwidth=1e8, floor=0.5)
    assert w.jobs["run_time"].to_list() == pytest.approx([80.0, 5.0])


def test_with_a_speed_work_is_given_in_flop_and_outlives_a_batsim_file(tmp_path):
    w = jobs([1, 2], [100.0, 100.0], burst_buffer=np.array([1_250_000_000, 2_500_000_000]))
    w = io_phases.attach(w, np.random.default_rng(0), speed=1e9)
    assert w.jobs["run_time"].to_list() == [0.0, 0.0]
    assert w.jobs["flop"].to_list() == pytest.approx([60e9, 60e9])
    write(w, tmp_path / "a.json")
    again = read(tmp_path / "a.json")
    assert again.phases is None
    assert again.jobs["flop"].to_list() == pytest.approx([60e9, 60e9])
    assert again.jobs["communication"].to_list() == pytest.approx(w.jobs["communication"].to_list())


def test_communication_is_normal_and_never_negative():
    n = 40_000
    w = jobs([2] * n, [100.0] * n, burst_buffer=np.zeros(n, np.int64))
    draws = io_phases.attach(w, np.random.default_rng(3)).jobs["communication"].to_numpy()
    assert draws.mean() == pytest.approx(100e6, abs=4 * 20e6 / n**0.5)
    assert draws.std() == pytest.approx(20e6, rel=4 / (2 * n) ** 0.5)
    wide = io_phases.attach(w, np.random.default_rng(3), spread=200e6).jobs["communication"].to_numpy()
    assert wide.min() == 0
    assert (wide == 0).mean() == pytest.approx(0.3085, abs=0.01)  # a normal below -1/2


def test_what_is_missing_is_said():
    with pytest.raises(InputError, match="attach the model 'burst-buffer' first"):
        io_phases.attach(jobs([1], [1.0]), np.random.default_rng(0))
    with pytest.raises(InputError, match="in flop"):
        io_phases.attach(jobs([1], [0.0], flop=[1e9], burst_buffer=np.array([1])), np.random.default_rng(0))
    with pytest.raises(InputError, match="floor is 2"):
        io_phases.attach(read("table1"), np.random.default_rng(0), floor=2.0)
