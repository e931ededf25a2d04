"""Runs on all cores: a few processes, each handed one run at a time.

Every run is carried out in such a process, with one thread, also if there is only one of them: sums of floats then
never depend on how many cores a machine has. A process that dies (out of memory, say) fails the run it had, by name,
and another takes its place. Processes end with their parent.
"""

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from forebay.errors import ForebayError
from forebay.experiments.runs import Run, perform
from forebay.results import Record


@dataclass(frozen=True)
class Failure:
    """A run that did not end well: what to report of it, and the exit code that its error has on the command line."""

    text: str
    exit_code: int


Outcome = Record | Failure
Done = Callable[[Run, Outcome], None]
Executor = Callable[[Sequence[Run], Done], None]
"""Carries out runs, and calls `done` with each as soon as it is over."""


def cores() -> int:
    """How many of the machine's cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def attempt(run: Run) -> Outcome:
    """The outcome of a run, whatever it is."""
    try:
        return perform(run)
    except ForebayError as error:
        return Failure(str(error), error.exit_code)
    except Exception:
        return Failure(f"this is a bug in forebay: please report it with these lines\n{traceback.format_exc()}", 1)


def in_processes(count: int) -> Executor:
    """An executor with so many processes. Compile before: what they find in the cache they need not compile."""

    def execute(runs: Sequence[Run], done: Done) -> None:
        _Crew(min(count, len(runs)), done).work_through(runs)

    return execute


class _Crew:
    """The processes, the runs they have, and outcomes that have arrived but are not yet reported."""

    def __init__(self, count: int, done: Done) -> None:
        self._count, self._done = count, done
        self._busy: dict[Connection, tuple[BaseProcess, Run]] = {}
        self._idle: list[tuple[BaseProcess, Connection]] = []
        self._arrived: list[tuple[Run, Outcome]] = []

    def work_through(self, runs: Sequence[Run]) -> None:
        waiting = list(reversed(runs))
        try:
            while waiting or self._busy:
                while waiting and len(self._busy) < self._count:
                    self._hand_out(waiting.pop())
                for pipe in wait(list(self._busy)):
                    self._receive(pipe)  # type: ignore[arg-type]
                self._tell()
        except BaseException:
            # Ctrl-C may come while an outcome is being written, or lies unread in a pipe: these runs are finished too.
            for pipe in [pipe for pipe in self._busy if pipe.poll()]:
                self._receive(pipe)
            self._tell()
            raise
        finally:
            self._dismiss()

    def _hand_out(self, run: Run) -> None:
        process, pipe = self._idle.pop() if self._idle else _start()
        self._busy[pipe] = process, run
        with suppress(OSError):  # it has died: waiting for its answer will show it
            pipe.send(run)

    def _receive(self, pipe: Connection) -> None:
        process, run = self._busy[pipe]
        try:
            outcome = pipe.recv()
            self._idle.append((process, pipe))
        except (EOFError, OSError):
            process.join()
            pipe.close()
            outcome = Failure(f"its process died ({_cause(process.exitcode)})", 1)
        self._arrived.append((run, outcome))
        del self._busy[pipe]

    def _tell(self) -> None:
        while self._arrived:
            self._done(*self._arrived[0])
            del self._arrived[0]

    def _dismiss(self) -> None:
        processes = [process for process, _ in (*self._busy.values(), *self._idle)]
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


def _cause(code: int | None) -> str:
    if code is not None and code < 0:
        hint = "; is there enough memory? --jobs 1 needs less" if -code == signal.SIGKILL else ""
        return f"{signal.Signals(-code).name}{hint}"
    return f"exit code {code}"


def _start() -> tuple[BaseProcess, Connection]:
    # A new interpreter, not a fork: a fork of a process with threads (polars has some) may hang.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    with _quiet():
        process.start()
    theirs.close()
    return process, ours


@contextmanager
def _quiet() -> Iterator[None]:
    """A process started here has one thread for tables, and Ctrl-C, which a terminal sends to all, is not for it."""
    resource_tracker.ensure_running()  # with the first process it would be started too, and let Ctrl-C in again
    threads = os.environ.get("POLARS_MAX_THREADS")
    os.environ["POLARS_MAX_THREADS"] = "1"
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if threads is None:
            del os.environ["POLARS_MAX_THREADS"]
        else:
            os.environ["POLARS_MAX_THREADS"] = threads


def _serve(pipe: Connection) -> None:
    """The life of a process: a run in, its outcome out."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            pipe.send(attempt(pipe.recv()))


def _end_with_parent() -> None:
    """A parent that is killed cannot tell its processes to stop."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
