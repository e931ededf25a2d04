"""Windows over the queue in order of multifactor priority: see `window`, and `priority.multifactor` for the order."""

from numba import types

from forebay._numba.jit import allocating_kernel
from forebay.core.tables import MEMORY, PARAMS, RNG, STATE, policy_kernel
from forebay.policies._kernels.priority.multifactor import bring_up_to_date, note_rates
from forebay.policies._kernels.priority.order import by_priority
from forebay.policies._kernels.window import choose, points_in, start_in
from forebay.policies._kernels.window_parts import JOBS, POINTS


@allocating_kernel
def _windows(params):
    """The numbers that windows read; in front of these stands how many there are, behind them stand the weights."""
    return params[1 : 1 + int(params[0])]


@allocating_kernel
def _weights(params):
    return params[1 + int(params[0]) :]


@allocating_kernel
def _usage(memory):
    """What priorities remember."""
    return memory[0][: len(memory[1])], memory[1]


@allocating_kernel
def _notes(memory):
    """What windows note, in the rows behind."""
    noted = memory[0][len(memory[1]) :].reshape(-1)
    m = len(noted) // 2
    return noted[: 2 * m].reshape(2, m)


@policy_kernel
def choose_window(state, params, memory, rng):
    """The decision of one instant."""
    usage = _usage(memory)
    bring_up_to_date(state, _weights(params), usage)
    if state.counts[0]["n_queued"] > 0:
        choose(state, _windows(params), _notes(memory), rng, by_priority(state, usage))
    note_rates(state, usage)


@allocating_kernel(POINTS(STATE, PARAMS, MEMORY, RNG))
def points(state, params, memory, rng):
    """The first step where a rule of the site's own chooses: see `window_parts`."""
    usage = _usage(memory)
    bring_up_to_date(state, _weights(params), usage)
    return points_in(state, _windows(params), _notes(memory), rng, by_priority(state, usage))


@allocating_kernel(types.void(STATE, JOBS, PARAMS, MEMORY))
def starts(state, chosen, params, memory):
    """The second step."""
    usage = _usage(memory)
    start_in(state, _windows(params), _notes(memory), by_priority(state, usage), chosen)
    note_rates(state, usage)
