"""Users, groups and accounts by labels, such as user-3: an answer does not say whose jobs they were.

One name has one label in all that is made of a file, and the same jobs run as they did: limits, shares and reservations
of the machine get the same labels, and numbers that users have at the site go with their names.
"""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

import polars as pl

from forebay._support.text import plain
from forebay.core.schemas import JOB_SCHEMA, MORE
from forebay.errors import InputError
from forebay.platforms.accounts import ROOT, Account
from forebay.platforms.platform import Platform
from forebay.platforms.reservations import Reservation
from forebay.platforms.rules import Rule
from forebay.workload.anonymity import draws_of
from forebay.workload.names import called
from forebay.workload.workload import Workload

WHO = ("user", "group", "account")
"""Columns that tell who somebody is. Queues, QOS, features and types of GPUs belong to the machine."""

_LINE = "users, groups and accounts go by labels"
_KEPT = ("recorded_reason",)
"""Columns beside those of every workload that hold Slurm's words, not the user's."""


def disguised(workload: Workload, platform: Platform | None) -> tuple[Workload, Platform | None]:
    """Both with labels for names. The workload must be the whole file: labels are those of all that is in it."""
    disguise = Disguise.of(workload, platform)
    return disguise.workload(workload), None if platform is None else disguise.platform(platform)


@dataclass(frozen=True)
class Disguise:
    """What the names and numbers of a workload, and the names of a machine's site, become."""

    numbers: Mapping[str, Mapping[int, int]]  # by column: of the jobs
    labels: Mapping[str, Mapping[str, str]]  # by column: names

    @classmethod
    def of(cls, workload: Workload, platform: Platform | None = None) -> "Disguise":
        """Numbers in a random order that hangs on the content of the file, and so stays; then who has no job."""
        rng, numbers, labels = draws_of(workload), dict[str, Mapping[int, int]](), dict[str, dict[str, str]]()
        for column in WHO:
            old = [n for n in _column(workload, column).unique().sort().to_list() if n >= 0]
            new = dict(zip(old, (rng.permutation(len(old)) + 1).tolist(), strict=True))
            labels[column] = {}
            for number in sorted(old, key=new.__getitem__):  # of two numbers with one name, the lower label
                word = plain(called(workload.names, column, number))
                labels[column].setdefault(word, f"{column}-{new[number]}")
            numbers[column] = new
        key = rng.bytes(16)
        for column, words in _of_site(platform).items():
            unknown = sorted(set(words) - labels[column].keys(), key=partial(_digest, key))
            first = len(numbers[column]) + 1
            labels[column] |= {word: f"{column}-{first + k}" for k, word in enumerate(unknown)}
        return cls(numbers, labels)

    def workload(self, workload: Workload) -> Workload:
        """The same jobs by labels, without columns of the author's own."""
        jobs, names = workload.jobs, dict(workload.names)
        for column, new in self.numbers.items():
            names.pop(column, None)
            if new:
                dtype = (JOB_SCHEMA | MORE)[column]
                old, numbers = pl.Series(list(new), dtype=dtype), pl.Series(list(new.values()), dtype=dtype)
                jobs = jobs.with_columns(pl.col(column).replace_strict(old, numbers, default=-1, return_dtype=dtype))
                words = {number: plain(called(workload.names, column, number)) for number in new}
                names[column] = {new[number]: self.labels[column][word] for number, word in words.items()}
        jobs = jobs.drop([name for name in workload.own if name not in _KEPT])
        texts = {name: tuple(map(self.text, getattr(workload, name))) for name in ("notes", "provenance")}
        return replace(workload, jobs=jobs, names=names, notes=texts["notes"], provenance=(*texts["provenance"], _LINE))

    def platform(self, platform: Platform) -> Platform:
        """The same machine, whose limits, accounts and reservations name labels."""
        refuse_shares(platform.policy or "")
        return platform.model_copy(
            update={
                "limits": tuple(map(self._rule, platform.limits)),
                "accounts": tuple(map(self._account, platform.accounts)),
                "reservations": tuple(map(self._reservation, platform.reservations)),
            }
        )

    def text(self, text: str) -> str:
        """A sentence with labels in it for the names that it has."""
        return self._words.sub(lambda found: self._every[found[0]], text) if self._every else text

    @cached_property
    def _every(self) -> dict[str, str]:
        """All names but mere numbers, which sentences are full of."""
        return {word: label for some in self.labels.values() for word, label in some.items() if not word.isdecimal()}

    @cached_property
    def _words(self) -> re.Pattern[str]:
        longest = sorted(self._every, key=len, reverse=True)
        # Slurm calls reservations ann_7: an underscore ends a name, too.
        return re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, longest))})(?![^\W_])")

    def _label(self, column: str, name: str) -> str:
        return self.labels[column].get(name, name)

    def _rule(self, rule: Rule) -> Rule:
        return rule.model_copy(update={name: self._label(name, getattr(rule, name)) for name in WHO})

    def _account(self, one: Account) -> Account:
        users = {}
        for name, shares in one.users.items():
            user, colon, partition = name.partition(":")
            users[f"{self._label('user', user)}{colon}{partition}"] = shares
        names = {name: self._label("account", getattr(one, name)) for name in ("name", "parent")}
        return one.model_copy(update={**names, "users": users})

    def _reservation(self, one: Reservation) -> Reservation:
        users, accounts = (
            tuple(self._label(column, name) for name in getattr(one, f"{column}s")) for column in ("user", "account")
        )
        return one.model_copy(update={"name": self.text(one.name), "users": users, "accounts": accounts})


def refuse_shares(*specs: str) -> None:
    """Refuse policies that name users or accounts themselves: their specs are shown."""
    for spec in specs:
        if re.search(r"[:,]shares=", spec):
            raise InputError(
                f"--anonymise: {spec.partition(':')[0]} names users or accounts by shares=...; write them into the "
                "platform's file, [accounts.NAME], where they get labels"
            )


def _of_site(platform: Platform | None) -> dict[str, list[str]]:
    """Names that a machine's site has for users, groups and accounts."""
    found: dict[str, list[str]] = {column: [] for column in WHO}
    if platform is None:
        return found
    for rule in platform.limits:
        for column in WHO:
            found[column] += filter(None, [getattr(rule, column)])
    for one in platform.accounts:
        found["account"] += [name for name in (one.name, one.parent) if name != ROOT]
        found["user"] += [name.partition(":")[0] for name in one.users]
    for reservation in platform.reservations:
        found["user"] += reservation.users
        found["account"] += reservation.accounts
    return found


def _digest(key: bytes, word: str) -> bytes:
    """Something to sort names by that does not tell them."""
    return hmac.digest(key, word.encode(), "sha256")


def _column(workload: Workload, name: str) -> pl.Series:
    jobs = workload.jobs
    return jobs[name] if name in jobs.columns else pl.Series(name, [], dtype=pl.Int64)
