"""Solvers beside the main thread: their answers, their errors, and Ctrl-C while they work."""

import hashlib
import os
import signal
import threading

import pytest

from forebay._bounds._aside import aside

pytestmark = pytest.mark.small


def test_answers_and_errors_are_those_of_the_work():
    assert aside(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        aside(lambda: 1 / 0)


def test_a_signal_does_not_wait_for_the_solver():
    """The work is one call of C that takes seconds, and lets other threads run."""
    begun, over = threading.Event(), []

    def work():
        begun.set()
        hashlib.pbkdf2_hmac("sha256", b"any", b"thing", 20_000_000)
        over.append(True)

    def interrupt():
        begun.wait()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        aside(work)
    assert not over
    thread.join()
