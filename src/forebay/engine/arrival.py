"""A job that is submitted: policies see it and it joins the queue, or it waits for others, or it is rejected."""

from forebay._numba.jit import kernel
from forebay.core.codes import LogKind, LogReason
from forebay.engine.dependencies.joining import join
from forebay.engine.dependencies.kernels import note_submitted, reject_submitted, stays_out
from forebay.engine.hooks.life import on_submit, turns_away
from forebay.engine.log import write_log
from forebay.engine.policy_io.show import show
from forebay.engine.shared_nodes.kernels import units_asked


@kernel
def log_submit(state, truth, j, time):
    """Write down that job `j` is submitted."""
    write_log(state, truth, time, j, LogKind.SUBMIT, 0, units_asked(truth, j), 0)


@kernel
def enter(state, truth, j, time, first):
    """Show job `j` to the policy, or reject it if the machine could never run it or a limit forbids it.

    One that waits for others is not shown. It may come for the `first` time, or have waited outside.
    """
    note_submitted(truth, j)
    out = stays_out(state, truth, j, time)
    if not out:
        show(state, truth, j)
    if first:
        log_submit(state, truth, j, time)
    else:
        if not out:
            state.jobs[j]["submit"] = time  # to policies: ages count from here, as in Slurm
        write_log(state, truth, time, j, LogKind.ELIGIBLE, -1, 0, LogReason.OVER_LIMIT)
    reason = turns_away(state, truth, j, out)
    if reason != LogReason.NONE:
        reject_submitted(state, truth, j, time, reason)
        return
    truth.cursor[0]["n_open"] += 1
    on_submit(truth, j)
    if not out:
        join(state, truth, j, time)
