"""What the agent has changed, in a folder: how it was before, a log of each decision, one agent at a time."""

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forebay._live.agent.orders import write
from forebay._live.alone import be_alone
from forebay._live.commands import Slurm
from forebay._live.jobs import queue
from forebay._support.files import replacing
from forebay._support.reading import read_text
from forebay.errors import InputError


class Ledger:
    """The folder of an agent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._state = folder / "changed.json"
        self._audit = folder / "audit.jsonl"
        self._beat = folder / "heartbeat"

    def lock(self, name: str = "agent") -> None:
        """Be the only one; InputError where another runs."""
        self._lock = be_alone(self.folder, name)

    def read(self) -> dict[str, Any]:
        """`field`, and by job the values before the first change and after the last."""
        try:
            found = json.loads(read_text(self._state))
        except FileNotFoundError:
            found = {}
        except ValueError:
            raise InputError(f"{self._state}: is damaged; see audit.jsonl beside it for what was changed") from None
        rows = {int(job): row for job, row in found.get("jobs", {}).items()}
        return {"field": found.get("field", "priority"), "jobs": rows}

    def keep(self, field: str, jobs: Mapping[int, Mapping[str, int]]) -> None:
        """Written, to the disk, before Slurm is asked to change anything: a full disk stops the agent, not jobs."""
        with replacing(self._state) as (file,), file.open("w", encoding="utf-8") as out:
            json.dump({"field": field, "jobs": jobs}, out)
            out.flush()
            os.fsync(out.fileno())

    def note(self, what: str, **more: Any) -> None:
        """A line of the log."""
        with self._audit.open("a", encoding="utf-8") as out:
            out.write(json.dumps({"time": time.time(), "what": what, **more}) + "\n")

    def beat(self, word: str = "") -> None:
        """Say that all is well; or that it is over."""
        self._beat.write_text(word or str(time.time_ns()), encoding="utf-8")

    def heard(self) -> str:
        """What was last said."""
        try:
            return read_text(self._beat)
        except OSError:
            return ""

    def undo(self, slurm: Slurm) -> int:
        """Give back to jobs that wait what they had, where no one changed it since; how many there were."""
        known = self.read()
        field, rows = known["field"], known["jobs"]
        # A priority would release a job that is held; a site factor does not.
        jobs = {job.id: job for job in queue(slurm)[0] if job.waits and (field != "priority" or not job.held)}
        here = {job: row for job, row in rows.items() if job in jobs}
        mine = {job: row["before"] for job, row in here.items() if _untouched(jobs[job].priority, row, field)}
        if mine:
            said = write(slurm, mine, field)
            self.note("undo", field=field, jobs=mine, said=said)
        self.keep(field, {})
        return len(mine)


def _untouched(priority: int, row: Mapping[str, int], field: str) -> bool:
    return field != "priority" or priority == row["after"]
