"""Jobs that were seen: what changed of them since the last time, and those that ended, to learn from."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from forebay._live.jobs import LiveJob
from forebay._live.snapshot import Moment
from forebay._live.watch.record import Record
from forebay._live.watch.scores import has_started

MOST = 3000
"""Jobs that ended, the last ones."""
DAYS = 15.0
"""From which they are: two weeks, for the rhythm of newcomers."""
Row = Mapping[str, Any]


class Known:
    """Of a watch."""

    def __init__(self) -> None:
        self._last: dict[int, tuple[Any, ...]] = {}
        self.past: dict[int, Row] = {}

    def changes(self, found: Moment) -> list[list[Any]]:
        """Rows for the table of jobs, of those that are new or not as they were."""
        rows = {row["id"]: row for row in found.document["jobs"]}
        states = _states(found)
        changed, now_here = [], {}
        for name, number in found.ids.items():
            row = rows.get(number)
            if row is None:
                continue
            state = states.get(name, "PENDING")
            key = _key(state, row)
            now_here[number] = key
            if self._last.get(number) != key:
                changed.append([found.now, name, number, state, json.dumps(row)])
            if "end" in row and state != "WITHDRAWN":
                self._keep(number, row)
        self._last = now_here
        return changed

    def _keep(self, number: int, row: Row) -> None:
        self.past[number] = row
        while len(self.past) > MOST:
            del self.past[next(iter(self.past))]

    def recall(self, table: pl.DataFrame) -> None:
        """What an earlier process wrote down."""
        for number, state, text in (
            table.unique("id", keep="last", maintain_order=True).select("id", "state", "row").iter_rows()
        ):
            row = json.loads(text)
            self._last[number] = _key(state, row)
            if "end" in row and state != "WITHDRAWN":
                self._keep(number, row)


def _key(state: str, row: Row) -> tuple[Any, ...]:
    return (state, *(row.get(part) for part in ("start", "end", "walltime", "nodes", "submit", "held")))


def _states(found: Moment) -> dict[str, str]:
    return {job.called: _state(job) for job in found.jobs}


def _state(job: LiveJob) -> str:
    """WITHDRAWN: it ended and never began."""
    return job.state if job.waits or job.runs or has_started(job) else "WITHDRAWN"


def ended_of(folder: Path) -> list[Row]:
    """Jobs that a watch saw end, out of its folder."""
    known = Known()
    known.recall(Record(folder).read("jobs", time.time() - DAYS * 86400))
    return list(known.past.values())
