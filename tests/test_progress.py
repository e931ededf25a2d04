"""A bar for who asks for one and watches; a function for who wants to know; nothing for anybody else."""

import pytest

import forebay as fb

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
