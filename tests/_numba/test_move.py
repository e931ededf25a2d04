"""Rows moved in one go, compiled or not: those that are meant, and no others."""

import numpy as np
import pytest

from forebay._numba.jit import kernel
from forebay._numba.move import copy_rows, shift_rows

pytestmark = pytest.mark.small


@kernel
def copy(source, target, n):
    copy_rows(source, target, n)


@kernel
def shift(table, first, n):
    shift_rows(table, first, n)


@pytest.mark.parametrize("n", range(4))
@pytest.mark.parametrize("columns", [0, 1, 3])
def test_copy(columns, n):
    source, target = np.arange(4 * columns).reshape(4, columns), np.full((3, columns), -1)
    copy(source, target, n)
    assert target.tolist() == source[:n].tolist() + [[-1] * columns] * (3 - n)


@pytest.mark.parametrize(("first", "n"), [(0, 0), (0, 1), (0, 3), (1, 3), (2, 3), (3, 3)])
@pytest.mark.parametrize("columns", [0, 1, 3])
def test_shift(columns, first, n):
    """Rows first to n - 1 go one up over the next one; the first of them is then there twice."""
    table = np.arange(5 * columns).reshape(5, columns)
    rows = table.tolist()
    shift(table, first, n)
    moved = rows[: first + 1] + rows[first:n] + rows[n + 1 :] if n > first else rows
    assert table.tolist() == moved
