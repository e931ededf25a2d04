"""Processes that end with the one that started them, also if that is killed and cannot tell them to; and what a child
that somebody forks in them must not keep open."""

import os
import signal
import stat
import sys
import threading
import time
from contextlib import suppress

_SECONDS = 0.5  # between two looks whether the parent is still there
_PR_SET_PDEATHSIG = 1  # see prctl(2)


def end_with(parent: int, at_once: bool = True) -> None:
    """In a process that `parent` has started: end soon after it.

    On Linux the system sees to it `at_once`, also while a compiler keeps all threads from running. It does so when the
    thread that has started this process ends: where other threads of the parent go on, the process is to wait for them.
    """
    if at_once and sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):  # a C library that lacks it: a thread looks, too
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    threading.Thread(target=_watch, args=(parent,), name="parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_SECONDS)
    os._exit(1)


_kept: set[int] = set()


def keep_from_children(*files: int) -> None:
    """Let no child that is forked here hold these open. A reader of the other end waits for the last to close it."""
    if not _kept and hasattr(os, "register_at_fork"):  # there is no fork elsewhere
        os.register_at_fork(after_in_child=_let_go)
    _kept.update(files)


def _let_go() -> None:
    """In a child: pipes lead nowhere. What it prints goes to stderr where that is no pipe."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for file in _kept:
        with suppress(OSError):  # it was closed
            if stat.S_ISFIFO(os.fstat(file).st_mode) or stat.S_ISSOCK(os.fstat(file).st_mode):
                elsewhere = file == 1 and not stat.S_ISFIFO(os.fstat(2).st_mode)
                os.dup2(2 if elsewhere else nowhere, file)
    os.close(nowhere)
