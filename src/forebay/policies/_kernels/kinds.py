"""Nodes of two kinds, as policies see them: what a leg takes of the larger kind, beside what it asks for.

In a profile large nodes are the last column of amounts, where it counts all resources. Everything here does nothing
where nodes are alike.
"""

from forebay._numba.jit import kernel
from forebay.algorithms.kinds import fewest_large, large_for
from forebay.algorithms.plan import behind


@kernel
def large_column(state, R):
    """The column that counts large nodes where the first `R` count; -1 where nodes are alike, or it is not there."""
    large = state.machine[0]["large"]
    return large if large < R else -1


@kernel
def charge(state, free, leg, n_large):
    """What leg `leg` takes leaves `free`, with so many nodes of the larger kind if there are two."""
    for r in range(len(free)):
        free[r] -= state.demands[leg, r]
    large = large_column(state, len(free))
    if large >= 0:
        free[large] -= n_large - state.demands[leg, large]


@kernel
def fewest(state, free, leg):
    """The large nodes that leg `leg` takes if it starts now and reservations do not count; 0 if nodes are alike."""
    large = state.machine[0]["large"]
    return fewest_large(state.demands[leg], large, free[0], free[large]) if large >= 0 else 0


@kernel
def fewest_beside(state, free, spare, leg):
    """The large nodes that leg `leg` takes if it may use only what is `spare` of those free; -1 if that is too few."""
    n_large, large = fewest(state, free, leg), large_column(state, len(spare))
    if large < 0:
        return n_large
    n_large = max(n_large, fewest(state, spare, leg))
    return n_large if n_large <= min(free[large], spare[large]) else -1


@kernel
def spare_fewest(state, spare, free, leg):
    """Take from `spare` the large nodes that leg `leg` will need beyond those it asks for, of what is then free."""
    large = large_column(state, len(spare))
    if large >= 0:
        spare[large] -= fewest(state, free, leg) - state.demands[leg, large]


@kernel
def large_until(state, free, times, ahead, n, R, leg, end):
    """The large nodes that leg `leg` takes if it runs from now to `end` and delays nobody; -1 if it cannot.

    Nodes of its own it can only have if the same ones are free all the time.
    """
    large = large_column(state, R)
    if large < 0 or state.demands[leg, large] > 0:
        return fewest(state, free, leg)
    return large_for(ahead, 0, behind(times, n, 0, end), large, state.demands[leg, 0])


@kernel
def return_taken(state, ahead, segment, action, R):
    """Correct what a leg started in this decision gives back: `releases` has what it took only once it runs."""
    large = large_column(state, R)
    if large >= 0:
        leg = state.jobs[action["job"]]["leg"]
        ahead[segment, large] += action["large"] - state.releases[leg, large]
