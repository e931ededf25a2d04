"""What a search for a capacity has found: sentences, JSON, CSV and figures."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay._support.files import replacing
from forebay._support.text import as_json, counted, write_csv
from forebay.experiments.capacity.question import Question
from forebay.experiments.capacity.trials import Found

if TYPE_CHECKING:
    from forebay.experiments.capacity.search import Answer, Point
    from forebay.figures.panels.capacity import Axes, Curve


def sentence(question: Question, found: Found) -> str:
    """The answer for one policy."""
    span, answer = question.spans[-1], found.answer
    text, under = span.quantity.text, f"under {found.policy}{_beside(question, found)}"
    if answer.capacity is None:
        best = f"best seen: {value_text(question, answer.best)} at {text(answer.best.capacity)}"
        if not math.isfinite(answer.best.mean):
            rejects = all(found.rejected.values())
            best = f"{'jobs are rejected' if rejects else 'runs have no such number'} at every size"
        ends = f"from {text(span.low)} to {text(span.high)}"
        return f"not reached: no {span.quantity.title} {ends} gives {question.target} {under}; {best}"
    said = f"{span.quantity.title} >= {text(answer.capacity)}{interval(question, answer)} for {question.target} {under}"
    if answer.at_lowest:
        said += "; the least of the range is enough already"
    cost = cost_of(question, found)
    return said if cost is None else f"{said}, at {money(question, cost)}"


def cheapest(question: Question, some: Sequence[Found]) -> Found | None:
    """Of answers with prices, the one that costs least; None if the target is not reached."""
    reached = [found for found in some if found.answer.reached]
    return min(reached, key=lambda found: cost_of(question, found) or 0.0) if question.prices and reached else None


def cost_of(question: Question, found: Found) -> float | None:
    """What an answer costs."""
    return None if found.answer.capacity is None else question.cost(amounts(question, found, found.answer.capacity))


def first_lines(question: Question, some: Sequence[Found]) -> list[str]:
    """The answer for each policy; of two quantities, the cheapest of both together."""
    if len(question.spans) < 2:
        return [sentence(question, found) for found in some]
    lines = []
    for policy in question.policies:
        best = cheapest(question, [one for one in some if one.policy == policy])
        if best is None:
            lines.append(f"not reached: no combination of the ranges gives {question.target} under {policy}")
        else:
            lines.append(f"cheapest: {sentence(question, best)}")
    return lines


def notes(question: Question, some: Sequence[Found]) -> list[str]:
    """What readers of the answers should know."""
    span, found = question.spans[-1], []
    for one in some:
        where = f"{one.policy}{_beside(question, one)}"
        found += [
            f"{where}: {question.target.title} is worse with {span.quantity.text(large.capacity)} "
            f"({value_text(question, large)}) than with {span.quantity.text(small.capacity)} "
            f"({value_text(question, small)})"
            for small, large in one.answer.rises
        ]
        if one.answer.lucky:
            texts = ", ".join(span.quantity.text(point.capacity) for point in one.answer.lucky)
            found.append(f"{where}: {texts} would do, but a larger one does not: the answer counts from there on")
    found += [
        f"the room of {one.quantity.title} is shared evenly by its {one.quantity.step} servers"
        for one in question.spans
        if one.quantity.step > 1
    ]
    if wanting := max(question.wanting):
        found.append(f"{counted(wanting, 'job asks', 'jobs ask')} for more than the range goes to: no size is enough")
    return [*found, *dict.fromkeys(remark for one in some for remark in one.remarks)]


def document(question: Question, some: Sequence[Found]) -> dict[str, Any]:
    """All of it for JSON. Capacities are in bytes, bytes/s or counts; numbers in the units of summaries."""
    best = cheapest(question, some)
    return {
        "workload": question.workload,
        "platform": question.machine.describe(),
        "replicas": {"number": len(question.replicas), "text": question.about},
        "vary": [
            {
                "name": one.quantity.name,
                "unit": one.quantity.unit,
                "each": one.quantity.each,
                "low": one.low,
                "high": one.high,
            }
            for one in question.spans
        ],
        "target": {
            "number": question.target.name,
            "sense": ">=" if question.target.at_least else "<=",
            "limit": question.target.limit,
            "unit": question.target.unit,
            "text": str(question.target),
        },
        "precision": question.precision,
        "prices": {name: price.text for name, price in question.prices.items()},
        "answers": [_answered(question, found) for found in some],
        "cheapest": None if best is None else _answered(question, best),
        "notes": notes(question, some),
    }


def _answered(question: Question, found: Found) -> dict[str, Any]:
    answer = found.answer
    return {
        "policy": found.policy,
        "beside": dict(found.beside),
        "reached": answer.reached,
        "capacity": answer.capacity,
        "interval": answer.interval if answer.reached else None,
        "at_lowest": answer.at_lowest,
        "cost": cost_of(question, found),
        "best": {"capacity": answer.best.capacity, "value": question.target.sign * answer.best.mean},
        "text": sentence(question, found),
        "points": rows(question, [found]),
    }


def rows(question: Question, some: Sequence[Found]) -> list[dict[str, Any]]:
    """A row for each capacity that was tried; the number is missing where jobs are rejected."""
    sign, name = question.target.sign, question.spans[-1].quantity.name
    found = []
    for one in some:
        for point in one.answer.points:
            ends = (
                () if point.spread is None else sorted(sign * end for end in (point.spread.least, point.spread.largest))
            )
            found.append(
                {
                    "policy": one.policy,
                    **one.beside,
                    name: point.capacity,
                    "mean": None if point.spread is None else sign * point.mean,
                    "half_ci95": None if point.spread is None else point.spread.half,
                    "least": ends[0] if ends else None,
                    "largest": ends[1] if ends else None,
                    "rejected": one.rejected[point.capacity],
                    "meets": point.mean <= one.answer.limit,
                    "cost": question.cost(amounts(question, one, point.capacity)),
                }
            )
    return found


PICTURES = ("capacity.svg", "pareto.svg", "pareto.csv")


def forget_pictures(folder: Path, kept: Sequence[Path]) -> None:
    """Take away pictures of an earlier answer that this one has not drawn."""
    for name in PICTURES:
        if folder / name not in kept:
            (folder / name).unlink(missing_ok=True)


def write(question: Question, some: Sequence[Found], folder: Path, origin: Mapping[str, Any]) -> list[Path]:
    """capacity.csv and capacity.json, both or neither; `origin` tells how to repeat it."""
    import polars as pl

    files = [folder / "capacity.csv", folder / "capacity.json"]
    with replacing(*files) as (csv, json):
        write_csv(pl.DataFrame(rows(question, some), infer_schema_length=None), csv)
        json.write_text(as_json({**document(question, some), **origin}) + "\n", encoding="utf-8")
    return files


def draw(question: Question, some: Sequence[Found], folder: Path) -> list[Path]:
    """The curves, and with prices the numbers against what they cost."""
    from forebay.figures.panels import capacity

    curves, axes = drawn(question, some)
    span = question.spans[-1]
    files = capacity.draw(curves, axes, (span.low, span.high), folder / "capacity.svg")
    return files + (capacity.draw_costs(curves, axes, folder / "pareto.svg") if question.prices else [])


def drawn(question: Question, some: Sequence[Found]) -> "tuple[list[Curve], Axes]":
    """What a picture shows."""
    from forebay.figures.panels import capacity

    span, target = question.spans[-1], question.target
    curves = []
    for found in some:
        points = [point for point in found.answer.points if point.spread is not None]
        curves.append(
            capacity.Curve(
                label=found.policy + _beside(question, found),
                x=[point.capacity for point in points],
                y=[target.sign * point.mean for point in points],
                half=[(point.spread.half if point.spread else None) or 0.0 for point in points],
                cost=[question.cost(amounts(question, found, point.capacity)) or 0.0 for point in points],
                answer=found.answer.capacity,
                interval=found.answer.interval,
                refused=[one for one, count in found.rejected.items() if count > 0],
            )
        )
    axes = capacity.Axes(
        x=span.quantity.title,
        x_unit=span.quantity.unit,
        y=target.title,
        y_unit=target.unit,
        limit=target.limit,
        limit_text=str(target),
        at_least=target.at_least,
        currency=question.currency,
    )
    return curves, axes


def amounts(question: Question, found: Found, capacity: float) -> Mapping[str, float]:
    """Of all that is varied, by name."""
    return {**found.beside, question.spans[-1].quantity.name: capacity}


def _beside(question: Question, found: Found) -> str:
    """The other quantity in words."""
    parts = [f"{one.quantity.text(found.beside[one.quantity.name])} {one.quantity.of}" for one in question.spans[:-1]]
    return f" with {' and '.join(parts)}" if parts else ""


def interval(question: Question, answer: "Answer") -> str:
    """That of the answer, in brackets; nothing where it has no width."""
    if answer.interval is None or answer.interval[0] == answer.interval[1]:
        return ""
    span, (low, high) = question.spans[-1], answer.interval
    if not math.isfinite(high):
        return f" ({span.quantity.text(low)} to beyond {span.quantity.text(span.high)})"
    least = "less" if low <= span.low and not answer.at_lowest else span.quantity.text(low)
    return f" ({least} to {span.quantity.text(high)})"


def value_text(question: Question, point: "Point") -> str:
    """The number that the target is about, in its unit."""
    return question.target.shown(None if point.spread is None else question.target.sign * point.mean)


def money(question: Question, cost: float) -> str:
    """A cost with its currency."""
    text = f"{cost:,.0f}" if abs(cost) >= 1000 else f"{cost:,.4g}"
    return f"{text} {question.currency}".strip()
