"""Codes of a workload, whatever they are, as numbers 0, 1, 2, ... in the order in which they came."""

from forebay._numba.jit import kernel
from forebay.policies._families.multifactor import Column

CHARGES, USERS, PARTITIONS, ACCOUNTS = 0, 1, 2, 3
"""Kinds: charges, users, partitions and accounts of jobs."""


@kernel
def number_of(integers, which, code):
    """The number 0, 1, ... of a code among those of a kind."""
    slots = Column.CHARGE_SLOT + 2 * which if which < ACCOUNTS else Column.ACCOUNT_SLOT.value
    codes = slots + 1
    at = code % len(integers) * 2654435761 % len(integers)  # Knuth's multiplicative hash
    while integers[at, slots] > 0:
        if integers[integers[at, slots] - 1, codes] == code:
            return integers[at, slots] - 1
        at = (at + 1) % len(integers)
    number = integers[which, Column.COUNT]
    integers[which, Column.COUNT] = number + 1
    integers[at, slots] = number + 1
    integers[number, codes] = code
    return number
