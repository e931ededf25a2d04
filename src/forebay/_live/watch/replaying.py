"""What other policies would have done on the days that were recorded: replays in a process of their own.

They take the processor time that nothing else wants, and their memory goes with them.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from forebay._live.watch.record import Record
from forebay.errors import ForebayError, InputError

if TYPE_CHECKING:
    from forebay.workload import Workload

FILE = "replay.json"
FEWEST = 20
"""Jobs below which a replay says nothing."""
_NEVER = "WITHDRAWN"
_METRICS = ("mean_wait", "p95_wait")


class Recorded(NamedTuple):
    """Jobs of a record that came and ended in it, and the machine."""

    workload: "Workload"
    platform: Any
    policy: str  # the nearest to the site's own
    since: float
    until: float


class Replays:
    """Has replays made, one at a time, every so many seconds."""

    def __init__(self, folder: Path, policies: Sequence[str], every: float) -> None:
        self._folder, self._policies, self._every = folder, list(policies), every
        self._child: subprocess.Popen[bytes] | None = None
        self._due = 0.0
        self._known: tuple[float, Any] = (0.0, None)

    def step(self, now: float) -> None:
        """Begin one if it is time."""
        if not self._policies or now < self._due or (self._child is not None and self._child.poll() is None):
            return
        self._due = now + self._every
        quiet = subprocess.DEVNULL
        command = [sys.executable, "-m", __name__, str(self._folder), str(now), *self._policies]
        self._child = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)

    def last(self) -> Any:
        """What the last one found; None before the first."""
        try:
            made = (self._folder / FILE).stat().st_mtime
        except OSError:
            return None
        if made != self._known[0]:
            self._known = (made, Record(self._folder).kept(FILE))
        return self._known[1]

    def end(self) -> None:
        """Stop one that goes on."""
        if self._child is not None and self._child.poll() is None:
            self._child.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._child.wait(10)


def recorded(folder: Path, days: float = 15.0) -> Recorded:
    """The jobs of a watch's folder, those that were submitted while it watched and that have ended."""
    from forebay._predict import _snapshot

    record = Record(folder)
    site, cycles = record.kept("site.json"), record.read("cycles")
    if site is None or cycles.is_empty():
        raise InputError(f"{folder}: nothing is recorded there; forebay slurm watch {folder} records a queue")
    until = float(cycles["now"].max())  # type: ignore[arg-type]
    since = max(float(cycles["now"].min()), until - 86400 * days)  # type: ignore[arg-type]
    last = record.read("jobs", since).unique("id", keep="last", maintain_order=True).filter(pl.col("state") != _NEVER)
    rows = [json.loads(text) for text in last["row"]]
    ended = [row for row in rows if "end" in row and row["submit"] >= since and row["end"] > row["start"]]
    if len(ended) < FEWEST:
        raise InputError(
            f"{folder}: {len(ended)} jobs came and ended while it watched; what-ifs need {FEWEST} and are worth more "
            "after some days"
        )
    document = {"snapshot": 1, "now": until, "machine": site["machine"], "policy": site["policy"], "jobs": ended}
    world, _ = _snapshot.world_of(str(folder), document, None, None, 0)
    return Recorded(world.workload, world.site.platform, site["policy"], since, until)


def replay(folder: Path, policies: Sequence[str]) -> dict[str, Any]:
    """Verdicts on policies, against the one nearest to the site's own."""
    from forebay.experiments.api import compare

    try:
        known = recorded(folder)
        found = compare(
            known.workload, list(policies), known.platform, reference=known.policy, bounds=False, jobs=1, replicas=2
        )
    except ForebayError as error:
        return {"why_not": str(error).replace(f"{folder}: ", ""), "rows": []}
    keys = ("policy", "metric", "value", "reference_value", "change", "low", "high", "verdict")
    rows = [
        {key: row[key] for key in keys} for row in found.verdicts.iter_rows(named=True) if row["metric"] in _METRICS
    ]
    about = {"since": known.since, "until": known.until, "jobs": len(known.workload), "reference": known.policy}
    return {**about, "rows": rows, "failed": found.failed, "basis": found.basis}


if __name__ == "__main__":
    os.nice(19)
    place = Path(sys.argv[1])
    try:
        answer = replay(place, sys.argv[3:])
    except Exception as error:  # there is no one to read a traceback: the page says it
        answer = {"why_not": f"it failed ({type(error).__name__}: {error})", "rows": []}
    Record(place).keep(FILE, {"made": float(sys.argv[2]), **answer})
