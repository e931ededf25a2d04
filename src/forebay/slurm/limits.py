"""Limits of QOS and associations, as `[[limits]]` of a platform file has them."""

from typing import Any

from forebay.errors import brief, listed
from forebay.slurm import values
from forebay.slurm.accounting import LIMITS
from forebay.slurm.record import Kind, Record
from forebay.slurm.site import Site
from forebay.slurm.toml import exact_seconds

COUNTS = {
    "GrpJobs": "GrpJobs",
    "GrpSubmitJobs": "GrpSubmit",
    "MaxJobs": "MaxJobsPerUser",
    "MaxSubmitJobs": "MaxSubmitPerUser",
    "MaxJobsPerUser": "MaxJobsPerUser",
    "MaxSubmitJobsPerUser": "MaxSubmitPerUser",
    "MaxJobsPerAccount": "MaxJobsPerAccount",
    "MaxSubmitJobsPerAccount": "MaxSubmitPerAccount",
}
"""Names of the manual to those of platform files."""

AMOUNTS = {
    "GrpTRES": "GrpTRES",
    "GrpTRESRunMins": "GrpTRESRunMins",
    "MaxTRES": "MaxTRESPerJob",
    "MaxTRESPerUser": "MaxTRESPerUser",
    "MaxTRESPerAccount": "MaxTRESPerAccount",
}
_COUNTED = ("cpu", "mem", "node")
_PREFIXES = ("gres/gpu", "bb/", "license/")

_UNENFORCED = "limits of QOS and associations are left out: AccountingStorageEnforce does not name them (limits, safe)"


def limits_of(site: Site) -> tuple[list[dict[str, Any]], list[str]]:
    """A table for each QOS and association that limits anything, and remarks on what is left out."""
    enforced = {word.lower() for word in values.words(site.setting("AccountingStorageEnforce"))}
    if site.settings and not enforced & {"limits", "safe", "all"}:
        return [], [_UNENFORCED] if site.limits else []
    tables: list[dict[str, Any]] = []
    left: list[str] = []
    for record in site.limits:
        table = _limits(record, left)
        if table:
            tables.append(_who(record) | table)
    notes = [f"limits that are not heeded: {listed(dict.fromkeys(left))}"] if left else []
    parents = {record.get("ParentName", "Par Name") for record in site.limits} - {"", "root"}
    grouped = [
        one["account"]
        for one in tables
        if one.keys() & {"GrpJobs", "GrpTRES", "GrpSubmit"} and one.get("account") in parents
    ]
    if grouped:
        notes.append(f"limits of accounts with others below them hold for their own jobs only: {listed(grouped)}")
    return tables, notes


def _who(record: Record) -> dict[str, Any]:
    if record.kind is Kind.QOS:
        return {"qos": record.get("name")}
    return {key: record.get(key) for key in ("user", "account", "partition") if record.get(key)}


def _limits(record: Record, left: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in dict.fromkeys(LIMITS.values()):
        text = record.get(key)
        if not text or text == "-1":
            continue
        if key in COUNTS:
            number = values.bounded(text, record.where, key)
            found |= {COUNTS[key]: number} if number is not None else {}
        elif key == "MaxWall":
            time = values.seconds(text, record.where, key)
            found |= {"MaxWall": exact_seconds(time)} if 0 < time < float("inf") else {}
        elif key in AMOUNTS:
            kept = _amounts(text, f"{key} of", left)
            found |= {AMOUNTS[key]: kept} if kept else {}
        else:
            left.append(key)
    return found


def _amounts(text: str, key: str, left: list[str]) -> str:
    """Those amounts of a list that are counted here."""
    kept = []
    for item in values.words(text):
        name, equals, amount = item.partition("=")
        known = name.lower() in _COUNTED or name.lower().startswith(_PREFIXES)
        if equals and known and amount and amount != "-1":
            kept.append(item)
        elif amount != "-1":
            left.append(f"{key} {brief(name)}")
    return ",".join(kept)
