"""The tree of accounts and the shares in it, as `sacctmgr -P show assoc` prints them."""

from dataclasses import dataclass, field
from typing import Any

from forebay._support.text import plain
from forebay.errors import InputError, brief, listed
from forebay.slurm.site import Site
from forebay.slurm.sources import values
from forebay.slurm.sources.record import Kind, Record

ROOT, PARENT = "root", "parent"
_PRINT = "print it with sacctmgr -P show assoc tree, or format=Cluster,Account,User,Partition,ParentName,Share"


@dataclass
class Account:
    """An account as the platform file has it."""

    parent: str = ROOT
    shares: int | str = 1
    users: dict[str, int | str] = field(default_factory=dict)
    where: str = ""

    def table(self, name: str) -> dict[str, Any]:
        """Its keys, without those that have their default."""
        account: dict[str, Any] = {} if self.parent == ROOT else {"parent": self.parent}
        account |= {} if name == ROOT else {"shares": self.shares}
        return account | ({"users": self.users} if self.users else {})


def accounts_of(site: Site) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Tables of accounts by name, parents first, and remarks."""
    rows, notes = _of_cluster(site)
    found: dict[str, Account] = {}
    for row in rows:
        if not row.get("user") and row.get("account"):
            parent = row.get("parentname", "parname") or ROOT
            found[_name(row)] = Account(plain(parent), _shares(row), where=row.where)
    bare = [name for row in rows if row.get("user") and (name := _name(row)) not in found]
    for row in rows:
        if row.get("user"):
            user, partition = plain(row.get("user")), row.get("partition")
            known = found.setdefault(_name(row), Account(where=row.where))
            known.users[f"{user}:{plain(partition)}" if partition else user] = _shares(row)
    others = [name for name in found if name != ROOT]
    if bare and set(bare) != {ROOT}:
        names = dict.fromkeys(name for name in bare if name != ROOT)
        notes.append(f"accounts without a row of their own are taken to be in root, with 1 share: {listed(names)}")
    if len(others) > 1 and not any(row.get("parentname", "parname") for row in rows):
        notes.append(
            f"the table of associations does not say which account is in which: all are in root here; {_PRINT}"
        )
    return {name: found[name].table(name) for name in _in_order(found)}, notes


def _name(row: Record) -> str:
    return plain(row.get("account")) or ROOT


def _of_cluster(site: Site) -> tuple[list[Record], list[str]]:
    """The rows of the site's own cluster: one database may have several."""
    rows = [record for record in site.limits if record.kind is Kind.ASSOCIATION]
    clusters = list(dict.fromkeys(name for row in rows if (name := row.get("cluster"))))
    if len(clusters) < 2:
        return rows, []
    own = site.name if site.name in clusters else clusters[0]
    left = listed(name for name in clusters if name != own)
    return [row for row in rows if row.get("cluster") in ("", own)], [
        f"shares are those of cluster {own}, not of {left}"
    ]


def _shares(row: Record) -> int | str:
    text = row.get("share", "rawshares", "fairshare")
    if not text:
        return 1
    return PARENT if text.lower() == PARENT else values.count(text, row.where, "Share")


def _in_order(found: dict[str, Account]) -> list[str]:
    """Names, each after that of its parent; refused where the parent is missing, or accounts form a circle."""
    for name, one in found.items():
        if one.parent != ROOT and one.parent not in found:
            raise InputError(
                f"{one.where}: account {brief(name)} is in {brief(one.parent)}, which has no row; {_PRINT}"
            )
    order = [ROOT] if ROOT in found else []
    ready = [ROOT]
    for above in ready:  # which grows
        inside = [name for name, one in found.items() if one.parent == above and name != ROOT]
        ready += inside
        order += inside
    for name, one in found.items():
        if name not in order:
            raise InputError(f"{one.where}: account {brief(name)} is inside itself; {_PRINT}")
    return order
