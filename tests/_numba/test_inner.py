"""Kernels become part of those that call them: each is compiled once for every way into compiled code."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from forebay._numba.jit import INNER, kernel, ready

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="the compiler is off")


@kernel
def _double(x):
    return 2 * x


@kernel
def _add(x, y):
    return _double(x) + y


@kernel(numba.types.float64(numba.types.float64[::1]))
def total(values):
    """The sum, every item doubled."""
    result = 0.0
    for value in values:
        result = _add(value, result)
    return result


@numba.njit
def plain(values):
    return total(values) + _double(1.0)


def test_the_hooks_are_in_use():
    """Where a release of Numba takes them away, everything still runs, and compiles for twice as long: know it here."""
    assert INNER


def test_called_from_python_and_from_kernels():
    values = np.array([1.0, 2.0, 3.5])
    assert total(values) == ready(total)(values) == 13.0
    assert _double(4) == 8


def test_numbas_part_is_made_when_numba_asks():
    """A run whose entries are in the cache needs none, and imports hundreds of kernels."""

    @kernel
    def thrice(x):
        return 3 * x

    assert "_inner" not in vars(thrice)
    assert numba.njit(lambda x: thrice(x) + 1)(2) == 7
    assert "_inner" in vars(thrice)


def test_they_take_arguments_by_name():
    assert _add(y=1, x=2) == 5


def test_users_may_call_them_from_plain_functions():
    """A kernel below another one is linked in, too."""
    assert plain(np.array([1.0, 2.0])) == 8.0


def test_what_kernels_call_is_not_emitted_by_itself(tmp_path):
    """The entry holds all three in one library; LLVM inlines them and drops what nobody asks for."""
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_inner import ready, total\n"
        "(result,) = ready(total).overloads.values()\n"
        "print(*[line for line in result.library.get_asm_str().splitlines() if line.endswith(':')])"
    )
    defined = _python(code, FOREBAY_CACHE_DIR=str(tmp_path)).stdout  # what comes from a cache cannot be looked into
    assert "total" in defined
    assert "_double" not in defined
    assert "_add" not in defined


@kernel
def _halves(values):
    return values[: len(values) // 2], values[len(values) // 2 :]


def test_arrays_are_returned_by_those_who_count_them():
    """The caller would count one owner less than there is: memory is then freed while it is in use."""

    @kernel
    def use(values):
        return _halves(values)[0][0]

    with pytest.raises(TypeError, match="_halves returns an array: make it an allocating_kernel"):
        use(np.zeros(4))


def test_bounds_are_checked_where_asked_for(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "import numpy as np\nfrom forebay._numba.jit import kernel\n"
        "@kernel\ndef at(values, i):\n    return values[i]\n"
        "@kernel\ndef first(values, i):\n    return at(values, i)\n"
        "first(np.zeros(3), 7)"
    )
    done = _python(f"import runpy; runpy.run_path({str(path)!r})", NUMBA_BOUNDSCHECK="1")
    assert "IndexError" in done.stderr


def test_without_the_hooks_all_is_as_numba_does_it(tmp_path):
    code = (
        "from forebay._numba.jit import INNER, ready\nfrom forebay.algorithms.nodes.setformat import write_sets\n"
        "print(INNER, type(ready(write_sets)).__name__)"
    )
    done = _python(code, FOREBAY_INNER_KERNELS="0", FOREBAY_CACHE_DIR=str(tmp_path))
    assert done.stdout.split() == ["False", "CPUDispatcher"], done.stderr


def _python(code, **environment):
    path = os.pathsep.join(sys.path)
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": path} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
