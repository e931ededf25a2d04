"""Places in arrays that never count from the end: read and written alike, without a look at their sign."""

from types import FunctionType

import numba
import numpy as np
import pytest
from numba import types

from forebay._numba.jit import kernel

pytestmark = [pytest.mark.small, pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="the compiler is off")]

_i8 = types.int64


def gather(table, places):
    """Read and write at places that are known at run time only: in a row, in a row of a table, in part of a row."""
    total = 0
    for i in range(len(places)):
        p = places[i]
        total += table[p, p] + table[p, 1:][p]
        table[p, 0] += total
        table[p][p] -= i
    return total


def compiled(from_zero):
    named = {**globals(), "FROM_ZERO": from_zero}
    plain = FunctionType(gather.__code__, named, "gather_from_zero" if from_zero else "gather_as_numba_does")
    return kernel(_i8(_i8[:, ::1], _i8[::1]))(plain)


def answer(function):
    table, places = np.arange(30).reshape(5, 6), np.array([3, 0, 2, 2, 4])
    return function(table, places), table


def test_the_same_is_read_and_written():
    total, table = answer(gather)
    for from_zero in (False, True):
        found = answer(getattr(compiled(from_zero), "entry", compiled(from_zero)))
        assert found[0] == total
        np.testing.assert_array_equal(found[1], table)


def test_a_place_from_the_end_is_asked_for_only_where_a_module_does_not_rule_it_out():
    asked = []
    for from_zero in (False, True):
        entry = getattr(compiled(from_zero), "entry", compiled(from_zero))
        asked.append(sum("icmp slt" in line for line in "".join(entry.inspect_llvm().values()).splitlines()))
    assert asked[1] < asked[0]
