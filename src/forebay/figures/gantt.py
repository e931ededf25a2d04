"""The schedule: jobs on the nodes they held over time; below, on the same axis, burst buffers and the file system."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from forebay._support.files import file_names
from forebay.errors import InputError
from forebay.figures import _dates, _failures, _look, _reserved, _servers, _steps, _style
from forebay.figures._look import WAITED
from forebay.figures._plan import Legend, Plan, save
from forebay.figures._schedule import FILES, READS, WRITES, has_phases, is_gpus, rectangles
from forebay.metrics.machine import usage
from forebay.results import Result

DESCRIPTION = "the schedule: jobs on nodes over time, burst buffers and the file system below; a picture a run"
OVER_TIME = True

FEW = 40
"""Up to so many jobs each has a colour and its number; of more, colours show how long they waited."""
VECTORS = 1500
"""More rectangles than this become pixels, also in SVG and PDF: one cannot be picked out, and files stay small."""
LEAST = 0.035
"""Of the schedule's height: a rectangle that is lower has no room for its job's number."""
MOST = 700
"""Steps of a lane; with more of them, means over intervals are drawn instead."""

Lane = tuple[str, _steps.Steps]


def draw(results: Mapping[str, Result], path: Path) -> list[Path]:
    """A picture for each result; of several, each has its name after that of the figure.

    NAME.csv has the rectangles: job, first and last node, start and end. NAME-lanes.csv has the steps below.
    """
    if len(results) == 1:
        return save(plan(results), path, results)
    names = file_names(list(results))
    places = [path.with_name(f"{path.stem}-{name}{path.suffix}") for name in names]
    each = [{label: result} for label, result in results.items()]
    return [file for one, place in zip(each, places, strict=True) for file in save(plan(one), place, one)]


def plan(results: Mapping[str, Result]) -> Plan:
    """The schedule of one run, and a panel for each of its buffers and for the file system."""
    if len(results) != 1:
        raise InputError(f"a schedule is of one run, and {len(results)} are given; draw them one by one")
    ((label, result),) = results.items()
    start, end = _steps.over(result)
    boxes = rectangles(result)
    few = boxes["job"].n_unique() <= FEW
    marked = _failures.shown(result, boxes, few, end) | _servers.shown(result, boxes)
    marked |= _reserved.shown(result, start, end)
    lanes, width = _lanes(result), None
    if any(times.size > MOST for _, (times, _) in lanes.values()):
        width = _steps.width_for(start, end, MOST)
        lanes = {name: (kind, _steps.averaged(steps, start, end, width)) for name, (kind, steps) in lanes.items()}
    below = [name for name in result.resources if name != result.unit]
    below += [FILES] if f"{FILES} read" in lanes else []

    def paint(axes: Sequence[Any], legend: Legend) -> None:
        unit = _style.clock(axes[-1], start, end, ticks=12)
        _dates.calendar(axes[-1], _dates.epoch_of(results), start, end, unit)
        hatched = bool({_failures.PARTS, _servers.SERVERS} & marked.keys())
        colours = _schedule(axes[0], boxes, result.resources[result.unit], unit, few, hatched)
        axes[0].set_ylabel(result.unit.removesuffix("s"))
        marks = _failures.mark(axes[0], marked, unit) + _servers.mark(axes[0], marked, unit)
        marks += _reserved.mark(axes[0], marked, unit)
        if colours or marks:  # filled column by column: what colours mean comes in the first row
            rows = zip_longest(colours, marks) if colours else [marks]
            legend([handle for row in rows for handle in row if handle is not None], 5)
        for axis, name in zip(axes[1:], below, strict=True):
            if name == FILES:
                _file_system(axis, lanes, unit, end)
            else:
                _held(axis, name, lanes[name], result.resources[name], unit, end)
        if width is not None:
            axes[-1].set_xlabel(f"{axes[-1].get_xlabel()}; below the schedule, means over {_style.duration(width)}")
        axes[0].figure.align_ylabels(list(axes))

    ratios, data = [2.6, *[0.8] * len(below)], {"": boxes, "-lanes": _table(lanes), **marked}
    return Plan(_style.PAGE, 2.6 + 0.75 * len(below), ratios, paint, data, one_clock=True, title=label)


def _schedule(axis: Any, boxes: pl.DataFrame, nodes: int, unit: float, few: bool, hatched: bool) -> list[Any]:
    """All rectangles as one collection: tens of thousands take a moment. Gives handles for a legend."""
    low, high = boxes["first_node"].to_numpy() - 0.5, boxes["last_node"].to_numpy() + 0.5
    start, end = boxes["start"].to_numpy() / unit, boxes["end"].to_numpy() / unit
    handles: list[Any] = []
    if few:
        colours = np.array(_look.FILLS)[fills(boxes)]
    else:
        place = np.searchsorted([limit for limit, _ in WAITED.values()], boxes["wait"].to_numpy(), side="right")
        colours = np.array([colour for _, colour in WAITED.values()])[place]
        handles = [Patch(color=colour, label=text) for text, (_, colour) in WAITED.items()]
    many = boxes.height > VECTORS
    line = {"edgecolors": "none", "linewidths": 0} if many else {"edgecolors": "white", "linewidths": 0.3}
    axis.add_collection(PolyCollection(_style.corners(boxes, unit), facecolors=list(colours), rasterized=many, **line))
    inner = seams(boxes.head(0) if many else boxes)
    lines = [[(since / unit, y), (until / unit, y)] for y, since, until in inner.select("y", "start", "end").rows()]
    same = list(colours[inner["place"].to_numpy()])
    axis.add_collection(LineCollection(lines, colors=same, linewidths=0.8, capstyle="butt"))
    if few:
        narrow = max(1.0, _style.PAGE * axis.figure.dpi / axis.figure.bbox.width)
        span = max(end.max(initial=0.0) - start.min(initial=np.inf), 0.0)
        for job, x, y, width, height, fill, shows in zip(
            boxes["job"], (start + end) / 2, (low + high) / 2, end - start, high - low, colours,
            numbered(boxes, inner), strict=True,
        ):  # fmt: skip
            if shows and height >= LEAST * nodes and width >= narrow * LEAST / 4 * len(str(job)) * span:
                ink = "white" if fill in _look.DARK else "black"
                text = axis.text(x, y, str(job), ha="center", va="center", fontsize=6, color=ink, clip_on=True)
                if hatched:
                    text.set_path_effects([withStroke(linewidth=2, foreground=fill)])
    if boxes.is_empty():
        _style.note(axis, "no job started")
    axis.set_ylim(nodes - 0.5, -0.5)
    axis.yaxis.get_major_locator().set_params(integer=True)
    return handles


def fills(boxes: pl.DataFrame) -> np.ndarray:
    """The colour of each rectangle: its job's, which no job beside it has as long as there are enough."""
    spans = boxes.group_by("job").agg(pl.min("start"), pl.max("end")).sort("job")
    n, begins, ends = len(_look.FILLS), spans["start"].to_numpy(), spans["end"].to_numpy()
    chosen = np.zeros(spans.height, int)
    for k in range(spans.height):
        taken = set(chosen[:k][(begins[:k] <= ends[k]) & (begins[k] <= ends[:k])])
        chosen[k] = next((colour % n for colour in range(k, k + n) if colour % n not in taken), k % n)
    found: np.ndarray = chosen[boxes["job"].rank("dense").to_numpy().astype(int) - 1]
    return found


