"""The page of a search for a capacity: the answer in words, the curve with its target, all that was tried."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forebay.figures import _look
from forebay.platforms.variation import BYTES, RATE, Quantity
from forebay.report import _axes, _inputs, tables
from forebay.report._document import read_answer
from forebay.report._folder import words_of
from forebay.report._models import Figure, Model, fields
from forebay.report._ranking import NONE, value, words
from forebay.report.page import Page, Section

NAME = "capacity.json"
_TIMES = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))
_WIDE = 5
"""How many times the least the largest capacity is, from which on its axis is logarithmic."""


def page_of(folder: Path) -> Page:
    """The page of a folder that `forebay capacity` wrote."""
    document = read_answer(folder / NAME)
    answers: list[Mapping[str, Any]] = document["answers"]
    vary = [Quantity(one["name"], one["unit"], None, each=bool(one.get("each"))) for one in document["vary"]]
    two = len(vary) > 1
    target = document["target"]
    said = [f"Cheapest: {document['cheapest']['text']}"] if two and document["cheapest"] else []
    said += [str(one["text"]) for one in answers if not (said and one["text"] == document["cheapest"]["text"])]
    notes = "".join(map(tables.paragraph, document["notes"]))
    machine = _inputs.platform(document)
    facts = [
        ("workload", str(document["workload"])),
        ("platform", machine),
        ("replicas", str(document["replicas"]["text"])),
        ("target", str(target["text"])),
        *(("varied", f"{one.title}, {one.text(span['low'])} to {one.text(span['high'])}")
          for one, span in zip(vary, document["vary"], strict=True)),
        ("precision", f"{100 * document['precision']:g} %"),
        *((f"price of {words(name)}", str(price)) for name, price in document["prices"].items()),
        *_inputs.versions(document),
    ]  # fmt: skip
    sections = [
        Section("Answer", tables.sentences(said) + notes),
        *_curve(answers, vary, target),
        *(_costs(answers, vary, target) if document["prices"] else []),
        Section("All that was tried", "".join(_table(one, vary, target) for one in answers)),
        Section("Inputs", tables.pairs(facts) + _inputs.again_by(words_of(document))),
    ]
    return Page(f"How much {vary[-1].title}?", sections, [f"{document['workload']} on {machine}", str(target["text"])])


def _label(answer: Mapping[str, Any], vary: Sequence[Quantity]) -> str:
    """A policy, and how much there is of what else is varied."""
    beside = [f"{one.text(answer['beside'][one.name])} {one.of}" for one in vary[:-1]]
    return " with ".join([str(answer["policy"]), *([" and ".join(beside)] if beside else [])])


def _curve(answers: Sequence[Mapping[str, Any]], vary: Sequence[Quantity], target: Mapping[str, Any]) -> list[Section]:
    """Means over replicas against the capacity; bands are as wide as the intervals of the answers."""
    inner = vary[-1]
    points = {_label(one, vary): _counting(one) for one in answers}
    amounts = [point[inner.name] for some in points.values() for point in some]
    if not amounts:
        return []
    size, unit = _amount_unit(inner, min(amounts))
    scale, y_label = _number_unit(target, points)
    curves = {
        label: ([point[inner.name] / size for point in some], [point["mean"] / scale for point in some])
        for label, some in points.items()
    }
    least = 0.0 if target.get("unit") in ("s", "share") else -math.inf
    ends = {label: _ends(some, scale, least) for label, some in points.items()}
    axes = ("log" if max(amounts) > _WIDE * min(amounts) else "linear", "linear")
    figure = tables.curves(curves, (f"{inner.title}{unit}", y_label), axes, ends)
    for place, one in enumerate(answers):
        if one["interval"] and one["capacity"] is not None:
            low, high = one["interval"]
            right = {} if high is None else {"right": high / size}  # without it, a band goes on to the edge
            colour = _axes.COLOURS[place % len(_axes.COLOURS)]
            band = {"left": low / size, **right, "fill_color": colour, "fill_alpha": 0.13, "line_color": None}
            figure.add(Model("BoxAnnotation", **band))
    _target(figure, target["limit"] / scale, [amount / size for amount in amounts])
    caption = (
        f"Means over replicas with their 95 % intervals. The dashed line is the target, {target['text']}; a band is "
        "the 95 % interval of an answer."
    )
    return [_drawn("Curve", caption, "plot-curve", figure)]


def _costs(answers: Sequence[Mapping[str, Any]], vary: Sequence[Quantity], target: Mapping[str, Any]) -> list[Section]:
    """Means against what machines cost."""
    points = {_label(one, vary): sorted(_counting(one), key=lambda point: point["cost"]) for one in answers}
    if not any(points.values()):
        return []
    scale, y_label = _number_unit(target, points)
    curves = {
        label: ([point["cost"] for point in some], [point["mean"] / scale for point in some])
        for label, some in points.items()
    }
    figure = tables.curves(curves, ("cost", y_label))
    costs = [point["cost"] for some in points.values() for point in some]
    _target(figure, target["limit"] / scale, costs)
    caption = "What machines cost, and what they give. The dashed line is the target."
    return [_drawn("Cost", caption, "plot-costs", figure)]


def _drawn(title: str, caption: str, place: str, figure: Figure) -> Section:
    html = f'{tables.paragraph(caption)}<div class="plot" id="{place}"></div>'
    return Section(title, html, plots={place: figure.model})


def _target(figure: Figure, limit: float, values: Sequence[float]) -> None:
    """A dashed line at the target, from one end to the other; a line that only decorates would not be in sight."""
    ends = {"x": [min(values), max(values)], "y": [limit, limit]}
    figure.draw("Line", ends, **fields("x", "y"), line_dash=_axes.DASHED, line_width=1.5).update(tags=["ink"])


def _counting(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Points that have a number: none where jobs are rejected."""
    return [point for point in answer["points"] if point["mean"] is not None]


