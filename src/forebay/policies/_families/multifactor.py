"""The parameters of multifactor priorities, named as in slurm.conf: what age, size, usage, QOS, partition
and resources weigh.

The formulas are those of Slurm's priority/multifactor plug-in, as its documentation gives them.
"""

from copy import copy
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np

from forebay._support.text import counted
from forebay.core.units import parse_seconds
from forebay.errors import InputError, nearest
from forebay.platforms.tres import name_of
from forebay.policies._base import lay, one_of
from forebay.policies._families import accounts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

CHARGED = ("user", "group", "account", "queue", "association")
"""To what usage is charged. An association is a user in an account; associations make a tree."""


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
    N_ACCOUNTS = 16  # then the tables of the tree: accounts and users, four numbers each
    N_USERS = 17
    N_IN_PARTITIONS = 18  # users of one partition, the last of N_USERS
    N_TRES = 19  # last: what the resources that each job asks for add, a number a job


class Column(IntEnum):
    """Columns of the integers that the kernel remembers."""

    CHARGE = 0  # of a job: 1 + the number of its charge; 0 = the job is new
    USER = 1  # the same for who submitted it, and for its partition, where limits ask
    PARTITION = 2
    CHARGE_SLOT = 3  # from codes to these numbers: a hash table, and its reverse
    CHARGE_CODE = 4
    USER_SLOT = 5
    USER_CODE = 6
    PARTITION_SLOT = 7
    PARTITION_CODE = 8
    COUNT = 9  # rows 0, 1, 2, 3: how many of each there are; see Row for the others
    SEEN = 10  # of a job: in which turn it last was in line
    LINE = 11  # the jobs in line, as they were ordered last
    ACCOUNT_SLOT = 12  # from here on only where associations are charged
    ACCOUNT_CODE = 13
    ABOVE = 14  # of an account: the one above it
    STANDS = 15  # of an account: the one as which it counts
    UNDER = 16  # of a charge: its account


class Row(IntEnum):
    """Rows of Column.COUNT behind those of kinds."""

    TURN = 4  # how often the line was ordered
    IN_LINE = 5  # how many jobs it had then
    STRANGERS = 6  # charges that were not in the tree
    HELD = 7  # 1 = jobs have been held back as they came


class Number(IntEnum):
    """Columns of the floats that the kernel remembers."""

    PRIORITY = 0  # of a job, and what it comes from: side by side, as they are read of every job of a long queue
    CHARGE = 1  # 1 + the number of its charge; 0 = the job is new
    SUBMIT = 2
    SIZE = 3  # what its size and resources add, and its partition, and its QOS
    PARTITION = 4
    QOS = 5
    MET = 6  # the decision that first saw it
    USAGE = 7  # of a charge: node seconds, decayed; up to the last period
    RECENT = 8  # node seconds since
    RATE = 9  # nodes that its running jobs have
    FACTOR = 10  # the fair-share factor
    CLOCK = 11  # rows: see Clock
    SHARES = 12  # of a charge; from here on only where associations are charged
    ACCOUNT_SHARES = 13


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
    RESTED = 12  # 1 = since the last backfill cycle there was a time without waiting jobs
    LOOKED = 13  # how many waited as the main scheduler last looked at all in vain; 0 = something has changed since
    MET = 14  # when a job was last seen for the first time
    UNWRITTEN = 15  # 1 = priorities of old have changed since they were written down


def parse_table(name: str, text: str, codes: "Mapping[str, int]") -> dict[int, float]:
    """`high=100;normal=10`: names, or the numbers that stand for them, and values.

    Names that no job has are numbered -2, -3, ...: one may have the largest value, by which the others are divided.
    """
    table: dict[int, float] = {}
    codes = dict(codes)
    for word, value in _items(name, text):
        if word not in codes:
            codes[word] = int(word) if _is_number(word) else min(-1, *codes.values(), 0) - 1
        if not 0 <= value < np.inf:
            raise InputError(f"{name}: '{word}={value:g}': give a number from 0 up")
        table[codes[word]] = value
    return table


def strangers(name: str, text: str, known: "Iterable[str]") -> list[str]:
    """The names in such a text that are not known."""
    return [word for word, _ in _items(name, text) if word not in known and not _is_number(word)]


def _items(name: str, text: str) -> "Iterable[tuple[str, float]]":
    for item in filter(None, (part.strip() for part in text.split(";"))):
        word, _, value = (part.strip() for part in item.rpartition("="))
        try:
            number = float(value)
        except ValueError:
            number = np.nan
        if not word or np.isnan(number):
            raise InputError(f"{name}: {item!r} is not NAME=NUMBER; write it such as high=100;normal=10")
        yield word, number


