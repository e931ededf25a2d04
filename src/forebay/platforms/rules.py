"""Limits of a site beyond those of one policy: of users, accounts, QOS, partitions and groups, named as in Slurm."""

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from forebay._support.input_limits import LONGEST, short_enough, too_long
from forebay._support.text import plain
from forebay.core.limits import NO_LIMIT
from forebay.core.units import format_seconds, parse_seconds
from forebay.errors import InputError, brief, nearest
from forebay.platforms._fields import FROM_FILE, Model
from forebay.platforms.tres import TRES, parse_tres, word_of

WHO = ("user", "account", "qos", "partition", "group")
"""What a rule may select jobs by."""

KEYS = {
    "grp_jobs": "GrpJobs",
    "grp_submit": "GrpSubmit",
    "grp_tres": "GrpTRES",
    "grp_tres_run_mins": "GrpTRESRunMins",
    "max_jobs_per_user": "MaxJobsPerUser",
    "max_submit_per_user": "MaxSubmitPerUser",
    "max_tres_per_user": "MaxTRESPerUser",
    "max_jobs_per_account": "MaxJobsPerAccount",
    "max_submit_per_account": "MaxSubmitPerAccount",
    "max_tres_per_account": "MaxTRESPerAccount",
    "max_tres_per_job": "MaxTRESPerJob",
    "max_wall": "MaxWall",
}
"""Fields, and how Slurm writes them."""

_ALIKE = {
    "MaxJobs": "max_jobs_per_user",
    "MaxJobsPU": "max_jobs_per_user",
    "MaxJobsPA": "max_jobs_per_account",
    "MaxSubmit": "max_submit_per_user",
    "MaxSubmitJobs": "max_submit_per_user",
    "MaxSubmitJobsPerUser": "max_submit_per_user",
    "MaxSubmitPU": "max_submit_per_user",
    "MaxSubmitJobsPerAccount": "max_submit_per_account",
    "MaxSubmitPA": "max_submit_per_account",
    "GrpSubmitJobs": "grp_submit",
    "MaxTRES": "max_tres_per_job",
    "MaxTRESPJ": "max_tres_per_job",
    "MaxTRESPU": "max_tres_per_user",
    "MaxTRESPA": "max_tres_per_account",
    "MaxWallDurationPerJob": "max_wall",
    "MaxTime": "max_wall",
}
"""Other names that Slurm's commands have for the same."""

WAIT: Literal["wait"] = "wait"
"""What users at their limit of submitted jobs do: they submit again when the limit allows it."""

_SUBMITS = ("grp_submit", "max_submit_per_user", "max_submit_per_account")

_FIELDS = {name.lower(): field for field, name in KEYS.items()}
_FIELDS |= {name.lower(): field for name, field in _ALIKE.items()}


def _spelled(key: str) -> str:
    """A key as the model has it: case does not count, nor do underscores."""
    plain_key = key.lower().replace("_", "")
    return _FIELDS.get(plain_key, {"queue": "partition"}.get(plain_key, plain_key if plain_key in WHO else key))


def limit_called(name: str) -> str | None:
    """The field of a limit, by any name that Slurm has for it; None where it is none."""
    return _FIELDS.get(name.lower().replace("_", ""))


def _count(value: Any) -> int | None:
    number = int(value) if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,15}", value.strip()) else value
    if isinstance(number, bool) or not isinstance(number, int):
        raise ValueError(f"{brief(value)} is not a whole number; write a count such as 4, or -1 for no limit")
    if number < -1:
        raise ValueError(f"{brief(value)} is below 0; write a count such as 4, or -1 for no limit")
    if number > NO_LIMIT:
        raise ValueError(f"{brief(value)} is more than any machine has; write a count such as 4, or -1 for no limit")
    return None if number == -1 else number


def _amounts(value: Any) -> TRES:
    if isinstance(value, Mapping):
        value = ",".join(f"{name}={amount}" for name, amount in value.items())
    if not isinstance(value, str):
        raise ValueError(f'{brief(value)} is not a list of amounts; write "node=20,gres/gpu=8"')
    try:
        return parse_tres(value)
    except InputError as error:
        raise ValueError(str(error)) from None


