"""Planned events: maintenance and advance reservations, during which nodes are kept for some, or for nobody."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from forebay.core.units import format_seconds
from forebay.errors import brief, nearest
from forebay.platforms._fields import Duration, Model, Name, Words
from forebay.platforms._inside import refuse_twice
from forebay.platforms._moments import Moment, MomentOrNone, told
from forebay.platforms.partitions import ALL, ranges_of

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
        Which, by their ids: "0-9,12"; all by default.
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
    nodes: Annotated[str, Field(examples=["0-9,12"])] = ""
    classes: Words = ()
    users: Words = ()
    accounts: Words = ()
    flags: tuple[Literal["maint"], ...] = ()

    @field_validator("flags", mode="before")
    @classmethod
    def _listed(cls, flags: Any) -> Any:
        words = [flags] if isinstance(flags, str) else flags
        return tuple(word.lower() if isinstance(word, str) else word for word in words)

    @field_validator("nodes")
    @classmethod
    def _ids(cls, nodes: str, info: ValidationInfo) -> str:
        if nodes and nodes != ALL:
            ranges_of(nodes)
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

    @property
    def text(self) -> str:
        """When and where, and for whom."""
        end = self.end
        if self.duration is not None:
            end = self.start + self.duration if isinstance(self.start, float) else None
        until = f"to {told(end)}" if end is not None else f"for {format_seconds(self.duration or 0.0)}"
        where = (
            "all nodes"
            if self.whole
            else ", ".join(filter(None, [*self.classes, self.nodes and f"nodes {self.nodes}"]))
        )
        whose = ", ".join([*self.users, *self.accounts])
        return f"{told(self.start)} {until}, {where}" + (f", for {whose}" if whose else "")

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


def _there(reservations: tuple[Reservation, ...], info: ValidationInfo) -> tuple[Reservation, ...]:
    """Refuse reservations of what the machine does not have."""
    refuse_twice([one.name for one in reservations], "reservations")
    if len(reservations) > MAX_RESERVATIONS:
        raise ValueError(f"{len(reservations):,} reservations are more than the {MAX_RESERVATIONS} of a machine")
    classes, nodes = [one.name for one in info.data.get("classes", ())], info.data.get("nodes", MAX_NODES)
    for one in reservations:
        for name in one.classes:
            if name not in classes:
                raise ValueError(f"{one.name} is of a class {brief(name)}: {nearest(name, classes)}")
        stretches = ranges_of(one.nodes) if one.nodes not in ("", ALL) else []
        beyond = [last for _, last in stretches if last >= nodes]
        if beyond:
            raise ValueError(f"{one.name} is of node {beyond[0]}, and nodes are numbered from 0 to {nodes - 1}")
    return reservations


Reservations = Annotated[tuple[Reservation, ...], AfterValidator(_there)]


def announced(reservations: Sequence[Reservation]) -> dict[str, Any]:
    """What descriptions of a machine tell of them; nothing where there are none."""
    texts = [{**one.described(), "text": one.text} for one in reservations]
    return {"reservations": texts} if texts else {}
