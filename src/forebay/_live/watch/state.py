"""How things stand after a cycle: what the page and the file of metrics show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forebay._live.snapshot import Moment
from forebay._live.watch.forecast import Forecast
from forebay._live.watch.scores import Reliability
from forebay.core.units import parse_bytes


@dataclass
class Standing:
    """Of the last cycle."""

    found: Moment
    ahead: Forecast
    said: Mapping[str, float]
    reliability: Sequence[Reliability]
    lost: int
    took: float = 0.0

    @property
    def running(self) -> int:
        """Jobs that hold nodes."""
        return sum(job.runs for job in self.found.jobs)

    @property
    def held(self) -> int:
        """Jobs that will not start by themselves."""
        return sum(bool(row.get("held")) for row in self.found.document["jobs"])

    @property
    def nodes(self) -> int:
        """Of the machine."""
        return int(sum(one["nodes"] for one in self.found.site.machine.get("classes", {}).values()))

    @property
    def down(self) -> int:
        """Nodes that are."""
        return self.found.site.n_down

    @property
    def used(self) -> int:
        """Nodes of jobs that run; shared nodes count for each job."""
        return sum(job.nodes for job in self.found.jobs if job.runs)

    @property
    def pools(self) -> list[tuple[str, int, int]]:
        """Licences and buffers: the name, how much is in use, and how much there is."""
        rows = [row for row in self.found.document["jobs"] if "start" in row and "end" not in row]
        amounts = self._amounts()
        return [
            (name, sum(int(row.get(tier, 0)) for row in rows), amounts[tier])
            for name, tier in self.found.site.tiers.items()
            if tier in amounts
        ]

    def _amounts(self) -> dict[str, int]:
        tiers = self.found.site.machine.get("tiers", {})
        return {name: _amount(one["capacity"]) for name, one in tiers.items() if "capacity" in one}


def _amount(given: int | str) -> int:
    return given if isinstance(given, int) else parse_bytes(given)
