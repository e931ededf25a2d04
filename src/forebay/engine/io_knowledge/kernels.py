"""Show what is known of a job's I/O, and learn from jobs that end: the mean of a user's last two, as of run times.

Tsafrir, Etsion & Feitelson (2007) take the last two run times of a user; here all that a job showed goes the same way.
"""

from forebay._numba.jit import kernel
from forebay.core.codes import JobState


@kernel
def show_known_io(state, truth, j):
    """Show the policy what is known of the I/O of job `j`, which is submitted."""
    known = truth.known_io
    if len(known.jobs) == 0:
        return
    state.known_io[j] = known.jobs[j]
    if len(known.exact) == 0:
        return
    row = known.learner[j]
    if known.last[row, 0] < 0:
        row = len(known.last) - 1
    first, second = known.last[row, 0], known.last[row, 1]
    if first < 0:
        return
    if second < 0:
        second = first
    one, other, shown = known.exact[first], known.exact[second], state.known_io[j]
    seconds = (one["seconds"] + other["seconds"]) / 2
    # It never exceeds the walltime, at which jobs are killed.
    part = min(1.0, state.jobs[j]["walltime"] / seconds) if seconds > 0.0 else 1.0
    shown["seconds"] = part * seconds
    shown["io"] = part * (one["io"] + other["io"]) / 2
    shown["bytes"] = part * (one["bytes"] + other["bytes"]) / 2
    shown["period"] = (one["period"] + other["period"]) / 2


@kernel
def learn_io(state, truth, j):
    """Job `j` is over: what it showed counts for the next ones. Of one that was cut off nobody saw the whole."""
    known = truth.known_io
    if len(known.exact) == 0 or state.jobs[j]["state"] != JobState.COMPLETED:
        return
    everyone = len(known.last) - 1
    _remember(known, known.learner[j], j)
    if known.learner[j] != everyone:
        _remember(known, everyone, j)


@kernel
def _remember(known, row, j):
    known.last[row, 1] = known.last[row, 0]
    known.last[row, 0] = j
