"""For every test: the same examples of hypothesis each time, no metrics of others, and a Ctrl-C that is not ignored."""

import os
import signal
import sys

import pytest
from hypothesis import settings

examples = 5 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 10  # by how slow kernels are
settings.register_profile("forebay", derandomize=True, deadline=None, database=None, max_examples=examples)
settings.register_profile("full", settings.get_profile("forebay"), max_examples=100)  # for `make check-full`
settings.load_profile("forebay")
# Of compiled code the whole: tests of the smaller variants, which must do the same, ask for them by name.
os.environ.setdefault("FOREBAY_VARIANT", "full")


def pytest_configure():
    """A shell that runs tests in the background has them ignore SIGINT, and whoever sends it waits for ever."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def runs_here(monkeypatch):
    """Sweeps carry out their runs in this process: one of their own takes two seconds to start."""
    from forebay.experiments.execution import executor

    monkeypatch.setattr(executor, "in_processes", lambda count: executor.here)


@pytest.fixture(autouse=True)
def no_metrics_of_other_tests():
    """What a test defines by `@fb.metric` this process would know for ever."""
    yield
    if registry := sys.modules.get("forebay.metrics._own.registry"):
        registry.forget()
