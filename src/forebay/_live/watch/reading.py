"""Reads of Slurm, at most so many calls of slurmctld in any minute: the queue each time, and the machine in parts."""

import math
from collections import deque
from pathlib import Path

from forebay._live.commands import Slurm, SlurmError
from forebay._live.jobs import queue
from forebay._live.site import LiveSite, has_buffers, site_of
from forebay._live.snapshot import Moment, moment_of
from forebay.slurm.sources import scontrol
from forebay.slurm.sources.record import Source

MOST = 4
"""Calls in a minute: as many as slurmctld is asked for."""
MINUTE = 60.0
COSTS = {"node": 2, "config": 2}
"""Calls of slurmctld that `scontrol show` makes, as sdiag counts them: of partitions, too, and a ping. Others: 1."""
_FIRST = ("config", "node", "partition")
_TURNS = ("reservation", "node", "partition", "node", "config", "node")
_A_TIME = 2


class Reader:
    """What is read, and how often."""

    def __init__(self, slurm: Slurm, every: float) -> None:
        self._slurm = slurm
        self._calls: deque[float] = deque()
        self._of_parts: deque[float] = deque()
        self._most_parts = max(1, MOST - math.ceil(MINUTE / every))
        self._texts: dict[str, str] = {}
        self._turns = deque(_TURNS)
        self._site: LiveSite | None = None
        self.total = 0

    def moment(self) -> Moment:
        """The queue, and of the machine what is not known yet, or as much as may be asked now."""
        for what in _FIRST:
            if what not in self._texts:
                self._read(what)
        self._count(1)
        jobs, said = queue(self._slurm)
        now = float(math.floor(self._slurm.now()))
        self._refresh()
        found = moment_of(self._known(), jobs, now, said)
        if "reservation" not in self._texts:
            found.notes.append("reservations are not read yet: few calls are made in a minute")
        return found

    def _refresh(self) -> None:
        """Parts of the machine that changed; where one cannot be had, what was read before stands."""
        for _ in range(_A_TIME):
            what = self._turns[0]
            cost = COSTS.get(what, 1)
            if self._lately(self._calls) + cost > MOST or self._lately(self._of_parts) + cost > self._most_parts:
                return
            self._turns.rotate(-1)
            try:
                self._read(what)
            except SlurmError:
                return

    def _read(self, what: str) -> None:
        cost = COSTS.get(what, 1)
        self._count(cost)
        self._of_parts.extend([self._calls[-1]] * cost)
        text = self._slurm.ask("scontrol", *(("-a",) if what == "config" else ("-o", "-a")), "show", what)
        if what == "config" and has_buffers(text) and "burstbuffer" not in self._turns:
            self._turns.appendleft("burstbuffer")
        if self._texts.get(what) != text:
            self._texts[what], self._site = text, None

    def _known(self) -> LiveSite:
        if self._site is None:
            self._site = site_of([_parsed(what, text) for what, text in self._texts.items()])
        return self._site

    def _count(self, cost: int) -> None:
        """Note calls; where there were as many as may be, wait until enough of them are a minute ago."""
        while self._lately(self._calls) + cost > MOST:
            self._slurm.sleep(self._calls[0] + MINUTE - self._slurm.now() + 0.01)
        self._calls.extend([self._slurm.now()] * cost)
        self.total += cost

    def _lately(self, calls: deque[float]) -> int:
        """How many there were in the last minute; of a clock that jumped, none."""
        now = self._slurm.now()
        while calls and not now - MINUTE < calls[0] <= now:
            calls.popleft()
        return len(calls)


def _parsed(what: str, text: str) -> Source:
    where = Path(f"scontrol show {what}")
    return scontrol.read_config(text, where) if what == "config" else scontrol.read(text, where)
