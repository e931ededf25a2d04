"""What `sacctmgr -P show qos` and `sacctmgr -P show assoc` print: names of columns, then rows, bars between them."""

from pathlib import Path

from forebay.errors import InputError
from forebay.slurm.sources.record import Kind, Source

LIMITS = {
    "grptres": "GrpTRES",
    "grptresmins": "GrpTRESMins",
    "grptresrunmins": "GrpTRESRunMins",
    "grpjobs": "GrpJobs",
    "grpsubmit": "GrpSubmitJobs",
    "grpsubmitjobs": "GrpSubmitJobs",
    "grpwall": "GrpWall",
    "maxtres": "MaxTRES",
    "maxtresperjob": "MaxTRES",
    "maxtrespernode": "MaxTRESPerNode",
    "maxtresmins": "MaxTRESMins",
    "maxwall": "MaxWall",
    "maxwalldurationperjob": "MaxWall",
    "maxjobs": "MaxJobs",
    "maxsubmit": "MaxSubmitJobs",
    "maxsubmitjobs": "MaxSubmitJobs",
    "maxtrespu": "MaxTRESPerUser",
    "maxtresperuser": "MaxTRESPerUser",
    "maxjobspu": "MaxJobsPerUser",
    "maxjobsperuser": "MaxJobsPerUser",
    "maxsubmitpu": "MaxSubmitJobsPerUser",
    "maxsubmitjobsperuser": "MaxSubmitJobsPerUser",
    "maxtrespa": "MaxTRESPerAccount",
    "maxtresperaccount": "MaxTRESPerAccount",
    "maxjobspa": "MaxJobsPerAccount",
    "maxjobsperaccount": "MaxJobsPerAccount",
    "maxsubmitpa": "MaxSubmitJobsPerAccount",
    "maxsubmitjobsperaccount": "MaxSubmitJobsPerAccount",
    "mintres": "MinTRES",
    "mintresperjob": "MinTRES",
}
"""Columns by their names in lower case, short ones too, to the names in the manual."""


def _columns(line: str) -> list[str]:
    return [word.strip().lower().replace(" ", "") for word in line.split("|")]


def kind_of(text: str) -> Kind | None:
    """Whether it is a table of one or the other, by its head."""
    columns = set(_columns(text.lstrip().partition("\n")[0]))
    if {"account", "user"} <= columns:
        return Kind.ASSOCIATION
    return Kind.QOS if "name" in columns and columns & {*LIMITS, "priority"} else None


def read(text: str, path: Path, kind: Kind) -> Source:
    """Every row, by its columns' names in the manual."""
    source = Source()
    columns: list[str] = []
    above: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        if not columns:
            columns = _columns(line)
            continue
        words = line.split("|")
        if len(words) not in (len(columns), len(columns) + 1):  # -p ends lines with a bar, -P does not
            raise InputError(
                f"{path}:{number}: has {len(words)} columns, the head {len(columns)}; print with sacctmgr -P"
            )
        row = {LIMITS.get(name, name): word.strip() for name, word in zip(columns, words, strict=False) if word.strip()}
        if kind is Kind.QOS and not row.get("name"):
            raise InputError(f"{path}:{number}: a QOS without a name; print with sacctmgr -P show qos")
        if kind is Kind.ASSOCIATION and not row.get("user"):
            _place(row, words[columns.index("account")], above)
        source.add(kind, row, f"{path}:{number}")
    return source


def _place(row: dict[str, str], account: str, above: list[str]) -> None:
    """Fill in the parent of an account: `tree` prints the account further to the right than its parent."""
    depth = min(len(account) - len(account.lstrip()), len(above))
    if depth:
        row.setdefault("parentname", above[depth - 1])
    above[depth:] = [account.strip()]
