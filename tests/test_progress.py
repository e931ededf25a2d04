"""A bar for who asks for one and watches; a function for who wants to know; nothing for anybody else."""

import warnings

import pytest

import forebay as fb
from forebay._support import progress as _progress
from forebay.errors import LongRunWarning

pytestmark = pytest.mark.small


@pytest.mark.parametrize("progress", [None, False])
def test_nothing_by_default(progress, capfd, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    fb.simulate("table1", progress=progress)
    assert capfd.readouterr() == ("", "")


def test_a_bar_in_a_terminal(capfd, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # for rich: this is one
    fb.simulate("table1", policy="fcfs-easy", progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "fcfs-easy" in err
    assert "8 jobs" in err


def test_no_bar_in_a_file(capfd, monkeypatch):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    fb.simulate("table1", progress=True)
    assert capfd.readouterr() == ("", "")


def test_a_function_of_ones_own():
    seen = []
    fb.simulate("table1", progress=lambda ended, jobs: seen.append((ended, jobs)))
    assert seen[-1] == (8, 8)


def told(monkeypatch, *seen):
    """What is said of a run without a bar of which so many of 1,000 jobs have ended after so many seconds."""
    now = [0.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    with warnings.catch_warnings(record=True) as caught, _progress.following(None, "plan-2", 1000) as call:
        warnings.simplefilter("always")
        for now[0], ended in seen:
            call(ended, 1000)
    assert all(one.category is LongRunWarning for one in caught)
    return [str(one.message).split(";")[0] for one in caught]


def test_a_run_that_will_take_long_says_so_once(monkeypatch):
    slow = ["plan-2: 100 of 1,000 jobs have ended in 20 s, about 3 min left"]
    assert told(monkeypatch, (5.0, 10), (20.0, 100), (40.0, 200)) == slow
    assert told(monkeypatch, (20.0, 500), (40.0, 999)) == []
    assert told(monkeypatch, (20.0, 0)) == ["plan-2: 0 of 1,000 jobs have ended in 20 s, no estimate yet"]
