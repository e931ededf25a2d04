"""Evolving requests: the size that a job asks for before each round, whatever size it then has."""

import numpy as np
from numpy.typing import NDArray

from forebay._support.text import counted
from forebay.elastisim.formula import FormulaError, checked
from forebay.elastisim.job import Job

MAX_REQUESTS = 1_000_000
"""Rounds times sizes of one phase."""

Values = NDArray[np.float64]


def tabulated(job: Job, text: str, rounds: int, begins: bool, clip: bool) -> tuple[Values, Values]:
    """Rounds that are over, or -1 for however many; and for each, what the job asks for at each of its sizes.

    The job's arguments are not known here. `begins` says whether the job begins with this phase.
    """
    sizes = job.sizes
    known = job.known(sizes) | {"num_nodes_min": float(job.least), "num_nodes_max": float(job.most)}
    over = np.full(1, -1.0)
    formula = checked(text, known | {"phase_iteration": over}, {})
    if "phase_iteration" in formula.names:
        if rounds * len(sizes) > MAX_REQUESTS:
            raise FormulaError(
                f"depends on phase_iteration, and {rounds:,} rounds at {len(sizes):,} sizes are more than "
                f"{MAX_REQUESTS:,}; write fewer of either"
            )
        over = np.arange(rounds, dtype=np.float64)
    wants = formula.values(known | {"phase_iteration": over[:, None]})
    wants = np.trunc(np.broadcast_to(wants, (len(over), len(sizes))))
    if begins and over[0] == 0:
        wants[0] = sizes  # no job asks before the job's first round
    _check(wants, ~np.isfinite(wants), "gives no number", job, over)
    if clip:
        return over, np.clip(wants, job.least, job.most)
    beyond = (wants < job.least) | (wants > job.most)
    _check(wants, beyond, f"asks for less than {job.least} or more than {job.most} nodes", job, over)
    return over, wants


def _check(wants: Values, wrong: NDArray[np.bool_], what: str, job: Job, over: Values) -> None:
    if wrong.any():
        r, k = (int(at) for at in np.argwhere(wrong)[0])
        after = f" after {counted(int(over[r]), 'round')}" if over[r] >= 0 else ""
        cure = "; set clip_evolving_requests" if np.isfinite(wants[r, k]) else ""
        raise FormulaError(f"{what} for {counted(int(job.sizes[k]), 'node')}{after}{cure}")
