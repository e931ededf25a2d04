"""The page of a replay: how close it comes, in words and scores; waits in both, job by job and over time."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from polars.exceptions import PolarsError

from forebay._support.text import about as length
from forebay._support.text import together
from forebay.errors import InputError
from forebay.figures import _look
from forebay.figures._waits import dots
from forebay.report import _axes, _inputs, _waits, tables
from forebay.report._document import read_answer
from forebay.report._folder import words_of
from forebay.report._models import Field, Model, fields
from forebay.report.page import Page, Section
from forebay.workload.dates import date_text

NAME, WAITS = "fidelity.json", "waits.csv"
_KINDS = ("recorded", "simulated")
_DOTS = "A dot is of all jobs that waited about alike in both, the larger the more they are; on the line waits agree."


def page_of(folder: Path) -> Page:
    """The page of a folder that `forebay fidelity -o` wrote."""
    document = read_answer(folder / NAME)
    try:
        jobs = pl.read_csv(folder / WAITS, columns=[f"{kind}_wait" for kind in _KINDS])
    except (PolarsError, OSError):
        raise InputError(f"{folder / WAITS}: not the waits of a replay; make it again with forebay fidelity") from None
    return page(document, jobs)


def page(document: Mapping[str, Any], jobs: pl.DataFrame) -> Page:
    """The page of what a folder keeps of a replay, and of its jobs."""
    waits = {kind: jobs[f"{kind}_wait"].to_numpy().astype(float) for kind in _KINDS}
    scores, *groups = document["shown"]
    doubts = [(str(about), str(text)) for about, text in document["cannot_match"].items()]
    machine = _inputs.platform(document)
    sections = [
        Section("Answer", tables.sentences([str(one) for one in document["in_words"]]) + _table(scores)),
        _against(waits),
        *_over_time(document),
        _waits.section(waits),
        Section("Scores and groups", "".join(map(_table, groups))),
        *([Section("What cannot match", tables.pairs(doubts))] if doubts else []),
        Section("Inputs", tables.pairs(_facts(document, machine)) + _inputs.again_by(words_of(document))),
    ]
    about = [f"{document['workload']} on {machine}", f"{document['policy']}, {_period(document)}"]
    return Page("How close is the simulation?", sections, about)


def _table(one: Mapping[str, Any]) -> str:
    columns = [str(title).replace("-\n", "-").replace("\n", " ") for title in one["columns"]]
    return tables.table(columns, one["rows"], one["numbers"], str(one["title"]))


def _facts(document: Mapping[str, Any], machine: str) -> list[tuple[str, str]]:
    rows = [("workload", str(document["workload"]))]
    rows += [("" if place else "made of", str(line)) for place, line in enumerate(document["provenance"])]
    rows += [("SHA-256 of it", str(document["workload_sha256"])), ("platform", machine)]
    rows += [(word, str(document[key])) for word, key in (("policy", "policy"), ("job model", "job_model"))]
    rows += [("seed", str(document["seed"])), ("period", _period(document)), *_inputs.versions(document)]
    return rows + [("note", note) for note in together(map(str, document["notes"]))]


def _period(document: Mapping[str, Any]) -> str:
    """From when to when."""
    dates = [date_text(document["epoch"] + moment) for moment in document["period"]] if "epoch" in document else [None]
    if all(dates):
        return f"{' to '.join(filter(None, dates))} UTC"
    return " to ".join(length(moment) for moment in document["period"])


def _against(waits: Mapping[str, np.ndarray]) -> Section:
    """The simulated wait of each job against the recorded one."""
    cells = dots(waits["recorded"], waits["simulated"])
    longest = max((float(some.max(initial=0.0)) for some in waits.values()), default=0.0)
    made = _axes.panel(420)
    columns = {
        "x": _axes.bent(cells["recorded"].to_numpy()),
        "y": _axes.bent(cells["simulated"].to_numpy()),
        "jobs": cells["jobs"].to_numpy(),
        "recorded": _lengths(cells["recorded"]),
        "simulated": _lengths(cells["simulated"]),
        "size": 5.0 + 4.0 * np.log10(np.maximum(cells["jobs"].to_numpy(), 1)),
    }
    ends = [float(_axes.bent(-5.0)), float(_axes.bent(1.3 * max(longest, 60.0)))]
    made.draw("Line", {"x": ends, "y": ends}, **fields("x", "y"), line_width=1.2).update(tags=["ink"])
    look: dict[str, Any] = {**_axes.filled(_look.BLUE), "fill_alpha": 0.55, "line_alpha": 0.0}
    drawn = made.draw("Scatter", columns, **fields("x", "y"), size=Field("size"), **look)
    facts = [("recorded", "@recorded"), ("simulated", "@simulated"), ("jobs", "@jobs")]
    made.tools.append(Model("HoverTool", renderers=[drawn], tooltips=facts))
    _axes.bent_waits(made, longest)
    _axes.bent_waits(made, longest, "y")
    made.x_axis.update(axis_label="recorded wait")
    made.y_axis.update(axis_label="simulated wait")
    return _drawn("Job by job", _DOTS, "plot-jobs", made.model)


def _lengths(seconds: pl.Series) -> list[str]:
    return [length(value) for value in seconds.to_list()]


def _over_time(document: Mapping[str, Any]) -> list[Section]:
    """Moving averages of waits; none where all jobs came at once."""
    rows: Sequence[Mapping[str, Any]] = document["moving"]
    window = document["numbers"]["moving_window"]
    if not rows or window is None:
        return []
    size, unit = _unit(max(row[kind] for row in rows for kind in _KINDS))
    made = _axes.panel(300)
    dated = "epoch" in document
    origin, scale = (document["epoch"], 1e3) if dated else (0.0, 1 / 86400)  # Bokeh's dates are in milliseconds
    for place, kind in enumerate(_KINDS):
        columns = {"x": [scale * (origin + row["time"]) for row in rows], "y": [row[kind] / size for row in rows]}
        made.draw("Line", columns, kind, **fields("x", "y"), **_axes.look(place))
        if len(rows) == 1:  # a line of one point is not seen
            made.draw("Scatter", columns, kind, **fields("x", "y"), **_axes.filled(_axes.COLOURS[place]), size=6)
    if dated:
        made.x_axis.update(formatter=Model("DatetimeTickFormatter"), ticker=Model("DatetimeTicker"))
    made.x_axis.update(axis_label="date (UTC)" if dated else "time (days)")
    made.y_axis.update(axis_label=f"mean wait ({unit})")
    made.legend_above()
    caption = f"Mean waits of the jobs submitted in the {length(window)} before each moment."
    return [_drawn("Over time", caption, "plot-moving", made.model)]


_UNITS = ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"))


def _unit(longest: float) -> tuple[float, str]:
    return next(((size, name) for size, name in _UNITS if longest >= 2 * size), (1.0, "seconds"))


def _drawn(title: str, caption: str, place: str, figure: Model) -> Section:
    html = f'{tables.paragraph(caption)}<div class="plot" id="{place}"></div>'
    return Section(title, html, plots={place: figure})
