"""What a policy gets to see of a job, from the moment in which it comes."""

from forebay._numba.jit import kernel
from forebay.engine.io_knowledge.kernels import show_known_io


@kernel
def _show_sizes(state, truth, j):
    """Show what the application of job `j` tells, if it has one."""
    rounds = truth.rounds
    if len(rounds.row) == 0 or rounds.row[j] < 0:
        return
    row = rounds.row[j]
    state.flexible.row[j] = row
    state.flexible.jobs[row] = rounds.jobs[row]
    for k in range(rounds.jobs[row]["first"], rounds.jobs[row]["first"] + rounds.jobs[row]["n_sizes"]):
        state.flexible.sizes[k] = rounds.sizes[k]


@kernel
def show(state, truth, j):
    """Show job `j` to the policy."""
    state.jobs[j] = truth.jobs[j]
    first = state.jobs[j]["leg"]
    while first >= 0:
        for leg in range(first, truth.legs[first]["last"] + 1):
            state.legs[leg] = truth.legs[leg]
            for r in range(len(state.resources)):
                state.demands[leg, r] = truth.demands[leg, r]
                state.releases[leg, r] = truth.releases[leg, r]
            if len(truth.stated) > 0:
                state.tiers.stated[leg, 0] = truth.stated[leg, 0]
                state.tiers.stated[leg, 1] = truth.stated[leg, 1]
            if len(truth.asks) > 0:
                state.inside.asks[leg] = truth.asks[leg]
        first = truth.legs[first]["other"]
    _show_sizes(state, truth, j)
    show_known_io(state, truth, j)
    for k in range(state.columns.shape[1]):
        state.columns[j, k] = truth.columns[j, k]
