"""Slow twins of jobs that pay for what they hold: every start tried, every cell added up."""


def overlap(begin, end, k):
    """How much of cell `k` lies between two moments."""
    return max(0.0, min(end, k + 1) - max(begin, k))


def paid_between(price, held, begin, end):
    """What a job pays that holds so much of each resource from one moment to another."""
    return sum(h * p * overlap(begin, end, k) for h, row in zip(held, price, strict=True) for k, p in enumerate(row))


def paid_until(price, held, cell):
    """What it pays from the first cell on."""
    return paid_between(price, held, 0.0, cell)


def least_cost(ready, lasts, held, weight, price):
    """What jobs pay at least in all, and what of each cell they then use; of starts that cost alike, the earliest."""
    n_cells = len(price[0])
    total, used = 0.0, [[0.0] * n_cells for _ in price]
    for begin, length, has, w in zip(ready, lasts, held, weight, strict=True):
        starts = [begin, *(k for k in range(n_cells + 1) if k > begin)]
        starts += [k - length for k in range(n_cells + 1) if k - length > begin]
        costs = [(w * (s - begin) + paid_between(price, has, s, s + length), s) for s in starts]
        least = min(cost for cost, _ in costs)
        total += least
        start = min(s for cost, s in costs if cost <= least + 1e-9)
        for r, h in enumerate(has):
            for k in range(n_cells):
                used[r][k] += h * overlap(start, start + length, k)
    return total, used
