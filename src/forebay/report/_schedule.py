"""The schedule to look into: nodes of one policy or two, buffers, file system, queue and what differs, on one clock."""

from collections.abc import Mapping, Sequence
from typing import Any

from bokeh.layouts import column
from bokeh.models import (
    BoxZoomTool,
    ColumnDataSource,
    CrosshairTool,
    CustomJS,
    FixedTicker,
    HoverTool,
    LinearColorMapper,
    PanTool,
    Range1d,
    ResetTool,
    Span,
    WheelZoomTool,
)

from forebay._text import counted
from forebay.core.units import format_seconds
from forebay.figures import _look, _steps
from forebay.figures._look import WAITED
from forebay.figures._schedule import FILES
from forebay.report import _axes, _jobs, tables
from forebay.report.page import Section, asset, escaped
from forebay.results import Result

_LEFT = 74
"""Pixels left of each lane, so that all begin at the same place."""
_SECOND = _look.ORANGE
_SHIFTS = (600, 7200, 86400, 1209600)
_COLOURS = {"wait": "wait", "size": "number of nodes", "user": "user", "tier": "tier"}


def section(results: Mapping[str, Result]) -> Section:
    """The schedules of runs of one workload, by policy; the first is shown, and the second beside it."""
    labels, runs = list(results), list(results.values())
    spans = [_steps.over(one) for one in runs]
    span = min(start for start, _ in spans), max(end for _, end in spans)
    chosen, lanes = _jobs.choose(runs[0]), _jobs.lanes_of(runs)
    jobs, told = _jobs.shared(runs[0], chosen)
    parts = [_jobs.of_run(one, chosen, lanes, span) for one in runs]
    tiers = any("tier" in one.jobs.columns for one in runs)
    data = {
        "labels": labels,
        "span": span,
        "nodes": max(one.resources["nodes"] for one in runs),
        "lanes": [{"name": lane.name, "unit": lane.unit, "capacity": lane.capacity} for lane in lanes],
        "waited": [[min(limit, 1e15), colour, text] for text, (limit, colour) in WAITED.items()],
        "fills": list(_look.FILLS),
        **told,
    }
    packed = {"jobs": jobs, **{f"run-{place}": text for place, text in enumerate(parts)}}
    plots = {"plot-schedule": _layout(lanes, data, len(labels) > 1)}
    text = _controls(labels, tiers) + _notes(chosen) + '<div class="plot" id="plot-schedule"></div>'
    return Section(
        "Schedule", text + _shifted(len(labels) > 1), asset("schedule.js"), {"schedule": data}, packed, plots
    )


def _controls(labels: Sequence[str], tiers: bool) -> str:
    names = "".join(f'<option value="{place}">{escaped(label)}</option>' for place, label in enumerate(labels))
    ways = "".join(f'<option value="{key}">{word}</option>' for key, word in _COLOURS.items() if tiers or key != "tier")
    second = names.replace('value="1"', 'value="1" selected', 1)
    several = (
        f'<label>policy <select id="first">{names}</select></label>'
        f'<label>and below <select id="second"><option value="">none</option>{second}</select></label>'
    )
    return (
        f'<div class="controls">{several if len(labels) > 1 else ""}'
        f'<label>colour by <select id="colour">{ways}</select></label>'
        '<button type="button" id="whole">whole schedule</button></div>'
        '<div class="key" id="key" aria-live="polite"></div>'
    )


def _notes(chosen: _jobs.Chosen) -> str:
    text = "Drag to move, turn the wheel to zoom; all lanes follow. Point at a job for its facts."
    if chosen.rows.size < chosen.total:
        text = (
            f"{chosen.rows.size:,} of {counted(chosen.total, 'job')} are drawn: those of the most node-seconds. "
            f"The lanes below the nodes, and all other figures, count every job. {text}"
        )
    return tables.paragraph(text)


def _shifted(several: bool) -> str:
    return '<p class="note" id="shifted" aria-live="polite"></p>' if several else ""


def _layout(lanes: Sequence[_jobs.Lane], data: Mapping[str, Any], several: bool) -> Any:
    """All lanes in a column, with one range of time."""
    start, end = data["span"]
    margin = 0.01 * (end - start)
    clock = Range1d(start - margin, end + margin, bounds=(start - 20 * margin, end + 20 * margin), name="clock")
    ticker, line = (
        FixedTicker(ticks=[], name="ticks"),
        Span(dimension="height", line_dash="dotted", line_color="#888888"),
    )
    made = [_nodes(place, data["nodes"], clock) for place in range(1 + several)]
    areas = [lane for lane in lanes if lane.unit != "bytes/s"]
    for lane in areas[:-1]:
        made.append(_area([lane], lanes, clock))
    if len(areas) + 2 == len(lanes):
        made.append(_area([lane for lane in lanes if lane.unit == "bytes/s"], lanes, clock))
    made.append(_area(areas[-1:], lanes, clock))
    if several:
        made.append(_differences(clock))
    for place, lane_figure in enumerate(made):
        last = place == len(made) - 1
        lane_figure.xaxis.ticker = lane_figure.xgrid.ticker = ticker
        _axes.formatted(lane_figure.xaxis, "forebay.tick(tick)")
        lane_figure.xaxis.major_label_text_font_size = "12px" if last else "0px"
        lane_figure.xaxis.axis_label = f"time since {_since(start)}" if last else None
        lane_figure.min_border_left = _LEFT
        lane_figure.yaxis.axis_label_standoff = 4
        lane_figure.add_tools(CrosshairTool(overlay=line, dimensions="height"))
    return column(*made, sizing_mode="stretch_width", spacing=2)


