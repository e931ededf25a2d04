"""A policy that decides nothing: the loop goes on to the next decision, and there it is somebody else's turn."""

from forebay.core.tables import policy_kernel


@policy_kernel
def pause(state, params, memory, rng):
    """Leave the decision open."""
