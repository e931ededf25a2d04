"""Scripts of sacctmgr (`add account name=physics fairshare=10`), and what `sacctmgr dump` writes of a cluster."""

import re
import shlex
from itertools import product
from pathlib import Path

from forebay.errors import InputError, brief
from forebay.slurm.sources.accounting import LIMITS
from forebay.slurm.sources.record import Kind, Source

_VERBS = "add|create|modify|update|remove|delete|list|show|exit|quit"
_COMMAND = re.compile(rf"\s*(?:sacctmgr\s+(?:-\S+\s+)*)?({_VERBS})\b(.*)", re.IGNORECASE)
_DUMPED = re.compile(r"\s*(Cluster|Parent|Account|User)\s+-\s+(.*)", re.IGNORECASE)
_PAIR = re.compile(r"(\w+)[+-]?=(.*)", re.DOTALL)
_THINGS = {"account": "account", "accounts": "account", "user": "user", "users": "user", "qos": "qos"}
_SPELLING = {"names": "name", "accounts": "account", "partitions": "partition", "clusters": "cluster"}
_PARENT = {"parent": "parentname"}

_Row = dict[str, str]


def is_script(text: str) -> bool:
    """Whether the first line that says anything is one of either."""
    first = next((line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")), "")
    found = _COMMAND.fullmatch(first)
    thing = (found[2].split() or [""])[0].lower() if found else ""
    return bool(_DUMPED.fullmatch(first)) or thing in {*_THINGS, "cluster", "clusters"}


def read(text: str, path: Path) -> Source:
    """QOS and associations as they stand after all lines."""
    rows: dict[str, list[tuple[_Row, str]]] = {"qos": [], "account": [], "user": []}
    parent = ""
    for number, line in enumerate(text.split("\n"), 1):
        where = f"{path}:{number}"
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        dumped = _DUMPED.fullmatch(line)
        if dumped:
            parent = _take_dumped(dumped[1].lower(), dumped[2], parent, where, rows)
            continue
        found = _COMMAND.fullmatch(line)
        if not found:
            raise InputError(
                f"{where}: {brief(line.strip())} is no command of sacctmgr, such as add account name=physics; take the "
                "line out"
            )
        _obey(found[1].lower(), found[2], where, rows)
    source = Source()
    for kind, things in ((Kind.QOS, ("qos",)), (Kind.ASSOCIATION, ("account", "user"))):
        for row, where in (one for thing in things for one in rows[thing]):
            source.add(kind, row, where)
    return source


def _obey(verb: str, rest: str, where: str, rows: dict[str, list[tuple[_Row, str]]]) -> None:
    try:
        words = shlex.split(rest, comments=True)
    except ValueError:
        raise InputError(f"{where}: a quote is open to the end of the line; close it") from None
    thing = _THINGS.get(words[0].lower()) if words else None
    if thing is None or verb in ("list", "show", "exit", "quit"):
        return
    chosen, given = _values(words[1:], where)
    if verb in ("add", "create"):
        _add(thing, chosen | given, where, rows[thing])
        return
    if verb in ("modify", "update") and not given:
        raise InputError(f"{where}: sets nothing; write modify {thing} where name=... set ...=...")
    of_qos = thing == "qos"
    keys = {"name": thing if not of_qos else "name"} | {key: key for key in ("account", "partition", "cluster")}
    wanted = {keys[key]: set(one.split(",")) for key, one in chosen.items() if key in keys}
    matching = [place for place, (row, _) in enumerate(rows[thing]) if _fits(row, wanted)]
    if verb in ("remove", "delete"):
        rows[thing] = [one for place, one in enumerate(rows[thing]) if place not in set(matching)]
    for place in matching if verb in ("modify", "update") else ():
        rows[thing][place] = rows[thing][place][0] | given, where


def _fits(row: _Row, wanted: dict[str, set[str]]) -> bool:
    return bool(wanted) and all(row.get(key, "") in names for key, names in wanted.items())


def _values(words: list[str], where: str) -> tuple[_Row, _Row]:
    """Values behind `where`, or behind neither word, and those behind `set`."""
    chosen: _Row = {}
    given: _Row = {}
    into = chosen
    for word in words:
        if word.lower() in ("where", "set"):
            into = given if word.lower() == "set" else chosen
            continue
        pair = _PAIR.fullmatch(word)
        if pair is None and "name" not in chosen and into is chosen:
            chosen["name"] = word  # add account physics
        elif pair is None:
            raise InputError(f"{where}: {brief(word)} is not key=value; correct it")
        else:
            into[_spelled(pair[1])] = pair[2]
    return chosen, given


def _spelled(key: str) -> str:
    key = key.lower()
    return LIMITS.get(key, _PARENT.get(key, _SPELLING.get(key, key)))


def _add(thing: str, row: _Row, where: str, rows: list[tuple[_Row, str]]) -> None:
    """A row for each of the names, accounts and partitions that one line adds."""
    names = row.pop("name", "")
    if not names:
        raise InputError(f"{where}: the {thing} has no name; write name=...")
    if thing == "qos":
        rows += [({**row, "name": name}, where) for name in names.split(",")]
    elif thing == "account":
        rows += [({"parentname": "root", **row, "account": name}, where) for name in names.split(",")]
    else:
        accounts = row.pop("account", "") or row.get("defaultaccount", "")
        partitions = row.pop("partition", "")
        if not accounts:
            raise InputError(f"{where}: the user {brief(names)} has no account; write account=...")
        for name, account, partition in product(names.split(","), accounts.split(","), partitions.split(",")):
            rows.append(({**row, "user": name, "account": account, "partition": partition}, where))


def _take_dumped(word: str, rest: str, parent: str, where: str, rows: dict[str, list[tuple[_Row, str]]]) -> str:
    """A line of a dump; returns the account that the next lines are in."""
    parts = re.findall(r"((?:[^:']|'[^']*')+)", rest.strip())
    if not parts:
        raise InputError(f"{where}: names nothing; dump the cluster again")
    name: str = parts[0].strip().strip("'")
    values = {pair[1]: pair[2].strip("'") for pair in (_PAIR.fullmatch(part.strip()) for part in parts[1:]) if pair}
    row = {_spelled(key): value for key, value in values.items()}
    if word == "parent":
        return name
    if word == "account":
        rows["account"].append(({**row, "account": name} | ({"parentname": parent} if parent else {}), where))
    elif word == "user":
        rows["user"].append(({**row, "user": name, "account": parent or row.get("defaultaccount", "root")}, where))
    return parent
