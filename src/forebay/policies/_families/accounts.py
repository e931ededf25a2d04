"""The tree of accounts and users for fair share: as text, and as the kernel reads it.

`physics=3;physics/theory=2;theory/@ann=1;theory/@bob:long=parent`: shares of accounts, of those inside others, of users
in an account, and of a user's jobs in one partition. Names may be quoted as in addresses of the web (%2F).
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import quote, unquote

import numpy as np

from forebay.errors import InputError, nearest

ROOT = "root"
PARENT = -1.0
"""Shares of a member that has none of its own, but those of its account."""


class Member(NamedTuple):
    """An account, or a user in one."""

    name: str
    account: str  # that it is in
    shares: float
    user: bool = False
    partition: str = ""  # a user's: of its jobs there; empty = of all others


def write(members: Iterable[Member]) -> str:
    """As text."""
    return ";".join(f"{_path(one)}={'parent' if one.shares == PARENT else f'{one.shares:g}'}" for one in members)


def _path(one: Member) -> str:
    name = quote(one.name, safe="")
    if one.user:
        name = f"@{name}" + (f":{quote(one.partition, safe='')}" if one.partition else "")
    return name if one.account == ROOT else f"{quote(one.account, safe='')}/{name}"


def read(text: str) -> list[Member]:
    """From text; refused where accounts do not make a tree."""
    members = [_member(item) for item in filter(None, (part.strip() for part in text.split(";")))]
    accounts = {one.name: one.account for one in members if not one.user}
    for one in members:
        if one.account != ROOT and one.account not in accounts:
            raise InputError(
                f"shares: {one.name!r} is in account {one.account!r}, which has no shares: "
                f"{nearest(one.account, [ROOT, *accounts])}"
            )
    seen = set[tuple[str, str, str]]()
    for one in members:
        key = (one.account if one.user else "", f"{'@' * one.user}{one.name}", one.partition)
        if key in seen or (not one.user and one.name == ROOT):
            raise InputError(f"shares: {_path(one)} is there twice; keep one")
        seen.add(key)
    for name in accounts:
        above, steps = name, 0
        while above != ROOT:
            above, steps = accounts[above], steps + 1
            if steps > len(accounts):
                raise InputError(f"shares: account {name!r} is inside itself; say in which other one it is")
    return members


def _member(item: str) -> Member:
    path, equals, value = (part.strip() for part in item.rpartition("="))
    account, _, name = path.rpartition("/")
    user, name = name.startswith("@"), name.removeprefix("@")
    name, _, partition = name.partition(":") if user else (name, "", "")
    try:
        shares = PARENT if value.lower() == "parent" else float(value)
        good = equals and name and (0 <= shares < np.inf or value.lower() == "parent")
    except ValueError:
        good = False
    if not good:
        raise InputError(
            f"shares: {item!r} is not a share in a tree; write ACCOUNT=NUMBER, ACCOUNT/ACCOUNT=NUMBER or "
            "ACCOUNT/@USER=NUMBER, or parent instead of a number"
        )
    return Member(unquote(name), unquote(account) or ROOT, shares, user, unquote(partition))


class Numbered(str):
    """The text of a tree, with its members by a workload's numbers instead of names, the root first."""

    members: list[Member]


def numbered(text: str, names: Mapping[str, Mapping[int, str]]) -> Numbered:
    """A tree with a workload's numbers: below -1 of names that no job has."""
    codes = {
        column: _Codes({name: code for code, name in names.get(column, {}).items()})
        for column in ("account", "user", "queue")
    }
    made = Numbered(text)
    made.members = [Member(codes["account"][ROOT], "", 1.0)]
    for one in read(text):
        name = codes["user" if one.user else "account"][one.name]
        partition = codes["queue"][one.partition] if one.partition else ""
        made.members.append(Member(name, codes["account"][one.account], one.shares, one.user, partition))
    return made


class _Codes:
    def __init__(self, known: dict[str, int]) -> None:
        self._known, self._n_strangers = known, 0

    def __getitem__(self, name: str) -> str:
        """The number of a name, which may be one itself where there are no names."""
        if name not in self._known:
            self._n_strangers += 1
            itself = name.isdecimal() and int(name) not in self._known.values()
            self._known[name] = int(name) if itself else -1 - self._n_strangers
        return str(self._known[name])


def lay(tree: str) -> tuple[np.ndarray, np.ndarray]:
    """The tables of a tree that the kernel reads; names are numbers unless the tree is `Numbered`.

    Of accounts, each after its parent: code, number of the parent, shares, and number of the account as which it
    counts, itself unless it has PARENT. Of users, those of one partition last: number of the account, code, code of the
    partition or -1, shares.
    """
    root, *others = (tree if isinstance(tree, Numbered) else numbered(tree, {})).members
    inside: dict[str, list[Member]] = {}
    for one in others:
        if not one.user:
            inside.setdefault(one.account, []).append(one)
    order, accounts, stands = [root], {root.name: 0}, [0]
    rows = [(float(root.name), -1.0, 1.0, 0.0)]
    for one in order:  # which grows
        for child in inside.get(one.name, ()):
            above, number = stands[accounts[one.name]], len(order)
            stands.append(above if child.shares == PARENT else number)
            rows.append((float(child.name), float(above), child.shares, float(stands[-1])))
            order.append(child)
            accounts[child.name] = number
    users = sorted((one for one in others if one.user), key=lambda one: one.partition != "")
    leaves = [(float(accounts[one.account]), float(one.name), float(one.partition or -1), one.shares) for one in users]
    return np.array(rows), np.array(leaves).reshape(-1, 4)
