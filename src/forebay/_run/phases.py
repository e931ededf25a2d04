"""Runs that will take long because of what jobs do, not of how many there are: a loop of a billion rounds, say."""

import warnings

import numpy as np

from forebay._support.progress import LONG
from forebay._support.text import about
from forebay.engine.build.program import Program
from forebay.errors import LongRunWarning
from forebay.workload import Workload

PER_SECOND = 5e6
"""Phases of one job that computes, as measured: see benchmarks/RESULTS.md. Decisions between rounds take longer."""


def n_phases(program: Program) -> np.ndarray:
    """How many phases each job goes through if nothing fails and its size stays; of several ways, in the first."""
    times = np.repeat(program.first_choice, np.diff(program.first_phase)).astype(float)
    first, last = (program.first_phase[program.first_leg[at]] for at in (slice(None, -1), slice(1, None)))
    if program.rounds is not None:
        steps, more = program.rounds.steps, np.zeros(len(times) + 1)
        begins, ends = np.flatnonzero(steps["rounds"] > 0), np.flatnonzero(steps["back"] >= 0)
        again = steps["rounds"][begins] - 1.0  # loops are not within one another: both are in order
        more[begins] += again
        more[ends + 1] -= again
        times += np.cumsum(more[:-1])
        last = program.rounds.detours[:, 0]
    up_to = np.concatenate([[0.0], np.cumsum(times)])
    found: np.ndarray = up_to[last] - up_to[first]
    return found


def warn_of_many(workload: Workload, program: Program) -> None:
    """Warn of a run that takes long for its phases alone, before it begins."""
    if program.rounds is None and len(program.kind) < LONG * PER_SECOND:
        return
    found = n_phases(program)
    total, most = float(found.sum()), int(np.argmax(found))
    if total > LONG * PER_SECOND:
        warnings.warn(
            f"{workload.name}: jobs go through {total:,.0f} phases, job {workload.jobs['id'][most]} alone through "
            f"{found[most]:,.0f}; at {PER_SECOND:,.0f} a second, the rate that was measured for one job that computes, "
            f"that takes {about(total / PER_SECOND)} or longer; fewer iterations of longer phases run sooner",
            LongRunWarning,
            stacklevel=3,  # of the caller of simulate
        )
