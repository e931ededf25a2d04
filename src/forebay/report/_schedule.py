"""The schedule to look into: nodes of one policy or two, buffers, file system, queue and what differs, on one clock."""

from collections.abc import Mapping, Sequence
from typing import Any

from forebay._support.text import counted
from forebay.core.units import format_seconds
from forebay.errors import listed
from forebay.figures import _look, _steps
from forebay.figures._look import WAITED
from forebay.figures._schedule import FILES
from forebay.metrics.reserved import reservations
from forebay.report import _axes, _jobs, tables
from forebay.report._models import Field, Figure, Model, fields, source
from forebay.report.page import Section, asset, escaped
from forebay.results import Result

_LEFT = 74
"""Pixels left of each lane, so that all begin at the same place."""
_SECOND = _look.ORANGE
_RESERVED = "#c8b88a"
_HINT = (
    '<p class="note screen">Drag to move, turn the wheel to zoom; all lanes follow. Point at a job for its facts.</p>'
)
"""Of use on a screen alone."""
_SHIFTS = (600, 7200, 86400, 1209600)
_COLOURS = {"wait": "wait", "size": "number of {}", "user": "user", "tier": "tier"}


def section(results: Mapping[str, Result], pair: tuple[int, int | None] = (0, None)) -> Section:
    """The schedules of runs of one workload, by policy, to choose from; those at the places of `pair` are shown."""
    labels, runs = list(results), list(results.values())
    spans = [_steps.over(one) for one in runs]
    span = min(start for start, _ in spans), max(end for _, end in spans)
    chosen, lanes = _jobs.choose(runs[0]), _jobs.lanes_of(runs)
    jobs, described = _jobs.shared(runs[0], chosen)
    parts = [_jobs.of_run(one, chosen, lanes, span) for one in runs]
    tiers = any("tier" in one.jobs.columns for one in runs)
    data = {
        "labels": labels,
        "span": span,
        "unit": runs[0].unit.removesuffix("s"),
        "nodes": max(one.resources[one.unit] for one in runs),
        "lanes": [{"name": lane.name, "unit": lane.unit, "capacity": lane.capacity} for lane in lanes],
        "waited": [[min(limit, 1e15), colour, text] for text, (limit, colour) in WAITED.items()],
        "fills": list(_look.FILLS),
        "reserved": _reserved(runs[0]),
        **described,
    }
    packed = {"jobs": jobs, **{f"run-{place}": text for place, text in enumerate(parts)}}
    plots = {"plot-schedule": _layout(lanes, data, len(labels) > 1)}
    text = (
        _controls(labels, pair, tiers, runs[0].unit)
        + _notes(chosen, runs[0].unit, reservations(runs[0])["name"].unique(maintain_order=True).to_list())
        + '<div class="plot" id="plot-schedule"></div>'
    )
    return Section(
        "Schedule", text + _shifted(len(labels) > 1), asset("schedule.js"), {"schedule": data}, packed, plots
    )


def _controls(labels: Sequence[str], pair: tuple[int, int | None], tiers: bool, unit: str) -> str:
    first, second = (
        "".join(_option(place, label, place == chosen) for place, label in enumerate(labels)) for chosen in pair
    )
    words = {key: word.format(unit) for key, word in _COLOURS.items() if tiers or key != "tier"}
    ways = "".join(f'<option value="{key}">{word}</option>' for key, word in words.items())
    several = (
        f'<label>policy <select id="first">{first}</select></label>'
        f'<label>and below <select id="second"><option value="">none</option>{second}</select></label>'
    )
    return (
        f'<div class="controls">{several if len(labels) > 1 else ""}'
        f'<label>colour by <select id="colour">{ways}</select></label>'
        '<button type="button" id="whole">whole schedule</button></div>'
        '<div class="key" id="key" aria-live="polite"></div>'
    )


def _option(place: int, label: str, chosen: bool) -> str:
    return f'<option value="{place}"{" selected" if chosen else ""}>{escaped(label)}</option>'


