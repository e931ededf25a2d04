"""Whole runs on degenerate inputs: no refusal, no exception, nothing oversubscribed, everything ends."""

import resource

import pytest

from fuzz import runs

SHORT, PIECE = 240, 1000


def check(seeds):
    """The first breach among some cases, made small."""
    for seed in seeds:
        case = runs.draw(seed)
        if runs.breach(case):
            small = runs.shrunk(case)
            pytest.fail(f"seed {seed}: {runs.breach(small)}\n{small.text()}")


@pytest.mark.parametrize("part", range(8))
def test_some(part):
    check(range(part, SHORT, 8))


@pytest.mark.full
@pytest.mark.parametrize("first", range(0, 100_000, PIECE))
def test_very_many(first):
    check(range(first, first + PIECE))
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB at most")


def test_a_breach_is_found_and_made_small(monkeypatch):
    """A check that cannot fail checks nothing: here every job that asks for the whole machine is one."""

    def broken(case):
        return next((f"job {job['id']}" for job in case.jobs if job["nodes"] == 4), None)

    monkeypatch.setattr(runs, "breach", broken)
    case = next(case for case in map(runs.draw, range(1000)) if broken(case) and len(case.jobs) > 3)
    small = runs.shrunk(case)
    assert len(small.jobs) == 1
    assert small.jobs[0]["nodes"] == 4
    assert str(small.jobs[0]["id"]) in small.text()
