"""The figures of the text, gains beside those published, and what file systems of their own change for jobs."""

from collections.abc import Sequence
from pathlib import Path

from forebay.studies._tables import WAIT, Row, tagged
from forebay.studies.hercules2023 import _gains
from forebay.studies.hercules2023 import _numbers as numbers
from forebay.studies.hercules2023._settings import Figures

_GB = 1e9
_CHANGES = {WAIT: "change of the mean wait (%)", numbers.TURNAROUND: "change of the mean turnaround (%)"}


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
                one = numbers.change(mine, base, metric)
                half = None if one.half is None else 100 * one.half
                made.append(lines.Point(panel, system, io, 100 * one.mean, half))
    how = lines.Axis(level=0.0, even=100.0)
    return lines.draw(made, path, "I/O, as a share of a job's time alone", dict.fromkeys(_CHANGES.values(), how))


def file_system(rows: Sequence[Row], reference: str, path: Path) -> list[Path]:
    """What is written to the file system of what it can take, and the nodes that serve, by the share of I/O."""
    from forebay.figures.panels import lines

    panels = {numbers.FILES: "writes to the file system,\nof its bandwidth", numbers.SERVERS: "borrowed nodes, of all"}
    made = []
    for metric, panel in panels.items():
        for system, io, mine, _ in numbers.cells(rows, reference):
            one = numbers.spread(mine, metric)
            made.append(lines.Point(panel, system, io, one.mean, one.half))
    how = lines.Axis(least=0.0)
    return lines.draw(made, path, "I/O, as a share of a job's time alone", dict.fromkeys(panels.values(), how))
