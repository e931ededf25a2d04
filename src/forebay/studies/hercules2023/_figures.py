"""The figures of the text, gains beside those published, and what file systems of their own change for jobs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.studies._tables import WAIT, Row, tagged
from forebay.studies.hercules2023 import _gains
from forebay.studies.hercules2023 import _numbers as numbers
from forebay.studies.hercules2023._settings import Figures

if TYPE_CHECKING:
    from forebay.experiments.statistics import Spread
    from forebay.figures.panels.lines import Point

_GB = 1e9
_SHARE = "I/O, as a share of a job's time alone on the file system"
_CHANGES = {WAIT: "change of the mean wait (%)", numbers.TURNAROUND: "change of the mean turnaround (%)"}
_USES = {
    numbers.FILES: "writes to the file system, of its bandwidth (%)",
    numbers.SERVERS: "borrowed nodes, of all nodes (%)",
}


def throughputs(chosen: Figures, rows: Sequence[Row], path: Path) -> list[Path]:
    """Fig. 3.4 or 3.5: a panel for each kind and block, in the order of the text."""
    from forebay.figures.panels import bars

    made = []
    cells = [(block, kind) for block in chosen.blocks for kind in _gains.KINDS]
    for letter, (block, kind) in zip("abcdefgh", cells, strict=False):
        title = f"{letter}) {kind}, {_gains.size(block)}"
        for row in tagged(rows, block=block, kind=kind):
            for name in ("static", "malleable"):
                made.append(bars.Bar(title, str(row["servers"]), name, row[name] / _GB, None))
    return bars.draw(made, path, "throughput (GB/s)", "data nodes at first")


def gains(rows: Sequence[Row], path: Path) -> list[Path]:
    """Ours and published, with a line at 0."""
    from forebay.figures.panels import changes

    made = []
    for row in rows:
        words = f"{row['scaling']}, {_gains.size(row['block'])}, {row['servers']} data nodes"
        panel = f"gain of {row['kind']}s (%)"
        made.append(changes.Change(panel, words, "our model", row["gain"], None))
        if row["published"] is not None:
            made.append(changes.Change(panel, words, "published", row["published"], None))
    return changes.draw(made, path)


def changes_of_times(rows: Sequence[Row], reference: str, path: Path) -> list[Path]:
    """Mean wait and turnaround of every system, against the reference, by the share of I/O."""
    from forebay.figures.panels import lines

    made = []
    for metric, panel in _CHANGES.items():
        for system, io, mine, base in numbers.cells(rows, reference):
            if system != reference:
                made.append(_point(panel, system, io, numbers.change(mine, base, metric)))
    how = lines.Axis(level=0.0, even=100.0, ticks=(-100, -50, 0, 50, 100, 200, 500, 1000), same=True)
    return lines.draw(made, path, _SHARE, _systems(rows), how)


def file_system(rows: Sequence[Row], reference: str, path: Path) -> list[Path]:
    """What is written to the file system of what it can take, and the nodes that serve, by the share of I/O."""
    from forebay.figures.panels import lines

    made = []
    for metric, panel in _USES.items():
        for system, io, mine, _ in numbers.cells(rows, reference):
            made.append(_point(panel, system, io, numbers.spread(mine, metric)))
    return lines.draw(made, path, _SHARE, _systems(rows), lines.Axis(least=0.0))


def _systems(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["system"] for row in rows))


def _point(panel: str, system: str, io: float, one: "Spread") -> "Point":
    from forebay.figures.panels.lines import Point

    return Point(panel, system, io, 100 * one.mean, None if one.half is None else 100 * one.half)
