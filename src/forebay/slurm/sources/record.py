"""What every source is turned into: lines of values by name, as slurm.conf would have them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from forebay.errors import listed


class Kind(StrEnum):
    """Of what a record speaks."""

    SETTING = "setting"  # of the whole cluster
    NODE = "node"
    PARTITION = "partition"
    NODESET = "nodeset"
    DOWN = "down"
    BUFFER = "buffer"
    RESERVATION = "reservation"
    QOS = "qos"
    ASSOCIATION = "association"


@dataclass(frozen=True)
class Record:
    """Values of one thing, by their names in lower case: case does not count in slurm.conf."""

    kind: Kind
    values: Mapping[str, str]
    where: str  # file and line, for messages

    def get(self, *keys: str) -> str:
        """The first of these that has a value; empty where none has. Slurm prints "(null)" where nothing is set."""
        for key in keys:
            value = self.values.get(key.lower(), "").strip()
            if value and value.lower() not in {"(null)", "n/a"}:
                return value
        return ""


@dataclass
class Source:
    """All that one file says."""

    records: list[Record] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, kind: Kind, values: Mapping[str, str], where: str) -> None:
        """One more record; keys in any case."""
        self.records.append(Record(kind, {key.lower(): value for key, value in values.items()}, where))

    def note(self, what: str, names: list[str]) -> None:
        """A remark on names, unless there are none."""
        if names:
            self.notes.append(f"{what}: {listed(dict.fromkeys(names))}")
