"""Quantities in sidecar tables: with a unit they are taken in it, without one in bytes and seconds."""

import pytest

from forebay.errors import InputError
from forebay.workload import _sidecar
from forebay.workload.operations import attach_table
from fuzz import seeds

pytestmark = pytest.mark.small


def table(tmp_path, text):
    (tmp_path / "side.csv").write_text(text)
    return _sidecar.load(tmp_path / "side.csv")


def test_a_sidecar_may_have_units(tmp_path):
    text = "id,burst_buffer,walltime,run_time\n1,40GB,2h,90 min\n2, 1.5 GiB ,1 h 30 min,5\n3,7,60,1.5\n"
    found = attach_table(seeds.trace(), table(tmp_path, text)).jobs
    assert found["burst_buffer"].to_list() == [40 * 10**9, 3 * 2**29, 7, 0]
    assert found["walltime"].to_list() == [7200, 5400, 60, 60]
    assert found["run_time"].to_list() == [5400, 5, 1.5, 30]


@pytest.mark.parametrize(
    ("column", "word", "says"),
    [
        (
            "burst_buffer",
            "1.5",
            "burst_buffer is '1.5'; it must be a whole number from 0 up; bytes may have a unit: 1.5GB",
        ),
        ("burst_buffer", "40Gb", "burst_buffer is '40Gb'; it must be a whole number"),
        ("burst_buffer", "40 GB/s", "burst_buffer is '40 GB/s'"),
        ("burst_buffer", "-40GB", "burst_buffer is '-40GB'"),
        ("burst_buffer", "0.3B", "burst_buffer is '0.3B'"),
        ("burst_buffer", "99999PB", "burst_buffer is '99999PB'"),
        ("walltime", "2 weeks", "walltime is '2 weeks'; it must be a number above 0; seconds may have a unit: 1.5h"),
        ("walltime", "40GB", "walltime is '40GB'"),
        ("run_time", "1e16", "run_time is '1e16'; it must be a number from 0 up, 1e+10 at most"),
        ("nodes", "4GB", "nodes is '4GB'; it must be a whole number from 1 up"),
        ("nodes", "1000000001", "nodes is '1000000001'; it must be a whole number from 1 up, 1e+09 at most"),
    ],
)
def test_wrong_units_are_told_with_the_right_ones(tmp_path, column, word, says):
    with pytest.raises(InputError) as caught:
        attach_table(seeds.trace(), table(tmp_path, f"id,{column}\n1,{word}\n"), "side.csv")
    assert f"side.csv: line 2: {says}" in str(caught.value)
