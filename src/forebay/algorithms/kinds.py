"""Nodes of two kinds: who takes which. Amounts have nodes first, and a column for the large ones among them.

A job that needs large nodes asks for as many of them as of nodes; any other may have nodes of either kind. It takes as
many small ones as are free for its whole time, so that large ones stay for those who need them, and the rest large.
"""

from forebay._numba.jit import inlined_kernel


@inlined_kernel
def fewest_large(demand, large, free_nodes, free_large):
    """The large nodes that a job takes if it starts now and nothing but that counts."""
    return max(demand[large], demand[0] - (free_nodes - free_large), 0)


@inlined_kernel
def large_for(free, first, last, large, n_nodes):
    """The large nodes that a job takes of its `n_nodes` of either kind from segment `first` to before `last`.

    -1 if it cannot have the same nodes all the time.
    """
    least_small, least_large = free[first, 0] - free[first, large], free[first, large]
    for i in range(first + 1, last):
        least_small = min(least_small, free[i, 0] - free[i, large])
        least_large = min(least_large, free[i, large])
    n_large = max(n_nodes - max(least_small, 0), 0)
    return n_large if n_large <= least_large else -1