def _reserved(run: Result) -> dict[str, list[float]]:
    """The edges of what the site had reserved, which is the same under every policy."""
    found = reservations(run)
    edges = {"left": found["start"], "right": found["end"]}
    edges |= {"top": found["first_node"] - 0.5, "bottom": found["last_node"] + 0.5}
    return {name: column.to_list() for name, column in edges.items()}


def _notes(chosen: _jobs.Chosen, unit: str, reserved: Sequence[str]) -> str:
    texts = []
    if chosen.rows.size < chosen.total:
        texts.append(
            f"{chosen.rows.size:,} of {counted(chosen.total, 'job')} are drawn: those of the most "
            f"{unit.removesuffix('s')}-seconds. The lanes below the {unit}, and all other figures, count every job."
        )
    if reserved:
        texts.append(f"Shaded {unit} are reserved ({listed(reserved)}).")
    return (tables.paragraph(" ".join(texts)) if texts else "") + _HINT


def _shifted(several: bool) -> str:
    return '<p class="note" id="shifted" aria-live="polite"></p>' if several else ""


def _layout(lanes: Sequence[_jobs.Lane], data: Mapping[str, Any], several: bool) -> Model:
    """All lanes in a column, with one range of time."""
    start, end = data["span"]
    margin = 0.01 * (end - start)
    bounds = (start - 20 * margin, end + 20 * margin)
    clock = _axes.span(start - margin, end + margin, bounds=bounds, name="clock")
    ticker = _axes.ticker([], name="ticks")
    line = Model("Span", dimension="height", line_dash=_axes.DOTTED, line_color="#888888")
    made = [_nodes(place, data, clock) for place in range(1 + several)]
    areas = [lane for lane in lanes if lane.unit != "bytes/s"]
    for lane in areas[:-1]:
        made.append(_area([lane], lanes, clock))
    if len(areas) + 2 == len(lanes):
        made.append(_area([lane for lane in lanes if lane.unit == "bytes/s"], lanes, clock))
    made.append(_area(areas[-1:], lanes, clock))
    if several:
        made.append(_differences(clock))
    for place, figure in enumerate(made):
        last = place == len(made) - 1
        figure.x_axis.update(
            ticker=ticker,
            major_label_text_font_size="12px" if last else "0px",
            axis_label=f"time since {_since(start)}" if last else None,
        )
        figure.x_grid.update(ticker=ticker)
        _axes.formatted(figure.x_axis, "forebay.tick(tick)")
        figure.model.update(min_border_left=_LEFT)
        figure.y_axis.update(axis_label_standoff=4)
        figure.tools.append(Model("CrosshairTool", overlay=line, dimensions="height"))
    return Model("Column", children=[figure.model for figure in made], sizing_mode="stretch_width", spacing=2)


def _since(start: float) -> str:
    return (
        "the first submission"
        if start == 0
        else f"the beginning of the trace (the first job came after {format_seconds(start)})"
    )


def _lane(height: int, clock: Model, y_range: Model, label: str, name: str) -> Figure:
    made = _axes.panel(
        height,
        x_range=clock,
        y_range=y_range,
        output_backend="webgl",
        name=name,
        min_border_top=4,
        min_border_bottom=4,
    )
    pan = Model("PanTool", dimensions="width")
    wheel = Model("WheelZoomTool", dimensions="width", zoom_on_axis=False)
    made.tools += [pan, wheel, Model("BoxZoomTool"), Model("ResetTool")]
    made.toolbar.update(active_drag=pan, active_scroll=wheel)
    made.y_axis.update(axis_label=label)
    return made


def _hover(made: Figure, drawn: Model, place: int) -> None:
    """Tell of the job under the pointer."""
    code = Model("CustomJS", code=f"forebay.schedule.hover({place}, cb_data)")
    made.tools.append(Model("HoverTool", renderers=[drawn], tooltips=None, callback=code))