def _since(start: float) -> str:
    return (
        "the first submission"
        if start == 0
        else f"the beginning of the trace (the first job came after {format_seconds(start)})"
    )


def _lane(height: int, clock: Any, y_range: Any, label: str, name: str) -> Any:
    pan, wheel = PanTool(dimensions="width"), WheelZoomTool(dimensions="width", zoom_on_axis=False)
    made = _axes.panel(
        height,
        x_range=clock,
        y_range=y_range,
        output_backend="webgl",
        name=name,
        tools=[pan, wheel, BoxZoomTool(), ResetTool()],
    )
    made.toolbar.active_drag, made.toolbar.active_scroll = pan, wheel
    made.yaxis.axis_label = label
    made.min_border_top = made.min_border_bottom = 4
    return made


def _nodes(place: int, nodes: int, clock: Any) -> Any:
    """Jobs as rectangles on nodes."""
    made = _lane(300, clock, Range1d(nodes - 0.5, -0.5), "node", f"nodes-{place}")
    columns = ("left", "right", "top", "bottom", "shade")
    source = ColumnDataSource({name: [] for name in columns}, name=f"boxes-{place}")
    mapper = LinearColorMapper(palette=["#888888"], low=-0.5, high=0.5, name=f"shades-{place}")
    boxes = made.quad(
        left="left", right="right", top="top", bottom="bottom", source=source, line_color=None,
        fill_color={"field": "shade", "transform": mapper},
    )  # fmt: skip
    boxes.nonselection_glyph = None
    made.add_tools(
        HoverTool(renderers=[boxes], tooltips=None, callback=CustomJS(code=f"forebay.schedule.hover({place}, cb_data)"))
    )
    made.title.text, made.title.text_font_size, made.title.name = " ", "13px", f"title-{place}"
    made.ygrid.grid_line_color = None
    return made


def _area(shown: Sequence[_jobs.Lane], lanes: Sequence[_jobs.Lane], clock: Any) -> Any:
    """A step function, filled, and as a line that of the second policy; reads go up, and writes down."""
    first = shown[0]
    name = FILES if first.unit == "bytes/s" else first.name.replace("_", " ")
    unit = {"bytes": "", "bytes/s": "", "jobs": "\n(jobs)"}[first.unit]
    range_ = Range1d(0, 1.08 * first.capacity or 1, name=f"range-{lanes.index(first)}")
    made = _lane(112, clock, range_, f"{name}{unit}", f"lane-{first.name}")
    colours = (_look.GREEN, _look.PINK) if first.unit == "bytes/s" else (_look.BLUE,)
    for lane, colour in zip(shown, colours, strict=True):
        k = lanes.index(lane)
        # Bokeh never ends with an area of no points.
        filled, other = (ColumnDataSource({"x": [0, 0], "y": [0, 0]}, name=f"steps-{k}-{place}") for place in (0, 1))
        made.varea_step(x="x", y1=0, y2="y", step_mode="after", fill_color=colour, fill_alpha=0.65, source=filled)
        made.step(x="x", y="y", mode="after", line_color=_SECOND, line_width=1.2, source=other)
    made.yaxis.ticker.desired_num_ticks = 4
    code = {"bytes": "forebay.bytes(tick)", "bytes/s": "forebay.bytes(Math.abs(tick)) + '/s'", "jobs": "tick"}[
        first.unit
    ]
    _axes.formatted(made.yaxis, code)
    return made


def _differences(clock: Any) -> Any:
    """A dot a job: when it came, and how much later or earlier it starts under the second policy."""
    made = _lane(190, clock, Range1d(-1, 1, name="shifts"), "start differs by", "differences")
    source = ColumnDataSource({"x": [], "y": [], "shade": []}, name="shift")
    mapper = LinearColorMapper(palette=[_look.GREEN, _look.GREY, _SECOND], low=-1.5, high=1.5)
    dots = made.scatter(
        "x", "y", source=source, size=4, line_color=None, fill_alpha=0.6,
        fill_color={"field": "shade", "transform": mapper},
    )  # fmt: skip
    dots.nonselection_glyph = None
    ticks = {0.0: "0"}
    for seconds in _SHIFTS:
        word = format_seconds(seconds)
        place = float(_axes.bent(seconds / 2))
        ticks |= {place: f"+{word}", -place: f"\N{MINUS SIGN}{word}"}
    made.yaxis.ticker = FixedTicker(ticks=list(ticks))
    made.yaxis.major_label_overrides = ticks
    made.add_tools(
        HoverTool(renderers=[dots], tooltips=None, callback=CustomJS(code="forebay.schedule.hover(2, cb_data)"))
    )
    return made
