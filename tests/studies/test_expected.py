"""Published numbers: found by their keys, each with a source."""

import pytest

from forebay.errors import InputError
from forebay.studies._expected import COLUMNS, read_expected

pytestmark = pytest.mark.small

HEAD = ",".join(COLUMNS) + "\n"


@pytest.fixture
def expected(tmp_path):
    def read(*lines, head=HEAD):
        path = tmp_path / "expected.csv"
        path.write_text(head + "".join(f"{line}\n" for line in lines))
        return read_expected(path)

    return read


def test_found_by_keys(expected):
    found = expected("parts,3,io-aware,fcfs,wait,1.5,0.05,Fig. 1", "full,,io-aware,fcfs,wait,2,,Table 1")
    one = found.find(section="parts", part=3, job_model="io-aware", policy="fcfs", metric="wait")
    assert (one.value, one.tolerance, one.source) == (1.5, 0.05, "Fig. 1")
    assert found.find(section="full", part=None, job_model="io-aware", policy="fcfs", metric="wait").tolerance is None
    assert found.find(section="parts", part=4, job_model="io-aware", policy="fcfs", metric="wait") is None
    assert len(found) == 2


def test_means_are_over_every_part_or_none(expected):
    found = expected("parts,3,io-aware,fcfs,wait,1.5,0.05,Fig. 1", "parts,13,io-aware,fcfs,wait,2.5,0.05,Fig. 1")
    keys = {"section": "parts", "job_model": "io-aware", "policy": "fcfs", "metric": "wait"}
    assert found.mean_over((3, 13), **keys) == 2
    assert found.mean_over((3, 10), **keys) is None
    assert found.mean_over((), **keys) is None


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["a,,,,x,1,,"], ":2: has no source"),
        (["a,,,,x,one,,here"], ":2: 'one' is not a number"),
        (["a,,,,x,1,,here", "a,,,,x,2,,there"], ":3: this number is given twice"),
    ],
)
def test_slips_are_named(expected, lines, says):
    with pytest.raises(InputError, match=says):
        expected(*lines)


def test_other_columns(expected):
    with pytest.raises(InputError, match="its columns must be section, part"):
        expected(head="a,b\n")
