"""What of slurm.conf says how jobs are put in order and started: SchedulerParameters, and all of Priority*."""

import math
import re

from forebay.errors import InputError, brief, listed
from forebay.slurm.preemption import preemption_of
from forebay.slurm.site import Site
from forebay.slurm.sources import keys, values
from forebay.slurm.sources.record import Kind, Record

TIMES = ("PriorityMaxAge", "PriorityDecayHalfLife", "PriorityCalcPeriod")
COUNTS = (
    *("PriorityWeightAge", "PriorityWeightAssoc", "PriorityWeightFairshare", "PriorityWeightJobSize"),
    *("PriorityWeightPartition", "PriorityWeightQOS", "FairShareDampeningFactor"),
)

Parameters = dict[str, str]
"""Values by name, as slurm.conf spells it: numbers, seconds, true and false, tables such as high=100;low=1."""

_WEIGHED = ("cpu", "mem", "node", "gres/gpu")

_UNHEARD = {
    "TopologyPlugin": ("topology/none", "the network's shape in the choice of nodes"),
    "NodeFeaturesPlugins": ("", "features that change at boot"),
    "SuspendProgram": ("", "nodes that are switched off while idle"),
    "PrioritySiteFactorPlugin": ("", "a factor of the site's own"),
    "PriorityUsageResetPeriod": ("none", "usage that is forgotten at a date"),
    "JobSubmitPlugins": ("", "what plug-ins change of jobs at submission; a trace has it done"),
}
"""Settings that change schedules and are not modelled: what they are where they are not, and what it is about."""

_IDLE = {
    ("defer", "defer_batch"): "changes nothing: jobs are never tried when they are submitted",
    ("bf_continue", "bf_yield_interval", "bf_yield_sleep", "bf_max_time"): (
        "changes nothing while tests of jobs take no time: give the policy a test_time"
    ),
}
"""Parameters that are accepted, and change a schedule only sometimes, or never."""


def parameters_of(site: Site) -> tuple[Parameters, list[str]]:
    """Parameters that are set, and remarks on names that Slurm does not have and on settings without a model."""
    found, notes = _scheduling(site)
    kind = site.setting("PriorityType").lower().removeprefix("priority/")
    if kind != "basic":
        found |= ({"PriorityType": kind} if kind else {}) | _priorities(site)
        notes += _without_database(found, site)
        weighed, more = _resources(site)
        found |= weighed
        notes += more
    displaced, remarks = preemption_of(site)
    found |= displaced
    notes += remarks
    if found.get("PreemptType") == "qos" and "qos" not in found:
        found |= _ranks(site)  # who gives way first
    if site.setting("SchedulerType").lower() == "sched/builtin":
        notes.append("SchedulerType=sched/builtin does not backfill: the policy fcfs is nearer to it")
    for key, (usual, what) in _UNHEARD.items():
        text = site.setting(key)
        if text and text.lower() not in {usual, "none"}:
            notes.append(f"{key}={text} is not modelled ({what})")
    return found, notes


def _scheduling(site: Site) -> tuple[Parameters, list[str]]:
    """`bf_interval=30,bf_continue` by name; what stands alone is true."""
    found: Parameters = {}
    renamed: Parameters = {}  # given by old names; today's names count first
    notes = []
    for item in values.words(site.setting("SchedulerParameters")):
        name, equals, value = (part.strip() for part in item.partition("="))
        old, name = name, keys.RENAMED.get(name.lower(), name)
        if name.lower() not in keys.SCHEDULER:
            hint = keys.meant(name, keys.SCHEDULER)
            notes.append(f"SchedulerParameters has {brief(name)}, which Slurm does not: {hint}")
            continue
        key, text = keys.SCHEDULER[name.lower()], value if equals and value else "true"
        if old == name:
            found[key] = text
        else:
            renamed[key] = text
            notes.append(f"SchedulerParameters: {old} is the old name of {name}")
    for names, why in _IDLE.items():
        present = [name for name in names if name in found]
        notes += [f"SchedulerParameters: {listed(present)} {why}"] if present else []
    found.pop("defer_batch", None)
    return renamed | found, notes


