"""What stands above a figure: its title, if it has one, and a grey line that says of what it was drawn.

The line names the workload, the machine, the policy where it is one, and the jobs or the period: a picture that lies
about without its folder can still be distinguished from another.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

from matplotlib.figure import Figure

from forebay._support.text import counted, shared
from forebay.figures import _dates, _look
from forebay.results import Result
from forebay.workload.dates import date_text

_TITLE: dict[str, Any] = {"fontsize": 8, "fontweight": "bold"}
_LINE: dict[str, Any] = {"fontsize": 6, "color": _look.GREY}
_LEADING, _MARGIN = 1.5 / 72, 0.05  # inches a point of a line's height, and inches
_BETWEEN = " \N{MIDDLE DOT} "
_LONGEST, _SHORTEST = 120, 5  # letters of a piece


_CAPTION: ContextVar[Sequence[str]] = ContextVar("caption", default=())
"""The line of figures that are drawn of numbers, which do not tell where they come from."""


@contextmanager
def telling(pieces: Sequence[str]) -> Iterator[None]:
    """Whatever is drawn of numbers inside the block has these pieces above it."""
    token = _CAPTION.set(pieces)
    try:
        yield
    finally:
        _CAPTION.reset(token)


def caption(figure: Figure) -> None:
    """Puts the line of the block on a figure; its layout must be settled."""
    _put(figure, [piece for piece in map(_plain, _CAPTION.get()) if piece], "")


def of(results: Mapping[str, Result], title: str = "") -> Callable[[Figure], None]:
    """Puts the header of a figure of these results on it; its layout must be settled."""
    return partial(_put, line=about(results, title), title=title)


def about(results: Mapping[str, Result], title: str = "") -> list[str]:
    """The pieces of the line; what results do not tell is left out, and so is a policy that is the title already."""
    facts = [result.facts for result in results.values()]
    pieces = [
        shared((one.get("workload") for one in facts), "workloads"),
        shared((_machine(result) for result in results.values()), "machines"),
    ]
    if len(facts) == 1 and (policy := str(facts[0].get("policy") or "")) != title:
        pieces.append(policy)
    pieces.append(shared((_period(result) for result in results.values()), "periods"))
    return [piece for piece in map(_plain, pieces) if piece] if any(one.get("workload") for one in facts) else []


def _plain(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _machine(result: Result) -> str:
    machine = result.facts.get("platform")
    name = machine.get("name", "") if isinstance(machine, Mapping) else ""
    nodes = result.resources.get(result.unit)
    return f"{name}, {counted(nodes, result.unit.removesuffix('s'))}" if name and nodes else str(name)


def _period(result: Result) -> str:
    jobs = counted(result.jobs.height, "job")
    window = result.facts.get("window")
    if window:
        return f"{jobs} of {_time(window[0])} to {_time(window[1])}"
    submits: Any = result.jobs["submission_time"]
    if not submits.len():
        return jobs
    epoch = _dates.epoch_of({"": result})
    date = None if epoch is None else date_text(epoch + submits.min())
    return f"{jobs} over {_time(submits.max() - submits.min())}{f' from {date[:10]}' if date else ''}"


def _time(seconds: float) -> str:
    """Three digits in the best unit."""
    for size, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.3g} {name}"
    return f"{seconds:.3g} s"


def _put(figure: Figure, line: list[str], title: str) -> None:
    """Make room above, and write there; all that is drawn keeps its size."""
    rows = [([title], _TITLE)] * bool(title) + [(line, _LINE)] * bool(line)
    if not rows:
        return
    before, wide = figure.get_figheight(), figure.get_figwidth()
    height = before + _LEADING * sum(look["fontsize"] for _, look in rows) + _MARGIN / 2
    figure.set_figheight(height)
    for axis in figure.axes:
        box = axis.get_position()
        axis.set_position([box.x0, box.y0 * before / height, box.width, box.height * before / height])
    for legend in figure.legends:
        legend.set_bbox_to_anchor((0, 0, 1, before / height), transform=figure.transFigure)
    top = height - _MARGIN
    for pieces, look in rows:
        text = figure.text(_MARGIN / wide, top / height, "", ha="left", va="top", **look)
        _fit(text, pieces, figure.bbox.width * (1 - 2 * _MARGIN / wide))
        top -= _LEADING * look["fontsize"]


def _fit(text: Any, pieces: list[str], width: float) -> None:
    """Write pieces one after the other, names shortened until there is room for all; the last of several is no name."""
    lengths = [min(len(piece), _LONGEST) for piece in pieces]
    names = range(max(len(pieces) - 1, 1))
    while True:
        text.set_text(_BETWEEN.join(map(_look.shortened, pieces, lengths)))
        longest = max(names, key=lambda place: lengths[place])
        found = text.get_window_extent().width
        if found <= width or lengths[longest] <= _SHORTEST:
            return
        half_of_the_rest = int(sum(lengths) * (1 - width / found) / 2)
        lengths[longest] -= max(1, min(half_of_the_rest, lengths[longest] - _SHORTEST))
