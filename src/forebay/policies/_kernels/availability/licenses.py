"""Licences: resources behind the nodes that are no part of them."""

from forebay._numba.jit import kernel
from forebay.policies._families.slurm_scheduler import Sched


@kernel
def has_licenses(state, have, j, params):
    """Whether the licences that job `j` asks for are there now."""
    leg = state.jobs[j]["leg"]
    for r in range(int(params[Sched.FIRST_LICENSE]), int(params[Sched.LAST_LICENSE])):
        if state.demands[leg, r] > have.free[r]:
            return False
    return True
