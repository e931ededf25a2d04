"""Jobs of a live queue, as `squeue --json` or `scontrol show job` print them, of any release from 22.05 on."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from forebay._live.commands import Slurm, SlurmError
from forebay.errors import InputError, brief

RUNNING = frozenset({"RUNNING", "SUSPENDED", "CONFIGURING", "STOPPED", "SIGNALING", "STAGE_OUT"})
_HELD = ("JobHeldUser", "JobHeldAdmin", "DependencyNeverSatisfied")
_KEY = re.compile(r"(?:(?<=\s)|^)([A-Za-z][\w/:\[\]]*)=", re.ASCII)
_AMOUNT = re.compile(r"([A-Za-z_][\w./-]*)(?:@[\w.-]+)?(?:[:=](\d+))?", re.ASCII)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}


@dataclass(frozen=True)
class LiveJob:
    """A job as Slurm has it; times are Unix times, 0 where there is none."""

    id: int
    state: str
    name: str = ""
    user: str = ""
    account: str = ""
    partition: str = ""
    qos: str = ""
    features: str = ""
    nodes: int = 1
    cores: int = 1
    exclusive: bool = False
    walltime: float = math.inf
    submit: float = 0.0
    eligible: float = 0.0
    start: float = 0.0
    end: float = 0.0
    priority: int = 0
    nice: int = 0
    reason: str = ""
    dependency: str = ""
    licences: Mapping[str, int] = field(default_factory=dict)
    buffer: int = 0
    tres: Mapping[str, int] = field(default_factory=dict)
    array: int = 0
    tasks: str = ""  # of an array that waits, such as 2-5%2
    task: str = ""
    het: int = 0

    @property
    def waits(self) -> bool:
        """Whether it is in the queue."""
        return self.state == "PENDING"

    @property
    def runs(self) -> bool:
        """Whether it holds nodes."""
        return self.state in RUNNING

    @property
    def held(self) -> bool:
        """Whether it will not start by itself."""
        return self.waits and (self.reason in _HELD or (self.priority == 0 and self.reason != "Dependency"))

    @property
    def called(self) -> str:
        """As users name it."""
        return f"{self.array}_{self.task}" if self.array and self.task else str(self.id)


def queue(slurm: Slurm) -> tuple[list[LiveJob], list[str]]:
    """All jobs that Slurm knows of, and remarks: by JSON, by text where that fails."""
    try:
        return from_json(slurm.ask("squeue", "--json", "-a", "-t", "all")), []
    except SlurmError as error:
        if "did not answer" in str(error) or "no command" in str(error) or "slurmctld" in str(error):
            raise
        note = "squeue --json does not work here: jobs are read as text"
    except InputError as error:
        note = f"what squeue --json prints cannot be used ({error}): jobs are read as text"
    return from_text(slurm.ask("scontrol", "-o", "-a", "show", "job")), [note]


def from_json(text: str) -> list[LiveJob]:
    """Jobs of a document of squeue; InputError where it is broken off, or no such document."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise InputError(f"squeue --json: no whole document ({brief(str(error))})") from None
    rows = document.get("jobs") if isinstance(document, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"squeue --json: has no list of jobs; it is {brief(text)}")
    return [_job(row) for row in rows]


def from_text(text: str) -> list[LiveJob]:
    """The same of `scontrol -o show job`, a line a job."""
    return [_job(_named(line)) for line in text.splitlines() if line.startswith("JobId=")]


def number(value: Any) -> float:
    """A number, plain or {set, infinite, number}: NaN where it is not set."""
    if isinstance(value, Mapping):
        if value.get("infinite"):
            return math.inf
        return number(value.get("number")) if value.get("set", True) else math.nan
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan


def _whole(value: Any, least: int = 0) -> int:
    found = number(value)
    return max(int(found), least) if math.isfinite(found) else least


