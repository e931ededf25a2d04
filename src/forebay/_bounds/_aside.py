"""Solvers in a thread of their own: what is written in C hears of no signal, and keeps Ctrl-C waiting for minutes."""

import threading
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")


def aside(work: Callable[[], Answer]) -> Answer:
    """What `work` returns or raises. Where a signal ends the wait, the solver goes on, unheard, until its
    time is up or the process ends."""
    answers: list[Answer] = []
    errors: list[BaseException] = []
    done = threading.Event()

    def solve() -> None:
        try:
            answers.append(work())
        except BaseException as error:
            errors.append(error)
        done.set()

    threading.Thread(target=solve, name="solver", daemon=True).start()
    while not done.wait(0.1):  # a signal may come to another thread, which does not wake this one
        pass
    if errors:
        raise errors[0]
    return answers[0]
