"""SWF text to columns: blocks at once and line by line agree, line numbers hold, and memory stays bounded."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forebay.errors import InputError
from forebay.workload.formats import _swf_lines, swf

small = pytest.mark.small


def line(job: int, submit: int) -> str:
    return f"{job} {submit} -1 10 4 -1 -1 4 60 -1 1 -1 -1 -1 -1 -1 -1 -1"


@pytest.fixture
def file(tmp_path):
    """A function that puts text in a file and gives its path."""

    def put(text):
        (tmp_path / "trace.swf").write_text(text)
        return tmp_path / "trace.swf"

    return put


@small
def test_line_numbers_hold_beyond_the_first_block(file, monkeypatch):
    monkeypatch.setattr(_swf_lines, "_BLOCK", 200)
    good = [line(job, job) for job in range(1, 41)]
    assert swf.read(file("\n".join(good))).jobs["id"].to_list() == list(range(1, 41))
    good[32] = "; MaxProcs: 77"
    good[35] += "x"
    with pytest.raises(InputError, match=r"line 36: field 18 \(think time\) is '-1x'"):
        swf.read(file("\n".join(good)))
    good[35] = line(5, 99)
    with pytest.raises(InputError, match="line 36: is job 5, as is line 5"):
        swf.read(file("\n".join(good)))


number = st.one_of(st.integers(-(10**12), 10**12).map(str), st.floats(allow_nan=False, allow_infinity=False).map(repr))
row = st.lists(number, min_size=18, max_size=20).map(" ".join)


@small
@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.lists(st.one_of(row, st.sampled_from(["", "  "])), max_size=6))
def test_blocks_of_lines_read_as_line_by_line(rows):
    text = "\n".join(rows).encode()
    fast, careful = _swf_lines._fast(text), _swf_lines._careful(text, 1, Path("t.swf"))
    assert fast is not None
    np.testing.assert_array_equal(fast.values, careful.values)
    np.testing.assert_array_equal(fast.lines, careful.lines)
    assert fast.widest == careful.widest


def test_a_large_file_is_read_in_bounded_memory(file):
    """The text, a few columns, the frame and a block's index: not 18 Python objects (500 bytes and more) a line."""
    pad = " " * 40
    path = file("\n".join(f"{job} {job} -1 9{pad}4 -1 -1 4 60 -1 1 1 1 -1 1 -1 -1 -1" for job in range(1, 100_001)))
    tracemalloc.start()
    w = swf.read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(w) == 100_000
    assert peak < 8 * path.stat().st_size
