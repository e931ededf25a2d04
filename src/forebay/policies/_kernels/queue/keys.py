"""What jobs are ordered by: rank, key and id, as floats, or as whole numbers in the last columns of an index.

Most keys never change while a job waits. Slurm's priorities do, but not in any way: all jobs grow older alike, up to an
age, and what a charge has used moves all its jobs alike. So rows of an index have what does not change, by charge, and
a *lift* has the rest. What follows for a part of the queue is the highest priority that somebody there may have.
"""

from typing import NamedTuple

import numpy as np
from numba import types

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.policies._families.multifactor import Clock, Number, Weight
from forebay.policies._kernels.priority.factors import priority_of
from forebay.policies._orders import ORDERS

AS_IS, _WALLTIME, PRIORITY, _NODES, _AREA, _USER, _GROUP, _QUEUE = range(len(ORDERS))
BY_NUMBER = len(ORDERS)  # by multifactor priority
RANK, KEY, ID, CAPPED, CLASS, LAST_CLASS = range(6)  # the last three only by number
_STATIC, _DYNAMIC = 3, 6  # columns
_BITS = 20  # of a fraction
_LARGE, _UNBOUNDED = 1 << 60, 1 << 61
_FEW = 4  # charges of a part that are looked at one by one
_ALL_BUT_SIGN = 0x7FFFFFFFFFFFFFFF


class Key(NamedTuple):
    """What jobs are ordered by: the smallest of sign x value goes first."""

    order: int
    sign: float
    numbers: np.ndarray  # float64[job, multifactor.Number], if by number
    weights: np.ndarray  # float64[multifactor.Weight], the same


KEYED = types.NamedTuple((types.int64, types.float64, types.float64[:, ::1], types.float64[::1]), Key)
"""A Key, to the compiler."""


class Lift(NamedTuple):
    """What priorities have beside what is in an index, in parts of 2^-20, rounded up; empty for other keys."""

    charges: np.ndarray  # int64[charge]: from its fair share
    most: int  # of them
    aged: int  # from age, as if everybody had come at 0
    full_age: int  # the most that age gives


LIFT = types.NamedTuple((types.int64[::1], types.int64, types.int64, types.int64), Lift)


def n_key_columns(order: int) -> int:
    """How many columns of an index keys of an order take."""
    return 0 if order == AS_IS else _DYNAMIC if order == BY_NUMBER else _STATIC


key_columns = kernel(n_key_columns)


@allocating_kernel
def key_by(order, sign):
    """A key that never changes."""
    return Key(order, sign, np.empty((0, 0)), np.empty(0))


@allocating_kernel
def key_by_number(numbers, weights):
    """The order of multifactor priorities, the highest first."""
    return Key(BY_NUMBER, -1.0, numbers, weights)


@kernel
def value_of(state, j, key):
    """A job's value, signed; not by number."""
    job = state.jobs[j]
    leg, order = job["leg"], key.order
    if order == AS_IS:
        return float(job["at"])
    if order == _WALLTIME:
        return key.sign * state.legs[leg]["walltime"]
    if order == PRIORITY:
        return key.sign * job["priority"]
    if order == _NODES:
        return key.sign * state.demands[leg, 0]
    if order == _AREA and state.demands[leg, 0] > 0:  # no walltime is long enough for 0 x inf
        return key.sign * (state.demands[leg, 0] * state.legs[leg]["walltime"])
    if order == _AREA:
        return key.sign * 0.0
    if order == _USER:
        return key.sign * job["user"]
    if order == _GROUP:
        return key.sign * job["group"]
    return key.sign * job["queue"]


@inlined_kernel
def _sortable(value):
    """Whole numbers in the order of floats."""
    bits = np.float64(value + 0.0).view(np.int64)
    return bits if bits >= 0 else bits ^ _ALL_BUT_SIGN


@kernel
def _fixed(value):
    """In parts of 2^-20, rounded up; nothing is so large that sums overflow."""
    scaled = value * 2.0**_BITS
    if scaled > _LARGE:
        return _UNBOUNDED
    return -_LARGE if scaled < -_LARGE else int(np.ceil(scaled + abs(scaled) * 1e-15)) + 1


@kernel
def stand_of(state, j, key):
    """Where a job stands in an order, as numbers: the least goes first."""
    job = state.jobs[j]
    if key.order == BY_NUMBER:
        return -job["rank"], -np.int64(priority_of(key.weights, key.numbers, j)), job["id"]
    return -job["rank"], _sortable(value_of(state, j, key)), job["id"]


@inlined_kernel
def is_known(row, first, key):
    """Whether a row has a job's key: one that is held back as it comes has none before it is let in."""
    return key.order != BY_NUMBER or row[first + KEY] != -_UNBOUNDED


@inlined_kernel
def goes_by_class(key):
    """Whether jobs of one charge are moved together: it pays to keep them together, though others ask for the same."""
    return key.order == BY_NUMBER and key.weights[Weight.FAIRSHARE] > 0.0


@kernel
def put_key(state, row, first, j, key):
    """Write down, from a column of a row on, what a job is ordered by."""
    row[first + RANK], row[first + ID] = -state.jobs[j]["rank"], state.jobs[j]["id"]
    if key.order != BY_NUMBER:
        row[first + KEY] = _sortable(value_of(state, j, key))
        return
    number, weights = key.numbers[j], key.weights
    charge = int(number[Number.CHARGE]) - 1
    if charge < 0:
        row[first + KEY] = row[first + CAPPED] = -_UNBOUNDED
        row[first + CLASS] = row[first + LAST_CLASS] = 0
        return
    fixed = number[Number.SIZE] + number[Number.PARTITION] + number[Number.QOS]
    row[first + KEY] = -_fixed(fixed - weights[Weight.AGE] * number[Number.SUBMIT] / weights[Weight.MAX_AGE])
    row[first + CAPPED] = -_fixed(fixed)
    row[first + CLASS], row[first + LAST_CLASS] = charge, -charge


@allocating_kernel
def lift_of(key, n_charges):
    """What priorities have beside, now."""
    charges, most = np.empty(n_charges, np.int64), 0
    if key.order != BY_NUMBER:
        return Lift(charges[:0], most, 0, 0)
    numbers, weights = key.numbers, key.weights
    for c in range(n_charges):
        charges[c] = _fixed(weights[Weight.FAIRSHARE] * numbers[c, Number.FACTOR])
        most = max(most, charges[c])
    latest = max(numbers[Clock.CALCULATED, Number.CLOCK], numbers[Clock.MET, Number.CLOCK])
    aged = _fixed(weights[Weight.AGE] * latest / weights[Weight.MAX_AGE])
    return Lift(charges, most, aged, _fixed(weights[Weight.AGE]))


@inlined_kernel
def bound_of(row, first, lift):
    """A stand that no job of a part goes before: rank, key and id."""
    if len(lift.charges) == 0:
        return row[first + RANK], row[first + KEY], row[first + ID]
    low, high, charged = row[first + CLASS], -row[first + LAST_CLASS], lift.most
    if low <= high < low + _FEW:
        charged = lift.charges[low]
        for c in range(low + 1, high + 1):
            charged = max(charged, lift.charges[c])
    most = min(lift.aged - row[first + KEY], lift.full_age - row[first + CAPPED]) + charged
    return row[first + RANK], -max(most >> _BITS, np.int64(1)), row[first + ID]