def _ends(points: Sequence[Mapping[str, Any]], scale: float, least: float) -> tuple[list[float], list[float]]:
    """Those of intervals; none goes below the least value that the number can have."""
    halves = [point["half_ci95"] or 0.0 for point in points]
    lows = [max(point["mean"] - half, least) / scale for point, half in zip(points, halves, strict=True)]
    return lows, [(point["mean"] + half) / scale for point, half in zip(points, halves, strict=True)]


def _amount_unit(quantity: Quantity, least: float) -> tuple[float, str]:
    if quantity.unit not in (BYTES, RATE):
        return 1.0, ""
    size, name = _look.bytes_unit(least)
    return size, f" ({name}{'/s' if quantity.unit == RATE else ''})"


def _number_unit(target: Mapping[str, Any], points: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[float, str]:
    """What numbers of the target's axis are divided by, and its label."""
    title = words(str(target["number"]))
    if target.get("unit") == "share":
        return 0.01, f"{title} (%)"
    if target.get("unit") != "s":
        return 1.0, title
    largest = max(point["mean"] for some in points.values() for point in some)
    size, name = next((one for one in _TIMES if largest >= 2 * one[0]), _TIMES[-1])
    return size, f"{title} ({name})"


def _table(answer: Mapping[str, Any], vary: Sequence[Quantity], target: Mapping[str, Any]) -> str:
    inner, name = vary[-1], str(target["number"])
    priced = any(point["cost"] is not None for point in answer["points"])
    rows = []
    for point in answer["points"]:
        meets = tables.Cell("yes", "better") if point["meets"] else tables.Cell("no", "worse")
        row: list[str | tables.Cell] = [inner.text(point[inner.name]), value(name, point["mean"])]
        row += [NONE if point["half_ci95"] is None else value(name, point["half_ci95"]), f"{point['rejected']:,.4g}"]
        rows.append([*row, meets, *([_money(point["cost"])] if priced else [])])
    titles = [inner.title, words(name), "± 95 %", "rejected", "meets the target", *(["cost"] if priced else [])]
    return tables.table(titles, rows, (0, 1, 2, 3, 5), _label(answer, vary))


def _money(cost: float) -> str:
    return f"{cost:,.0f}" if abs(cost) >= 1000 else f"{cost:,.4g}"
