"""The figures of a comparison: drawn here, or of a long trace in processes, while this one goes on."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.errors import ForebayError
from forebay.experiments.execution import executor, parallel
from forebay.figures import _folder

if TYPE_CHECKING:
    from forebay.experiments.execution.executor import Tell
    from forebay.results import Result

FIGURES = ("letter-values", "usage", "wait-by-size", "waits")
"""Those that show policies side by side."""
LONG = 200_000
"""Jobs of a trace whose runs would take too much memory if several processes held them."""
SCHEDULE = "gantt"  # a picture a policy: drawn of the best


@dataclass(frozen=True)
class Drawing:
    """What to draw: the folders of runs by policy, whose schedule, which jobs count, and where figures go."""

    runs: Mapping[str, Path]
    best: str
    window: _folder.Period | None
    folder: Path

    def draw(self, name: str, read: Callable[[str], "Result"]) -> list[Path]:
        """One of the figures; gives its files."""
        shown = {policy: read(policy) for policy in ([self.best] if name == SCHEDULE else self.runs)}
        return _folder.draw([name], shown, dict.fromkeys(shown, self.window), self.folder, "svg")


@cache
def _read(path: Path) -> "Result":
    from forebay.results import load

    return load(path)


def _draw(drawing: Drawing, name: str, tell: "Tell") -> list[Path]:
    return drawing.draw(name, lambda policy: _read(drawing.runs[policy]))


@contextmanager
def under_way(
    drawing: Drawing | None, n_jobs: int, count: int, read: Callable[[str], "Result"]
) -> Iterator[Callable[[], list[Path]]]:
    """Figures that are being drawn; gives a function that waits for them and names their files, None for no figures.

    Those of a long trace take longer than processes do to start. Others are drawn when they are asked for, of the runs
    that this process has read.
    """
    names = [*FIGURES, SCHEDULE]
    if drawing is None:
        yield lambda: []
    elif count == 1 or not parallel.SHORT < n_jobs <= LONG:
        yield lambda: [file for name in names for file in drawing.draw(name, read)]
    else:
        costly_first = sorted(names, key=lambda name: name not in (SCHEDULE, "usage"))
        with executor.begun(count, costly_first, partial(_draw, drawing)) as wait:
            yield lambda: _files(names, wait())


def _files(names: list[str], outcomes: Mapping[str, Any]) -> list[Path]:
    for outcome in outcomes.values():
        if isinstance(outcome, executor.Failure):
            error = ForebayError(outcome.text)
            error.exit_code = outcome.exit_code
            raise error
    return [file for name in names for file in outcomes[name]]