def _words(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(filter(None, map(_words, value)))
    return value if isinstance(value, str) and value not in ("(null)", "N/A", "None") else ""


def _job(row: Mapping[str, Any]) -> LiveJob:
    """A row in the keys of squeue's JSON."""
    states = _words(row.get("job_state")).upper().split(",")
    state = next((one for one in ("PENDING", "COMPLETING") if one in states), states[0])
    limit = number(row.get("time_limit"))
    shared = _words(row.get("exclusive")) or _words(row.get("shared"))
    requested = _words(row.get("tres_alloc_str")) if state in RUNNING else ""
    return LiveJob(
        id=_whole(row.get("job_id")),
        state=state,
        name=_words(row.get("name")),
        user=_words(row.get("user_name")),
        account=_words(row.get("account")),
        partition=_words(row.get("partition")),
        qos=_words(row.get("qos")),
        features=_words(row.get("features")),
        nodes=_whole(row.get("node_count"), 1),
        cores=_whole(row.get("cpus"), 1),
        exclusive=shared.lower() in ("true", "exclusive", "node"),
        walltime=60 * limit if limit > 0 else math.inf,
        submit=_whole(row.get("submit_time")),
        eligible=_whole(row.get("eligible_time")),
        start=_whole(row.get("start_time")),
        end=_whole(row.get("end_time")),
        priority=_whole(row.get("priority")),
        nice=_whole(row.get("nice"), -(2**31)) if row.get("nice") is not None else 0,
        reason=_words(row.get("state_reason")),
        dependency=_words(row.get("dependency")),
        licences=_amounts(_words(row.get("licenses"))),
        buffer=_buffer(_words(row.get("burst_buffer"))),
        tres=_tres(requested or _words(row.get("tres_req_str"))),
        array=_whole(row.get("array_job_id")),
        tasks=_words(row.get("array_task_string")),
        task="" if math.isnan(number(row.get("array_task_id"))) else str(_whole(row.get("array_task_id"))),
        het=_whole(row.get("het_job_id")),
    )


def _named(line: str) -> dict[str, Any]:
    """A line of scontrol in the keys of squeue's JSON.

    A name or a comment may look like a key. It can then misstate its own job, never another's: nothing that is decided
    for others rests on this.
    """
    found = list(_KEY.finditer(line))
    ends = [*(key.start() for key in found[1:]), len(line)]
    values: dict[str, str] = {}
    for key, end in zip(found, ends, strict=True):
        values.setdefault(key[1], line[key.end() : end].strip())
    task = values.get("ArrayTaskId", "")
    single = task.isdigit()
    return {
        **{key: values.get(name, "") for key, name in _TEXTS.items()},
        **{key: _date(values.get(name, "")) for key, name in _DATES.items()},
        "user_name": values.get("UserId", "").partition("(")[0],
        "job_id": _plain(values.get("JobId", "")),
        "node_count": _plain(values.get("NumNodes", "").partition("-")[0]),
        "cpus": _plain(values.get("NumCPUs", "").partition("-")[0]),
        "time_limit": _minutes(values.get("TimeLimit", "")),
        "priority": _plain(values.get("Priority", "")),
        "nice": _plain(values.get("Nice", "")) or 0,
        "array_job_id": _plain(values.get("ArrayJobId", "")),
        "het_job_id": _plain(values.get("HetJobId", "")),
        "array_task_id": _plain(task) if single else None,
        "array_task_string": "" if single else task,
        "exclusive": "true" if values.get("OverSubscribe") in ("NO", "EXCLUSIVE") else "",
    }


_TEXTS = {
    "job_state": "JobState",
    "name": "JobName",
    "account": "Account",
    "partition": "Partition",
    "qos": "QOS",
    "features": "Features",
    "state_reason": "Reason",
    "dependency": "Dependency",
    "licenses": "Licenses",
    "burst_buffer": "BurstBuffer",
    "tres_req_str": "TRES",
}
_DATES = {
    "submit_time": "SubmitTime",
    "eligible_time": "EligibleTime",
    "start_time": "StartTime",
    "end_time": "EndTime",
}


def _plain(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?\d{1,18}", text) else None


def _date(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _minutes(text: str) -> float | None:
    found = re.fullmatch(r"(?:(\d+)-)?(\d+):(\d+):(\d+)", text)
    if not found:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return 1440 * days + 60 * hours + minutes + seconds / 60


def _amounts(text: str) -> dict[str, int]:
    """`bb:4,matlab`: one where no number stands there. `a|b` is either: the first counts."""
    found = {}
    for item in re.split(r"[,;]", text.split("|", maxsplit=1)[0]):
        match = _AMOUNT.fullmatch(item.strip())
        if match:
            found[match[1]] = int(match[2] or 1)
    return found


def _buffer(text: str) -> int:
    """Bytes of all that directives such as `capacity=4TB` or `size=10GiB` ask for."""
    return sum(_size(found) for found in re.findall(r"(?:capacity|size)=(\d+[KMGTP]?(?:i?B)?)", text))


def _size(text: str) -> int:
    found = re.fullmatch(r"(\d+)([KMGTP]?)(i?B)?", text)
    if not found:
        return 0
    decimal = found[3] == "B" and found[2]
    return int(found[1]) * (1000 ** "_KMGTP".index(found[2]) if decimal else _UNITS[found[2]])


def _tres(text: str) -> dict[str, int]:
    """`cpu=4,mem=4000M,gres/gpu=2`: numbers, sizes in bytes."""
    pairs = (item.partition("=") for item in text.split(","))
    return {key: _size(value) for key, _, value in pairs if value}


def tasks_of(text: str, most: int) -> Iterator[int]:
    """The tasks of `1-3,7,10-20:5%4`, so many at most."""
    left = most
    for part in text.partition("%")[0].strip("[]").split(","):
        found = re.fullmatch(r"(\d+)(?:-(\d+)(?::(\d+))?)?", part.strip())
        if not found:
            continue
        first, last = int(found[1]), int(found[2] or found[1])
        for task in range(first, last + 1, int(found[3] or 1) or 1):
            if not left:
                return
            left -= 1
            yield task
