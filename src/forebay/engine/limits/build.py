"""From the limits of a site to meters: who is under which, how much of what each job counts for, who has no chance."""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from forebay._support.text import counted
from forebay.core.limits import NO_LIMIT, Limits
from forebay.engine.build.program import Program
from forebay.engine.causes import HeldBy
from forebay.engine.limits.tables import Meters, Place, make_meters
from forebay.engine.partitions.build import are_open, reasons_of
from forebay.engine.power.build import MILLIWATTS, Cap, added, caps_of
from forebay.engine.reservations.build import reason_of
from forebay.errors import InputError, brief, nearest
from forebay.platforms.partitions import Partition
from forebay.platforms.platform import Platform
from forebay.platforms.reservations import Reservation
from forebay.platforms.rules import WAIT, Rule
from forebay.platforms.tres import TRES
from forebay.workload.names import called
from forebay.workload.workload import Workload

_ARRAY = "PerArray"
"""A limit on tasks of an array, which is the workload's own and no site's."""

_TRADE = ("cores", "memory", "gpus")
"""What machines and jobs may have and need not tell."""


class Count(NamedTuple):
    """What one limit counts together, for each of some groups of jobs."""

    rule: Rule
    kind: str  # "" = all of them, "PerUser", "PerAccount" or "PerArray"
    jobs: int | None
    submit: int | None
    tres: TRES
    minutes: TRES
    rejects: bool = False

    @property
    def waits(self) -> bool:
        """Whether a job over the submit limit is submitted again when the limit allows it."""
        return self.submit is not None and self.rule.over_submit == WAIT


class Site(NamedTuple):
    """The limits of a run, ready for the engine."""

    meters: Meters
    counts: list[Count]
    count_of: np.ndarray  # int64[meter]
    columns: list[str]
    notes: list[str]
    reservations: tuple[Reservation, ...]
    shut: list[tuple[str, str, str]]  # why partitions let no job start, stretch by stretch

    def why(self, by: int, row: int, part: int) -> tuple[str, str, str]:
        """Why a job is held back: in a word, in Slurm's, and in a sentence."""
        if by == HeldBy.PARTITION:
            return self.shut[row]
        return reason_of(self.reservations[row]) if by == HeldBy.RESERVATION else self._of_limit(row, part)

    def _of_limit(self, meter: int, part: int) -> tuple[str, str, str]:
        count = self.counts[self.count_of[meter]]
        if isinstance(count.rule, Cap):
            return "limit", count.rule.reason(count.kind), count.rule.detail
        if count.kind == _ARRAY:
            return "limit", "JobArrayTaskLimit", f"its array has {count.jobs} of {count.jobs} tasks begun"
        whose = {"": _whose(count.rule), "PerUser": "its user", "PerAccount": "its account"}[count.kind]
        where = _whose(count.rule)
        place = f" in {where}" if count.kind and where != "all jobs" else ""
        if part == 0:
            reason = "user_jobs" if count.kind == "PerUser" else "limit"
            return (
                reason,
                count.rule.reason(count.kind),
                f"{whose} has {count.jobs} of {count.jobs} jobs begun{place}",
            )
        if part == 2 * len(self.columns) + 1:
            submitted = f"{whose} has {count.submit} of {count.submit} jobs submitted{place}"
            return "limit", count.rule.submit_reason(count.kind), submitted
        name = self.columns[(part - 1) % len(self.columns)]
        if part > len(self.columns):
            slurm = count.rule.reason(count.kind, name, minutes=True)
            return (
                "limit",
                slurm,
                f"{whose} would have more than {count.minutes[name]:,} {name} x minutes to run{place}",
            )
        reason = "user_nodes" if (count.kind, name) == ("PerUser", "nodes") else "limit"
        slurm = count.rule.reason(count.kind, name)
        return reason, slurm, f"with it {whose} would have more than {count.tres[name]:,} {name}{place}"


def _whose(rule: Rule) -> str:
    return ", ".join(f"{'partition' if key == 'queue' else key} {name}" for key, name in rule.who.items()) or "all jobs"


