"""An order of the queue as nice values: jobs are put behind others, none is put ahead, so no privilege is needed.

`scontrol update job=N nice=M` takes the difference off a job's priority. Only those jobs are named that have to go
behind one which a plan starts before them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from forebay._live.advise.effects import Effect, effect
from forebay._live.agent.planning import plan_of
from forebay._live.jobs import LiveJob
from forebay._live.snapshot import Moment

STEPS = {"basic": 1, "multifactor": 1000}
"""Between priorities of neighbours: those of multifactor drift with age."""
_MOST = 2_147_483_645
"""What nice can be."""


class Nice(NamedTuple):
    """A job's value, before and after; `start` is when the plan starts it, in seconds from now."""

    job: int
    before: int
    after: int
    start: float

    @property
    def command(self) -> str:
        """To do it. Numbers alone are in it."""
        return f"scontrol update job={int(self.job)} nice={int(self.after)}"

    @property
    def undo(self) -> str:
        """To take it back."""
        return f"scontrol update job={int(self.job)} nice={int(self.before)}"


class OrderAdvice(NamedTuple):
    """Commands in the plan's order, and what they would change."""

    policy: str
    waiting: int
    lines: list[Nice]
    effect: Effect | None


def nices(order: Sequence[int], jobs: Mapping[int, LiveJob], step: int) -> list[tuple[int, int, int]]:
    """Jobs with their nice before and after, in order, so that priorities go down along the order."""
    found = []
    last: int | None = None
    for number in order:
        job = jobs.get(number)
        if job is None or job.held:
            continue
        wanted = job.priority if last is None else min(job.priority, last - step)
        if wanted < 1:
            break  # no room below; 0 would hold the job
        after = job.nice + job.priority - wanted
        if after > _MOST:
            break
        if after != job.nice:
            found.append((number, job.nice, after))
        last = wanted
    return found


def order_advice(found: Moment, policy: str, past: Sequence[Mapping[str, Any]], futures: int, seed: int) -> OrderAdvice:
    """What would put the queue into the order in which a policy starts it."""
    plan = plan_of(found, policy)
    kind = "multifactor" if "multifactor" in found.site.settings.get("prioritytype", "") else "basic"
    jobs = {job.id: job for job in found.jobs if job.waits}
    lines = [Nice(*one, plan.starts[one[0]]) for one in nices(plan.order, jobs, STEPS[kind])]
    if not lines:
        return OrderAdvice(policy, len(plan.order), [], None)
    lowered = {one.job: one.after - one.before for one in lines}
    now = sorted(plan.order, key=lambda number: (-jobs[number].priority, number))
    then = sorted(plan.order, key=lambda number: (lowered.get(number, 0) - jobs[number].priority, number))
    return OrderAdvice(policy, len(plan.order), lines, effect(found, past, (now, then), futures, seed))
