"""Programs that a policy starts: what they print is passed on, and they hold none of the command's pipes open.

Who reads `forebay run ... | cat` waits until every process has closed that pipe, and a program has it from the process
that starts it. So before the first one is started, pipes of the command's own take the places of stdout and stderr. A
small process passes on what comes from them, and ends with the command.
"""

import atexit
import os
import stat
import sys
from contextlib import suppress
from typing import Any

from forebay._support.parent_process import keep_from_children

_STARTS = {"subprocess.Popen", "os.system", "os.posix_spawn"}
"""What Python says before it starts a program. Children that are forked are another matter: see `parent_process`."""
_STREAMS = (1, 2)
_SECONDS = 5.0  # for the rest to be passed on


class _State:
    """Of this process: whether it is a command, whether it watches, and whether a program was started."""

    is_command = watches = started = False


def in_command() -> None:
    """This process has pipes that end with it."""
    _State.is_command = True
    keep_from_children(*_STREAMS)


def may_start() -> None:
    """Code of a user's is about to be imported, which may start programs."""
    if _State.is_command and not _State.watches:
        _State.watches = True
        sys.addaudithook(_hear)


def _hear(event: str, _: object) -> None:
    if event in _STARTS and not _State.started:
        _State.started = True
        pipes = [file for file in _STREAMS if _is_pipe(file)]
        if pipes:
            with suppress(OSError):  # no further process may be started: they hold the pipes, then
                _stand_between(pipes)


def _is_pipe(file: int) -> bool:
    try:
        mode = os.fstat(file).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _stand_between(files: list[int]) -> None:
    """Have another process pass on what is written to these."""
    import subprocess

    from forebay._support import relay

    there, here = os.pipe()  # it reads there that this process, which alone has the other end, is over
    reads, writes = _pipes(files)
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", relay.__file__, str(there), *(str(n) for pair in reads.items() for n in pair)],
            stdin=subprocess.DEVNULL,
            pass_fds=[there, *reads],
            start_new_session=True,  # Ctrl-C, which a terminal sends to all, is not for it
        )
    except OSError:
        os.close(here)
        raise
    else:
        own = {file: os.dup(file) for file in files}
        keep_from_children(here, *own.values())
        for file in files:
            os.dup2(writes[file], file)
        atexit.register(_step_back, process, here, own)
    finally:
        for number in {there, *reads, *writes.values()}:
            os.close(number)


def _pipes(files: list[int]) -> tuple[dict[int, int], dict[int, int]]:
    """A pipe for each: which file it leads to, by where it is read, and where it is written, by file. Files that lead
    to one place share a pipe, which keeps the order."""
    reads: dict[int, int] = {}
    writes: dict[int, int] = {}
    known: dict[tuple[int, int], int] = {}
    for file in files:
        found = os.fstat(file)
        place = found.st_dev, found.st_ino
        if place not in known:
            there, known[place] = os.pipe()
            reads[there] = file
        writes[file] = known[place]
    return reads, writes


def _step_back(process: Any, here: int, own: dict[int, int]) -> None:
    """At the end of the command: what is printed from now on comes after what was passed on."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    for file, number in own.items():
        os.dup2(number, file)
    os.close(here)
    with suppress(Exception):  # the reader takes its time
        process.wait(_SECONDS)
