"""Odd widths, and terminals that are not there."""

import os
import subprocess
from pathlib import Path

import pytest

from cli.conftest import SHELL


@pytest.mark.parametrize("columns", ["0", "-5", "wide", "", "99999999999999999999"])
def test_a_width_that_is_none_counts_as_unset(forebay, columns, monkeypatch):
    unset = forebay("policies")
    monkeypatch.setenv("COLUMNS", columns)
    assert forebay("policies") == unset


def test_a_width_counts(shell):
    lines = shell("policies", COLUMNS="50").out.split("\n")
    assert max(map(len, lines)) <= 50


def run(closed, *arguments, folder, unbuffered=""):
    words = " ".join(f"'{word}'" for word in [*SHELL, *map(str, arguments)])
    return subprocess.run(
        ["sh", "-c", f"{words} {closed}"], capture_output=True, text=True, cwd=folder, timeout=300, check=False,
        env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip


def test_a_closed_stdout_is_told_on_stderr(tmp_path, compiled):
    done = run(">&-", "run", "table1", folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "forebay: stdout is closed: the answer went nowhere\n"


def test_a_closed_stderr_takes_nothing_from_the_answer(tmp_path, compiled):
    whole = run("", "run", "table1", folder=tmp_path)
    done = run("2>&-", "run", "table1", folder=tmp_path)
    assert done.returncode == whole.returncode == 0
    assert len(done.stdout.split("\n")) == len(whole.stdout.split("\n"))


@pytest.mark.parametrize("closed", ["2>&-", pytest.param(">&- 2>&-", marks=pytest.mark.full), "<&- >&- 2>&-"])
def test_errors_keep_their_exit_code(tmp_path, compiled, closed):
    assert run(closed, "run", "tabel1", folder=tmp_path).returncode == 2
    assert run(closed, "run", "table1", "-o", "out", folder=tmp_path).returncode == (1 if ">&- 2" in closed else 0)
    assert {path.name for path in Path(tmp_path, "out").iterdir()} >= {"run.json", "jobs.parquet"}
    assert not any(b"forebay:" in path.read_bytes() for path in Path(tmp_path, "out").iterdir())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_behind_stdout(tmp_path, compiled, unbuffered):
    done = run(">/dev/full", "run", "table1", folder=tmp_path, unbuffered=unbuffered)
    assert done.returncode not in (0, 120)
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("forebay: ")
