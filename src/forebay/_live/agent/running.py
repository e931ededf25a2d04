"""The agent's round: read, plan, check bounds, write down, write."""

import subprocess
import sys
import time
from collections import defaultdict, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from forebay._live.agent import guard
from forebay._live.agent.ledger import Ledger
from forebay._live.agent.orders import changes, write
from forebay._live.agent.planning import Plan, plan_of
from forebay._live.commands import Slurm, SlurmError
from forebay._live.jobs import from_json
from forebay._live.site import LiveSite, read_site
from forebay._live.snapshot import moment_of

_SITE_AGAIN = 600.0


class Bounds(NamedTuple):
    """How much the agent may do."""

    harm: float = 0.5  # by which share the mean wait of a user may grow in a plan
    an_hour: int = 120  # changes of one job


class Round(NamedTuple):
    """What one round came to."""

    waiting: int
    changed: int
    why_not: str
    plan: Plan


@dataclass
class Agent:
    """Orders the queue; without `go` it only says what it would do."""

    folder: Path
    policy: str
    go: bool = False
    expiry: float = 60.0
    bounds: Bounds = field(default_factory=Bounds)
    slurm: Slurm = field(default_factory=Slurm)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.folder)
        self._site: LiveSite | None = None
        self._read_at = 0.0
        self._times: defaultdict[int, deque[float]] = defaultdict(deque)
        self._guard: subprocess.Popen[bytes] | None = None

    def round(self) -> Round:
        """Once."""
        site = self._known_site()
        multifactor = "multifactor" in site.settings.get("prioritytype", "")
        name = "sitefactor" if multifactor else "priority"
        # By JSON alone: in text a job's name may look like keys.
        jobs = from_json(self.slurm.ask("squeue", "--json", "-a", "-t", "all"))
        found = moment_of(site, jobs, float(int(self.slurm.now())))
        plan = plan_of(found, self.policy)
        too_much = {user: share for user, share in plan.harm.items() if share > self.bounds.harm}
        if too_much:
            user, share = max(too_much.items(), key=lambda one: one[1])
            undone = self.ledger.undo(self.slurm) if self.go and self.ledger.read()["jobs"] else 0
            self._alive()
            return Round(len(plan.order), undone, f"the mean wait of {user!r} would grow by {share:.0%}", plan)
        by_id = {job.id: job for job in jobs if job.waits}
        kept = {job: row for job, row in self.ledger.read()["jobs"].items() if job in by_id}
        set_by_us = {job: row["after"] for job, row in kept.items()}
        wanted = [one for one in changes(plan.order, by_id, name, set_by_us) if self._may(one.job)]
        if self.go:
            self._alive()
            if wanted:
                rows = {one.job: {"before": kept.get(one.job, {}).get("before", one.before)} for one in wanted}
                self.ledger.keep(name, kept | {one.job: rows[one.job] | {"after": one.after} for one in wanted})
                said = write(self.slurm, {one.job: one.after for one in wanted}, name)
                starts = {one.job: round(plan.starts[one.job]) for one in wanted}
                moved = {one.job: [one.before, one.after] for one in wanted}
                self.ledger.note("order", policy=self.policy, field=name, jobs=moved, starts=starts, said=said)
            self._alive()
        return Round(len(plan.order), len(wanted), "", plan)

    def run(self, every: float, rounds: int | None, tell: Callable[[str], None]) -> None:
        """Round after round; what fails is said, and tried again. At the end Slurm gets its order back."""
        done = 0
        try:
            while rounds is None or done < rounds:
                begun = time.monotonic()
                try:
                    one = self.round()
                    verb = "changed" if self.go else "would change"
                    tell(one.why_not or f"{one.waiting:,} wait, {verb} {one.changed:,}")
                except (SlurmError, OSError) as error:
                    tell(str(error))
                done += 1
                if rounds is None or done < rounds:
                    time.sleep(max(0.1, every - (time.monotonic() - begun)))
        finally:
            self.end(tell)

    def end(self, tell: Callable[[str], None]) -> None:
        """Restore what was changed; if Slurm does not answer, the guard does it."""
        if not self.go:
            return
        try:
            tell(f"restored {self.ledger.undo(self.slurm):,}")
            self.ledger.beat(guard.OVER)
            if self._guard is not None:
                with suppress(subprocess.TimeoutExpired):
                    self._guard.wait(5)
        except (SlurmError, OSError) as error:
            tell(f"{error}; the guard restores the order once Slurm answers")

    def _known_site(self) -> LiveSite:
        if self._site is None or time.monotonic() - self._read_at > _SITE_AGAIN:
            self._site, self._read_at = read_site(self.slurm), time.monotonic()
        return self._site

    def _may(self, job: int) -> bool:
        """Whether a job may be changed once more in this hour; it counts where it is."""
        times, now = self._times[job], time.monotonic()
        while times and now - times[0] > 3600:
            times.popleft()
        if len(times) >= self.bounds.an_hour:
            return False
        times.append(now)
        return True

    def _alive(self) -> None:
        """A heartbeat, and someone who listens to it."""
        if not self.go:
            return
        self.ledger.beat()
        if self._guard is None or self._guard.poll() is not None:
            command = [sys.executable, "-m", "forebay._live.agent.guard", str(self.folder), str(self.expiry)]
            quiet = subprocess.DEVNULL
            self._guard = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
