"""What is known of tables, taken out of kernels before they are typed; and nobody hands over what is not known."""

from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba import types

from forebay._numba.facts import ROWS, Fact
from forebay._numba.jit import kernel, ready
from forebay._numba.known import Known
from forebay._numba.pointer import PointerType, WrongFactError, pointer, pointer_type

pytestmark = pytest.mark.small
compiled = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="the compiler is off")

ROW = np.dtype([("mode", "i8"), ("size", "i8")], align=True)


class Within(NamedTuple):
    extra: np.ndarray
    more: np.ndarray


class Tables(NamedTuple):
    machine: np.ndarray
    numbers: np.ndarray
    within: Within


def tables(n_extra=0, mode=-1):
    machine = np.zeros(1, ROW)
    machine["mode"], machine["size"] = mode, 7
    return Tables(machine, np.arange(4.0), Within(np.ones(n_extra), np.ones(3)))


KIND = pointer_type(tables())
NO_EXTRA = Fact("within.extra", ROWS, 0, 0)
NO_MODE = Fact("machine", "mode", -1, -1)


def cannot_be_typed(of):
    """Numba refuses to compile what calls this: it is there where nothing is known, and must be gone."""
    return of.no_such_attribute


def compiled_for(function, *facts, more=()):
    """The function's kernel for so much, and the tables as it takes them."""
    made = kernel(types.float64(KIND, *more))(function)
    return ready(made, frozenset(facts)), PointerType(KIND.tables, frozenset(facts))


def answer(function, given, *facts):
    entry, kind = compiled_for(function, *facts)
    return entry(pointer(given, kind))


@compiled
def test_a_test_for_rows_is_folded_and_what_it_leads_to_is_not_typed():
    def length(given):
        if len(given.within.extra) > 0:
            return cannot_be_typed(given)
        return 2.0

    assert answer(length, tables(), NO_EXTRA) == 2.0
    with pytest.raises(numba.TypingError):
        answer(length, tables())


@compiled
def test_so_are_numbers_of_the_first_row_however_they_are_combined():
    def mode(given):
        known = given.machine[0]["mode"] >= 0 and given.numbers[0] > 0.0
        if known or (not known and given.machine[0]["mode"] > 3):
            return cannot_be_typed(given)
        return given.numbers[3]

    assert answer(mode, tables(), NO_MODE) == 3.0


@compiled
def test_loops_over_nothing_and_tuples_that_are_taken_apart():
    def loops(given):
        a, b, c, n = given.numbers[1], given.numbers[2], given.machine[0], len(given.within.extra)
        for i in range(n):
            a += cannot_be_typed(i)
        for one in given.within.extra:
            a += cannot_be_typed(one)
        while n > 0:
            a += cannot_be_typed(n)
        return a + b + c["size"]

    assert answer(loops, tables(), NO_EXTRA) == 10.0


@kernel
def is_extra(given):
    return len(given.within.extra) > 0


@kernel
def first_extra(within):
    return within.extra[0] if len(within.extra) > 0 else np.inf


@kernel
def add_extra(given):
    """It would write, and never does."""
    if is_extra(given):
        given.numbers[0] += 1.0


@kernel
def counts(given):
    """It always returns the same, and does something else, too."""
    given.numbers[0] += 1.0
    return 5.0


@compiled
def test_what_other_kernels_then_always_return_is_known():
    def asks(given):
        add_extra(given)
        if is_extra(given) or first_extra(given.within) < 1e300:
            return cannot_be_typed(given)
        return counts(given) + counts(given)

    given = tables()
    assert answer(asks, given, NO_EXTRA) == 10.0
    assert given.numbers[0] == 2.0  # those that write are called


@compiled
def test_what_is_not_known_is_asked_for():
    def both(given):
        total = 0.0
        if len(given.within.more) > 0:
            total += len(given.within.more)
        if len(given.within.extra) > 0:
            total += 100.0
        if given.machine[0]["size"] > 5:
            total += 10.0
        return total

    assert answer(both, tables(), NO_EXTRA, NO_MODE) == 13.0
    assert answer(both, tables(2)) == 113.0


@compiled
@pytest.mark.parametrize(("low", "high", "least"), [(0, 1, 0.0), (1, 1, 10.0), (2, 9, 20.0)])
def test_bounds_of_numbers_of_an_array(low, high, least):
    def depth(given, params):
        if params[1] > 1:
            return 20.0 if params[1] >= 2 else cannot_be_typed(given)
        return 10.0 if params[1] == 1 else 0.0

    row, array = np.array([0.0, low]), types.float64[::1]
    known = frozenset({Fact("", "1", low, high)})
    made = kernel(types.float64(KIND, array))(depth)
    assert Known(array, known) != array
    assert repr(types.void(Known(array, known))) != repr(types.void(array))  # files of the store are named by it
    assert (
        ready(made, frozenset({NO_MODE}), known)(pointer(tables(), PointerType(KIND.tables, frozenset({NO_MODE}))), row)
        == least
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (tables(2), "Tables.within.extra has 2 rows, .* knows 0;"),
        (tables(0, 4), "Tables.machine has 4 in mode, .* knows -1;"),
    ],
)
def test_no_pointer_is_made_to_tables_of_which_a_fact_does_not_hold(given, words):
    kind = PointerType(KIND.tables, frozenset({NO_EXTRA, NO_MODE}))
    pointer(tables(), kind)
    with pytest.raises(WrongFactError, match=words):
        pointer(given, kind)


@compiled
def test_who_knows_less_takes_what_is_known_and_never_the_other_way_round():
    def plain(given):
        return given.numbers[2]

    general, some = KIND, PointerType(KIND.tables, frozenset({NO_EXTRA}))
    assert some.can_convert_to(None, general) is not None
    assert general.can_convert_to(None, some) is None
    entry, _ = compiled_for(plain, NO_EXTRA)
    with pytest.raises(TypeError):
        entry(pointer(tables(), general))
