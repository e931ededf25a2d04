"""A bar of jobs ended, in terminals and notebooks alike."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from forebay.errors import wrong_type

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

Callback = Callable[[int, int], None]
"""Called at times with how many jobs have ended, and how many there are."""


@contextmanager
def following(progress: Any, title: str, total: int) -> Iterator[Callback | None]:
    """What a run shall call: nothing, the caller's own function or, for True, a bar on stderr if someone watches."""
    if progress is None or progress is False:
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
