"""A machine with more or less of one thing: nodes, the room of a tier, or the bandwidth of one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from forebay.core.units import format_bytes, format_rate, parse_bytes, parse_rate
from forebay.errors import InputError, nearest
from forebay.platforms.platform import Platform
from forebay.platforms.storage import files_of, stores_of
from forebay.platforms.tiers._base import BaseTier

NODES, BYTES, RATE, UNITS = "nodes", "bytes", "bytes/s", "units"
_RATES = ("bandwidth", "read", "write")
_OF_RATE = ".bandwidth"


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
        return NODES if self.unit == NODES else f"of {self.title}"

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
    wanted = name.strip().lower().replace("_", "-")
    if wanted == NODES:
        return Quantity(NODES, NODES, platform.nodes)
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
    names = [NODES]
    for tier in platform.tiers:
        names += [tier.name] * (_capacity(tier) or _rate(tier) is not None)
        names += [tier.name + _OF_RATE] * (_capacity(tier) and _rate(tier) is not None)
    return [name.replace("_", "-") for name in names]


def varied(platform: Platform, amounts: Mapping[str, float] | Iterable[tuple[str, float]]) -> Platform:
    """The machine with these amounts, by the names of quantities. All else stays, but what goes in proportion.

    Of a file system with a rate each way, the amount is that of reads, and writes keep their ratio to it. Where nodes
    are of two kinds, the amount is that of the smaller, and the larger keeps its ratio. Servers share the room evenly.
    """
    nodes, tiers = platform.nodes, {tier.name: tier for tier in platform.tiers}
    for name, amount in dict(amounts).items():
        if name == NODES:
            nodes = round(amount)
            continue
        plain = name.removesuffix(_OF_RATE)
        changed = _rates(tiers[plain], amount) if plain != name else _room(tiers[plain], round(amount))
        tiers[plain] = type(tiers[plain]).model_validate({**tiers[plain].model_dump(), **changed})
    parts = {field: getattr(platform, field) for field in type(platform).model_fields}
    return type(platform).model_validate({**parts, "nodes": nodes, "tiers": tuple(tiers.values())})


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
