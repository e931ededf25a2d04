"""The table that `sinfo` prints: `-N -l`, or `-o` with columns of nodes and partitions, blanks or bars between them."""

import re
from pathlib import Path

from forebay.errors import InputError
from forebay.slurm.sources.record import Kind, Source

NODES = {"nodelist", "hostnames"}
_NODE = {
    "cpus": "cpus",
    "memory": "realmemory",
    "gres": "gres",
    "avail_fe": "features",
    "avail_features": "features",
    "features": "features",
    "weight": "weight",
    "sockets": "sockets",
    "cores": "corespersocket",
    "threads": "threadspercore",
    "state": "state",
}
_PARTITION = {
    "timelimit": "maxtime",
    "oversubscribe": "oversubscribe",
    "oversubs": "oversubscribe",
    "avail": "state",
    "prio_tier": "prioritytier",
    "prio_job_factor": "priorityjobfactor",
}
_ALL = {*NODES, *_NODE, *_PARTITION, "partition", "nodes", "s:c:t", "tmp_disk", "reason", "job_size", "groups", "root"}


def header(text: str) -> tuple[int, list[str], str] | None:
    """Line, columns and separator of the table's head; None where the text has none. `-l` prints the date before."""
    for number, line in enumerate(text.split("\n")[:5]):
        mark = "|" if "|" in line else ""
        words = [word.strip().lower() for word in (line.split("|") if mark else line.split())]
        if NODES & set(words) and len(_ALL & set(words)) >= 2:
            return number, words, mark
    return None


def read(text: str, path: Path, head: tuple[int, list[str], str]) -> Source:
    """Nodes and partitions of the table, a row for each node or for each group of them."""
    source = Source()
    first, columns, mark = head
    partitions: dict[str, dict[str, str]] = {}
    seen: set[str] = set()
    for number, line in enumerate(text.split("\n")[first + 1 :], first + 2):
        words = [word.strip() for word in (line.split(mark) if mark else line.split(maxsplit=len(columns) - 1))]
        if not line.strip():
            continue
        if len(words) != len(columns):
            raise InputError(
                f"{path}:{number}: has {len(words)} columns, the head {len(columns)}; print with sinfo -o '%N|%P|...'"
            )
        row = dict(zip(columns, words, strict=True))
        names = row.get("nodelist") or row.get("hostnames", "")
        if names and names not in seen:
            seen.add(names)
            source.add(Kind.NODE, {"name": names} | _node(row), f"{path}:{number}")
        if names and row.get("partition"):
            name = row["partition"].rstrip("*")
            known = {key: row[column] for column, key in _PARTITION.items() if column in row}
            values = partitions.setdefault(name, {"name": name, "nodes": "", "where": f"{path}:{number}"} | known)
            values["nodes"] += f"{',' * bool(values['nodes'])}{names}"
            values |= {"default": "YES"} if row["partition"].endswith("*") else {}
    for values in partitions.values():
        where = values.pop("where")
        source.add(Kind.PARTITION, values, where)
    return source


def _node(row: dict[str, str]) -> dict[str, str]:
    values = {key: row[column].removesuffix("+") for column, key in _NODE.items() if column in row}
    sizes = re.fullmatch(r"([0-9]+)\+?:([0-9]+)\+?:([0-9]+)\+?", row.get("s:c:t", ""))
    if sizes:
        values |= dict(zip(("sockets", "corespersocket", "threadspercore"), sizes.groups(), strict=True))
    return values
