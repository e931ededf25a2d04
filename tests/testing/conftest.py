"""How far cases are made smaller."""

import sys

import pytest


@pytest.fixture(autouse=True)
def few_tries(request, monkeypatch):
    """A fifth of the tries that users get, each of which is a run or three: here few jobs are left all the same."""
    if "all_tries" not in request.fixturenames:
        monkeypatch.setattr(sys.modules["forebay.testing.shrink"], "MAX_TRIES", 100)


@pytest.fixture
def all_tries():
    """As many as users get."""
