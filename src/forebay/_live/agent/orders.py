"""What has to be written so that Slurm keeps an order: priorities in a band above all others, or site factors."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from forebay._live.agent.places import Band, new_values, tail
from forebay._live.commands import Slurm
from forebay._live.jobs import LiveJob

TOP = 4_294_967_000
"""The first of a plan under priority/basic, where new jobs get some 4,294,901,759 and fewer: they come after it."""
_NEW = 4_294_901_760
"""Above what new jobs get."""
_BAND = 65_000
AT_ONCE = 60
"""Changes that one scontrol makes: on a busy machine each waits for its turn, 1,000 for some 20 s."""
_SIDE_BY_SIDE = 4
"""Processes of scontrol: a change is 1 ms of work for both sides, and waiting for the other's."""
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
    """What has to differ from what stands there. A job that is held is never written: a priority would release it."""
    known = [number for number in order[:_BAND] if number in jobs and not jobs[number].held]
    if field == "priority":
        current = {number: jobs[number].priority for number in known if jobs[number].priority == set_by_us.get(number)}
        own = {number: jobs[number].priority for number in known}
        band = Band(_NEW, TOP)
    else:
        own = {number: jobs[number].priority - set_by_us.get(number, 0) for number in known}
        floor = max(own.values(), default=0)
        current = {number: jobs[number].priority for number in known if jobs[number].priority > floor}
        band = Band(floor, max([floor + 2 * _STEP * (len(known) + 1), *current.values()]), _STEP // 2)
    first = tail(known, own, current)
    values = new_values(known[:first], current, band)
    if field == "priority":
        return [Change(number, jobs[number].priority, value) for number, value in values.items()]
    return [
        Change(number, set_by_us.get(number, 0), min(value - own[number], 2**31 - 2))
        for number, value in values.items()
    ]


def write(slurm: Slurm, values: Mapping[int, int], field: str) -> str:
    """Write them through scontrol, some processes side by side; gives what they complained of. Numbers alone."""
    lines = [f"update jobid={int(job)} {field}={int(value)}\n" for job, value in values.items()]
    parts = [lines[first : first + AT_ONCE] for first in range(0, len(lines), AT_ONCE)]
    with ThreadPoolExecutor(_SIDE_BY_SIDE) as some:
        said = some.map(lambda part: slurm.tried(["scontrol", "-Q"], "".join(part)).stderr.strip(), parts)
        return "\n".join(filter(None, said))
