"""The parameters of multifactor priorities, named as in slurm.conf: what age, size, usage, QOS and partition weigh.

The formulas are those of Slurm's priority/multifactor plug-in, as its documentation gives them.
"""

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np

from forebay.core.units import parse_seconds
from forebay.errors import InputError
from forebay.policies._base import lay, one_of

if TYPE_CHECKING:
    from collections.abc import Mapping

CHARGED = ("user", "group", "account", "queue")
"""Whose usage counts against whom."""


class Weight(IntEnum):
    """What the kernel reads, by place. Behind it stand pairs of code and value: shares, partitions, QOS."""

    AGE = 0
    FAIRSHARE = 1
    JOB_SIZE = 2
    PARTITION = 3
    QOS = 4
    MAX_AGE = 5
    HALF_LIFE = 6
    CALC_PERIOD = 7
    FAVOR_SMALL = 8
    RELATIVE_TO_TIME = 9
    FAIR_TREE = 10
    DAMPENING = 11
    CHARGED = 12
    N_SHARES = 13
    N_PARTITIONS = 14
    N_QOS = 15


class Column(IntEnum):
    """Columns of the integers that the kernel remembers."""

    CHARGE = 0  # of a job: 1 + the number of who is charged; 0 = the job is new
    USER = 1  # the same for who submitted it, and for its partition, where limits ask
    PARTITION = 2
    CHARGE_SLOT = 3  # from codes to these numbers: a hash table, and its reverse
    CHARGE_CODE = 4
    USER_SLOT = 5
    USER_CODE = 6
    PARTITION_SLOT = 7
    PARTITION_CODE = 8
    COUNT = 9  # rows 0, 1, 2: how many of each there are; see Row for the others
    SEEN = 10  # of a job: in which turn it last was in line
    LINE = 11  # the jobs in line, as they were ordered last


class Row(IntEnum):
    """Rows of Column.COUNT behind those of kinds."""

    TURN = 3  # how often the line was ordered
    IN_LINE = 4  # how many jobs it had then


class Number(IntEnum):
    """Columns of the floats that the kernel remembers."""

    PRIORITY = 0  # of a job
    USAGE = 1  # of who is charged: node seconds, decayed; up to the last period
    RECENT = 2  # node seconds since
    RATE = 3  # nodes that its running jobs have
    FACTOR = 4  # the fair-share factor
    CLOCK = 5  # rows: see Clock


class Clock(IntEnum):
    """Times that the kernel remembers, as rows of Number.CLOCK."""

    DECIDED = 0  # up to which usage is counted
    CALCULATED = 1  # priorities
    BEGUN = 2  # 1 = the clocks below are set
    BATCHED = 3  # when the main scheduler last ran for jobs that were submitted
    BATCH_DUE = 4
    FULL_DUE = 5  # the main scheduler over the whole queue
    BACKFILLED = 6
    CHANGED = 7  # 1 = something has, since
    ASKED_BATCH = 8  # wakes that were asked for
    ASKED_FULL = 9
    ASKED_BACKFILL = 10
    COMPUTED = 11  # 1 = priorities of old have been computed since the line was ordered
    RESTED = 12  # 1 = since the last backfill cycle there was a time at which nobody waited


def parse_table(name: str, text: str, codes: "Mapping[str, int]") -> dict[int, float]:
    """`high=100;normal=10`: names, or the numbers that stand for them where there are no names, and values."""
    table: dict[int, float] = {}
    for item in filter(None, (part.strip() for part in text.split(";"))):
        word, _, value = item.rpartition("=")
        word = word.strip()
        try:
            code, number = codes[word] if word in codes else int(word), float(value)
        except ValueError:
            known = f"; known are {', '.join(codes)}" if codes else ", as the workload has no such names"
            raise InputError(
                f"{name}: {item!r} is not NAME=NUMBER with a name or number of the workload{known}"
            ) from None
        if not 0 <= number < np.inf:
            raise InputError(f"{name}: {item!r}: give a number from 0 up")
        table[code] = number
    return table


