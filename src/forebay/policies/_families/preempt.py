"""Who may displace whom: the parameters of Slurm's preemption, named as in slurm.conf and in sacctmgr's table of QOS.

Which running jobs a waiting one may displace is a relation over QOS, or over the priority tiers of partitions. What is
done with them, after which time of safety and with how much notice, may be said of each.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any

import numpy as np

from forebay.core.units import parse_seconds
from forebay.errors import InputError, nearest
from forebay.policies._base import lay, one_of


class Preempt(IntEnum):
    """What the kernel reads, by place. Behind it stand a row for each name, see Name, and a square of who displaces
    whom."""

    BY_PARTITION = 0  # 1 = a higher priority tier displaces lower ones; 0 = QOS, as the square says
    YOUNGEST_FIRST = 1
    REORDER_COUNT = 2
    STRICT_ORDER = 3
    DELAY = 4  # s that a requeued job does not start again
    MODE = 5  # of whom no row names, as the next two
    EXEMPT = 6
    GRACE = 7
    N_NAMES = 8


class Name(IntEnum):
    """A row of what is said of a QOS, or a partition."""

    CODE = 0
    PRIORITY = 1
    MODE = 2
    EXEMPT = 3
    GRACE = 4


class Mode(IntEnum):
    """What becomes of a displaced job."""

    OFF = 0  # it is not displaced
    REQUEUE = 1
    CANCEL = 2


_ELSEWHERE = {
    "SUSPEND": "a job here holds its nodes until it ends, so none can be suspended on them",
    "GANG": "a job here holds its nodes until it ends, so none take turns on them",
    "WITHIN": "jobs of one QOS do not displace one another here",
    "PRIORITY": "which jobs displace others follows from their QOS or partition alone here",
}
"""Modes of Slurm that there is no model of, and why."""


def _mode(text: str) -> Mode:
    word = text.strip().upper()
    for one, why in _ELSEWHERE.items():
        if one in word.split(",") or one in word.split("+"):
            raise InputError(f"PreemptMode is {text.strip()!r}: {why}; give REQUEUE, CANCEL or OFF")
    if word not in Mode.__members__:
        raise InputError(f"PreemptMode is {text.strip()!r}: {nearest(word, Mode.__members__)}")
    return Mode[word]


def _seconds(name: str) -> Callable[[str], float]:
    def parse(text: str) -> float:
        try:
            seconds = parse_seconds(text.strip())
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
        if not 0 <= seconds < np.inf:
            raise InputError(f"{name} is {text.strip()!r}; give a time from 0 up")
        return seconds

    return parse


def _by_name(text: str, parse: Callable[[str], Any], usual: Any) -> tuple[Any, dict[str, Any]]:
    """`REQUEUE;low=CANCEL`: what holds for all, and what for some."""
    found: dict[str, Any] = {}
    for item in filter(None, (part.strip() for part in str(text).split(";"))):
        name, equals, value = item.rpartition("=")
        if equals:
            found[name.strip()] = parse(value)
        else:
            usual = parse(item)
    return usual, found


def _pairs(text: str) -> list[tuple[str, str]]:
    """`high=low;high=standby`: who displaces whom."""
    found = []
    for item in filter(None, (part.strip() for part in text.split(";"))):
        one, equals, other = (word.strip() for word in item.partition("="))
        if not equals or not one or not other:
            raise InputError(f"Preempt: {item!r} is not QOS=QOS; write who displaces whom, such as high=low;high=mid")
        if one == other:
            raise InputError(f"Preempt: {item!r}: jobs of one QOS do not displace one another; leave it out")
        found.append((one, other))
    return found


def _refuse_circles(pairs: Iterable[tuple[str, str]]) -> None:
    """Refuse QOS that displace one another, over whatever others: their jobs would take turns for ever."""
    below: dict[str, list[str]] = {}
    for one, other in pairs:
        below.setdefault(one, []).append(other)
    for first in below:
        paths = [[first]]
        while paths:
            path = paths.pop()
            for other in below.get(path[-1], ()):
                if other == first:
                    raise InputError(f"Preempt goes round in a circle: {' > '.join([*path, first])}; leave one out")
                if other not in path:
                    paths.append([*path, other])


_BY_NAME = ("PreemptMode", "PreemptExemptTime", "GraceTime")
"""Parameters that may say something else of some QOS or partitions."""


@dataclass(frozen=True)
class Preempting:
    """Which running jobs may be displaced. Names and defaults are those of Slurm; tables are by QOS or by partition."""

    PreemptType: str = "none"  # "qos": as `Preempt` says; "partition_prio": higher PriorityTiers displace lower ones
    Preempt: str = ""  # QOS that displace others: "high=low;high=standby"
    PreemptMode: str = "REQUEUE"  # or CANCEL; of some QOS or partitions another: "REQUEUE;standby=CANCEL;low=OFF"
    PreemptExemptTime: str = "0"  # after a start, in which a job is safe: "10min", or "0;low=10min"
    GraceTime: str = "0"  # that a displaced job still has: "1min", or "0;low=1min"
    preempt_youngest_first: bool = False
    preempt_reorder_count: int = 1  # how often victims are put in another order so that there are fewer
    preempt_strict_order: bool = False
    cred_expire: Annotated[float, parse_seconds] = 120.0  # s; a requeued job starts again no sooner than 1 s behind it

    @property
    def preempts(self) -> bool:
        """Whether jobs may be displaced at all."""
        return self.PreemptType != "none"

    def check_preemption(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        one_of(self, PreemptType=("none", "qos", "partition_prio"))
        self._told()
        _refuse_circles(_pairs(self.Preempt))
        if not 0 <= self.preempt_reorder_count < 2**31:
            raise InputError(f"preempt_reorder_count is {self.preempt_reorder_count}; give a count from 0 up")
        if not 0 <= self.cred_expire < np.inf:
            raise InputError(f"cred_expire is {self.cred_expire:g}; give a time from 0 up")
        if self.Preempt and self.PreemptType != "qos":
            raise InputError(f"Preempt says nothing with PreemptType={self.PreemptType}; give PreemptType=qos")

    def _told(self) -> list[tuple[Any, dict[str, Any]]]:
        """Mode, time of safety and notice: what holds for all, and what for some."""
        return [
            _by_name(self.PreemptMode, _mode, Mode.REQUEUE),
            _by_name(self.PreemptExemptTime, _seconds("PreemptExemptTime"), 0.0),
            _by_name(self.GraceTime, _seconds("GraceTime"), 0.0),
        ]

    @property
    def named_column(self) -> str:
        """Of which column names in the tables are."""
        return "queue" if self.PreemptType == "partition_prio" else "qos"

    def named(self) -> list[str]:
        """All names in the tables, but for numbers."""
        words = [word for pair in _pairs(self.Preempt) for word in pair]
        for parameter in _BY_NAME:
            words += _by_name(getattr(self, parameter), str, "")[1]
        return [word for word in dict.fromkeys(words) if not word.isdecimal()]

    def in_codes(self, names: Mapping[str, Mapping[int, str]]) -> dict[str, str]:
        """The tables with the workload's numbers instead of names: -2, -3, ... of those that no job has."""
        codes = {name: str(code) for code, name in names.get(self.named_column, {}).items()}
        strangers = [word for word in self.named() if word not in codes]
        codes |= {word: str(-2 - place) for place, word in enumerate(strangers)}
        pairs = [(codes.get(one, one), codes.get(other, other)) for one, other in _pairs(self.Preempt)]
        found = {"Preempt": ";".join(f"{one}={other}" for one, other in pairs)}
        for parameter in _BY_NAME:
            usual, named = _by_name(getattr(self, parameter), str, "")
            texts = [usual, *(f"{codes.get(word, word)}={value}" for word, value in named.items())]
            found[parameter] = ";".join(filter(None, texts))
        return found

    def preemption(self, priorities: Mapping[int, float]) -> np.ndarray:
        """The block of numbers that the kernel reads; `priorities` are those of QOS, by their codes."""
        (mode, modes), (exempt, exempts), (grace, graces) = self._told()
        pairs = [(int(one), int(other)) for one, other in _pairs(self.Preempt)]
        named = {int(word) for table in (modes, exempts, graces) for word in table}
        codes = sorted(named.union(*pairs))
        square = np.zeros((len(codes), len(codes)))
        for one, other in pairs:
            square[codes.index(one), codes.index(other)] = 1.0
        block = lay(
            Preempt,
            by_partition=self.PreemptType == "partition_prio",
            youngest_first=self.preempt_youngest_first,
            reorder_count=self.preempt_reorder_count,
            strict_order=self.preempt_strict_order,
            delay=self.cred_expire + 1.0,
            mode=mode,
            exempt=exempt,
            grace=grace,
            n_names=len(codes),
        )
        rows = [
            lay(
                Name,
                code=code,
                priority=priorities.get(code, 0.0),
                mode=modes.get(str(code), mode),
                exempt=exempts.get(str(code), exempt),
                grace=graces.get(str(code), grace),
            )
            for code in codes
        ]
        return np.concatenate([block, *rows, square.ravel()])
