"""A bar for who watches, lines for a file, and nothing where nothing is wanted."""

import io
import os
import pty
import subprocess

import pytest

from forebay.cli._render import printing, progress

from .conftest import SHELL


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests move."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


@pytest.mark.small
def test_lines_come_late_and_seldom(clock, capsys):
    with progress.progress(1000) as watch:
        for second in range(60):
            clock[0] = float(second)
            watch.at("fcfs", 10 * second)
            if second in (3, 20):
                watch.line(f"line {second}")
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "fcfs: 150 of 1,000 jobs, 15 s, about 1.42 min left",
        "line 20",
        "fcfs: 350 of 1,000 jobs, 35 s, about 1.08 min left",
        "fcfs: 500 of 1,000 jobs, 50 s, about 50 s left",
    ]


@pytest.mark.small
def test_quiet_is_quiet_until_told_otherwise(clock, capsys):
    printing.hush(True)
    try:
        with progress.progress(10) as watch:
            clock[0] = 100.0
            watch.at("fcfs", 5)
            watch.line("fcfs done")
        printing.message("a message")
        assert capsys.readouterr() == ("", "")
    finally:
        printing.hush(False)
    printing.message("a message")
    assert capsys.readouterr().err == "a message\n"


@pytest.mark.parametrize("command", ["run", "compare", "study", "warmup"])
def test_commands_that_take_long_can_be_quiet(forebay, command):
    assert "-q" in forebay(command, "--help").out


def test_quiet_commands_still_tell_errors(forebay, tmp_path):
    assert forebay("run", "tabel1", "-q").err.startswith("forebay: tabel1: no such file")
    code, out, err = forebay("run", "table1", "-q")
    assert (code, err) == (0, "")
    assert "mean wait" in out


@pytest.mark.parametrize("quiet", [False, True])
def test_on_a_terminal_there_is_a_bar_unless_it_is_to_be_quiet(compiled, tmp_path, quiet):
    ours, theirs = pty.openpty()
    words = [*SHELL, "run", "default", *(["-q"] if quiet else [])]
    running = subprocess.Popen(words, stderr=theirs, stdout=subprocess.DEVNULL, cwd=tmp_path)
    os.close(theirs)
    seen = io.BytesIO()
    try:
        while chunk := os.read(ours, 4096):
            seen.write(chunk)
    except OSError:  # closed by the other side
        pass
    assert running.wait(timeout=60) == 0
    assert (seen.getvalue() == b"") == quiet
    assert (b"jobs" in seen.getvalue()) != quiet