def site_of(workload: Workload, platform: Platform, program: Program, limits: Limits | None) -> Site:
    """All limits of a run: those of the machine's site, and those around the policy."""
    rules = [*platform.limits, *(rule for one in platform.partitions if (rule := _of_partition(one)) is not None)]
    rules += caps_of(platform, program)
    counts = [count for rule in rules for count in _counts(rule)]
    around: list[Rule] = []
    if limits is not None:
        around = [_as_rule(limits)]
        counts += [count._replace(rejects=limits.over == "reject") for count in _counts(around[0])]
    arrays = _of_arrays(workload)
    counts += arrays
    shut = [] if are_open(platform) else reasons_of(workload, platform)
    if not rules and not arrays and limits is None and not platform.reservations and not shut:
        return Site(make_meters(), [], np.zeros(0, np.int64), ["nodes"], [], (), [])
    every = [*rules, *around]
    named = [name for rule in every for tres in _all_tres(rule) for name in tres]
    columns = ["nodes", *(name for name in dict.fromkeys(named) if name != "nodes")]
    notes = _strangers(workload, list(platform.limits))
    asks, more = _asks(workload, platform, program, columns)
    default = next((one.name for one in platform.partitions if one.default), "")
    of_partitions = range(len(platform.limits), len(rules))
    under = [_under(workload, rule, default, k in of_partitions) for k, rule in enumerate(every)]
    members = {id(rule): jobs for rule, jobs in zip(every, under, strict=True)}
    members |= {id(count.rule): workload.jobs["array_limit"].to_numpy() == count.jobs for count in arrays}
    groups = [_groups(workload, count, members[id(count.rule)]) for count in counts]
    meters, count_of = _fill(workload, counts, groups, columns, asks)
    for rule in every:
        meters.away[:] |= members[id(rule)] & _too_much(workload, rule, columns, asks)
    unknown = int((workload.jobs["user"].to_numpy() < 0).sum())
    if unknown and (limits is not None or any(count.kind == "PerUser" for count in counts)):
        notes.append(f"{counted(unknown, 'job names', 'jobs name')} no user: limits per user do not hold there")
    return Site(meters, counts, count_of, columns, notes + more, platform.reservations, shut)


def _of_partition(one: Partition) -> Rule | None:
    """How many jobs of a partition may run at a time, as a rule; whom else it takes, `build.eligibility` tells."""
    return None if one.max_jobs is None else Rule.model_construct(partition=one.name, grp_jobs=one.max_jobs)


def _of_arrays(workload: Workload) -> list[Count]:
    """How many tasks of an array may have begun at a time: a limit for each such number, counted array by array."""
    if not {"array", "array_limit"} <= set(workload.jobs.columns):
        return []
    limited = (workload.jobs["array"] >= 0) & (workload.jobs["array_limit"] > 0)
    numbers = workload.jobs["array_limit"].filter(limited).unique().sort().to_list()
    return [Count(Rule.model_construct(), _ARRAY, number, None, {}, {}) for number in numbers]


def _as_rule(limits: Limits) -> Rule:
    """The limits around a policy, as a rule for all jobs."""
    return Rule.model_construct(
        max_wall=limits.run_time if math.isfinite(limits.run_time) else None,
        max_jobs_per_user=limits.user_jobs if limits.user_jobs < NO_LIMIT else None,
        max_tres_per_user={"nodes": limits.user_nodes} if limits.user_nodes < NO_LIMIT else {},
    )


def _counts(rule: Rule) -> Iterable[Count]:
    for count in (
        Count(rule, "", rule.grp_jobs, rule.grp_submit, rule.grp_tres, rule.grp_tres_run_mins),
        Count(rule, "PerUser", rule.max_jobs_per_user, rule.max_submit_per_user, rule.max_tres_per_user, {}),
        Count(
            rule, "PerAccount", rule.max_jobs_per_account, rule.max_submit_per_account, rule.max_tres_per_account, {}
        ),
    ):
        if count.jobs is not None or count.submit is not None or count.tres or count.minutes:
            yield count


def _all_tres(rule: Rule) -> tuple[TRES, ...]:
    return (
        rule.grp_tres, rule.grp_tres_run_mins, rule.max_tres_per_user, rule.max_tres_per_account, rule.max_tres_per_job
    )  # fmt: skip


def _numbers(workload: Workload, column: str, name: str, joined: bool = False) -> list[int]:
    """The numbers that a column has for a name, or which are it; `joined`: also where it is one of several, "a,b"."""
    found = workload.jobs[column].unique().to_list() if column in workload.jobs.columns else []
    names = {number: called(workload.names, column, number) for number in found if number >= 0}
    words = {number: [word.strip() for word in text.split(",")] if joined else [text] for number, text in names.items()}
    return [number for number, some in words.items() if name in some]


def _under(workload: Workload, rule: Rule, default: str, joined: bool) -> np.ndarray:
    """Which jobs are under a rule; those that name no partition are in the default one.

    With `joined`, one that names several partitions is under the rules of each: in which of them it will run is not
    known while it waits.
    """
    under = np.ones(len(workload), bool)
    for column, name in rule.who.items():
        if column in workload.jobs.columns:
            numbers = _numbers(workload, column, name, joined)
            numbers += [-1] if (column, name) == ("queue", default) else []
            under &= np.isin(workload.jobs[column].to_numpy(), numbers)
        else:
            under[:] = False
    return under


