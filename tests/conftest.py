"""For every test: the same examples of hypothesis each time, and a Ctrl-C that is not ignored."""

import os
import signal

from hypothesis import settings

slow = os.environ.get("NUMBA_DISABLE_JIT") == "1" or os.environ.get("NUMBA_BOUNDSCHECK") == "1"
settings.register_profile("forebay", derandomize=True, deadline=None, database=None, max_examples=10 if slow else 50)
settings.load_profile("forebay")


def pytest_configure():
    """A shell that runs tests in the background has them ignore SIGINT, and whoever sends it waits for ever."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
