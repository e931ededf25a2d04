"""Run times predicted from each user's finished jobs, compiled, for the kernels of other policies.

A policy decides on a copy of the State in which walltimes are predictions, and running legs stand by predicted ends;
the engine still kills at the walltime that the user asked for. Jobs of one leg whose user is known are predicted and
learned from; others keep their walltimes.
"""

from typing import NamedTuple

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay._numba.pointer import keep, replaced
from forebay.algorithms.predict import corrected, recall, remember, row_of
from forebay.algorithms.queues.sorting import sort_smallest
from forebay.core.codes import JobState
from forebay.core.tables import LEG, RUNNING, policy_kernel
from forebay.policies._families.predicted import N_FLOATS, N_INTEGERS, Param
from forebay.policies._kernels.backfill import backfill as by_backfill
from forebay.policies._kernels.plan import plan as by_plan

_N_PARAMS = len(Param)
_USER, _REQUEST = range(2)
_LONGEST = 1e15  # s: a walltime that has no end, as a whole number


@kernel
def alike(keys, job, like):
    """Where jobs like this one are noted: those of the same user, with the same walltime, on as many nodes."""
    walltime = 0 if like == _USER else int(min(job["walltime"], _LONGEST))
    nodes = 0 if like <= _REQUEST else job["nodes"]
    row = row_of(keys, job["user"] + 1, walltime, nodes)
    keys[0, row], keys[1, row], keys[2, row] = job["user"] + 1, walltime, nodes
    return row


class _Notes(NamedTuple):
    """What a policy remembers of run times, in the last rows of its memory."""

    keys: np.ndarray  # int64[3, row]: who is noted there
    counts: np.ndarray  # int64[row]: how many run times
    followed: np.ndarray  # int64: jobs that wait or run
    come: np.ndarray  # int64: how many jobs came, and how many of them are followed
    last: np.ndarray  # float64[window, row]: the run times
    first: np.ndarray  # float64[job]: the first prediction
    guess: np.ndarray  # float64[job]: the present one


@allocating_kernel
def _notes(memory):
    integers, floats = memory
    own, n_last = integers[integers.shape[0] - N_INTEGERS :], floats.shape[0] - N_FLOATS
    return _Notes(own[:3], own[3], own[4], own[5], floats[:n_last], floats[n_last], floats[n_last + 1])


@kernel
def _learn(state, notes, like):
    """Note what has ended since the last decision, and follow what has come.

    A job that was submitted and is not followed yet has the next row: they come in this order.
    """
    followed, come = notes.followed, notes.come
    n_came, n_followed, kept = come[0], come[1], 0
    for i in range(n_followed):
        job = state.jobs[followed[i]]
        if job["state"] == JobState.QUEUED or job["state"] == JobState.RUNNING:
            followed[kept] = followed[i]
            kept += 1
        elif job["state"] == JobState.COMPLETED or job["state"] == JobState.WALLTIME_REACHED:
            remember(notes.last, notes.counts, alike(notes.keys, job, like), job["finish"] - job["start"])
    while n_came < len(state.jobs) and state.jobs[n_came]["state"] != JobState.UNSUBMITTED:
        job = state.jobs[n_came]
        if job["user"] >= 0 and job["leg"] == job["last_leg"]:
            followed[kept] = n_came
            kept += 1
        n_came += 1
    come[0], come[1] = n_came, kept


@kernel
def _guess(state, notes, like, weight, ends):
    """Predict the jobs followed: waiting ones again, as others end; running ones by their walltime, or by `ends`.

    A guess that was too short is corrected from what it was at first: `corrected` takes ever longer steps from there.
    """
    now, first, guess = state.clock[0]["now"], notes.first, notes.guess
    for i in range(notes.come[1]):
        j = notes.followed[i]
        job = state.jobs[j]
        elapsed, walltime = now - job["leg_start"], state.legs[job["leg"]]["walltime"]
        if job["state"] == JobState.QUEUED:
            # A second at least: what takes no time would delay nobody, wherever it is planned.
            seconds = max(recall(notes.last, notes.counts, alike(notes.keys, job, like), walltime, weight), 1.0)
            first[j] = guess[j] = min(seconds, walltime)
        elif not ends:
            guess[j] = walltime
        elif elapsed >= guess[j]:
            guess[j] = min(corrected(first[j], elapsed), walltime)


@kernel
def _expect(state, legs, guess, j, leg):
    """Row `leg` as the policy is to see it; returns how long the leg of job `j` is expected to take."""
    legs[leg]["number"], legs[leg]["chunk"] = state.legs[leg]["number"], state.legs[leg]["chunk"]
    legs[leg]["allowed"], legs[leg]["later"] = state.legs[leg]["allowed"], state.legs[leg]["later"]
    legs[leg]["mine"] = state.legs[leg]["mine"]
    seconds = guess[j] if guess[j] > 0.0 else state.legs[leg]["walltime"]
    legs[leg]["walltime"] = seconds
    return seconds


@allocating_kernel
def believed(state, guess):
    """Legs and running legs as the policy is to see them. Rows of legs that neither wait nor run stay blank."""
    counts, n = state.counts[0], state.counts[0]["n_running"]
    legs, running = np.empty(len(state.legs), LEG), np.empty(n, RUNNING)
    for i in range(counts["queue_first"], counts["queue_last"]):
        if state.queue[i] != -1:
            j = state.queue[i] if state.queue[i] >= 0 else -2 - state.queue[i]  # a hidden job may hold a place
            for leg in range(state.jobs[j]["leg"], state.jobs[j]["last_leg"] + 1):
                _expect(state, legs, guess, j, leg)
    ends, ties, order = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        j, leg = state.running[i]["job"], state.running[i]["leg"]
        ends[i] = state.jobs[j]["leg_start"] + _expect(state, legs, guess, j, leg)
        ties[i] = order[i] = i
    expected = ends.copy()
    sort_smallest(ends, ties, order, n, n)
    for i in range(n):
        row = state.running[order[i]]
        running[i]["end"], running[i]["job"], running[i]["leg"] = expected[order[i]], row["job"], row["leg"]
    return legs, running


@allocating_kernel
def _predict(state, params, memory):
    """Learn, predict, and return the tables to decide on in place of the State's."""
    numbers, notes = params[len(params) - _N_PARAMS :], _notes(memory)
    like, ends = int(numbers[Param.LIKE]), numbers[Param.ENDS] > 0
    _learn(state, notes, like)
    _guess(state, notes, like, numbers[Param.WEIGHT], ends)
    return believed(state, notes.guess)


@policy_kernel
def plan(state, params, memory, rng):
    """Plans by predicted run times."""
    legs, running = _predict(state, params, memory)
    by_plan.plan(replaced(replaced(state, "legs", legs), "running", running), params, memory, rng)
    keep(legs)
    keep(running)


@policy_kernel
def backfill(state, params, memory, rng):
    """Backfilling by predicted run times."""
    legs, running = _predict(state, params, memory)
    by_backfill.decide(replaced(replaced(state, "legs", legs), "running", running), params, memory[0][:0])
    keep(legs)
    keep(running)


@policy_kernel
def plan_given(state, params, memory, rng):
    """Plans by run times that are given, in the only row of floats: a place a job; 0 = its walltime."""
    legs, running = believed(state, memory[1][0])
    by_plan.plan(replaced(replaced(state, "legs", legs), "running", running), params, memory, rng)
    keep(legs)
    keep(running)
