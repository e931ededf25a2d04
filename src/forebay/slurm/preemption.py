"""What of a site says which jobs displace others: PreemptType and its like, of slurm.conf and of sacctmgr's QOS."""

from collections.abc import Sequence

from forebay.errors import listed
from forebay.slurm.site import Site
from forebay.slurm.sources import values
from forebay.slurm.sources.record import Kind, Record

Parameters = dict[str, str]

_TYPES = ("qos", "partition_prio")
_MODES = ("OFF", "REQUEUE", "CANCEL")
_NEVER = ("", "-1", "0", "00:00:00")


def preemption_of(site: Site) -> tuple[Parameters, list[str]]:
    """Parameters of the policy, by Slurm's names, and remarks on what there is no model of."""
    kind = site.setting("PreemptType").lower().removeprefix("preempt/")
    if kind in ("", "none"):
        return {}, []
    if kind not in _TYPES:
        return {}, [f"PreemptType={kind} is not modelled: no job displaces another; there are {listed(_TYPES)}"]
    mode = site.setting("PreemptMode").upper()
    if mode not in ("REQUEUE", "CANCEL"):
        return {}, [
            f"PreemptMode={mode or 'OFF'} is not modelled: no job displaces another; REQUEUE and CANCEL are, and no "
            "job is suspended on its nodes"
        ]
    rows = [one for one in site.limits if one.kind is Kind.QOS] if kind == "qos" else _of_partitions(site)
    modes, exempts, graces, notes = _by_row(kind, mode, rows)
    found = {"PreemptType": kind, "PreemptMode": _table(mode, modes)}
    exempt = site.setting("PreemptExemptTime")
    usual = "" if exempt in _NEVER else f"{values.seconds(exempt, site.place('PreemptExemptTime'), 'it'):.0f}"
    found |= {"PreemptExemptTime": _table(usual or "0", exempts)} if usual or exempts else {}
    found |= {"GraceTime": _table("0", graces)} if graces else {}
    if kind == "qos":
        pairs = [(row.get("name"), other) for row in rows for other in values.words(row.get("preempt"))]
        if pairs:
            found["Preempt"] = ";".join(f"{one}={other}" for one, other in pairs if _plain(one) and _plain(other))
        else:
            notes.append("which QOS displace others is not known: add sacctmgr -P show qos")
    return found, notes


def _by_row(kind: str, mode: str, rows: Sequence[Record]) -> tuple[Parameters, Parameters, Parameters, list[str]]:
    """What QOS or partitions say for themselves: modes, times for which jobs are exempt, and times of grace."""
    modes: Parameters = {}
    exempts: Parameters = {}
    graces: Parameters = {}
    unknown: list[str] = []
    for row in rows:
        name, own = row.get("name"), row.get("preemptmode").upper()
        if own in _MODES and own != mode:
            modes[name] = own
        elif own not in ("", "CLUSTER", *_MODES):
            unknown.append(f"{name} {own}")
            modes[name] = "OFF"
        if row.get("preemptexempttime") not in _NEVER:
            exempts[name] = _seconds(row, "preemptexempttime")
        if row.get("gracetime") not in _NEVER:
            graces[name] = _seconds(row, "gracetime") if kind == "qos" else row.get("gracetime")
    notes = [f"modes of preemption that are not modelled, and are as OFF: {listed(unknown)}"] if unknown else []
    return modes, exempts, graces, notes


def _of_partitions(site: Site) -> list[Record]:
    """What partitions say of themselves, as rows of QOS would."""
    return [
        Record(Kind.QOS, {"name": one.name, "preemptmode": one.preempt_mode, "gracetime": one.grace_time}, site.files)
        for one in site.partitions.values()
    ]


def _seconds(row: Record, key: str) -> str:
    return f"{values.seconds(row.get(key), row.where, key):.0f}"


def _plain(name: str) -> bool:
    """Whether a table of a policy's parameters can have this name."""
    return bool(name) and not set(name) & set(";,=: ")


def _table(usual: str, named: Parameters) -> str:
    return ";".join([usual, *(f"{name}={value}" for name, value in named.items() if _plain(name))])
