"""What runs of one workload on one machine share, whatever the policy; a run of it, and its notes."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from forebay._support.text import counted
from forebay.errors import listed

if TYPE_CHECKING:
    from forebay._run.labels import Called
    from forebay.platforms import Failures, Platform
    from forebay.results import Result
    from forebay.workload import Workload

Period = tuple[float, float]
TURNED_AWAY = "rejected when submitted, and in no mean"


@dataclass(frozen=True)
class Setting:
    """All that the runs of one command have in common."""

    workload: "Workload"
    platform: "Platform"
    job_model: str | None
    seed: int
    window: Period | None
    failures: "Failures | None" = None  # where they are not those of the platform
    given: tuple[str, ...] = ()  # the words of a command that decide all this; none where the runs are no command's
    own: str | None = None  # the policy of the site
    metrics: tuple[str, ...] = ()  # of the user's own: files, or marks of what only this process has

    def prepare(
        self, policies: Iterable[Any] | Mapping[str, Any], quiet: bool, machines: "Mapping[str, Platform] | None" = None
    ) -> None:
        """Have ready what runs of these policies enter, and compile no more than they use.

        Some may run on `machines` of their own, by their names.
        """
        from forebay._run import compilation
        from forebay.experiments.common import common_uses

        machines = machines or {}
        every = policies if isinstance(policies, Mapping) else enumerate(policies)
        named = {str(name): one for name, one in dict(every).items()}
        used: frozenset[str] = frozenset()
        for machine in [self.platform, *machines.values()]:
            some = [one for name, one in named.items() if machines.get(name, self.platform) is machine]
            used |= common_uses(some, (self.workload, machine, self.seed, self.job_model, self.failures))
        compilation.prepare(list(named.values()), quiet, used)

    def simulate(
        self, policy: Any, name: str, progress: Callable[[int, int], None], spec: str | None = ""
    ) -> tuple["Result", dict[str, Any]]:
        """A run, and all there is to say of it: what run.json holds.

        `name` is what tables call the policy; its spec, where that is another, or None where it has none.
        """
        from forebay._run.simulate import simulate
        from forebay.metrics._own import files, kept
        from forebay.metrics._period import closed
        from forebay.metrics._summary import collected
        from forebay.metrics.window import window as within
        from forebay.results import document
        from forebay.workload import recorded as of_trace

        result = simulate(self.workload, self.platform, policy, self.seed, self.job_model, progress, self.failures)
        window = None if self.window is None else closed(self.window, result)
        recorded = of_trace.numbers(self.workload, self.window)
        limits = self.limits_of(result, policy)
        part = result if window is None else within(result, *window)
        own = files.named(self.metrics)
        numbers, remarks = collected(part, own)
        notes = [*notes_of(result, self.workload, len(limits)), *_named(limits), *of_trace.notes(recorded), *remarks]
        facts = {**result.facts, "policy": name, "notes": notes}
        if spec not in ("", None, name):
            facts["spec"] = spec
        if self.given and spec is not None:
            facts["command"] = ["forebay", "run", self.given[0], "--policy", _written(name, spec), *self.given[1:]]
        result = replace(result, facts=facts)
        beside = {"window": window, "summary": numbers, **kept.noted(numbers, own)}
        beside |= {"recorded": recorded} if recorded else {}
        return result, document(result, **beside)

    def called(self, text: str | None, usual: str) -> "Called":
        """The policy that a text names here; without one that of the site, if it has any, else the usual."""
        from forebay._run.labels import SITE, called

        return called(text or (SITE if self.own else usual), self.own, self.platform.name)

    def limits_of(self, result: "Result", policy: Any) -> dict[int, str]:
        """The limit on submitted jobs that rejected each job, with its owner, by job id."""
        if not (result.log["reason"] == "over_limit").any():
            return {}
        from forebay.experiments.turned_away import turned_away

        return turned_away(self, policy, result)

    @property
    def key(self) -> str:
        """A hash of all but the policy that can change a run; jobs and machine count by what they are."""
        from forebay._run.simulate import versions
        from forebay.experiments.files import described_metrics
        from forebay.experiments.store import code_hash

        jobs = self.workload
        digest = hashlib.sha256()
        for frame in (jobs.jobs, jobs.legs, jobs.phases, jobs.dependencies):
            digest.update(b"" if frame is None else frame.write_ipc(None).getvalue())
        about = (jobs.name, jobs.records, jobs.dropped, jobs.notes, jobs.provenance, jobs.sha256)
        failures = self.failures and self.failures.describe()
        machine = (self.platform.describe(), failures)
        more = (about, machine, self.job_model, self.seed, self.window, versions(), code_hash())
        digest.update(repr(more).encode())
        digest.update(repr(described_metrics(self.metrics)).encode() if self.metrics else b"")
        return digest.hexdigest()[:24]


def _written(label: str, spec: str) -> str:
    """What gives the same policy with the same name again, on a command line."""
    if spec in ("", label):
        return label
    return spec if set(label) & set("=:+,") else f"{label}={spec}"


def in_closed_loop(setting: Setting) -> Setting:
    """The same with jobs that are submitted when others of their users have ended."""
    from forebay.workload import closed_loop

    return replace(
        setting,
        workload=closed_loop(setting.workload),
        given=(*setting.given, "--closed-loop") if setting.given else (),
    )


def scaled(setting: Setting, load: float | None) -> Setting:
    """The same with jobs that arrive so many times as fast; no command for a single run has words for it."""
    from forebay.workload.operations import scale_load

    return setting if load is None else replace(setting, workload=scale_load(setting.workload, load), given=())


def _named(limits: dict[int, str]) -> list[str]:
    """A remark for each limit that rejected jobs, the one with most jobs first."""
    return [f"{limit}: {counted(n, 'job')} {TURNED_AWAY}" for limit, n in Counter(limits.values()).most_common(5)]


def notes_of(result: "Result", workload: "Workload", named: int = 0) -> list[str]:
    """Every remark on a run that its reader should know, a sentence each.

    Of the jobs that limits rejected, other notes report `named`.
    """
    from forebay.workload._source import dropped_text

    notes = list(result.facts["notes"])
    left_out = sum(workload.dropped.values())
    if left_out:
        why = dropped_text(workload.dropped)
        notes.insert(0, f"{left_out:,} of {counted(workload.records, 'record')} left out: {why}")
    reasons = {"too_large": "more than the machine or its partition has", "over_limit": "more than a limit allows"}
    for reason, what in reasons.items():
        ids = result.log.filter(result.log["reason"] == reason)["job"].unique(maintain_order=True).to_list()
        count = len(ids) - (named if reason == "over_limit" else 0)
        if count:
            who = counted(count, "job asks", "jobs ask")
            whose = f" ({_whose(workload, ids)})" if count == len(ids) else ""
            notes.append(f"{who} for {what}: rejected, and in no mean{whose}")
    return notes


def _whose(workload: "Workload", ids: list[int]) -> str:
    """Jobs by number, and of how many users."""
    users = workload.jobs.filter(workload.jobs["id"].is_in(ids))["user"]
    known = users.filter(users != -1).n_unique()
    some = f"{'jobs' if len(ids) > 1 else 'job'} {listed(map(str, ids), most=5)}"
    return f"{some}, of {counted(known, 'user')}" if known else some
