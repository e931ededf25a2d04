"""A target as users write it ("p95_wait <= 2h"), and prices ("burst-buffer=120/TB,nodes=8000")."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from forebay.core.units import format_bytes, format_seconds, parse_bytes, parse_rate, parse_seconds
from forebay.errors import InputError, brief, nearest
from forebay.platforms.variation import BYTES, RATE, Quantity

ALIASES = {
    "p50_wait": "median_wait",
    "lost_to_stealing_share": "lost_to_policy_share",
    "lost_to_stealing_node_hours": "lost_to_policy_node_hours",
    "bounded_slowdown": "mean_bounded_slowdown_10min",
    "turnaround": "mean_turnaround_time",
    "mean_flow": "mean_turnaround_time",
    "max_flow": "max_turnaround_time",
    "utilisation": "utilisation_nodes",
}
"""Short names of what people ask for, and the names in summaries."""

_NODES, _CORES = "utilisation_nodes", "utilisation_cores"


def as_counted(name: str, numbers: Mapping[str, Any]) -> str:
    """The number that a name means in these: where jobs share nodes, the use of the machine is that of its cores."""
    return _CORES if name == _NODES and name not in numbers and _CORES in numbers else name


_TARGET = re.compile(r"\s*([A-Za-z]\w*)\s*(?:\[(.*)\]\s*)?(<=|>=|[<>=]+)\s*(.*?)\s*")
_ONLY = re.compile(r"\s*([A-Za-z]\w*)\s*(<=|>=|==|!=|=|<|>)\s*(\S|\S.*\S)\s*")
_PRICE = re.compile(r"(\d+(?:\.\d+)?)\s*([^\W\d]*|[€$£])\s*(?:/\s*(.+))?")
_FORM = 'write NAME <= VALUE, such as "p95_wait <= 2h"'


@dataclass(frozen=True)
class Target:
    """A number of the summary, and what it may be at most, or must be at least."""

    name: str
    limit: float
    unit: str
    at_least: bool = False
    written: str = ""  # the name that the user has for it
    only: tuple[str, ...] = ()  # conditions on the jobs that count, as `operations.parse_condition` takes them
    whose: str = ""  # these jobs in the user's words

    @property
    def sign(self) -> int:
        """What a number is multiplied by, for smaller ones to be better."""
        return -1 if self.at_least else 1

    @property
    def title(self) -> str:
        """The number in words."""
        words = (self.written or self.name).replace("_", " ")
        return f"{words} of {self.whose}" if self.whose else words

    def shown(self, value: float | None) -> str:
        """The number as people read it."""
        if value is None or not math.isfinite(value):
            return "-"
        if self.unit == "s":
            return format_seconds(value)
        if self.unit == "bytes":
            return format_bytes(round(value))
        return f"{100 * value:.4g} %" if self.unit == "share" else f"{value:,.4g}"

    def loss(self, numbers: Mapping[str, Any]) -> float:
        """What the search makes small; inf where the number is of no job."""
        name = as_counted(self.name, numbers)
        if name not in numbers:
            known = [name for name in numbers if not name.startswith("ci95_")]
            raise InputError(
                f"--target: runs of these jobs on this machine have no number {self.name!r}; "
                f"{nearest(self.name, [*known, *ALIASES])}"
            )
        value = numbers[name]
        return math.inf if value is None or not math.isfinite(value) else self.sign * value

    def __str__(self) -> str:
        return f"{self.title} {'>=' if self.at_least else '<='} {self.shown(self.limit)}"


def parse_target(text: str) -> Target:
    """The target that a text such as "mean_wait <= 30min" means."""
    from forebay.metrics._listing import about

    found = _TARGET.fullmatch(text)
    if not found:
        raise InputError(f"--target {brief(text)} is not a target; {_FORM}")
    written, whose, sense, value = found[1].lower().replace("-", "_"), found[2], found[3], found[4]
    if sense not in ("<=", ">="):
        raise InputError(f"--target {brief(text)}: {sense!r} is not <= or >=; {_FORM}")
    name = ALIASES.get(written, written)
    whole, varying = _numbers()
    if name not in whole and not re.fullmatch(varying, name):
        raise InputError(f"--target {brief(text)}: unknown number {written!r}; {nearest(written, [*ALIASES, *whole])}")
    unit = about(name).unit_of(name)
    try:
        limit = _value(value, unit)
    except InputError as error:
        raise InputError(f"--target {brief(text)}: {error}") from None
    only = () if whose is None else tuple(_condition(one, text) for one in whose.split(","))
    words = "" if whose is None else ", ".join(" ".join(one.split()) for one in whose.split(","))
    return Target(name, limit, unit, sense == ">=", written, only, words)


def _condition(item: str, text: str) -> str:
    """`partition=gpu` as a condition on the table of jobs."""
    found = _ONLY.fullmatch(item)
    if not found:
        raise InputError(
            f"--target {brief(text)}: {brief(item.strip())} does not say whose jobs count; write such as "
            "[partition=gpu], [qos=long, user=ann] or [gpus > 0]"
        )
    column, operator, word = found.groups()
    column = {"partition": "queue"}.get(column.lower(), column.lower())
    return f"{column}{'==' if operator == '=' else operator}{word}"


def _numbers() -> tuple[set[str], str]:
    """The names that numbers of summaries have, and a pattern of those that go by resources, tiers and links."""
    from forebay.metrics._listing import metrics
    from forebay.metrics.jobs import SPREAD

    whole, varying = set[str](), []
    for name in (name for metric in metrics() for name in metric.names):
        if name.endswith("MEASURE"):
            whole |= {name.replace("MEASURE", measure) for measure in SPREAD}
        elif name.lower() == name:
            whole.add(name)
        else:
            varying.append(re.sub("[A-Z]+$", ".+", name))
    return whole, "|".join(varying)


def _value(text: str, unit: str) -> float:
    if unit == "s":
        return parse_seconds(text)
    if unit == "bytes":
        return float(parse_bytes(text))
    number, percent, _ = text.partition("%")
    try:
        value = float(number) / (100 if percent else 1)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or (percent and unit != "share"):
        raise InputError(f"{brief(text)} is not a number; {'write one such as 80%' if unit == 'share' else _FORM}")
    return value


@dataclass(frozen=True)
class Price:
    """What one unit (a byte, a byte/s, a node) costs, and in which currency."""

    each: float
    currency: str
    text: str  # as it was written


def parse_prices(text: str, quantities: Mapping[str, Quantity]) -> dict[str, Price]:
    """The price of each quantity that is varied; `quantities` has them by the name that the user wrote."""
    prices: dict[str, Price] = {}
    folded = {_folded(name): one for name, one in quantities.items()}
    for item in text.split(","):
        name, equals, amount = (part.strip() for part in item.partition("="))
        if not equals or not amount:
            raise InputError(f"--price {brief(text)}: {brief(item)} is not NAME=PRICE; write burst-buffer=120/TB")
        quantity = folded.get(_folded(name))
        if quantity is None:
            raise InputError(
                f"--price {brief(text)}: {name!r} is not varied, so its price changes nothing; add --vary {name}, or "
                f"leave it out (varied: {', '.join(quantities)})"
            )
        if quantity.name in prices:
            raise InputError(f"--price {brief(text)}: {name!r} has two prices; keep one")
        prices[quantity.name] = _price(amount, quantity)
    for name, quantity in quantities.items():
        if quantity.name not in prices:
            raise InputError(f"--price {brief(text)}: {name} is varied and has no price; write {name}=PRICE too")
    currencies = sorted({price.currency for price in prices.values()})
    if len(currencies) > 1:
        raise InputError(f"--price {brief(text)}: prices in {' and '.join(currencies)} do not add up; use one currency")
    return prices


def _price(text: str, quantity: Quantity) -> Price:
    example = {BYTES: "120/TB", RATE: "900/GB/s"}.get(quantity.unit, "8000")
    found = _PRICE.fullmatch(text)
    if not found:
        raise InputError(f"--price: {brief(text)} is not a price of {quantity.title}; write one such as {example}")
    amount, currency, per = float(found[1]), found[2], (found[3] or "").strip()
    if quantity.unit in (BYTES, RATE) and not per:
        raise InputError(
            f"--price: {brief(text)} does not say of how much {quantity.title}; write one such as {example}"
        )
    if quantity.unit == BYTES:
        return Price(amount / parse_bytes(f"1 {per}"), currency, text)
    if quantity.unit == RATE:
        return Price(amount / parse_rate(f"1 {per}"), currency, text)
    if per not in ("", "node", "unit"):
        raise InputError(f"--price: {brief(text)}: {quantity.title} are counted; write one such as {example}")
    return Price(amount, currency, text)


def _folded(name: str) -> str:
    return name.strip().lower().replace("_", "-")
