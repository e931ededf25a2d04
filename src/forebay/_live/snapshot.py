"""A live queue as a snapshot: what `forebay predict` answers from."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from forebay._live.commands import Slurm
from forebay._live.jobs import LiveJob, queue, tasks_of
from forebay._live.site import LiveSite, read_site
from forebay._support.text import counted

TASKS = 1000
"""Tasks of an array that are looked at; the rest comes later anyway."""
_FIRST_TASK = 10**12
"""Tasks that wait have no number of their own yet: they count from here, so that no job has it."""
_WAITS_FOR = re.compile(r"(after\w*):(\d+)(?:_[\d*]+)?(?:\+(\d+))?")
_KINDS = {"after": "after", "afterok": "afterok", "afternotok": "afternotok", "aftercorr": "afterok"}


@dataclass(frozen=True)
class Moment:
    """A live queue, as it was read."""

    now: float
    site: LiveSite
    jobs: list[LiveJob]
    document: dict[str, Any]  # the snapshot
    ids: dict[str, int]  # numbers in the snapshot, by what users call jobs
    notes: list[str]


def moment(slurm: Slurm, site: LiveSite | None = None, now: float | None = None) -> Moment:
    """Read it, in six calls of Slurm's commands at most; with a site that was read before, in one."""
    site = read_site(slurm) if site is None else site
    jobs, said = queue(slurm)
    return moment_of(site, jobs, math.floor(slurm.now()) if now is None else now, said)


def moment_of(site: LiveSite, jobs: Sequence[LiveJob], now: float, said: Sequence[str] = ()) -> Moment:
    """What was read, as a snapshot."""
    rows: list[dict[str, Any]] = []
    ids: dict[str, int] = {}
    placed: dict[int, list[int]] = {}  # numbers by the number of a job or its array
    notes = [*site.notes, *said]
    known = [job for job in jobs if job.submit and (job.waits or job.runs or job.start)]
    for job in known:
        for name, number in _numbers(job, notes):
            rows.append(_row(job, number, site, now))
            ids[name] = number
            placed.setdefault(job.array or job.id, []).append(number)
            if job.array and job.id != job.array:
                placed.setdefault(job.id, []).append(number)
    _hold_back(rows, site, notes)
    document: dict[str, Any] = {"snapshot": 1, "now": now, "machine": site.machine, "policy": site.policy}
    document |= {"down": site.down} if site.down else {}
    coming = [one for one in site.reservations if one["end"] > now]
    document |= {"reservations": coming} if coming else {}
    after = [
        one for job in known if job.waits for one in _after(job, [ids[n] for n, _ in _numbers(job, [])], placed, notes)
    ]
    _hold_after(rows, after)
    document |= {"jobs": rows} | ({"after": after} if after else {})
    lost = [job for job in jobs if job.waits and any(name not in site.tiers for name in job.licences)]
    if lost:
        notes.append(f"{counted(len(lost), 'job asks', 'jobs ask')} for licences that Slurm does not count: left out")
    if any(job.het for job in known):
        notes.append("components of heterogeneous jobs count as jobs of their own")
    return Moment(now, site, list(jobs), document, ids, list(dict.fromkeys(notes)))


def _hold_back(rows: list[dict[str, Any]], site: LiveSite, notes: list[str]) -> None:
    """Jobs that need nodes that are down wait for an administrator, and block no other."""
    classes = site.machine.get("classes", {}).values()
    up = sum(one["nodes"] for one in classes) - site.n_down
    large = [row for row in rows if "start" not in row and row["nodes"] > up]
    for row in large:
        row["held"] = True
    if large:
        notes.append(f"{counted(len(large), 'job needs', 'jobs need')} nodes that are down: taken as held")


def _hold_after(rows: list[dict[str, Any]], after: Sequence[dict[str, Any]]) -> None:
    """Jobs that wait for held ones are held with them."""
    held = {row["id"] for row in rows if row.get("held")}
    more = held
    while more:
        more = {one["job"] for one in after if one["parent"] in more and not one.get("any")} - held
        held |= more
    for row in rows:
        if row["id"] in held:
            row["held"] = True


def _numbers(job: LiveJob, notes: list[str]) -> list[tuple[str, int]]:
    """What a job is called and its number; of an array that waits, all its tasks."""
    if not (job.waits and job.tasks):
        return [(job.called, job.id)]
    tasks = list(tasks_of(job.tasks, TASKS))
    if len(tasks) == TASKS:
        notes.append(f"array {job.array}: {TASKS:,} of its tasks are looked at")
    if "%" in job.tasks:
        notes.append("how many tasks of an array may run at a time is not heeded")
    return [(f"{job.array}_{task}", _FIRST_TASK + job.array * 10**7 + task) for task in tasks]


def _row(job: LiveJob, number: int, site: LiveSite, now: float) -> dict[str, Any]:
    """A job of a snapshot."""
    submit = min(job.submit, now)
    row: dict[str, Any] = {"id": number, "submit": submit, "nodes": job.nodes, "name": job.name}
    row |= {} if math.isinf(job.walltime) else {"walltime": job.walltime}
    partition = job.partition
    for key, word in (("user", job.user), ("account", job.account), ("qos", job.qos), ("partition", partition)):
        row |= {key: word} if word else {}
    if job.features and re.fullmatch(r"[\w.&-]+", job.features):
        row["features"] = job.features
    if job.waits:
        row |= {"held": True} if job.held else {"begin": job.eligible} if job.eligible > now else {}
    else:
        row["start"] = min(max(job.start, submit), now)
        row |= {} if job.runs else {"end": min(max(job.end, row["start"]), now)}
    if site.sharing:
        row["cores"] = job.cores
        row |= {"exclusive": True} if job.exclusive else {}
        row |= {"memory": job.tres["mem"]} if "memory" in site.inside and job.tres.get("mem") else {}
        row |= {"gpus": job.tres["gres/gpu"]} if "gpus" in site.inside and job.tres.get("gres/gpu") else {}
    row |= {site.tiers[name]: amount for name, amount in job.licences.items() if name in site.tiers}
    if job.buffer and "burst_buffer" in site.tiers.values():
        row["burst_buffer"] = job.buffer
    return row


def _after(
    job: LiveJob, numbers: Sequence[int], placed: dict[int, list[int]], notes: list[str]
) -> list[dict[str, Any]]:
    """Whom a job waits for that Slurm still knows of; others are met."""
    found = []
    if "singleton" in job.dependency:
        notes.append("dependencies called singleton are not heeded")
    for kind, parent, minutes in _WAITS_FOR.findall(job.dependency):
        for other in placed.get(int(parent), ()):
            for number in numbers:
                one = {"job": number, "parent": other, "kind": _KINDS.get(kind, "afterany")}
                one |= {"delay": 60.0 * int(minutes)} if minutes else {}
                found.append(one | ({"any": True} if "?" in job.dependency else {}))
    return found