def seams(boxes: pl.DataFrame) -> pl.DataFrame:
    """Where a job has neighbouring nodes that it got or gave back at other times: two rectangles, and no border."""
    rows = boxes.with_row_index("place").with_columns(edge=pl.col("last_node") + 1)
    both = rows.join(rows, left_on=["job", "edge"], right_on=["job", "first_node"], suffix="_below")
    start, end = pl.max_horizontal("start", "start_below"), pl.min_horizontal("end", "end_below")
    found = both.select("place", "place_below", y=pl.col("edge") - 0.5, start=start, end=end)
    return found.filter(pl.col("start") < pl.col("end")).sort("place", "place_below")


def numbered(boxes: pl.DataFrame, inner: pl.DataFrame) -> np.ndarray:
    """Whether a rectangle shows its job's number: not beside a larger one of the same job."""
    size = ((boxes["last_node"] - boxes["first_node"] + 1) * (boxes["end"] - boxes["start"])).to_numpy()
    above, below = (inner[name].to_numpy() for name in ("place", "place_below"))
    shows = np.ones(boxes.height, bool)
    shows[np.where(size[above] < size[below], above, below)] = False
    return shows


def _lanes(result: Result) -> dict[str, Lane]:
    """Every step function below the schedule, by name, with its unit."""
    lanes: dict[str, Lane] = {}
    for name in result.resources:
        if name != result.unit:
            steps = usage(result, name)
            kind = "GPUs" if is_gpus(result, name) else "bytes"
            lanes[name] = (kind, (steps["time"].to_numpy(), steps["amount"].to_numpy().astype(float)))
    if has_phases(result):
        for way, kinds in (("read", READS), ("write", WRITES)):
            lanes[f"{FILES} {way}"] = ("bytes/s", _steps.transfers(result, kinds))
    return lanes


