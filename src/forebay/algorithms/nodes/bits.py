"""Sets of nodes as words of 32 bits: for asking which nodes are free during all of several intervals of time."""

from forebay._numba.jit import inlined_kernel, kernel
from forebay._numba.ones import n_ones

FROM_ZERO = True
_ALL = (1 << 32) - 1


@kernel
def mask(word, low, count):
    """The bits of `word` that stand for the nodes low, low + 1, ..."""
    begin = max(low - 32 * word, 0)
    end = min(low + count - 32 * word, 32)
    return ((1 << (end - begin)) - 1) << begin if end > begin else 0


@kernel
def fill(words, low, count):
    """Add the nodes low, low + 1, ..."""
    for w in range(low >> 5, ((low + count - 1) >> 5) + 1):
        words[w] |= mask(w, low, count)


@kernel
def wipe(words, low, count):
    """Take the nodes low, low + 1, ... out."""
    for w in range(low >> 5, ((low + count - 1) >> 5) + 1):
        words[w] &= ~mask(w, low, count)


@kernel
def count_word(x):
    """How many of the 32 bits are set."""
    return n_ones(x)


@inlined_kernel
def lowest(x):
    """Which bit is the lowest of those that are set; one is."""
    return count_word((x & -x) - 1)


@inlined_kernel
def is_in(words, node):
    """Whether the set has a node."""
    return (words[node >> 5] >> (node & 31)) & 1 != 0


@kernel
def next_run(words, node):
    """The next run of neighbours in the set from `node` on: the first of them, and the one behind the last.

    The first is -1 if there is none.
    """
    w, n = node >> 5, len(words)
    word = words[w] >> (node & 31) << (node & 31) if w < n else 0
    while word == 0:
        w += 1
        if w >= n:
            return -1, 32 * n
        word = words[w]
    first = 32 * w + lowest(word)
    gaps = ~words[w] & _ALL & ~((1 << (first & 31)) - 1)  # nodes behind the first that are not in it
    while gaps == 0:
        w += 1
        if w >= n:
            return first, 32 * n
        gaps = ~words[w] & _ALL
    return first, 32 * w + lowest(gaps)


@kernel
def count_bits(words):
    """How many nodes the set has."""
    count = 0
    for w in range(len(words)):
        count += count_word(words[w])
    return count
