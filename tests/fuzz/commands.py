"""Whole commands on spoiled input: what each must keep to, whatever it is given.

A command is run in this process, in an arena of its own: `in` holds what it reads, `out` what it may write, and nothing
else there may change. It ends with exit code 0 or 2, says at most so much, and takes at most so long.
"""

import contextlib
import io
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer.main

from forebay.cli import main as program
from forebay.errors import CHARACTERS, LINES
from forebay.experiments.execution import cluster
from forebay.experiments.execution.executor import attempt

SECONDS = 10.0
"""Of a processor, for one command."""
PATIENCE = 60
"""Seconds on the clock, for one that waits and computes nothing."""
MEMORY = 4 * 2**30
"""Bytes that a command may ask for, beyond what the process has: most inputs are a few hundred."""
MOST_RUNS = 40
"""A sweep with more is right, and takes as long as it takes: not here."""
HEAD = "forebay: "
ANSWER = 50_000
"""Characters on stdout: what is said of five jobs fits a few screens, however long their names are."""


class TooLongError(BaseException):
    """Not an Exception: a command tells of these itself."""


class ManyRunsError(BaseException):
    """A sweep is large."""


class BreachError(AssertionError):
    """A command did what none may do."""


@contextlib.contextmanager
def _here(runs: Any, *_: Any) -> Iterator[Any]:
    """In place of processes: each would take a second to start."""
    if len(runs) > MOST_RUNS:
        raise ManyRunsError

    def execute(tasks: Iterable[Any], done: Any) -> None:
        for task in tasks:
            done(task, attempt(task))

    yield execute


def _too_long(*_: Any) -> None:
    raise TooLongError


@contextlib.contextmanager
def harness() -> Iterator[None]:
    """What all commands of a test share: they are parsed by one parser, and stay in this process."""
    kept = program.app, cluster.executing, {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGHUP)}
    old = resource.getrlimit(resource.RLIMIT_AS)
    program.app, cluster.executing = typer.main.get_command(program.app), _here  # type: ignore[assignment]
    alarm = signal.signal(signal.SIGALRM, _too_long)
    with open("/proc/self/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, old[1]))
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # Python's own habit, beside a policy's file
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, old)
        sys.dont_write_bytecode = writes
        signal.signal(signal.SIGALRM, alarm)
        program.app, cluster.executing, handlers = kept
        for number, handler in handlers.items():
            signal.signal(number, handler)


class Arena:
    """A folder to run commands in."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.given, self.out, self.elsewhere = folder / "in", folder / "out", folder / "elsewhere"

    def fresh(self) -> None:
        """Empty but for what no command may touch."""
        for one in (self.given, self.out, self.elsewhere):
            if one.is_symlink() or one.is_file():
                one.unlink()
            shutil.rmtree(one, ignore_errors=True)
        self.given.mkdir(parents=True)
        self.elsewhere.mkdir()
        (self.elsewhere / "kept.txt").write_text("kept\n")

    def fill(self, files: dict[str, bytes], below: str = "in") -> None:
        """Put files there, by their names within a folder of the arena."""
        for name, data in files.items():
            path = self.folder / below / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def _seen(self, free: Iterable[Path]) -> dict[str, tuple[int, ...]]:
        """Everything but what may be written: names, kinds, sizes, times of change."""
        found, free = {}, [str(one) for one in free]
        todo = [str(self.folder)]
        while todo:
            for entry in os.scandir(todo.pop()):
                if entry.path in free:
                    continue
                facts = entry.stat(follow_symlinks=False)
                is_folder = entry.is_dir(follow_symlinks=False)
                found[entry.path] = (
                    facts.st_mode,
                    facts.st_ino,
                    *(() if is_folder else (facts.st_size, facts.st_mtime_ns)),
                )
                if is_folder:
                    todo.append(entry.path)
        return found

    def run(self, *words: object, may_write: Iterable[Path] = ()) -> int:
        """A command's exit code, if it keeps to all that a command must."""
        before, begun, here = self._seen([self.out, *may_write]), time.process_time(), Path.cwd()
        out, err, code = io.StringIO(), io.StringIO(), None
        os.chdir(self.folder)
        signal.alarm(PATIENCE)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                program.main([str(word) for word in words])
        except SystemExit as left:
            code = left.code
        except ManyRunsError:
            return 0
        except TooLongError:
            raise BreachError(f"waits for ever: {words}") from None
        finally:
            signal.alarm(0)
            os.chdir(here)
        text, seconds = err.getvalue(), time.process_time() - begun
        self._check(words, code, text, seconds)
        if len(out.getvalue()) > ANSWER:
            raise BreachError(f"{words}: {len(out.getvalue())} characters on stdout: {out.getvalue()[:500]}")
        after = self._seen([self.out, *may_write])
        if after != before:
            changed = sorted({*after.items()} ^ {*before.items()})
            raise BreachError(f"{words} wrote outside its folder: {changed[:4]}")
        return int(code)

    def _check(self, words: object, code: object, text: str, seconds: float) -> None:
        def breach(what: str) -> BreachError:
            return BreachError(f"{words}: {what}; exit code {code}, stderr:\n{text[-3000:]}")

        if code not in (0, 2):
            raise breach("another exit code")
        if "Traceback" in text or "this is a bug" in text:
            raise breach("a traceback")
        if code == 2 and (not text.startswith(HEAD) or text.count(HEAD) != 1):
            raise breach("not one message")
        if len(text) > CHARACTERS + len(HEAD) + 1 or text.count("\n") > LINES:
            raise breach(f"{len(text)} characters in {text.count(chr(10))} lines")
        if not text.isprintable() and not all(line.isprintable() for line in text.split("\n")):
            raise breach("characters that a terminal obeys")
        if seconds > SECONDS:
            raise breach(f"{seconds:.1f} s")