def _held(axis: Any, name: str, lane: Lane, capacity: int, unit: float, end: float) -> None:
    kind, steps = lane
    size, word = (1.0, kind) if kind == "GPUs" else _look.bytes_unit(capacity)
    _fill(axis, steps, unit, end, size, _look.BLUE)
    axis.axhline(capacity / size, color="black", lw=0.6, ls=(0, (4, 2)))
    axis.set_ylim(0, 1.08 * capacity / size or 1)
    axis.set_ylabel(f"{name.replace('_', chr(10), 1).replace('_', ' ')}\n({word})")


def _file_system(axis: Any, lanes: Mapping[str, Lane], unit: float, end: float) -> None:
    """Reads up, writes down, from one line in the middle."""
    reads, writes = lanes[f"{FILES} read"][1], lanes[f"{FILES} write"][1]
    top = max(reads[1].max(initial=0.0), writes[1].max(initial=0.0))
    size, word = _look.bytes_unit(top)
    _fill(axis, reads, unit, end, size, _look.GREEN)
    _fill(axis, writes, unit, end, -size, _look.ORANGE)
    axis.axhline(0, color="black", lw=0.6)
    axis.set_ylim(-1.08 * top / size or -1, 1.08 * top / size or 1)
    axis.yaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
    axis.set_ylabel(f"{FILES}\n({word}/s)")
    for y, text, colour in ((0.96, "read", _look.GREEN), (0.04, "write", _look.ORANGE)):
        where = {"transform": axis.transAxes, "ha": "left", "va": "top" if y > 0.5 else "bottom", "fontsize": 7}
        axis.text(1.005, y, text, color=colour, **where)


def _fill(axis: Any, steps: _steps.Steps, unit: float, end: float, size: float, colour: str) -> None:
    times, values = steps
    if times.size:
        x, y = np.append(times, max(end, times[-1])) / unit, np.append(values, values[-1]) / size
        axis.fill_between(x, y, step="post", color=colour, lw=0, alpha=0.75)


def _table(lanes: Mapping[str, Lane]) -> pl.DataFrame:
    schema = {"lane": pl.String, "unit": pl.String, "time": pl.Float64, "value": pl.Float64}
    frames = [
        pl.DataFrame({"time": times, "value": values}, schema_overrides={"time": pl.Float64, "value": pl.Float64})
        .with_columns(lane=pl.lit(name), unit=pl.lit(kind))
        .select(*schema)
        for name, (kind, (times, values)) in lanes.items()
    ]
    return pl.concat([pl.DataFrame(schema=schema), *frames])
