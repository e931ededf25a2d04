"""The genetic search of BBSched (Fan et al., HPDC 2019): which jobs of a window to start, for several objectives.

A selection is a word whose bit i stands for job i; it fits if no resource's load exceeds its room. Loads of the first
resources are objectives; those beyond are mere limits. The answer is a
Pareto set: selections that no other equals in all objectives and beats in one. Jobs that do not fit alone are left out
of the search; if the others fit together they are the answer at once, whatever they waste.

At first there are the selections of a single job (random ones if they are too many), then random selections: jobs in
random order, each with chance one half, if it still fits. In each generation random pairs have two children by
one-point crossover, and genes mutate. Children that do not fit, or that are there already, are dropped. The Pareto set
of old and new survives (random ones of it if it is too large); places left go to the youngest of the others, and of
equally old ones to those made first. Selections with equal objectives do not dominate each other.

A window has at most 62 jobs. Demands are int64, a row a job and a column a resource; room is less than 2**62.
"""

import math

import numpy as np

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.core.stopping import stopped

SETTINGS = ("generations", "population", "pairs", "mutation", "middle", "flips", "coded")
"""What a search reads, in this order: how many generations; how many selections survive; the share of them that has
children (two a pair); the chance of each gene to mutate; whether crossover is in the middle, not anywhere; single genes
flipped in each generation's children, as a share of the population; and whether the numbers of selections and of
generations shrink with few genes, as in the authors' program."""
GENERATIONS, POPULATION, PAIRS, MUTATION, MIDDLE, FLIPS, CODED = range(7)

_BITS, _BORN, _BEST, _POINT = 0, 1, 2, 3  # columns of a population: genes, generation, on the front or not, objectives


@kernel
def _below(n, rng):
    return int(rng.random() * n)


@kernel
def _shuffle(order, n, rng):
    """Places 0, 1, ... in random order."""
    for i in range(n):
        order[i] = i
    for i in range(n - 1, 0, -1):
        j = _below(i + 1, rng)
        order[i], order[j] = order[j], order[i]


@kernel
def sizes(settings, genes):
    """How many generations there are, and how many selections survive each."""
    if settings[CODED] == 0.0:
        return int(settings[GENERATIONS]), int(settings[POPULATION])
    n_sets = 2.0**genes
    generations = min(settings[GENERATIONS], math.ceil(0.1 * n_sets))
    return int(generations), int(min(max(math.ceil(n_sets / 50.0), 10), 25))


@kernel
def _find_genes(demand, room, items):
    """The jobs that fit alone; how many they are, and whether they fit together."""
    n, together = 0, True
    for i in range(len(demand)):
        fits = True
        for r in range(len(room)):
            fits = fits and demand[i, r] <= room[r]
        if fits:
            items[n] = i
            n += 1
    for r in range(len(room)):
        left = room[r]
        for k in range(n):
            if left >= 0:  # no further: a sum of bytes could overflow
                left -= demand[items[k], r]
        together = together and left >= 0
    return n, together


@allocating_kernel
def _add_up(demand, room, waste, small, items):
    """What the genes of every byte add up to, so that a selection costs a look a byte.

    Loads past the room count as one past it, so sums of them cannot overflow.
    """
    R = len(room)
    sums = np.zeros(((len(items) + 7) >> 3, 256, R + 2 if len(waste) > 0 else R), np.int64)
    for k in range(len(items)):
        i, byte, bit = items[k], k >> 3, 1 << (k & 7)
        for b in range(bit):
            for r in range(R):
                sums[byte, bit + b, r] = min(sums[byte, b, r] + demand[i, r], room[r] + 1)
            if len(waste) > 0:
                sums[byte, bit + b, R] = sums[byte, b, R] + waste[i]
                sums[byte, bit + b, R + 1] = sums[byte, b, R + 1] + small[i]
    return sums


@inlined_kernel
def _measure(sums, room, free_small, step, bits, rows, n):
    """Write the objectives of a selection into row `n`; whether it fits."""
    R = len(room)
    for r in range(R):
        load = 0
        for byte in range(len(sums)):
            load += sums[byte, (bits >> (8 * byte)) & 255, r]
            if load > room[r]:
                return False
        if _POINT + r < rows.shape[1]:  # else it is a mere limit
            rows[n, _POINT + r] = load
    if sums.shape[2] > R:
        wasted, small = 0, 0
        for byte in range(len(sums)):
            wasted += sums[byte, (bits >> (8 * byte)) & 255, R]
            small += sums[byte, (bits >> (8 * byte)) & 255, R + 1]
        rows[n, rows.shape[1] - 1] = -(wasted + step * max(small - free_small, 0))
    return True


