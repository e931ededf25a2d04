"""Tables behind one pointer: kernels read and write the very arrays, nested ones and those of two dimensions too."""

from typing import NamedTuple

import numpy as np
import pytest

from forebay._numba.jit import allocating_kernel, kernel
from forebay._numba.pointer import pointer, pointer_type

pytestmark = pytest.mark.small

ROW = np.dtype([("a", "f8"), ("b", "i4")], align=True)


class Inner(NamedTuple):
    flags: np.ndarray
    rows: np.ndarray


class Outer(NamedTuple):
    first: np.ndarray
    inner: Inner
    grid: np.ndarray


def tables():
    return Outer(np.arange(3.0), Inner(np.zeros(2, np.int8), np.zeros(4, ROW)), np.arange(6).reshape(2, 3))


@kernel
def write(outer):
    outer.first[1] += 0.5
    outer.inner.flags[1] = 1
    row = outer.inner.rows[2]
    row["a"] = outer.grid[1, 2]
    row["b"] = len(outer.first) + outer.grid.shape[0]


@allocating_kernel
def keep(outer):
    """Copies and slices count references: the tables have no owner to count for."""
    total = 0.0
    for _ in range(100):
        part = outer.first[1:]
        total += part.copy().sum()
    return total


def test_kernels_write_to_the_arrays_themselves():
    ours = tables()
    write(pointer(ours))
    assert ours.first.tolist() == [0.0, 1.5, 2.0]
    assert ours.inner.flags.tolist() == [0, 1]
    assert ours.inner.rows[2].tolist() == (5.0, 5)


def test_a_tuple_by_value_does_the_same():
    ours = tables()
    write(ours)
    assert ours.first.tolist() == [0.0, 1.5, 2.0]
    assert ours.inner.rows[2].tolist() == (5.0, 5)


def test_kernels_that_allocate_leave_the_arrays_alive():
    ours = tables()
    assert keep(pointer(ours)) == 300.0
    assert ours.first.tolist() == [0.0, 1.0, 2.0]


def test_types_depend_on_the_tables_types_alone():
    assert pointer_type(tables()) == pointer_type(tables())
    other = tables()._replace(first=np.arange(3))
    assert pointer_type(tables()) != pointer_type(other)
