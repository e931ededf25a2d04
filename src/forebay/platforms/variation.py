"""A machine with more or less of one thing: nodes, the room of a tier, or the bandwidth of one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from forebay.core.units import format_bytes, format_rate, parse_bytes, parse_rate
from forebay.errors import InputError, nearest
from forebay.platforms.names import ranges
from forebay.platforms.partitions import ALL, ranges_of
from forebay.platforms.platform import MAX_NODES, Platform
from forebay.platforms.storage import files_of, stores_of
from forebay.platforms.tiers._base import BaseTier

NODES, BYTES, RATE, UNITS = "nodes", "bytes", "bytes/s", "units"
_RATES = ("bandwidth", "read", "write")
_OF_RATE = ".bandwidth"
_CLASSES, _NODES = "classes.", ".nodes"


@dataclass(frozen=True)
class Quantity:
    """Something that a machine can have more or less of."""

    name: str  # nodes, a tier, or the bandwidth of one: pfs.bandwidth
    unit: str
    now: float | None  # what the machine has; None where a workload decides it
    step: int = 1  # only whole multiples are different machines
    each: bool = False  # whether every node has so much

    @property
    def title(self) -> str:
        """The words for it."""
        if of_class(self.name):
            return f"{of_class(self.name)} nodes"
        tier, dot, _ = self.name.partition(".")
        words = tier.replace("_", " ").replace("-", " ")
        return f"{words} bandwidth" if dot else f"{words} of a node" if self.each else words

    def text(self, value: float) -> str:
        """So much of it."""
        if self.unit == BYTES:
            return format_bytes(round(value))
        if self.unit == RATE:
            return format_rate(value)
        return f"{round(value):,}"

    @property
    def of(self) -> str:
        """What follows an amount: "128 nodes", "2 TB of burst buffer"."""
        return self.title if self.unit == NODES else f"of {self.title}"

    def parse(self, text: str) -> float:
        """The amount that users write."""
        if self.unit == RATE:
            return parse_rate(text)
        if self.unit == BYTES:
            return float(parse_bytes(text))
        number = text.strip().removesuffix("s").removesuffix("node").strip() if self.unit == NODES else text.strip()
        if not (number.isascii() and number.isdigit()) or len(number) > 18:
            raise InputError(f"{text!r} is not a whole number; write one such as 100")
        return float(number)


def quantity(platform: Platform, name: str) -> Quantity:
    """What a user means by a name such as nodes, burst-buffer, pfs, or fast.bandwidth."""
    wanted = _folded(name)
    if wanted == NODES:
        return Quantity(NODES, NODES, platform.nodes)
    for one in platform.classes:
        if _folded(_of_nodes(one.name)) == wanted:
            return Quantity(_of_nodes(one.name), NODES, one.nodes)
    plain = wanted.removesuffix(_OF_RATE)
    tier = _tier(platform, plain)
    if tier is None:
        raise InputError(f"--vary {name!r}: {platform.name} has no such thing; {nearest(wanted, known_to(platform))}")
    if plain == wanted and _capacity(tier):
        now = getattr(tier, "capacity", None)
        step = tier.servers_on(platform.topology) if tier.chunked else 1
        known, unit = now if isinstance(now, int) else None, BYTES if tier.in_bytes else UNITS
        return Quantity(tier.name, unit, known, step, tier.per_node is not None)
    rate = _rate(tier)
    if rate is None:
        raise InputError(
            f"--vary {name!r}: {tier.name} of {platform.name} has no bandwidth that jobs share; give it one, or vary "
            f"something else: {', '.join(known_to(platform))}"
        )
    return Quantity(tier.name + _OF_RATE, RATE, rate)


def known_to(platform: Platform) -> list[str]:
    """All names that `quantity` takes on a machine."""
    names = [NODES, *(_of_nodes(one.name) for one in platform.classes)]
    for tier in platform.tiers:
        names += [tier.name] * (_capacity(tier) or _rate(tier) is not None)
        names += [tier.name + _OF_RATE] * (_capacity(tier) and _rate(tier) is not None)
    return [_folded(name) for name in names]


def varied(platform: Platform, amounts: Mapping[str, float] | Iterable[tuple[str, float]]) -> Platform:
    """The machine with these amounts, by the names of quantities. All else stays, but what goes in proportion.

    Of a file system with a rate each way, the amount is that of reads, and writes keep their ratio to it. Where nodes
    are of two kinds, the amount is that of the smaller, and the larger keeps its ratio. Servers share the room evenly.
    Where nodes are of several classes, a number of all nodes is shared out as they share them now.
    """
    amounts = dict(amounts)
    counts: Mapping[str, float]
    counts = {one.name: amounts[name] for one in platform.classes if (name := _of_nodes(one.name)) in amounts}
    if NODES in amounts and counts:
        raise InputError(f"nodes and {_of_nodes(next(iter(counts)))} cannot both be varied; keep one")
    if NODES in amounts and platform.classes:
        counts = _shared_out(platform, round(amounts[NODES]))
    nodes, tiers = round(amounts.get(NODES, platform.nodes)), {tier.name: tier for tier in platform.tiers}
    parts: dict[str, Any] = {"nodes": nodes}
    if counts:
        parts = _resized(platform, {name: round(count) for name, count in counts.items()})
    for name, amount in amounts.items():
        if name == NODES or of_class(name):
            continue
        plain = name.removesuffix(_OF_RATE)
        changed = _rates(tiers[plain], amount) if plain != name else _room(tiers[plain], round(amount))
        tiers[plain] = type(tiers[plain]).model_validate({**tiers[plain].model_dump(), **changed})
    return type(platform).model_validate({**_fields(platform), **parts, "tiers": tuple(tiers.values())})


def of_class(name: str) -> str:
    """The class whose nodes a quantity is; empty for any other quantity."""
    return name.removeprefix(_CLASSES).removesuffix(_NODES) if name.startswith(_CLASSES) else ""


def _of_nodes(name: str) -> str:
    return f"{_CLASSES}{name}{_NODES}"


def _folded(name: str) -> str:
    return name.strip().lower().replace("_", "-")


def _tier(platform: Platform, name: str) -> BaseTier | None:
    """A tier by its name, else by what it is to jobs: the burst buffer, or the file system."""
    named = {tier.name.lower().replace("_", "-"): tier for tier in platform.tiers}
    if name in named:
        return named[name]
    if name == "burst-buffer":
        return next(iter(stores_of(platform.tiers)), None)
    return files_of(platform.tiers) if name == "pfs" else None


def _capacity(tier: BaseTier) -> bool:
    return getattr(tier, "capacity", None) is not None


def _rate(tier: BaseTier) -> float | None:
    """What users call its bandwidth."""
    found = (getattr(tier, field, None) for field in _RATES)
    return next((float(rate) for rate in found if rate is not None), None)


def _rates(tier: BaseTier, amount: float) -> dict[str, Any]:
    now = _rate(tier)
    assert now is not None
    rates = {field: getattr(tier, field, None) for field in _RATES}
    return {field: rate * (amount / now) for field, rate in rates.items() if rate is not None}


def _room(tier: BaseTier, amount: int) -> dict[str, Any]:
    large, now = getattr(tier, "large", None), getattr(tier, "capacity", None)
    more = {"large": round(large * (amount / now))} if large is not None and now else {}
    return {"capacity": amount, **more}


def _shared_out(platform: Platform, nodes: int) -> dict[str, int]:
    """So many nodes, by class: in the ratios of now, by largest remainders, and one of each at least."""
    total = sum(one.nodes for one in platform.classes)
    if nodes > MAX_NODES:
        raise InputError(f"{nodes:,} nodes are more than the {MAX_NODES:,} that a machine may have; write fewer")
    if nodes < len(platform.classes):
        raise InputError(f"{nodes:,} nodes are fewer than the {len(platform.classes)} classes of {platform.name}")
    wanted = {one.name: one.nodes * nodes / total for one in platform.classes}
    found = {name: max(1, int(share)) for name, share in wanted.items()}
    while (left := nodes - sum(found.values())) != 0:
        step = 1 if left > 0 else -1
        some = [name for name in found if found[name] + step >= 1]
        name = max(some, key=lambda name: step * (wanted[name] - found[name]))
        found[name] += step
    return found


def _resized(platform: Platform, counts: Mapping[str, int]) -> dict[str, Any]:
    """The parts of a machine with so many nodes in these classes.

    The last nodes of a class go; new ones join every partition and reservation that has the whole class. Ids that name
    nodes of later classes move with them.
    """
    if platform.failures is not None and platform.failures.outages:
        raise InputError(f"the outages of {platform.name} name nodes, and would be of others; leave [failures] out")
    old = [one.nodes for one in platform.classes]
    new = [counts.get(one.name, one.nodes) for one in platform.classes]
    if sum(new) > MAX_NODES:
        raise InputError(f"{sum(new):,} nodes are more than the {MAX_NODES:,} that a machine may have; write fewer")
    for one, count in zip(platform.classes, new, strict=True):
        if count < 1:
            raise InputError(f"the class {one.name} would have no nodes; write 1 or more")
    classes = [
        one if count == one.nodes else type(one).model_validate({**_fields(one), "nodes": count, "names": ""})
        for one, count in zip(platform.classes, new, strict=True)
    ]
    return {
        "nodes": sum(new),
        "classes": tuple(classes),
        "partitions": tuple(_moved(one, "partition", old, new) for one in platform.partitions),
        "reservations": tuple(_moved(one, "reservation", old, new) for one in platform.reservations),
    }


def _moved(part: Any, word: str, old: Sequence[int], new: Sequence[int]) -> Any:
    """A partition or a reservation with the ids that its nodes have where classes have other numbers of nodes."""
    if not isinstance(part.nodes, str) or part.nodes in ("", ALL):
        return part
    mine = {node for first, last in ranges_of(part.nodes) for node in range(first, last + 1)}
    ids: list[int] = []
    before, after = ([0, *accumulate(some)] for some in (old, new))
    for k, count in enumerate(new):
        whole = all(node in mine for node in range(before[k], before[k + 1]))
        ids += [after[k] + j for j in range(count) if whole or (j < old[k] and before[k] + j in mine)]
    if not ids:
        raise InputError(f"the {word} {part.name} would have no node left: those it has are the last of their class")
    return type(part).model_validate({**_fields(part), "nodes": ranges(ids)})


def _fields(one: Any) -> dict[str, Any]:
    return {field: getattr(one, field) for field in type(one).model_fields}
