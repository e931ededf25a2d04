"""Runs on all cores: a few processes, each handed one task at a time, such as a run of a study.

A task is carried out with one thread, also if there is only one process: sums of floats then never depend on how many
cores a machine has. A process that dies (out of memory, say) fails the task it had, by name, and another takes its
place. Processes end with their parent.
"""

import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any

from forebay._support.environment import ONE_THREAD, variables
from forebay._support.parent_process import end_with, keep_from_children
from forebay._support.programs import in_command
from forebay.errors import ForebayError
from forebay.experiments.runs import Run, perform
from forebay.results import Record

_SECONDS = 1.0  # between two looks whether processes are still there


@dataclass(frozen=True)
class Failure:
    """A task that did not end well: what to report of it, and the exit code that its error has on the command line."""

    text: str
    exit_code: int


Outcome = Record | Failure
Done = Callable[[Any, Any], None]
Executor = Callable[[Iterable[Any], Done], None]
"""Carries out tasks, mostly runs, and calls `done` with each and its outcome as soon as it is over.

A task is asked for when someone can begin with it: until then, another sweep may."""
Tell = Callable[[Any], None]
Work = Callable[[Any, Tell], Any]
"""What is done with a task; meanwhile it may tell how far it has come."""


def cores() -> int:
    """How many of the machine's cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _perform(run: Run, tell: Tell) -> Record:
    return perform(run)


def attempt(task: Any, work: Work = _perform, tell: Tell = lambda _: None) -> Any:
    """The outcome of a task, whatever it is."""
    try:
        return work(task, tell)
    except ForebayError as error:
        return Failure(str(error), error.exit_code)
    except MemoryError as error:
        return Failure(f"it ran out of memory{f' ({error})' if str(error) else ''}; --jobs 1 needs less", 1)
    except Exception:
        return Failure(f"this is a bug in forebay: please report it with these lines\n{traceback.format_exc()}", 1)


def here(tasks: Iterable[Any], done: Done, work: Work = _perform) -> None:
    """An executor in this process, one task after the other: for what only this process has."""
    for task in tasks:
        with redirect_stdout(sys.stderr):  # what a policy prints must not stand in the answer
            outcome = attempt(task, work)
        done(task, outcome)


def here_and_there(stays: Callable[[Any], bool], there: Executor) -> Executor:
    """An executor that leaves to another all but what stays in this process, and carries that out when it has ended."""

    def execute(tasks: Iterable[Any], done: Done) -> None:
        mine: list[Any] = []

        def others() -> Iterator[Any]:
            for task in tasks:
                if stays(task):
                    mine.append(task)
                else:
                    yield task

        there(others(), done)
        here(mine, done)

    return execute


def in_processes(count: int, work: Work = _perform, advance: Done = lambda *_: None) -> Executor:
    """An executor with so many processes. Compile before: what they find in the cache they need not compile.

    `work` goes to each process once, with all that it holds. `advance` is called with a task and what it reports.
    """

    def execute(tasks: Iterable[Any], done: Done) -> None:
        with kept(count, work, advance) as carry_out:
            carry_out(tasks, done)

    return execute


@contextmanager
def kept(count: int, work: Work = _perform, advance: Done = lambda *_: None) -> Iterator[Executor]:
    """The same for many calls: its processes wait for the next one, since each takes a second or two to start."""
    crew = _Crew(count, work, advance)
    try:
        yield crew.work_through
    finally:
        crew.dismiss()


@contextmanager
def begun(count: int, tasks: Sequence[Any], work: Work) -> Iterator[Callable[[], dict[Any, Any]]]:
    """The same for somebody who has something else to do meanwhile: gives a function that waits for all outcomes."""
    crew, outcomes = _Crew(count, work, lambda *_: None), dict[Any, Any]()
    left = iter(tasks)

    def wait_for_all() -> dict[Any, Any]:
        crew.work_through(left, outcomes.__setitem__)
        return outcomes

    try:
        crew.hand_out_some(left)
        yield wait_for_all
    finally:
        crew.dismiss()


class _Crew:
    """The processes, the tasks they have, and outcomes that have arrived but are not yet reported."""

    def __init__(self, count: int, work: Work, advance: Done) -> None:
        self._count, self._work, self._told = count, work, advance
        self._busy: dict[Connection, tuple[BaseProcess, Any]] = {}
        self._idle: list[tuple[BaseProcess, Connection]] = []
        self._arrived: list[tuple[Any, Any]] = []

    def work_through(self, tasks: Iterable[Any], done: Done) -> None:
        waiting = iter(tasks)
        try:
            while self.hand_out_some(waiting) or self._busy:
                ready = set(wait(list(self._busy), _SECONDS))
                # A child that a policy has forked may hold the pipe of a process that is gone.
                ready.update(pipe for pipe, (process, _) in self._busy.items() if not process.is_alive())
                for pipe in ready:
                    self._receive(pipe)  # type: ignore[arg-type]
                self._tell(done)
        except BaseException:
            # Ctrl-C may come while an outcome is being written, or lies unread in a pipe: these are finished too.
            for pipe in list(self._busy):
                while pipe in self._busy and pipe.poll():
                    self._receive(pipe)
            self._tell(done)
            raise

    def hand_out_some(self, waiting: Iterator[Any]) -> bool:
        """A task for each process that has none; whether there were enough of them."""
        while len(self._busy) < self._count:
            try:
                task = next(waiting)
            except StopIteration:
                return False
            self._hand_out(task)
        return True

    def _hand_out(self, task: Any) -> None:
        process, pipe = self._idle.pop() if self._idle else _start(self._work)
        self._busy[pipe] = process, task
        with suppress(OSError):  # it has died: waiting for its answer will show it
            pipe.send(task)

    def _receive(self, pipe: Connection) -> None:
        process, task = self._busy[pipe]
        try:
            if not process.is_alive() and not pipe.poll():
                raise EOFError
            over, outcome = pipe.recv()
        except (EOFError, OSError):
            process.join()
            pipe.close()
            over, outcome = True, Failure(f"its process died ({cause(process.exitcode)})", 1)
        else:
            if over:
                self._idle.append((process, pipe))
        if not over:
            self._told(task, outcome)
            return
        self._arrived.append((task, outcome))
        del self._busy[pipe]

    def _tell(self, done: Done) -> None:
        while self._arrived:
            done(*self._arrived[0])
            del self._arrived[0]

    def dismiss(self) -> None:
        """End every process, also one that is at work."""
        processes = [process for process, _ in (*self._busy.values(), *self._idle)]
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


def cause(code: int | None) -> str:
    """Why a process died, by its exit code."""
    if code is not None and code < 0:
        hint = "; is there enough memory? --jobs 1 needs less" if -code == signal.SIGKILL else ""
        return f"{signal.Signals(-code).name}{hint}"
    return f"exit code {code}"


def _start(work: Work = _perform) -> tuple[BaseProcess, Connection]:
    # A new interpreter, not a fork: a fork of a process with threads (polars has some) may hang.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    # The system ends a process with the thread that has started it: others go on without ours.
    by_all = threading.current_thread() is threading.main_thread()
    process = context.Process(target=_serve, args=(theirs, work, os.getcwd(), os.getpid(), by_all), daemon=True)
    with _by_itself():
        process.start()
    theirs.close()
    return process, ours


@contextmanager
def _by_itself() -> Iterator[None]:
    """What counts for a process that is started here.

    It has one thread for tables. It imports nothing from the current folder, where a file may have the name of a
    module, nor the script that we are called from, which would start there. Ctrl-C, which a terminal sends to all,
    is not for it.
    """
    script = sys.modules["__main__"]
    with variables(**ONE_THREAD, PYTHONSAFEPATH="1"):
        resource_tracker.ensure_running()  # with the first process it would be started too, and let Ctrl-C in again
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = script
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _serve(pipe: Connection, work: Work, folder: str, parent: int, at_once: bool) -> None:
    """The life of a process of ours."""
    end_with(parent, at_once)
    os.chdir(folder)  # what tasks name by relative paths
    serve(pipe, work)


def serve(pipe: Connection, work: Work = _perform) -> None:
    """A task in, its outcome out, until no more come."""
    sys.stdout = sys.stderr  # policies may print; the answer is the parent's
    in_command()
    keep_from_children(pipe.fileno())
    with suppress(EOFError, OSError):
        while True:
            task = pipe.recv()
            pipe.send((True, attempt(task, work, lambda value: pipe.send((False, value)))))