@inlined_kernel
def _compare(rows, a, b):
    """1 if selection `a` dominates `b`, -1 if `b` dominates `a`, else 0."""
    better, worse = 0, 0
    for k in range(_POINT, rows.shape[1]):
        better |= rows[a, k] > rows[b, k]
        worse |= rows[a, k] < rows[b, k]
    return better - worse


@kernel
def _join(sums, room, free_small, step, bits, born, rows, n):
    """Let a selection into a population of `n` if it fits and is new; how many there are then.

    Who is dominated, is so by one on the front: only those need be looked at.
    """
    for m in range(n):
        if rows[m, _BITS] == bits:
            return n
    if not _measure(sums, room, free_small, step, bits, rows, n):
        return n
    rows[n, _BITS], rows[n, _BORN], rows[n, _BEST] = bits, born, 1
    for m in range(n):
        if rows[m, _BEST] == 1:
            outcome = _compare(rows, m, n)
            if outcome > 0:
                rows[n, _BEST] = 0
                break
            if outcome < 0:
                rows[m, _BEST] = 0
    return n + 1


@kernel
def _settle(sums, room, free_small, step, genes, size, rows, order, children, rng):
    """Whom to begin with: single jobs, then random selections; how many these are."""
    n = 0
    if genes > size:
        _shuffle(order, genes, rng)
    else:
        for k in range(genes):
            order[k] = k
    while n < min(genes, size):
        children[n] = 1 << order[n]
        n += 1
    while n < size:
        _shuffle(order, genes, rng)
        children[n] = 0
        for k in range(genes):
            more = children[n] | (1 << order[k])
            if _below(2, rng) == 0 and _measure(sums, room, free_small, step, more, rows, n):
                children[n] = more
        n += 1
    return n


@kernel
def _cross(rows, n, n_pairs, genes, middle, order, children, rng):
    """Two children of each pair: they change what they have from a gene on."""
    _shuffle(order, n, rng)
    for p in range(n_pairs):
        one, other = rows[order[2 * p], _BITS], rows[order[2 * p + 1], _BITS]
        cut = genes >> 1 if middle else 1 + _below(genes - 1, rng)
        swapped = (one ^ other) & ((1 << cut) - 1)
        children[2 * p], children[2 * p + 1] = other ^ swapped, one ^ swapped


@kernel
def _gap(chance, rng):
    """How many genes stay as they are before one mutates: one number a mutation, not a gene, and as likely."""
    if chance <= 0.0:
        return math.inf
    return np.floor(math.log(1.0 - rng.random()) / math.log1p(-chance)) if chance < 1.0 else 0.0


@kernel
def _mutate(children, n, genes, chance, gap, rng):
    """Flip genes by chance, the first after `gap` others; how many stay then before the next."""
    for c in range(n):
        while gap < genes:
            children[c] ^= 1 << int(gap)
            gap += 1.0 + _gap(chance, rng)
        gap -= genes
    return gap


@kernel
def _survive(rows, n, n_old, size, order, spare, rng):
    """Bring those who survive to the front, the Pareto set first; how many they are."""
    n_best = 0
    for m in range(n):
        if rows[m, _BEST] == 1:
            order[n_best] = m
            n_best += 1
    while n_best > size:
        n_best -= 1
        for i in range(_below(n_best + 1, rng), n_best):
            order[i] = order[i + 1]
    n_kept = n_best
    for k in range(n):
        m = n_old + k if n_old + k < n else n_old + k - n  # the young ones first: then little is left to sort
        if rows[m, _BEST] == 0:
            i = n_kept
            while i > n_best and rows[order[i - 1], _BORN] < rows[m, _BORN]:
                order[i] = order[i - 1]
                i -= 1
            order[i] = m
            n_kept += 1
    n_kept = min(n_kept, size)
    for i in range(n_kept):
        for k in range(rows.shape[1]):
            spare[i, k] = rows[order[i], k]
    for i in range(n_kept):
        for k in range(rows.shape[1]):
            rows[i, k] = spare[i, k]
    return n_kept


