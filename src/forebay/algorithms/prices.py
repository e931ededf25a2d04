"""Jobs that pay for what they hold: each starts when waiting and paying together cost it least."""

from numba import types

from forebay._numba.jit import kernel

_f8, _i8 = types.float64, types.int64
_COLUMN, _TABLE, _HELD = types.Array(_f8, 1, "C"), types.Array(_f8, 2, "C"), types.Array(_i8, 2, "C")


@kernel(_f8(_TABLE, _HELD, _i8, _f8))
def paid_until(paid, held, j, cell):
    """What job `j` would pay from the first cell up to `cell`, which may lie inside one."""
    last = paid.shape[1] - 1
    if cell <= 0.0:
        return 0.0
    total = 0.0
    k = min(int(cell), last)
    part = 0.0 if k == last else cell - k
    for r in range(paid.shape[0]):
        if held[j, r] > 0:
            at = paid[r, k]
            if part > 0.0:
                at += part * (paid[r, k + 1] - at)
            total += held[j, r] * at
    return total


@kernel(_f8(_COLUMN, _COLUMN, _HELD, _COLUMN, _TABLE, _TABLE))
def least_cost(ready, lasts, held, weight, paid, used):
    """The sum of what all jobs pay at least, for waiting and for what they hold; and what of each cell they then use.

    Times are in cells; in each a price stays the same. `paid` has what a unit of each resource costs from the first
    cell up to the beginning of each. Where a job starts best, it is ready, or it starts or ends where a cell begins:
    between these its cost is a straight line. `used` gets resource x cells of each cell.
    """
    n_cells = used.shape[1]
    for r in range(used.shape[0]):
        for k in range(n_cells):
            used[r, k] = 0.0
    total = 0.0
    for j in range(len(ready)):
        begin = ready[j]
        least = paid_until(paid, held, j, begin + lasts[j]) - paid_until(paid, held, j, begin)
        start = begin
        if least > 0.0 and weight[j] == 0.0:
            least = 0.0  # it can wait until all is free
            start = float(n_cells)
        if least > 0.0:
            for side in range(2):
                ends = lasts[j] if side == 1 else 0.0
                k = int(begin + ends) + 1
                while True:
                    at = k - ends
                    waits = weight[j] * (at - begin)
                    if waits >= least:
                        break
                    cost = waits + paid_until(paid, held, j, at + lasts[j]) - paid_until(paid, held, j, at)
                    if cost < least:
                        least = cost
                        start = at
                    k += 1
                    if k > n_cells:
                        # Behind the last cell all is free: later starts only wait longer.
                        break
        total += least
        first, stop = max(start, 0.0), min(start + lasts[j], float(n_cells))
        k = int(first)
        while k < stop:
            part = min(stop, k + 1.0) - max(first, float(k))
            for r in range(used.shape[0]):
                used[r, k] += held[j, r] * part
            k += 1
    return total
