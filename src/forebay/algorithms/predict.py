"""How long something will take, by what its likes took last: a short memory a key, and what to do about a bad guess."""

from forebay._numba.jit import kernel

_STEPS = (60.0, 300.0, 900.0, 1800.0, 3600.0, 7200.0, 18000.0, 36000.0, 72000.0, 180000.0, 360000.0)


@kernel
def row_of(keys, a, b, c):
    """Where the key (a, b, c) stands in the columns of `keys`, by open addressing: its place, or the blank one to be.

    Blank is where the first of the three is 0; there must be one.
    """
    n = keys.shape[1]
    i = (31 * (31 * a + b) + c) % n
    while keys[0, i] != 0 and (keys[0, i] != a or keys[1, i] != b or keys[2, i] != c):
        i = (i + 1) % n
    return i


@kernel
def remember(last, counts, row, seconds):
    """Note how long the latest one took, in place of the oldest noted."""
    last[counts[row] % last.shape[0], row] = seconds
    counts[row] += 1


@kernel
def recall(last, counts, row, asked, weight):
    """The mean of those noted and of what was asked for, which counts as `weight` of them; just that if none are."""
    n = min(counts[row], last.shape[0])
    if n == 0:
        return asked
    total = weight * asked if weight > 0.0 else 0.0
    for k in range(n):
        total += last[k, row]
    return total / (n + weight)


@kernel
def corrected(guess, elapsed):
    """A guess that has been passed, longer by the first of some steps that reaches beyond what has elapsed.

    The steps are those of Tsafrir, Etsion & Feitelson (2007): 1, 5, 15, 30 minutes, 1, 2, 5, 10, 20, 50, 100 hours.
    """
    for step in _STEPS:
        if guess + step > elapsed:
            return guess + step
    return elapsed + _STEPS[-1]
