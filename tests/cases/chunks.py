"""How many pieces of a long comparison every test run does, and how many only `make check-full`."""

import pytest


def chunks(now, in_all):
    """0, 1, 2, ...: those from `now` on are for the full run."""
    return [*range(now), *(pytest.param(chunk, marks=pytest.mark.full) for chunk in range(now, in_all))]
