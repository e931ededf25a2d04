"""Signals in a run: only a handler that raises ends it, and others that listen for signals hear of them."""

import os
import signal
import threading
import time
from contextlib import contextmanager

import pytest

import forebay as fb
from cases import pooled
from forebay.workload.models import generate


@contextmanager
def handled_by(number, handler):
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


@contextmanager
def sent_again_and_again(number):
    """A signal every millisecond."""
    over = threading.Event()

    def send():
        while not over.wait(0.001):
            os.kill(os.getpid(), number)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def sha256(policy):
    """Of a run with some hundred plans, each of thousands of orders."""
    jobs = generate("lublin99:jobs=150,nodes=32", 1)
    return fb.simulate(jobs, "flat:nodes=32", policy, progress=False).log.hash_rows().sum()


def test_a_handler_that_returns_changes_nothing():
    """A search that ended early would leave another plan."""
    before, heard = sha256("plan-2"), []
    with handled_by(signal.SIGTERM, lambda *_: heard.append(1)), sent_again_and_again(signal.SIGTERM):
        for _ in range(3):
            assert sha256("plan-2") == before
    assert heard


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_other_signals_do_as_ever():
    """What their handlers raise ends the run; not if it comes just as compiled code calls Python, which drops it."""

    def late(*_):
        raise TimeoutError("too late")

    class Waits:
        def decide(self, view, act):
            time.sleep(0.01)
            act.wake(view.now + 1)

    with handled_by(signal.SIGALRM, late):
        # Every second again: the run would never end if the first was dropped.
        signal.setitimer(signal.ITIMER_REAL, 0.2, 1.0)
        try:
            with pytest.raises((TimeoutError, fb.errors.PolicyRaisedError), match="too late"):
                fb.simulate(*pooled.make(3), Waits(), progress=False)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


def test_who_listened_before_hears_of_signals_too():
    """As asyncio does, by the file that Python writes them to."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    os.set_blocking(reader, False)
    before = signal.set_wakeup_fd(writer)
    try:
        with handled_by(signal.SIGTERM, lambda *_: None), sent_again_and_again(signal.SIGTERM):
            sha256("plan-2")
        with handled_by(signal.SIGUSR1, lambda *_: None), sent_again_and_again(signal.SIGUSR1):
            sha256("plan-2")
        assert signal.set_wakeup_fd(before) == writer
        assert set(os.read(reader, 100_000)) == {signal.SIGTERM, signal.SIGUSR1}
    finally:
        signal.set_wakeup_fd(before)
        os.close(reader)
        os.close(writer)


def test_in_another_thread_nobody_is_disturbed():
    found = []
    with handled_by(signal.SIGTERM, lambda *_: None), sent_again_and_again(signal.SIGTERM):
        thread = threading.Thread(target=lambda: found.append(sha256("plan-2")))
        thread.start()
        thread.join()
    assert found == [sha256("plan-2")]
