"""The watch itself: a cycle a minute, each kept, scored and shown."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from forebay._live.alone import be_alone
from forebay._live.commands import Slurm
from forebay._live.snapshot import Moment
from forebay._live.watch import exposition, page, replaying
from forebay._live.watch.forecast import forecast
from forebay._live.watch.known import DAYS, Known
from forebay._live.watch.reading import Reader
from forebay._live.watch.record import Record
from forebay._live.watch.scores import KEPT, Guess, Score, Scores, reliability, score_of
from forebay._live.watch.state import Standing
from forebay.errors import ForebayError

PAGE = "status.html"
SITE = "site.json"


@dataclass
class Watch:
    """Watches until it is stopped."""

    folder: Path
    slurm: Slurm = field(default_factory=Slurm)
    every: float = 60.0
    futures: int = 30
    days: float = 30.0
    textfile: Path | None = None
    policies: Sequence[str] = ()
    replay_every: float = 6 * 3600.0
    seed: int = 0

    def __post_init__(self) -> None:
        self.record = Record(self.folder, self.days)
        self._held = be_alone(self.folder, "watch")
        self._reader = Reader(self.slurm, self.every)
        self._known, self._scores = Known(), Scores()
        self._replays = replaying.Replays(self.folder, list(self.policies), self.replay_every)
        self._site: Any = self.record.kept(SITE)
        self._last: Standing | None = None
        self.cycles = 0
        self._recall()

    def _recall(self) -> None:
        """Go on where an earlier process stopped."""
        self.record.close_before(self.slurm.now())
        since = self.slurm.now() - DAYS * 86400
        self._known.recall(self.record.read("jobs", since))
        self._scores.done = [score_of(row) for row in self.record.read("scores", since).rows()][-KEPT:]
        scored = {(one.name, one.made) for one in self._scores.done}
        for now, name, partition, *band, drawn in self.record.read("guesses", since).rows():
            if (name, now) not in scored:
                self._scores.open[name] = Guess(now, partition, np.array(drawn, np.float32), np.array(band))

    def cycle(self) -> Standing:
        """Read, score, predict, keep, show."""
        begun = time.perf_counter()
        found = self._reader.moment()
        made = self._scores.settle(found.jobs)
        calibration = self._scores.calibration()
        ahead = forecast(found, self._known.past.values(), calibration, self.futures, self.seed)
        said = _said(found)
        new = self._scores.take(found.now, ahead.names, _partitions(found), ahead.drawn, ahead.bands)
        self._scores.hear(found.now, said, dict(zip(ahead.names, ahead.bands[:, 3].tolist(), strict=True)))
        standing = Standing(found, ahead, said, reliability(self._scores.done), self._scores.lost)
        standing.took = time.perf_counter() - begun
        self._write(standing, made, new)
        self._last = standing
        self.cycles += 1
        return standing

    def _write(self, standing: Standing, made: Sequence[Score], new: Sequence[str]) -> None:
        found, ahead = standing.found, standing.ahead
        drawn, bands = (dict(zip(ahead.names, rows, strict=True)) for rows in (ahead.drawn, ahead.bands))
        partitions = _partitions(found)
        site = {"machine": found.site.machine, "policy": found.site.policy, "settings": dict(found.site.settings)}
        if site != self._site:
            self.record.keep(SITE, site)
            self._site = site
        rows = {
            "cycles": [[found.now, standing.running, len(ahead.names), standing.nodes, standing.used, standing.took]],
            "jobs": self._known.changes(found),
            "predictions": [
                [found.now, name, *_rounded(band), standing.said.get(name)]
                for name, band in zip(ahead.names, ahead.bands, strict=True)
            ],
            "guesses": [
                [found.now, name, partitions.get(name, ""), *_rounded(bands[name]), _rounded(drawn[name])]
                for name in new
            ],
            "scores": [one.row for one in made],
        }
        self.record.add(found.now, rows)

    def show(self, problem: str = "") -> None:
        """The page and the file of metrics, as of now."""
        now = self.slurm.now()
        replay = self._replays.last()
        page.write(self.folder / PAGE, self._last, replay, now, self.every, problem)
        if self.textfile is not None:
            exposition.write(self.textfile, self._last, self.cycles, self._reader.total, bool(problem))

    def run(self, cycles: int | None, tell: Callable[[str], None]) -> None:
        """Cycle after cycle; what fails is said on the page, and tried again."""
        done = 0
        try:
            while cycles is None or done < cycles:
                begun = self.slurm.now()
                self.once(tell)
                done += 1
                if cycles is None or done < cycles:
                    self.slurm.sleep(min(max(begun + self.every - self.slurm.now(), 0.1), self.every))
        finally:
            self.end()

    def end(self) -> None:
        """Stop a replay that goes on."""
        self._replays.end()

    def once(self, tell: Callable[[str], None]) -> None:
        """A cycle; what fails is said."""
        problem = ""
        try:
            one = self.cycle()
            tell(f"{one.running:,} run, {len(one.ahead.names):,} wait, {len(self._scores.done):,} scored")
        except (ForebayError, OSError) as error:
            problem = str(error)
            tell(problem)
        try:
            self._replays.step(self.slurm.now())
            self.show(problem)
        except (ForebayError, OSError) as error:
            tell(f"the page is not written: {error}")


def _said(found: Moment) -> dict[str, float]:
    """What squeue --start would say: seconds from now."""
    said = {job.called: max(job.start - found.now, 0.0) for job in found.jobs if job.waits and job.start > 0}
    for job in found.jobs:
        if job.waits and job.tasks and job.start > 0:
            first = next((name for name in found.ids if name.startswith(f"{job.array}_")), None)
            if first is not None:
                said[first] = max(job.start - found.now, 0.0)
    return said


def _partitions(found: Moment) -> dict[str, str]:
    rows = {row["id"]: row for row in found.document["jobs"]}
    return {name: str(rows[number].get("partition", "")) for name, number in found.ids.items() if number in rows}


def _rounded(values: Any) -> list[float]:
    return [round(float(one), 1) for one in values]