@kernel
def _write(rows, n, items, loads, sets):
    """The Pareto set by its objectives, largest first, a selection each; how many there are."""
    found, K = 0, rows.shape[1] - _POINT
    for m in range(n):
        if rows[m, _BEST] == 0:
            continue
        bits = 0
        for k in range(len(items)):
            bits |= ((rows[m, _BITS] >> k) & 1) << items[k]
        at, order = found, 0  # go up past what is smaller
        while at > 0:
            order = 0
            for k in range(K - 1, -1, -1):
                if rows[m, _POINT + k] != loads[at - 1, k]:
                    order = 1 if rows[m, _POINT + k] > loads[at - 1, k] else -1
            if order <= 0:
                break
            at -= 1
        if at > 0 and order == 0:
            differ = bits ^ sets[at - 1]
            if bits & differ & -differ:  # it has the first job in which they differ
                sets[at - 1] = bits
            continue
        for i in range(found, at, -1):
            sets[i] = sets[i - 1]
            for k in range(K):
                loads[i, k] = loads[i - 1, k]
        sets[at] = bits
        for k in range(K):
            loads[at, k] = rows[m, _POINT + k]
        found += 1
    return found


@kernel
def _breed(rows, n, size, genes, settings, gap, order, children, rng):
    """The children of a generation, whoever they are; how many, and how many genes stay before the next mutates."""
    n_pairs = min(int(0.5 * settings[PAIRS] * n + 1e-9), n >> 1)
    _cross(rows, n, n_pairs, genes, settings[MIDDLE] != 0.0, order, children, rng)
    gap = _mutate(children, 2 * n_pairs, genes, settings[MUTATION], gap, rng)
    if n_pairs > 0:
        for _ in range(int(settings[FLIPS] * size + 1e-9)):
            c = _below(2 * n_pairs, rng)
            children[c] ^= 1 << _below(genes, rng)
    return 2 * n_pairs, gap


@allocating_kernel
def evolve(
    demand, room, waste, small, free_small, step, settings, rng, loads, sets, clock, marks=None, trace=None, counts=None
):
    """The Pareto set of the last generation, by its first objective, largest first, then the second, ...; its size.

    Objectives, a column of `loads` each, are the loads and, unless `waste` is empty, minus what is wasted: that of each
    job, and a `step` for each of the small units taken (`small`) beyond those that are free. Of selections with equal
    objectives the one counts that has the first job in which they differ. `loads` and `sets` need a row for each who
    may survive, see `sizes`. The search ends where the run that it is for is stopped, by its `clock`.

    For studies: `trace[k]` gets the `counts[k]` points of the Pareto set after generation `marks[k]`. Marks ascend; 0
    is what there was to begin with, and after the last generation nothing changes.
    """
    items = np.empty(len(demand), np.int64)
    genes, together = _find_genes(demand, room, items)
    items = items[:genes]
    n_generations, size = sizes(settings, genes)
    sums = _add_up(demand, room, waste, small, items)
    width = _POINT + loads.shape[1]
    rows, spare = np.empty((2 * size, width), np.int64), np.empty((size, width), np.int64)
    order, children = np.empty(max(2 * size, genes), np.int64), np.empty(size, np.int64)
    n = np.int64(0)  # a plain 0 is a type of its own: four kernels would be compiled twice
    mark, gap = 0, math.inf
    for g in range(1 if together else n_generations + 1):
        if stopped(clock):
            break
        if g > 0:
            n_children, gap = _breed(rows, n, size, genes, settings, gap, order, children, rng)
        elif together:
            children[0] = (1 << genes) - 1
            n_children = 1
        else:
            n_children = _settle(sums, room, free_small, step, genes, size, rows, order, children, rng)
            gap = _gap(settings[MUTATION], rng)
        n_old = n
        for c in range(n_children):
            n = _join(sums, room, free_small, step, children[c], g, rows, n)
        if n > n_old:
            n = _survive(rows, n, n_old, size, order, spare, rng)
        if marks is not None:
            while mark < len(marks) and marks[mark] <= g:
                counts[mark] = _write(rows, n, items, trace[mark], sets)
                mark += 1
    if marks is not None:
        for k in range(mark, len(marks)):
            counts[k] = _write(rows, n, items, trace[k], sets)
    return _write(rows, n, items, loads, sets)
