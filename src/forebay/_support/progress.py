"""How far a run has come: a bar of jobs ended, in terminals and notebooks alike, or a warning if it will take long."""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from forebay._support.text import about
from forebay.errors import LongRunWarning, wrong_type

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

Callback = Callable[[int, int], None]
"""Called at times with how many jobs have ended, and how many there are."""

PATIENCE = 15.0
"""Seconds after which a pace is reported."""
LONG = 60.0
"""Seconds that one may wait for without having been warned."""


class Watch:
    """Follows work that takes a while; this one says nothing."""

    def at(self, title: str, done: int) -> None:
        """So much of the total is done, and this is what is being done."""

    def line(self, text: str) -> None:
        """Something has ended, which a bar shows anyway."""


class Reporter:
    """What long work says on the way: nothing, unless a command gives one that writes to a terminal."""

    @property
    def quiet(self) -> bool:
        """Whether it says nothing."""
        return True

    def message(self, text: str) -> None:
        """A line beside the answer."""

    @contextmanager
    def progress(self, total: int, unit: str = "jobs") -> Iterator[Watch]:
        """Follow work on `total` jobs or else."""
        yield Watch()


def left(done: int, total: int, seconds: float) -> str:
    """How long the rest takes at the pace so far, in words; nothing where there is no pace yet."""
    return f"about {about(seconds * (total - done) / done)} left" if done else ""


class _Warning:
    """Warns once, on a run without a bar that will take long."""

    def __init__(self, title: str) -> None:
        self._title, self._begun, self._told = title, time.monotonic(), False

    def __call__(self, ended: int, jobs: int) -> None:
        seconds = time.monotonic() - self._begun
        if self._told or seconds < PATIENCE:
            return
        self._told = True
        if ended == 0 or seconds * (jobs - ended) / ended > LONG:
            pace = f"{self._title}: {ended:,} of {jobs:,} jobs have ended in {about(seconds)}"
            rest = left(ended, jobs, seconds) or "no estimate yet"
            warnings.warn(
                f"{pace}, {rest}; progress=True shows a bar, False says nothing",
                LongRunWarning,
                stacklevel=4,  # of the caller of simulate
            )


@contextmanager
def following(progress: Any, title: str, total: int) -> Iterator[Callback | None]:
    """What a run shall call: the caller's own function or, for True, a bar on stderr if someone watches."""
    if progress is None:
        yield _Warning(title)
    elif progress is False:
        yield None
    elif callable(progress):
        yield progress
    elif progress is True:
        from rich.console import Console

        console = Console(stderr=True)
        with bar(console, "jobs", disable=not (console.is_terminal or console.is_jupyter)) as shown:
            task = shown.add_task(title, total=total)
            yield lambda ended, jobs: shown.update(task, completed=ended)
    else:
        raise wrong_type("progress", progress, "True for a bar, or a function of (jobs ended, jobs)")


def bar(console: "Console", unit: str, **more: Any) -> "Progress":
    """A bar with its title, a count and the time left; titles are text, never markup."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn(f"{{task.completed:,}} {unit}"))
    return Progress(*columns, TimeRemainingColumn(), console=console, **more)


class Bars(Reporter):
    """Bars on stderr, where someone watches: a terminal or a notebook."""

    @contextmanager
    def progress(self, total: int, unit: str = "jobs") -> Iterator[Watch]:
        """One bar."""
        from rich.console import Console

        console = Console(stderr=True)
        with bar(console, unit, transient=True, disable=not (console.is_terminal or console.is_jupyter)) as shown:
            yield Bar(shown, total)


class Bar(Watch):
    """A bar of rich, for one work."""

    def __init__(self, shown: "Progress", total: int) -> None:
        self._shown, self._task = shown, shown.add_task("", total=total)

    def at(self, title: str, done: int) -> None:
        """So much is done."""
        self._shown.update(self._task, description=title, completed=done)
