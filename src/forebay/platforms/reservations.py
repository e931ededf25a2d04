"""Planned events: advance reservations, in which nodes are kept for some jobs, and maintenance, in which for none."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from forebay._support.text import counted
from forebay.core.units import format_seconds
from forebay.errors import brief, nearest
from forebay.platforms._declared.moments import Moment, MomentOrNone, moment_text
from forebay.platforms._fields import Duration, Model, Name, Words
from forebay.platforms._inside import by_ids, refuse_twice
from forebay.platforms.atoms import atoms_of
from forebay.platforms.classes import NodeClass
from forebay.platforms.partitions import ALL, check_nodes, ranges_of

MAX_NODES = 2**31
MAX_RESERVATIONS = 62
"""Who may use which is bits of one number."""


class Reservation(Model):
    """Nodes that are kept from others from a start to an end: for users or accounts, or for nobody (maintenance).

    Nobody else starts on them who would, by walltime, still run when it begins.

    Parameters
    ----------
    name
        What reasons and figures call it.
    start
        In seconds after the first job, or a date.
    end
        When it ends.
    duration
        Or how long it lasts.
    nodes
        Which, by their ids: "0-9,12"; by their names, if their classes give them: "n[001-004]"; or how many, the last
        of the machine or of `classes`. All by default.
    classes
        Or classes of nodes, all of each.
    users
        Whose jobs may start on these nodes while it lasts; nobody's, if neither users nor accounts are named.
    accounts
        The same by account.
    flags
        "maint" says that it is maintenance.

    Examples
    --------
    >>> print(fb.platforms.Reservation(name="service", start="7 d", duration="8 h"))
    service: 7 d to 7 d 8 h, all nodes
    """

    name: Name
    start: Moment
    end: MomentOrNone = None
    duration: Duration = Field(default=None, validate_default=True)
    nodes: Annotated[str | int, Field(examples=["0-9,12"])] = ""
    classes: Words = ()
    users: Words = ()
    accounts: Words = ()
    flags: tuple[Literal["maint"], ...] = ()

    @field_validator("flags", mode="before")
    @classmethod
    def _listed(cls, flags: Any) -> Any:
        words = [flags] if isinstance(flags, str) else flags
        if not isinstance(words, list | tuple):
            raise ValueError(f'{brief(flags)} must be a list of words: ["maint"]')
        return tuple(word.lower() if isinstance(word, str) else word for word in words)

    @field_validator("nodes")
    @classmethod
    def _ids(cls, nodes: str | int, info: ValidationInfo) -> str | int:
        if isinstance(nodes, int) and nodes < 1:
            raise ValueError(f'{nodes} nodes are none; write a number such as 4, or ids such as "0-9,12"')
        if isinstance(nodes, str) and nodes and nodes != ALL:
            check_nodes(nodes)
        return nodes

    @field_validator("duration")
    @classmethod
    def _lasts(cls, duration: float | None, info: ValidationInfo) -> float | None:
        start, end = info.data.get("start"), info.data.get("end")
        if "end" in info.data and (end is None) == (duration is None):
            raise ValueError("a reservation needs an end or a duration, and not both")
        if isinstance(start, float) and isinstance(end, float) and end <= start:
            raise ValueError("the reservation ends before it begins; give a later end")
        return duration

    @field_validator("flags")
    @classmethod
    def _for_nobody(cls, flags: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if flags and (info.data.get("users") or info.data.get("accounts")):
            raise ValueError("the reservation is maintenance and has users; leave out the flag maint, or those")
        return flags

    @property
    def whole(self) -> bool:
        """Whether it is of all nodes."""
        return not self.classes and self.nodes in ("", ALL)

    def stretches(self, classes: Sequence[NodeClass], nodes: int) -> list[tuple[int, int]]:
        """First and last node of each stretch of its nodes, on a machine with these classes and so many nodes."""
        if self.whole:
            return [(0, nodes - 1)]
        ends = list(accumulate(one.nodes for one in classes))
        own = [(end - one.nodes, end - 1) for one, end in zip(classes, ends, strict=True) if one.name in self.classes]
        if isinstance(self.nodes, str):
            return own + (ranges_of(self.nodes) if self.nodes not in ("", ALL) else [])
        # Jobs take nodes from the first on: the last are those that are soonest idle.
        left, last = self.nodes, []
        for first, end in reversed(own or [(0, nodes - 1)]):
            some = min(left, end - first + 1)
            last += [(end - some + 1, end)] if some else []
            left -= some
        return last

    @property
    def text(self) -> str:
        """When and where, and for whom."""
        end = self.end
        if self.duration is not None:
            end = self.start + self.duration if isinstance(self.start, float) else None
        until = f"to {moment_text(end)}" if end is not None else f"for {format_seconds(self.duration or 0.0)}"
        where = "all nodes" if self.whole else ", ".join(filter(None, [*self.classes, f"nodes {self.nodes}"]))
        if isinstance(self.nodes, int):
            where = counted(self.nodes, "node") + (f" of {', '.join(self.classes)}" if self.classes else "")
        elif not self.nodes and self.classes:
            where = ", ".join(self.classes)
        whose = ", ".join([*self.users, *self.accounts])
        return f"{moment_text(self.start)} {until}, {where}" + (f", for {whose}" if whose else "")

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


def _there(reservations: tuple[Reservation, ...], info: ValidationInfo) -> tuple[Reservation, ...]:
    """Refuse reservations of what the machine does not have."""
    refuse_twice([one.name for one in reservations], "reservations")
    if len(reservations) > MAX_RESERVATIONS:
        raise ValueError(f"{len(reservations):,} reservations are more than the {MAX_RESERVATIONS} of a machine")
    if "classes" not in info.data:
        return reservations  # classes are wrong, and are reported
    classes, nodes = [one.name for one in info.data["classes"]], info.data.get("nodes", MAX_NODES)
    reservations = by_ids(reservations, info.data["classes"])
    for one in reservations:
        for name in one.classes:
            if name not in classes:
                raise ValueError(f"{one.name} is of a class {brief(name)}: {nearest(name, classes)}")
        there = sum(node_class.nodes for node_class in info.data["classes"] if node_class.name in one.classes)
        if isinstance(one.nodes, int) and one.nodes > (there if one.classes else nodes):
            raise ValueError(f"{one.name} is of {counted(one.nodes, 'node')}, and there are {there or nodes:,}")
        stretches = one.stretches(info.data["classes"], nodes)
        beyond = [last for _, last in stretches if last >= nodes]
        if beyond:
            raise ValueError(f"{one.name} is of node {beyond[0]}, and nodes are numbered from 0 to {nodes - 1}")
    if "nodes" in info.data and reservations:
        parts = info.data["classes"], info.data.get("partitions", ())
        atoms_of(*parts, nodes, cuts_of(reservations, parts[0], nodes))  # complains of too many
    return reservations


Reservations = Annotated[tuple[Reservation, ...], AfterValidator(_there)]


def announced(reservations: Sequence[Reservation]) -> dict[str, Any]:
    """What descriptions of a machine tell of them; nothing where there are none."""
    texts = [{**one.described(), "text": one.text} for one in reservations]
    return {"reservations": texts} if texts else {}


def cuts_of(reservations: Sequence[Reservation], classes: Sequence[NodeClass], nodes: int) -> tuple[int, ...]:
    """Nodes at which the reserved are divided from others."""
    edges = {edge for one in reservations for low, high in one.stretches(classes, nodes) for edge in (low, high + 1)}
    return tuple(sorted(edges - {0, nodes}))
