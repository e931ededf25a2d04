"""Several reservations on shared nodes keep no job from idle nodes that they do not need: seen from results alone.

No reservation begins before something is expected to end, or a window of the site begins or ends. And none is on nodes
where its job may never run. So a job starts that fits now on nodes where no other waiting job may run, or until then.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forebay as fb
from cases.shared import with_windows
from twins import watched

pytestmark = pytest.mark.small

IN_LINE = ("conservative", "fcfs-bb:depth=3")
OTHERS = ("plan-2", "bbsched:bound=2", "sjf-easy:depth=4", "bbsched:backfill=conservative")


class Own(fb.Policy):
    """Backfilling as a verb."""

    def decide(self, view, act):
        act.backfill(depth=4)


def idle(running, full, nodes):
    """What is free now in some nodes."""
    found = {}
    for node in nodes:
        taken = [one.had[node] for one in running if node in one.had]
        found[node] = tuple(have - sum(some) for have, *some in zip(full[node], *taken, strict=True))
    return found


def kept_waiting(platform, workload, policy, in_line):
    """Jobs that wait at some time though they would delay no other."""
    result = fb.simulate(workload, platform, policy)
    full, planned = watched.inside(platform), watched.windows(platform)
    able = [job for job in watched.jobs_of(platform, workload, result) if job.start is not None]
    edges = {edge for one in planned for edge in (one.start, one.end)}
    found = []
    for now in sorted({time for job in able for time in (job.submit, job.end)} | edges):
        running = [job for job in able if job.start <= now < job.end]
        waiting = [job for job in able if job.submit <= now < job.start]
        soonest = min([edge for edge in edges if edge > now] + [job.start + job.walltime for job in running], default=0)
        for k, job in enumerate(waiting):
            nodes = watched.may_have(job, now, planned)
            if now + job.walltime > soonest:
                others = waiting[:k] if in_line else [one for one in waiting if one is not job]
                nodes = nodes.difference(*(one.nodes for one in others))
            room = idle(running, full, nodes)
            if sum(watched.holds(room[node], full[node], job) for node in nodes) >= job.parts:
                found.append((now, job.id))
    return found


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), windows=st.booleans(), policy=st.sampled_from(IN_LINE + OTHERS + ("own",)))
def test_whoever_is_in_nobodys_way_starts(seed, windows, policy):
    platform, workload = with_windows(seed, 30)
    if not windows:
        platform = platform.model_copy(update={"reservations": ()})
    in_line = policy in (*IN_LINE, "own")
    assert kept_waiting(platform, workload, Own() if policy == "own" else policy, in_line) == []