@dataclass(frozen=True)
class Weighted:
    """What decides on a job's priority. Names and defaults are those of slurm.conf; a weight of 0 omits a factor."""

    PriorityWeightAge: int = 0
    PriorityWeightFairshare: int = 0
    PriorityWeightJobSize: int = 0
    PriorityWeightPartition: int = 0
    PriorityWeightQOS: int = 0
    PriorityMaxAge: Annotated[float, parse_seconds] = 604800.0  # s; a job that has waited so long has the age factor 1
    PriorityDecayHalfLife: Annotated[float, parse_seconds] = 604800.0  # s, of usage; 0 = it does not decay
    PriorityCalcPeriod: Annotated[float, parse_seconds] = 300.0  # s between two calculations; 0 = every decision
    PriorityFavorSmall: bool = False
    SMALL_RELATIVE_TO_TIME: bool = False  # size over time limit; as the others, of PriorityFlags
    NO_FAIR_TREE: bool = False  # 2^(-usage/shares), not the rank in a tree
    FairShareDampeningFactor: float = 1.0
    charged: str = "user"  # whose usage is counted: user, group, account or queue
    shares: str = ""  # of who is charged: "ann=2;bob=1"; others have 1
    PriorityJobFactor: str = ""  # of partitions: "short=10;long=1"; others have 1
    qos: str = ""  # their priorities: "high=100;normal=10"; others have 0

    def check_weights(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        for name in ("Age", "Fairshare", "JobSize", "Partition", "QOS"):
            weight = getattr(self, f"PriorityWeight{name}")
            if not 0 <= weight < 2**32:
                raise InputError(f"PriorityWeight{name} is {weight}; give a whole number from 0 to {2**32 - 1}")
        for name in ("PriorityDecayHalfLife", "PriorityCalcPeriod"):
            if not getattr(self, name) >= 0:
                raise InputError(f"{name} is {getattr(self, name):g} s; give a time from 0 up")
        for name in ("PriorityMaxAge", "FairShareDampeningFactor"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} is {getattr(self, name):g}; give a number above 0")
        one_of(self, charged=CHARGED)

    def with_names(self, names: "Mapping[str, Mapping[int, str]]") -> Self:
        """The same with the workload's numbers instead of names."""
        found: dict[str, Any] = {}
        for field, column in (("shares", self.charged), ("PriorityJobFactor", "queue"), ("qos", "qos")):
            codes = {name: code for code, name in names.get(column, {}).items()}
            table = parse_table(field, getattr(self, field), codes)
            found[field] = ";".join(f"{code}={value!r}" for code, value in table.items())
        return replace(self, **found)

    def weights(self) -> np.ndarray:
        """The block of numbers that the kernel reads."""
        tables = [parse_table(name, getattr(self, name), {}) for name in ("shares", "PriorityJobFactor", "qos")]
        block = lay(
            Weight,
            age=self.PriorityWeightAge,
            fairshare=self.PriorityWeightFairshare,
            job_size=self.PriorityWeightJobSize,
            partition=self.PriorityWeightPartition,
            qos=self.PriorityWeightQOS,
            max_age=self.PriorityMaxAge,
            half_life=self.PriorityDecayHalfLife,
            calc_period=self.PriorityCalcPeriod,
            favor_small=self.PriorityFavorSmall,
            relative_to_time=self.SMALL_RELATIVE_TO_TIME,
            fair_tree=not self.NO_FAIR_TREE,
            dampening=self.FairShareDampeningFactor,
            charged=CHARGED.index(self.charged),
            n_shares=len(tables[0]),
            n_partitions=len(tables[1]),
            n_qos=len(tables[2]),
        )
        pairs = [value for table in tables for pair in table.items() for value in pair]
        return np.concatenate([block, np.array(pairs, np.float64)])


def memory_of(n_jobs: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Shapes of what the kernel remembers: a row a job, hash tables of twice as many, and a few clocks."""
    return (2 * n_jobs + 16, len(Column)), (2 * n_jobs + 16, len(Number))
