"""Jobs of several legs that keep something while they wait for the next one: the banker's rule (Dijkstra 1965).

A job *holds* what it has now, and *claims* the most that any of its later legs will have. A state is *safe* if the jobs
that have begun can end one after another: each finds its claim in what is free and in what those before it gave
back. From a safe state a job can always be started without leaving safe states: the first of that order. So if every
start leads to a safe state, and somebody is tried out of turn when nothing runs, no jobs wait for one another for ever.

What a leg has follows from its end backwards: the last leg gives all back; what the leg before keeps is what the next
one has, less what that takes. Amounts count, not the servers on which chunks lie.
"""

from typing import NamedTuple

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.core.codes import JobState


class Guard(NamedTuple):
    """The jobs that have begun, and room for those that begin now; empty where the rule is off."""

    jobs: np.ndarray  # int64[row]
    holds: np.ndarray  # int64[row, resource]
    claims: np.ndarray  # int64[row, resource]: the most of a later leg
    n: np.ndarray  # int64[2]: rows in use; whether any of these jobs keeps anything while it waits
    free: np.ndarray  # int64[resource] scratch
    over: np.ndarray  # int8[row] scratch: jobs that can end


@kernel
def _work_out(state, j, leg, hold, claim):
    """What job `j` has while it runs `leg`, and the most it will have later; whether it keeps anything in between."""
    keeps = False
    for r in range(len(hold)):
        held, most, later = np.int64(0), np.int64(0), state.jobs[j]["last_leg"]
        while later > leg:
            held += state.releases[later, r]
            most = max(most, held)
            held -= state.demands[later, r]
            keeps = keeps or held > 0
            later -= 1
        hold[r], claim[r] = held + state.releases[leg, r], most
    return keeps


@kernel
def _enter(state, guard, j, runs):
    """Enter job `j`, which runs a leg, or waits for one and keeps what it has."""
    row, leg = guard.n[0], state.jobs[j]["leg"]
    keeps = _work_out(state, j, leg, guard.holds[row], guard.claims[row])
    if not runs:
        for r in range(len(guard.free)):
            guard.claims[row, r] = max(guard.claims[row, r], guard.holds[row, r])
            guard.holds[row, r] -= state.demands[leg, r]
            keeps = keeps or guard.holds[row, r] > 0
    guard.jobs[row] = j
    guard.n[0] += 1
    guard.n[1] |= keeps


@allocating_kernel
def guard_of(state, is_on):
    """All that have begun, as a decision finds them."""
    counts = state.counts[0]
    n, R = counts["n_running"] + counts["n_queued"] if is_on else 0, len(state.resources)
    jobs, over = np.empty(n, np.int64), np.zeros(n, np.int8)
    holds, claims = np.empty((n, R), np.int64), np.empty((n, R), np.int64)
    guard = Guard(jobs, holds, claims, np.zeros(2, np.int64), np.zeros(R, np.int64), over)
    if n == 0:
        return guard
    for i in range(counts["n_running"]):
        _enter(state, guard, state.running[i]["job"], True)
    for q in range(counts["queue_first"], counts["queue_begun"]):
        if state.queue[q] >= 0:
            _enter(state, guard, state.queue[q], False)
    return guard


@kernel
def _all_can_end(guard):
    """Whether the jobs can end one after another, with what is `free` at first."""
    n, left = guard.n[0], guard.n[0]
    for row in range(n):
        guard.over[row] = 0
    found = True
    while found and left > 0:
        found = False
        for row in range(n):
            can = guard.over[row] == 0
            for r in range(len(guard.free)):
                can = can and guard.claims[row, r] - guard.holds[row, r] <= guard.free[r]
            if can:
                guard.over[row] = 1
                left -= 1
                found = True
                for r in range(len(guard.free)):
                    guard.free[r] += guard.holds[row, r]
    return left == 0


@kernel
def _row_of(guard, j):
    for row in range(guard.n[0]):
        if guard.jobs[row] == j:
            return row
    return guard.n[0]


@kernel
def _as_started(state, guard, j):
    """Enter job `j` as if it ran the leg that it waits for; its row."""
    row = _row_of(guard, j)
    keeps = _work_out(state, j, state.jobs[j]["leg"], guard.holds[row], guard.claims[row])
    guard.jobs[row] = j
    guard.n[0] = max(guard.n[0], row + 1)
    return keeps


@kernel
def is_safe(state, have, guard, j):
    """Whether all that have begun can end if job `j`, which fits, starts its leg now."""
    if len(guard.jobs) == 0:
        return True
    was, row, leg = guard.n[0], _row_of(guard, j), state.jobs[j]["leg"]
    keeps = _as_started(state, guard, j)
    safe = True
    if keeps or guard.n[1] > 0:
        for r in range(len(guard.free)):
            guard.free[r] = have.free[r] - state.demands[leg, r]
        safe = _all_can_end(guard)
    guard.n[0] = row  # as it was: a job that waits for a later leg is entered again
    if row < was:
        _enter(state, guard, j, False)
        guard.n[0] = was
    return safe


@kernel
def note_start(state, guard, j):
    """Job `j` has been started."""
    if len(guard.jobs) > 0:
        guard.n[1] |= _as_started(state, guard, j)


@kernel
def is_at_rest(state, guard):
    """Whether nothing runs or was started by this decision, while jobs wait that have begun: one must go on."""
    if len(guard.jobs) == 0 or state.counts[0]["n_running"] > 0 or state.counts[0]["n_actions"] > 0:
        return False
    return guard.n[0] > 0 and state.jobs[guard.jobs[0]]["state"] == JobState.QUEUED