def _priorities(site: Site) -> Parameters:
    """What the multifactor plug-in is given, by slurm.conf and by the tables of sacctmgr."""
    found: Parameters = {}
    for key in TIMES:
        if text := site.setting(key):
            seconds = values.seconds(text, site.place(key), key)
            found[key] = "0" if math.isinf(seconds) else f"{seconds:.0f}"
    for key in COUNTS:
        if text := site.setting(key):
            found[key] = str(values.count(text, site.place(key), key))
    if text := site.setting("PriorityFavorSmall"):
        found["PriorityFavorSmall"] = str(values.flag(text, site.place("PriorityFavorSmall"), "it")).lower()
    flags = {word.upper() for word in values.words(site.setting("PriorityFlags"))} - {"FAIR_TREE"}  # which is usual
    found |= dict.fromkeys(sorted(flags), "true")
    factors = {one.name: one.priority_job_factor for one in site.partitions.values()}
    if set(factors.values()) > {1} or len(set(factors.values())) > 1:
        found["PriorityJobFactor"] = _table(factors)
    tree = any(record.kind is Kind.ASSOCIATION for record in site.limits)
    return found | _ranks(site) | ({"charged": "association"} if tree else {})


def _resources(site: Site) -> tuple[Parameters, list[str]]:
    """`CPU=1000,GRES/gpu=30000` as the policy has it, and remarks on what is not counted."""
    key, kept, notes = "PriorityWeightTRES", list[str](), list[str]()
    for item in values.words(site.setting(key)):
        word, equals, text = (part.strip() for part in item.partition("="))
        kind, colon, model = word.partition(":")
        if not equals or not re.fullmatch(r"[0-9]{0,15}\.?[0-9]{0,9}", text, re.ASCII) or text in ("", "."):
            raise InputError(
                f"{site.place(key)}: {key} has {brief(item)}; write weights such as CPU=1000,GRES/gpu=3000"
            )
        if kind.lower() not in _WEIGHED or (colon and kind.lower() != "gres/gpu"):
            notes.append(f"{key}: {brief(word)} is not modelled: cpu, mem, node and gres/gpu are")
        elif float(text):
            kept.append(f"{kind.lower()}{colon}{model}={text}")
    return ({key: ";".join(kept)} if kept else {}), notes


def _without_database(found: Parameters, site: Site) -> list[str]:
    """Drop what Slurm counts for nothing where no slurmdbd keeps users and QOS, and say so.

    Of a file that does not say where accounts are kept, the line may have been left out.
    """
    if site.setting("AccountingStorageType").lower().removeprefix("accounting_storage/") != "none":
        return []
    idle = ["PriorityWeightFairshare", "PriorityWeightQOS", "PriorityWeightAssoc"]
    if "ACCRUE_ALWAYS" not in found:
        idle.insert(0, "PriorityWeightAge")  # a job's age begins with the limits of its association
    dropped = [name for name in idle if found.pop(name, "0") != "0"]
    if not dropped:
        return []
    return [
        f"{listed(dropped)}: of no effect in Slurm with AccountingStorageType={site.setting('AccountingStorageType')}"
    ]


def _ranks(site: Site) -> Parameters:
    """Priorities of QOS, where there are any."""
    ranks = {record.get("name"): _whole(record, "priority") for record in site.limits if record.kind is Kind.QOS}
    return {"qos": _table({name: rank for name, rank in ranks.items() if rank})} if any(ranks.values()) else {}


def _whole(record: Record, *names: str) -> int:
    text = record.get(*names)
    return values.count(text, record.where, names[0]) if text.isdecimal() else 0


def _table(numbers: dict[str, int]) -> str:
    """`high=100;low=1`, without names that such a table cannot have."""
    return ";".join(f"{name}={number}" for name, number in numbers.items() if not set(name) & set(";,=: "))
