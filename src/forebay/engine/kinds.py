"""Nodes of two kinds, in the engine: how many large ones a start takes, and which nodes these are.

`releases` has what a leg took of them: a job that may have nodes of either kind asks for none.
"""

from forebay._numba.jit import kernel
from forebay.algorithms.kinds import fewest_large
from forebay.algorithms.nodeset import take_from, take_lowest


@kernel
def _large_wanted(state, leg, action):
    """How many large nodes a start takes: what its picks say, or the policy did, else as few as can be."""
    machine = state.machine[0]
    large, first = machine["large"], machine["first_large"]
    if action["n_picks"] > 0:
        n_large = 0
        for i in range(action["first_pick"], action["first_pick"] + action["n_picks"]):
            pick = state.picks[i]
            n_large += max(pick["low"] + pick["count"] - max(pick["low"], first), 0)
        return n_large
    if action["large"] >= 0 and state.demands[leg, large] == 0:
        return action["large"]
    return fewest_large(state.demands[leg], large, state.resources[0]["free"], state.resources[large]["free"])


@kernel
def settle_kinds(state, leg, action):
    """Put into `releases` how many large nodes a start takes; False if there are not so many of either kind."""
    large = state.machine[0]["large"]
    if large < 0:
        return True
    n_large, free = _large_wanted(state, leg, action), state.resources[large]["free"]
    n_small = state.demands[leg, 0] - n_large
    if n_large > free or n_small < 0 or n_small > state.resources[0]["free"] - free:
        return False
    state.releases[leg, large] = n_large
    return True


@kernel
def lowest_allowed(state, leg):
    """The first node that a leg may have."""
    machine = state.machine[0]
    return machine["first_large"] if machine["large"] >= 0 and state.demands[leg, machine["large"]] > 0 else 0


@kernel
def amount_taken(state, leg, r):
    """What a leg takes of a resource when it starts."""
    machine = state.machine[0]
    if machine["placement"] >= 0 and (r == 0 or r >= machine["first_inside"]):
        return state.releases[leg, r]
    return state.releases[leg, r] if r == machine["large"] else state.demands[leg, r]


@kernel
def take_lowest_of_kinds(state, j, count):
    """Give job `j` the lowest idle nodes; of the larger kind, if there is one, as many as it is to have."""
    counts, machine, job, nodes = state.counts[0], state.machine[0], state.jobs[j], state.nodes
    n_large = state.releases[job["leg"], machine["large"]] if machine["large"] >= 0 else 0
    n_idle, blank, head = take_lowest(
        nodes.idle, counts["n_idle"], nodes.pieces, counts["blank_piece"], job["piece"], count - n_large
    )
    if n_large > 0:
        n_idle, blank, head = take_from(nodes.idle, n_idle, nodes.pieces, blank, head, machine["first_large"], n_large)
    counts["n_idle"] = n_idle
    counts["blank_piece"] = blank
    job["piece"] = head


@kernel
def large_among(state, leg, r, amount):
    """How many large nodes are among those that a leg gives back early: the highest go first, which these are."""
    large = state.machine[0]["large"]
    return min(amount, state.releases[leg, large]) if r == 0 and large >= 0 else 0
