"""Limits of QOS and associations, as `[[limits]]` of a platform file has them."""

import re
from collections.abc import Mapping
from typing import Any

from forebay.errors import brief, listed
from forebay.slurm.machine import plain
from forebay.slurm.site import Site
from forebay.slurm.sources import values
from forebay.slurm.sources.accounting import LIMITS
from forebay.slurm.sources.record import Kind, Record
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

SUBMITS = frozenset({"GrpSubmit", "MaxSubmitPerUser", "MaxSubmitPerAccount"})
"""Limits on submitted jobs: a job over them is submitted again later, as users do, unless a file rejects it."""

AMOUNTS = {
    "GrpTRES": "GrpTRES",
    "GrpTRESRunMins": "GrpTRESRunMins",
    "MaxTRES": "MaxTRESPerJob",
    "MaxTRESPerUser": "MaxTRESPerUser",
    "MaxTRESPerAccount": "MaxTRESPerAccount",
}
_COUNTED = ("cpu", "mem", "node")

_UNENFORCED = "limits of QOS and associations are left out: AccountingStorageEnforce does not name them (limits, safe)"


def limits_of(site: Site, tiers: Mapping[str, str]) -> tuple[list[dict[str, Any]], list[str]]:
    """A table for each QOS and association that limits anything, and remarks on what is left out.

    `tiers` has by the names that Slurm gives to burst buffers and licences (bb/datawarp) those of the platform file.
    """
    enforced = {word.lower() for word in values.words(site.setting("AccountingStorageEnforce"))}
    if site.settings and not enforced & {"limits", "safe", "all"}:
        return [], [_UNENFORCED] if site.limits else []
    tables: list[dict[str, Any]] = []
    left: list[str] = []
    of_qos: dict[str, dict[str, Any]] = {}
    for record in site.limits:
        table = _limits(record, tiers, left)
        if record.kind is Kind.QOS:
            of_qos[record.get("name")] = table
        if table:
            tables.append(_who(record) | table)
    for partition in site.partitions.values():
        if of_qos.get(partition.qos):
            tables.append({"partition": plain(partition.name)} | of_qos[partition.qos])
    unknown = [one.qos for one in site.partitions.values() if one.qos and one.qos not in of_qos]
    notes = [f"limits that are not heeded: {listed(dict.fromkeys(left))}"] if left else []
    if unknown:
        notes.append(f"limits of QOS that partitions name are not known: {listed(unknown)}; add sacctmgr -P show qos")
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


def _limits(record: Record, tiers: Mapping[str, str], left: list[str]) -> dict[str, Any]:
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
            kept = _amounts(record, key, tiers, left)
            found |= {AMOUNTS[key]: kept} if kept else {}
        else:
            left.append(key)
    return found | ({"over_submit": "wait"} if found.keys() & SUBMITS else {})


def _amounts(record: Record, key: str, tiers: Mapping[str, str], left: list[str]) -> str:
    """Those amounts of a list that are counted here. Memory and buffers, which are in megabytes, get their unit."""
    kept: dict[str, str] = {}
    for item in values.words(record.get(key)):
        name, _, amount = item.partition("=")
        if not amount or amount == "-1":
            continue
        if name in tiers:
            kind = name.partition("/")[0]
            kept[f"{kind}/{tiers[name]}"] = _amount(amount, record.where, key, in_bytes=kind == "bb")
        elif name.lower() in _COUNTED:
            kept[name.lower()] = _amount(amount, record.where, key, in_bytes=name.lower() == "mem")
        elif re.fullmatch(r"gres/gpu(:[\w.+-]+)?", name):  # types keep their case
            kept[name] = _amount(amount, record.where, key, in_bytes=False)
        else:
            left.append(f"{key} of {brief(name)}")
    return ",".join(f"{name}={amount}" for name, amount in kept.items())


def _amount(text: str, where: str, key: str, in_bytes: bool) -> str:
    if not in_bytes:
        return str(values.count(text, where, key))
    return f"{values.memory(text, where, key) >> 20}M"
