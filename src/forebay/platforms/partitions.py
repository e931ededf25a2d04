"""Partitions: named sets of nodes, overlapping or not, that jobs are submitted to, and what they allow a job."""

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from forebay._support.text import counted
from forebay.core.units import format_seconds
from forebay.errors import InputError, brief
from forebay.platforms._declared.moments import Moment, moment_text
from forebay.platforms._fields import Count, Duration, Flag, Model, Name, Words
from forebay.platforms.names import are_ids, listed_in

MAX_PARTITIONS = 62
"""A node's partitions are bits of one number."""

ALL = "all"
"""Instead of ids: every node."""

_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")

State = Literal["up", "down", "drain", "inactive"]

TAKES = ("up", "down")
"""States in which jobs may be submitted."""
STARTS = ("up", "drain")
"""States in which jobs may start."""


class Change(Model):
    """Another state of a partition, from a moment on.

    Parameters
    ----------
    at
        In seconds after the first job, or a date.
    state
        "up", "down", "drain" or "inactive".
    """

    at: Moment
    state: Annotated[State, Field(examples=["up"])]


def _changes(value: Any) -> Any:
    """Changes of a list of tables."""
    if not isinstance(value, list | tuple) or not all(isinstance(one, dict | Change) for one in value):
        raise ValueError(f'{brief(value)} is not a list of changes; write [{{ at = "7 d", state = "up" }}]')
    try:
        return tuple(one if isinstance(one, Change) else Change(**one) for one in value)
    except InputError as error:
        raise ValueError(str(error).removeprefix("Change: ")) from None


Changes = Annotated[tuple[Change, ...], BeforeValidator(_changes)]


class Partition(Model):
    """A named set of nodes that jobs are submitted to, as Slurm has them.

    Parameters
    ----------
    name
        What jobs name in their column `queue`.
    classes
        Classes of nodes that belong to it, all of them each.
    nodes
        Or which nodes, by their ids: "0-99,120"; by their names, if their classes give them: "n[001-100]"; or "all".
    default
        Whether jobs that name no partition go there.
    max_time
        The longest walltime, in seconds, or as text: "4 d".
    max_nodes
        The most nodes of one job.
    max_jobs
        The most jobs of the partition that run at a time.
    priority_tier
        Jobs of a higher tier go first, whatever the order of the policy; plans and windows choose among all.
    state
        "up"; "down", where jobs are taken and none starts; "drain", where none is taken any more and those that wait
        start; "inactive", neither.
    changes
        Other states later on, each a `forebay.platforms.Change`.

    Examples
    --------
    >>> print(fb.platforms.Partition(name="long", nodes="0-99", max_time="4 d"))
    long: nodes 0-99; at most 4 d
    """

    name: Name
    classes: Words = ()
    nodes: Annotated[str, Field(examples=["0-99,120"], validate_default=True)] = ""
    default: Flag = False
    max_time: Duration = None
    max_nodes: Count | None = None
    max_jobs: Count | None = None
    priority_tier: Annotated[int, Field(ge=0, le=65533, examples=[1])] = 1
    state: Annotated[State, Field(examples=["up"])] = "up"
    changes: Changes = ()

    told_if_set: ClassVar[tuple[str, ...]] = ("max_time", "max_nodes", "max_jobs")

    def described(self) -> dict[str, Any]:
        """Its values, for descriptions."""
        values = super().described()
        return values if self.changes else {name: value for name, value in values.items() if name != "changes"}

    @field_validator("nodes")
    @classmethod
    def _some(cls, nodes: str, info: ValidationInfo) -> str:
        if not nodes and info.data.get("classes") == ():
            raise ValueError('the partition has no nodes; write classes = ["cpu"], nodes = "0-99,120" or nodes = "all"')
        if nodes and nodes != ALL:
            check_nodes(nodes)
        return nodes

    @property
    def text(self) -> str:
        """Its nodes and limits in a few words."""
        where = [*self.classes, *([f"nodes {self.nodes}"] if self.nodes not in ("", ALL) else [])]
        parts = [", ".join(where) or "all nodes"]
        most = [] if self.max_time is None else [format_seconds(self.max_time)]
        most += [] if self.max_nodes is None else [f"{counted(self.max_nodes, 'node')} a job"]
        most += [] if self.max_jobs is None else [f"{counted(self.max_jobs, 'job')} at a time"]
        parts += [f"at most {', '.join(most)}"] if most else []
        parts += [f"tier {self.priority_tier}"] if self.priority_tier != 1 else []
        parts += ["default"] if self.default else []
        parts += [self.state] if self.state != "up" else []
        parts += [f"{one.state} from {moment_text(one.at)}" for one in self.changes]
        return "; ".join(parts)

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


def check_nodes(text: str) -> None:
    """Raise ValueError unless it is a list of ids, or of names."""
    if are_ids(text):
        ranges_of(text)
    else:
        listed_in(text)


def ranges_of(text: str) -> list[tuple[int, int]]:
    """First and last id of each range in "0-99,120"; ValueError where it is none."""
    found = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if not match:
            raise ValueError(f'{brief(text)} does not name nodes; write ids such as "0-99,120"')
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise ValueError(f"the range {part.strip()} of nodes ends before it begins; write {last}-{first}")
        found.append((first, last))
    return found
