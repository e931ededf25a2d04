"""Jobs that run already when a period begins: they hold what they have, and no policy has started them.

The run then begins before second 0. Jobs arrive at their times, those that run already start at theirs, and nothing is
decided up to second 0, when the policy finds some jobs running and others waiting.
"""

import numpy as np

from forebay._numba.jit import kernel
from forebay._support.text import counted
from forebay.core.codes import JobState, LogReason, Refusal, Status, Verb
from forebay.core.tables import State
from forebay.engine.actions import start
from forebay.engine.truth import Truth
from forebay.errors import InputError
from forebay.workload.workload import Workload

COLUMN = "running_since"


@kernel
def start_early(state, truth, j, time):
    """Job `j` starts as the trace has it. Without room it waits on, and starts when the policy lets it."""
    if state.jobs[j]["state"] != JobState.QUEUED:  # the machine could never run it
        return
    state.clock[0]["now"] = time
    action = state.actions[0]  # nobody has written any yet
    action["verb"] = Verb.START
    action["job"] = j
    action["reason"] = LogReason.NONE
    action["first_pick"] = 0
    action["n_picks"] = 0
    action["way"] = state.legs[state.jobs[j]["leg"]]["way"]
    action["share"] = -1
    action["nodes"] = 0
    if start(state, truth, action) != Status.DECIDE:
        truth.cursor[0]["refusal"] = Refusal.NONE


def running_since(workload: Workload) -> np.ndarray:
    """When each job started that runs already; NaN of all others."""
    if COLUMN not in workload.jobs.columns:
        return np.full(len(workload), np.nan)
    return workload.jobs[COLUMN].to_numpy()


def check_running(workload: Workload) -> None:
    """Refuse jobs that cannot run already."""
    if COLUMN not in workload.jobs.columns:
        return
    since, submit = running_since(workload), workload.jobs["submit"].to_numpy()
    runs = ~np.isnan(since)
    several = workload.legs is not None or workload.applications is not None
    for bad, what, fix in (
        (runs & ~(since >= submit), "runs already before it is submitted", "let it run since its submission, or later"),
        (runs & ~(since <= 0), "is to run already from second 0, and starts later", "give a time up to 0, or NaN"),
        (runs & several, "runs already", "that is for jobs of one size in one leg: give NaN"),
    ):
        if bad.any():
            raise InputError(f"{workload.name}: job {workload.jobs['id'][int(np.argmax(bad))]} {what}; {fix}")


def begin(workload: Workload, state: State, truth: Truth) -> None:
    """Set the clock to the first event, and the first decision to second 0 where jobs run already by then."""
    cursor = truth.cursor[0]
    cursor["begin"] = -np.inf
    if COLUMN not in workload.jobs.columns:
        return
    cursor["begin"] = 0.0
    truth.wakes[0], cursor["n_wakes"] = 0.0, 1
    if len(truth.events):
        state.clock["now"] = min(0.0, float(truth.events[0]["time"]))


def on_late_starts(workload: Workload, state: State) -> list[str]:
    """A note on jobs that ran already when the period began, and could not here: the machine had no room for all."""
    if COLUMN not in workload.jobs.columns:
        return []
    since = running_since(workload)
    late = np.flatnonzero(~np.isnan(since) & (state.jobs["start"] != since))
    if not len(late):
        return []
    first = f"first: job {state.jobs['id'][late[0]]}"
    who = counted(len(late), "job has", "jobs have")
    what = f"of those that ran already when the period began, {who} no room here ({first})"
    return [f"{what}: the policy starts such, and they are in no mean"]
