"""How far a command has come: a bar for who watches; elsewhere a line now and then, without control characters."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from forebay._support.progress import PATIENCE as EVERY
from forebay._support.progress import Bar, Reporter, Watch, bar, left
from forebay.cli._render import printing

PATIENCE = 5.0
"""Seconds without a line: what is over by then needs none."""


class _Lines(Watch):
    def __init__(self, total: int, unit: str) -> None:
        self._total, self._unit = total, unit
        self._begun = self._last = time.monotonic()

    def at(self, title: str, done: int) -> None:
        if time.monotonic() - self._last >= EVERY:
            seconds = time.monotonic() - self._begun
            words = (f"{title}: {done:,} of {self._total:,} {self._unit}", f"{seconds:.0f} s")
            self.line(", ".join(filter(None, (*words, left(done, self._total, seconds)))))

    def line(self, text: str) -> None:
        now = time.monotonic()
        if now - self._begun >= PATIENCE:
            self._last = now
            printing.message(text)


@contextmanager
def progress(total: int, unit: str = "jobs") -> Iterator[Watch]:
    """Of `total` jobs or else."""
    if printing.is_quiet() or not sys.stderr.isatty():
        yield _Lines(total, unit)
        return
    with bar(printing.console(stderr=True), unit, transient=True) as shown:
        yield Bar(shown, total)


class Terminal(Reporter):
    """Says on the terminal what long work reports."""

    @property
    def quiet(self) -> bool:
        """As the user asked."""
        return printing.is_quiet()

    def message(self, text: str) -> None:
        """A line on stderr."""
        printing.message(text)

    @contextmanager
    def progress(self, total: int, unit: str = "jobs") -> Iterator[Watch]:
        """A bar, or lines."""
        with progress(total, unit) as watch:
            yield watch