_CLOCK = re.compile(r"(?:([0-9]+)-)?([0-9]+)(?::([0-9]+))?(?::([0-9]+))?")
_A_TIME = 'write a time such as "12 h", "1-00:00:00" or "12:00:00"'


def parse_wall(value: Any, info: ValidationInfo) -> float | None:
    """Seconds of "12 h" or, as Slurm writes it, "1-12:00:00" and "12:00:00"; a number of Python's is in seconds."""
    if isinstance(value, str):
        if value.strip().lower() in ("unlimited", "infinite"):
            return None
        if (clock := _CLOCK.fullmatch(value.strip())) and not value.strip().isdecimal():
            return _clock_seconds(value, *clock.groups())
    bare = isinstance(value, str) and value.strip().isdecimal()
    if bare or (info.context == FROM_FILE and not isinstance(value, str)):
        raise ValueError(f"{brief(value)} has no unit (Slurm's are minutes); {_A_TIME}")
    try:
        seconds = parse_seconds(value) if isinstance(value, str) else value
    except InputError as error:
        raise ValueError(str(error)) from None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        raise ValueError(f"{brief(value)} is not a time above 0; {_A_TIME}")
    if LONGEST < seconds < math.inf:
        raise ValueError(str(too_long(value)))
    return float(seconds)


def _clock_seconds(text: str, days: str | None, first: str, second: str | None, third: str | None) -> float:
    """Of days-hours:minutes:seconds, hours:minutes:seconds, or minutes:seconds."""
    a, b, c = (float(part or 0) for part in (first, second, third))  # of any number of digits
    whole = days is not None or third is not None
    seconds = 86400 * float(days or 0) + 3600 * a + 60 * b + c if whole else 60 * a + b
    if seconds > LONGEST:
        raise ValueError(str(too_long(text)))
    return seconds


def _name(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f'{brief(value)} is not a name; write one such as "long"')
    return short_enough(plain(value.strip()))


Name = Annotated[str, BeforeValidator(_name)]
Most = Annotated[int | None, BeforeValidator(_count), Field(examples=[4])]
Amounts = Annotated[dict[str, int], BeforeValidator(_amounts), Field(examples=["node=20"])]
Wall = Annotated[float | None, BeforeValidator(parse_wall), Field(examples=["12 h"])]