def _nodes(place: int, data: Mapping[str, Any], clock: Model) -> Figure:
    """Jobs as rectangles on nodes, or on cores where they share nodes."""
    made = _lane(300, clock, _axes.span(data["nodes"] - 0.5, -0.5), data["unit"], f"nodes-{place}")
    edges = ("left", "right", "top", "bottom")
    if data["reserved"]["left"]:
        shaded = source(data["reserved"], f"reserved-{place}")
        made.draw("Quad", shaded, **fields(*edges), line_color=None, fill_color=_RESERVED, fill_alpha=0.4)
    rows = source({name: [] for name in (*edges, "shade")}, f"boxes-{place}")
    mapper = Model("LinearColorMapper", palette=["#888888"], low=-0.5, high=0.5, name=f"shades-{place}")
    boxes = made.draw("Quad", rows, **fields(*edges), line_color=None, fill_color=Field("shade", mapper))
    boxes.update(nonselection_glyph=None)
    _hover(made, boxes, place)
    made.title.update(text=" ", text_font_size="13px", name=f"title-{place}")
    made.y_grid.update(grid_line_color=None)
    return made


def _area(shown: Sequence[_jobs.Lane], lanes: Sequence[_jobs.Lane], clock: Model) -> Figure:
    """A step function, filled, and as a line that of the second policy; reads go up, and writes down."""
    first = shown[0]
    name = FILES if first.unit == "bytes/s" else first.name.replace("_", " ")
    range_ = _axes.span(0, 1.08 * first.capacity or 1, name=f"range-{lanes.index(first)}")
    made = _lane(112, clock, range_, f"{name}{_UNITS[first.unit]}", f"lane-{first.name}")
    colours = (_look.GREEN, _look.PINK) if first.unit == "bytes/s" else (_look.BLUE,)
    for lane, colour in zip(shown, colours, strict=True):
        k = lanes.index(lane)
        # Bokeh never ends with an area of no points.
        steps, others = (source({"x": [0, 0], "y": [0, 0]}, f"steps-{k}-{place}") for place in (0, 1))
        area: dict[str, Any] = {"x": Field("x"), "y1": 0, "y2": Field("y"), "step_mode": "after"}
        made.draw("VAreaStep", steps, **area, fill_color=colour, fill_alpha=0.65)
        made.draw("Step", others, **fields("x", "y"), mode="after", line_color=_SECOND, line_width=1.2)
    made.y_axis.update(ticker=Model("BasicTicker", desired_num_ticks=4))
    _axes.formatted(made.y_axis, _TICKS.get(first.unit, "tick"))
    return made


_UNITS = {"bytes": "", "bytes/s": "", "jobs": "\n(jobs)", "GPUs": "", _jobs.WATTS: "\n(W)"}
_TICKS = {"bytes": "forebay.bytes(tick)", "bytes/s": "forebay.bytes(Math.abs(tick)) + '/s'"}


def _differences(clock: Model) -> Figure:
    """A dot a job: when it came, and how much later or earlier it starts under the second policy."""
    made = _lane(190, clock, _axes.span(-1, 1, name="shifts"), "start differs by", "differences")
    rows = source({"x": [], "y": [], "shade": []}, "shift")
    mapper = Model("LinearColorMapper", palette=[_look.GREEN, _look.GREY, _SECOND], low=-1.5, high=1.5)
    look: dict[str, Any] = {"size": 4, "line_color": None, "fill_alpha": 0.6, "fill_color": Field("shade", mapper)}
    dots = made.draw("Scatter", rows, **fields("x", "y"), **look)
    dots.update(nonselection_glyph=None)
    ticks = {0.0: "0"}
    for seconds in _SHIFTS:
        word = format_seconds(seconds)
        place = float(_axes.bent(seconds / 2))
        ticks |= {place: f"+{word}", -place: f"\N{MINUS SIGN}{word}"}
    made.y_axis.update(ticker=_axes.ticker(ticks), major_label_overrides=ticks)
    _hover(made, dots, 2)
    return made
