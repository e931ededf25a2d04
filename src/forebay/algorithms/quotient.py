"""Whole quotients without the processor's integer division, which takes some forty cycles on many of today's."""

from forebay._numba.jit import inlined_kernel

_EXACT = 2**53  # up to here every whole number is a float


@inlined_kernel
def quotient(a, b):
    """How often `b` (1 or more) goes into `a` (0 or more).

    Below 2**53 the float quotient, rounded, is never a whole number that is too large: the next one lies at least 1 / b
    above the true quotient, and that is more than half the distance of floats there.
    """
    if a < _EXACT:
        return int(a / b)
    return a // b
