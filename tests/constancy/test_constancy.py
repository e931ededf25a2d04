"""What runs gave before, they give now. A result that is meant to change: `make constancy`, and a line in CHANGELOG."""

import pytest

from constancy import runs

STORED = runs.stored()


@pytest.mark.parametrize(("name", "run"), [*runs.small()], ids=lambda value: value if isinstance(value, str) else "")
def test_small(name, run):
    assert runs.outcome(run) == STORED[name]


@pytest.mark.skipif(not runs.DATA, reason="FOREBAY_DATA names no folder with reference data")
@pytest.mark.parametrize(("name", "run"), [*runs.large()], ids=lambda value: value if isinstance(value, str) else "")
def test_large(name, run):
    assert runs.outcome(run) == STORED[name]


def test_nothing_is_stored_in_vain():
    """A run that no longer exists guards nothing."""
    names = {name for name, _ in [*runs.small(), *runs.large()]}
    assert names <= set(STORED)
    assert not runs.DATA or names == set(STORED)
