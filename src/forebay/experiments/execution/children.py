"""Processes of a worker, one for each run that it carries out at a time; kept for the next run, and ended with it.

Workers of Dask may not start processes the way of multiprocessing, and have threads: a new interpreter at the other end
of a pipe does both. It has one thread for tables, as every process that carries out runs.
"""

import multiprocessing
import os
import subprocess
import sys
import threading
from multiprocessing.connection import Connection
from typing import Any

from forebay._support.environment import ONE_THREAD
from forebay._support.parent_process import end_with
from forebay.experiments.execution.executor import Failure, cause, serve
from forebay.experiments.runs import Run

DEATHS = 3
"""So many processes may a run cost."""


class _Child:
    def __init__(self) -> None:
        ours, theirs = multiprocessing.Pipe()
        number = theirs.fileno()
        code = f"from forebay.experiments.execution.children import live; live({number}, {os.getpid()})"
        words = [sys.executable, "-P", "-c", code]
        # Its output is the worker's: what policies print goes to stderr there.
        self.process = subprocess.Popen(
            words, pass_fds=[number], env=os.environ | ONE_THREAD, stdin=subprocess.DEVNULL, start_new_session=True
        )
        theirs.close()
        self.pipe = ours

    def carry_out(self, run: Run) -> Any:
        self.pipe.send(run)
        _, outcome = self.pipe.recv()
        return outcome

    def end(self) -> int:
        self.pipe.close()
        self.process.kill()
        return self.process.wait()


class Children:
    """The processes of this worker for the runs of one sweep."""

    def __init__(self) -> None:
        self._idle: list[_Child] = []
        self._all: set[_Child] = set()
        self._lock = threading.Lock()

    def carry_out(self, run: Run) -> Any:
        """The outcome of a run. Where its process dies, it is tried again: memory may have been short."""
        for _ in range(DEATHS):
            with self._lock:
                child = self._idle.pop() if self._idle else None
            if child is None:
                child = _Child()
                with self._lock:
                    self._all.add(child)
            try:
                outcome = child.carry_out(run)
            except (EOFError, OSError):
                code = child.process.wait()
                with self._lock:
                    self._all.discard(child)
                continue
            with self._lock:
                self._idle.append(child)
            return outcome
        return Failure(f"its process died {DEATHS} times ({cause(code)})", 1)

    def end(self) -> None:
        """End them all."""
        with self._lock:
            for child in self._all:
                child.end()
            self._all.clear()
            self._idle.clear()


_children: dict[str, Children] = {}
_lock = threading.Lock()


def of(name: str) -> Children:
    """The processes for the runs that go by this name."""
    with _lock:
        return _children.setdefault(name, Children())


def dismiss(name: str) -> None:
    """End the processes that go by this name."""
    with _lock:
        found = _children.pop(name, None)
    if found is not None:
        found.end()


def live(number: int, parent: int) -> None:
    """The life of such a process, at its end of the pipe."""
    end_with(parent, at_once=False)  # threads of Dask come and go
    serve(Connection(number))
