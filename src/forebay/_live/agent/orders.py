"""What has to be written so that Slurm keeps an order: priorities in a band above all others, or site factors."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from forebay._live.commands import Slurm
from forebay._live.jobs import LiveJob

TOP = 4_294_967_000
"""The first of a plan under priority/basic, where new jobs get some 4,294,901,759 and fewer: they come after it."""
_BAND = 65_000
AT_ONCE = 250
"""Changes that one scontrol makes: 1,000 took 8 s on a busy machine, near to the limit of a command."""
_STEP = 1000
"""Between site factors of neighbours: priorities drift with age between two plans."""


class Change(NamedTuple):
    """A value of one job, before and after."""

    job: int
    before: int
    after: int


def changes(
    order: Sequence[int], jobs: Mapping[int, LiveJob], field: str, set_by_us: Mapping[int, int]
) -> list[Change]:
    """What differs from what stands there. A job that is held is never written: a priority would release it."""
    found = []
    known = [number for number in order[:_BAND] if number in jobs and not jobs[number].held]
    base = {number: jobs[number].priority - set_by_us.get(number, 0) for number in known}
    highest = max(base.values(), default=0)
    for place, number in enumerate(known):
        if field == "priority":
            before, after = jobs[number].priority, TOP - place
        else:
            before = set_by_us.get(number, 0)
            after = min(highest - base[number] + _STEP * (len(known) - place), 2**31 - 2)
            if abs(after - before) < _STEP // 2:
                continue
        if before != after:
            found.append(Change(number, before, after))
    return found


def write(slurm: Slurm, values: Mapping[int, int], field: str) -> str:
    """Write them through scontrol, `AT_ONCE` a process; gives what it complained of. Numbers alone are written."""
    lines = [f"update jobid={int(job)} {field}={int(value)}\n" for job, value in values.items()]
    said = [
        slurm.tried(["scontrol", "-Q"], "".join(lines[first : first + AT_ONCE])).stderr.strip()
        for first in range(0, len(lines), AT_ONCE)
    ]
    return "\n".join(filter(None, said))