def _is_number(word: str) -> bool:
    return word.removeprefix("-").isdecimal()


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
    charged: str = "user"  # usage is charged to: user, group, account, queue, or association (a user in an account)
    shares: str = ""  # of users, groups, ...: "ann=2;bob=1"; others have 1. Of associations: see `fair_share`
    PriorityJobFactor: str = ""  # of partitions: "short=10;long=1"; others have 1
    qos: str = ""  # their priorities: "high=100;normal=10"; others have 0
    PriorityWeightTRES: str = ""  # of resources: "cpu=1000;gres/gpu=30000"; Slurm's own list has commas

    _by_resources: ClassVar[np.ndarray] = np.zeros(0)  # what these add to each job; of a copy that is on a machine

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
        self.weights_of_resources()
        if self._in_tree:
            accounts.read(self.shares)

    @property
    def _in_tree(self) -> bool:
        return self.charged == "association"

    def with_accounts(self, members: "Sequence[accounts.Member]") -> Self:
        """The same with the tree of a site, unless it has a tree of its own, or uses none."""
        own = self.shares or not self._in_tree
        return self if own or not members else replace(self, shares=accounts.write(members))

    def weights_of_resources(self) -> dict[str, float]:
        """What resources weigh, by the names that platforms have for them."""
        key, found = "PriorityWeightTRES", dict[str, float]()
        for word, weight in _items(key, self.PriorityWeightTRES):
            name = name_of(word)
            if name not in ("nodes", "cores", "memory", "gpus") and not name.startswith("gpus_"):
                raise InputError(f"{key}: {word} is not weighed; {nearest(word, ['cpu', 'mem', 'node', 'gres/gpu'])}")
            if name in found:
                raise InputError(f"{key}: {word} is given twice; keep one")
            if not 0 <= weight < 2**32:
                raise InputError(f"{key}: '{word}={weight:g}': give a number from 0 to {2**32 - 1}")
            found[name] = weight
        return found

    def with_resources(self, added: np.ndarray) -> Self:
        """The same with what resources add to the priority of each job of the workload, in its order."""
        made = copy(self)
        object.__setattr__(made, "_by_resources", added)
        return made

    def with_names(self, names: "Mapping[str, Mapping[int, str]]") -> Self:
        """The same with the workload's numbers instead of names."""
        found: dict[str, Any] = {}
        for field, column in self._tables():
            codes = {name: code for code, name in names.get(column, {}).items()}
            table = parse_table(field, getattr(self, field), codes)
            found[field] = ";".join(f"{code}={value!r}" for code, value in table.items())
        if self._in_tree:
            found["shares"] = accounts.numbered(self.shares, names)
        return replace(self, **found)

    def strangers(self, names: "Mapping[str, Mapping[int, str]]") -> dict[str, list[str]]:
        """Names that no job has, by column. Those of a tree are left out: not every user has jobs."""
        return {
            column: strangers(field, getattr(self, field), names.get(column, {}).values())
            for field, column in self._tables()
        }

    def _tables(self) -> list[tuple[str, str]]:
        """Parameters that are tables, and of which column."""
        of_shares = [] if self._in_tree else [("shares", self.charged)]
        return [*of_shares, ("PriorityJobFactor", "queue"), ("qos", "qos")]

    def _tree(self) -> tuple[np.ndarray, np.ndarray]:
        """Accounts and users as the kernel reads them."""
        return accounts.lay(self.shares) if self._in_tree else (np.zeros((0, 4)), np.zeros((0, 4)))

    def weights(self) -> np.ndarray:
        """The block of numbers that the kernel reads."""
        given = dict.fromkeys(("shares", "PriorityJobFactor", "qos"), "") | {
            name: getattr(self, name) for name, _ in self._tables()
        }
        tables = [parse_table(name, text, {}) for name, text in given.items()]
        of_accounts, of_users = self._tree()
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
            n_accounts=len(of_accounts),
            n_users=len(of_users),
            n_in_partitions=(of_users[:, 2] != -1).sum(),
            n_tres=len(self._by_resources),
        )
        pairs = [value for table in tables for pair in table.items() for value in pair]
        tree = of_accounts.ravel(), of_users.ravel()
        return np.concatenate([block, np.array(pairs, np.float64), *tree, self._by_resources])

    def remembered(self, n_jobs: int, whole: bool = False) -> tuple[tuple[int, int], tuple[int, int]]:
        """Shapes of what the kernel remembers: a row a job and a member of the tree, hash tables of twice as many.

        And a few clocks. Columns of the tree only where there is one, or others follow: `whole`.
        """
        n = 2 * (n_jobs + sum(map(len, self._tree()))) + 16
        if self._in_tree or whole:
            return (n, len(Column)), (n, len(Number))
        return (n, Column.ACCOUNT_SLOT.value), (n, Number.SHARES.value)

    def remarks(self, memory: tuple[np.ndarray, np.ndarray]) -> list[str]:
        """How many charges are not in the tree."""
        n = int(memory[0][Row.STRANGERS, Column.COUNT]) if self._in_tree and self.shares else 0
        who = counted(n, "user in an account is", "users in accounts are")
        return [f"{who} not in the tree of shares: each has 1 share there, and so has an account outside"] if n else []