def _strangers(workload: Workload, rules: list[Rule]) -> list[str]:
    """Notes on names that no job has: most of them are slips."""
    notes = []
    for column, name in dict.fromkeys(pair for rule in rules for pair in rule.who.items()):
        if _numbers(workload, column, name):
            continue
        word, known = "partition" if column == "queue" else column, list[str]()
        if column in workload.jobs.columns:
            numbers = workload.jobs[column].unique().sort().to_list()
            known = [called(workload.names, column, number) for number in numbers if number >= 0]
        hint = nearest(name, known) if known else f"{workload.name} does not give the {word} of any job"
        notes.append(f"limits of {word} {brief(name)} have no effect, as no job has it: {hint}")
    return notes


def _asks(workload: Workload, platform: Platform, program: Program, columns: list[str]) -> tuple[np.ndarray, list[str]]:
    """What each job counts for, column by column, and notes on what is not known."""
    asks, notes = np.zeros((len(workload), len(columns)), np.int64), []
    for c, name in enumerate(columns):
        if name in platform.resources:
            demand = program.demand[:, platform.resources.index(name)]
            asks[:, c] = np.maximum.reduceat(demand, program.first_leg[:-1])
        elif name == MILLIWATTS:
            asks[:, c] = added(workload, platform, program)
        elif name == "nodes":  # where jobs share them, each counts for those of which it has a part
            asks[:, c] = workload.jobs["nodes"].to_numpy()
        elif name in workload.jobs.columns and name in workload.resources:
            asks[:, c] = workload.jobs[name].to_numpy()
        elif name in _TRADE or name.startswith("gpus_"):
            notes.append(f"limits on {name} have no effect: jobs do not say how much of it they ask for")
        else:
            known = [*platform.resources, *workload.resources, "gres/gpu", "cpu", "mem"]
            raise InputError(
                f"{platform.name}: a limit names {brief(name)}, which is not counted: {nearest(name, known)}"
            )
    return asks, notes


def _groups(workload: Workload, count: Count, under: np.ndarray) -> np.ndarray:
    """By job, who is counted together, from 0 up; -1 = the limit is not for it."""
    if not count.kind:
        return np.where(under, 0, -1)
    column = {"PerUser": "user", "PerAccount": "account", _ARRAY: "array"}[count.kind]
    who = workload.jobs[column].to_numpy() if column in workload.jobs.columns else np.full(len(workload), -1)
    under = under & (who >= 0)
    group = np.full(len(workload), -1)
    group[under] = np.unique(who[under], return_inverse=True)[1]
    return group


def _fill(
    workload: Workload, counts: list[Count], groups: list[np.ndarray], columns: list[str], asks: np.ndarray
) -> tuple[Meters, np.ndarray]:
    sizes = [int(group.max(initial=-1)) + 1 for group in groups]
    begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rows = [np.flatnonzero(group >= 0) for group in groups]
    job = np.concatenate([np.zeros(0, np.int64), *rows])
    whose = [group[some] + begin for group, some, begin in zip(groups, rows, begins, strict=False)]
    meter = np.concatenate([np.zeros(0, np.int64), *whose]).astype(np.int64)
    order = np.argsort(job, kind="stable")
    waits = any(count.waits for count in counts)
    meters = make_meters(int(begins[-1]), len(workload), len(columns), len(job), waits)
    if waits and "running_since" in workload.jobs.columns:
        meters.place[workload.jobs["running_since"].is_not_nan().to_numpy()] = Place.EXEMPT
    meters.of[:], meters.asks[:] = meter[order], asks
    meters.first[1:] = np.cumsum(np.bincount(job, minlength=len(workload)))
    for count, group, first, last in zip(counts, groups, begins[:-1], begins[1:], strict=True):
        table = meters.table[first:last]
        table["max_jobs"] = NO_LIMIT if count.jobs is None else count.jobs
        table["max_submit"] = NO_LIMIT if count.submit is None else count.submit
        table["rejects"], table["weighs_time"], table["waits"] = count.rejects, bool(count.minutes), count.waits
        meters.away[:] |= (group >= 0) & (count.jobs == 0 or (count.waits and count.submit == 0))
        walltime = workload.jobs["walltime"].to_numpy()
        for name, most in count.tres.items():
            meters.most[first:last, columns.index(name)] = most
            meters.away[:] |= (group >= 0) & (asks[:, columns.index(name)] > most)
        for name, most in count.minutes.items():
            c = columns.index(name)
            meters.most_ahead[first:last, c] = 60.0 * most
            long = (asks[:, c] > 0) & (np.maximum(asks[:, c], 1) * walltime > 60.0 * most)
            meters.away[:] |= (group >= 0) & long
    return meters, np.repeat(np.arange(len(counts)), sizes)


def _too_much(workload: Workload, rule: Rule, columns: list[str], asks: np.ndarray) -> np.ndarray:
    """Who asks for more than a single job may have."""
    over = np.zeros(len(workload), bool)
    if rule.max_wall is not None:
        over |= workload.jobs["walltime"].to_numpy() > rule.max_wall
    for name, most in rule.max_tres_per_job.items():
        over |= asks[:, columns.index(name)] > most
    return over