class Rule(Model):
    """A limit on the jobs of a user, an account, a QOS, a partition or a group; of all jobs where it names none.

    Keys are Slurm's own: `Rule(qos="long", MaxJobsPerUser=4, GrpTRES="node=20")`.

    Parameters
    ----------
    user
        Whose jobs it is for, by name or number. A job is under it if all that are given agree.
    account
        The same by account.
    qos
        By quality of service.
    partition
        By partition.
    group
        By group.
    grp_jobs
        How many of these jobs may run at a time.
    grp_submit
        How many may wait and run; what comes beyond is rejected, or see `over_submit`.
    grp_tres
        What they may have together while they run.
    grp_tres_run_mins
        The same, times the minutes that they have left.
    max_jobs_per_user
        How many of each user among them may run at a time.
    max_submit_per_user
        How many of each user may wait and run.
    max_tres_per_user
        What those of each user may have together.
    max_jobs_per_account
        How many of each account may run at a time.
    max_submit_per_account
        How many of each account may wait and run.
    max_tres_per_account
        What those of each account may have together.
    max_tres_per_job
        A job that asks for more is rejected.
    max_wall
        And one that asks for longer.
    over_submit
        What happens to a job over a limit on submitted jobs: "reject", or "wait": its user submits it again as soon as
        the limit allows it, and its wait counts from when it first came.

    Examples
    --------
    >>> print(fb.platforms.Rule(qos="long", MaxJobsPerUser=4, GrpTRES="node=20"))
    qos long: GrpTRES=nodes=20, MaxJobsPerUser=4
    """

    user: Name = ""
    account: Name = ""
    qos: Name = ""
    partition: Name = ""
    group: Name = ""
    grp_jobs: Most = None
    grp_submit: Most = None
    grp_tres: Amounts = Field(default_factory=dict)
    grp_tres_run_mins: Amounts = Field(default_factory=dict)
    max_jobs_per_user: Most = None
    max_submit_per_user: Most = None
    max_tres_per_user: Amounts = Field(default_factory=dict)
    max_jobs_per_account: Most = None
    max_submit_per_account: Most = None
    max_tres_per_account: Amounts = Field(default_factory=dict)
    max_tres_per_job: Amounts = Field(default_factory=dict)
    max_wall: Wall = None
    over_submit: Annotated[Literal["reject", "wait"], Field(examples=["wait"])] = "reject"

    @model_validator(mode="before")
    @classmethod
    def _as_slurm_writes(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            raise ValueError('must be a table: write [[limits]] and below it qos = "long" and MaxJobsPerUser = 4')
        found: dict[str, Any] = {}
        for key, value in values.items():
            name = _spelled(str(key))
            if name not in cls.model_fields:
                raise ValueError(f"{brief(key)} is no limit; {nearest(key, [*WHO, *KEYS.values(), *_ALIKE])}")
            if name in found:
                raise ValueError(f"{brief(key)} is given twice; keep one")
            found[name] = value
        if not found.keys() & KEYS.keys():
            raise ValueError("limits nothing; add one such as MaxJobsPerUser = 4")
        if "over_submit" in found and not found.keys() & set(_SUBMITS):
            raise ValueError(
                "over_submit says nothing here; add a limit such as MaxSubmitPerUser = 100, or leave it out"
            )
        return found

    @property
    def who(self) -> dict[str, str]:
        """The names that it is for, by column; those of a partition are in the queue of a job."""
        return {"queue" if key == "partition" else key: name for key in WHO if (name := getattr(self, key))}

    @property
    def of_qos(self) -> bool:
        """Whether Slurm would have it as a limit of a QOS, also that of a partition, or of an association."""
        return bool(self.qos or self.partition) or not (self.user or self.account or self.group)

    def reason(self, kind: str, name: str = "", minutes: bool = False) -> str:
        """What `squeue` shows of a job that it holds: `kind` is "", "PerUser" or "PerAccount", `name` what is short."""
        scope = "QOS" if self.of_qos else "Assoc"
        word = word_of(name) if name else ""
        if kind == "":
            if not name:
                return f"{scope}GrpJobsLimit"
            if minutes:
                if word == "Mem" and scope == "QOS":
                    word = "Memory"
                return f"{scope}GrpCPURunMinutesLimit" if word == "Cpu" else f"{scope}Grp{word}RunMinutes"
            return f"{scope}Grp{word}" + ("Limit" if word in ("Node", "Cpu", "Mem") else "")
        word = "Memory" if word == "Mem" else word
        if kind == "PerAccount":
            return f"Max{word}PerAccount" if name else "MaxJobsPerAccount"
        if not name:
            return "QOSMaxJobsPerUserLimit" if self.of_qos else "AssocMaxJobsLimit"
        return f"QOSMax{word}PerUser" + ("Limit" if word in ("Node", "Cpu") else "")

    def submit_reason(self, kind: str) -> str:
        """What Slurm says of one submitted too many."""
        if kind == "PerAccount":
            return "MaxSubmitJobsPerAccount"
        if kind == "PerUser":
            return "QOSMaxSubmitJobPerUserLimit" if self.of_qos else "AssocMaxSubmitJobLimit"
        return f"{'QOS' if self.of_qos else 'Assoc'}GrpSubmitJobsLimit"

    def described(self) -> dict[str, Any]:
        """What it sets, in Slurm's words."""
        table: dict[str, Any] = {key: name for key in WHO if (name := getattr(self, key))}
        for field, name in KEYS.items():
            if (value := getattr(self, field)) not in (None, {}):
                table[name] = value
        return table | ({"over_submit": WAIT} if self.over_submit == WAIT else {})

    def __str__(self) -> str:
        who = ", ".join(f"{key} {name}" for key in WHO if (name := getattr(self, key)))
        limits = []
        for field, name in KEYS.items():
            value = getattr(self, field)
            if value is None or value == {}:
                continue
            if isinstance(value, dict):
                value = ",".join(f"{what}={amount}" for what, amount in value.items())
            limits.append(f"{name}={format_seconds(value) if field == 'max_wall' else value}")
        limits += ["others wait to be submitted"] if self.over_submit == WAIT else []
        return f"{who or 'all jobs'}: {', '.join(limits)}"
