"""`forebay study`: listed, refused with a way out, stopped and gone on with."""

import json
import os
import signal
import subprocess
import time

import pytest

from .conftest import SHELL


def test_alone_it_lists_the_studies(forebay):
    code, out, _ = forebay("study")
    assert code == 0
    assert "kopanski2021" in out
    assert "kopanski2021" in [one["name"] for one in json.loads(forebay("study", "--format", "json").out)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["kopanski2012"], "unknown study 'kopanski2012': did you mean 'kopanski2021'?"),
        (["kopanski2021", "--policies", "fcfs-bbb"], "unknown policy 'fcfs-bbb'"),
        (["kopanski2021", "--policies", "fcfs", "--section", "prats"], "unknown section 'prats': did you mean 'parts'"),
        (["kopanski2021", "--policies", "fcfs", "--parts", "3,x"], "--parts '3,x' is not a list of whole numbers"),
        (["kopanski2021", "--quick", "--policies", "fcfs", "--data", "nowhere"], "--data nowhere: no such folder"),
        (["kopanski2021", "--seeds", "0"], "--seeds"),
        (["kopanski2021", "--quick", "--fail-if", "much"], "--fail-if 'much' is no condition"),
    ],
)
def test_slips_are_refused_before_anything_is_written(forebay, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    code, out, err = forebay("study", *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert list(tmp_path.iterdir()) == []


def test_runs_of_another_version_are_refused(forebay, tmp_path):
    (tmp_path / "manifest.json").write_text('{"forebay": "0.0.1", "code": "x"}')
    code, _, err = forebay("study", "kopanski2021", "--policies", "fcfs", "--quick", "-o", tmp_path)
    assert code == 2
    assert "made by forebay 0.0.1" in err
    assert "--fresh" in err


def contents(folder):
    """Every file that a study has made of its runs."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.parent.name != "runs"
    }


def test_stopped_and_gone_on_with_it_is_the_same_to_the_byte(compiled, tmp_path):
    """Ctrl-C, as a terminal sends it: to the command and all its processes."""
    words = ["study", "kopanski2021", "--quick", "--parts", "3", "--policies", "fcfs-bb,filler"]
    environment = {key: value for key, value in os.environ.items() if key != "FOREBAY_DATA"}

    def start(folder, jobs):
        command = [*SHELL, *words, "-o", str(folder), "--jobs", str(jobs), "--format", "json"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(command, env=environment, start_new_session=True, **pipes)

    broken, whole = tmp_path / "broken", tmp_path / "whole"
    first = start(broken, 1)
    until = time.monotonic() + 120
    while len(list((broken / "runs").glob("*.json"))) < 2 and first.poll() is None and time.monotonic() < until:
        time.sleep(0.005)
    os.killpg(first.pid, signal.SIGINT)
    out, err = first.communicate(timeout=60)
    assert first.returncode == 130, err
    assert out == ""
    assert "the same command goes on from there" in err
    assert "Traceback" not in err
    kept = {path.name: path.stat().st_mtime_ns for path in (broken / "runs").glob("*.json")}
    assert 2 <= len(kept) < 12
    assert not [name for name in kept if name.endswith(".tmp")]
    assert sorted(contents(broken)) == ["manifest.json"]

    out, err = start(broken, 2).communicate(timeout=300)
    document = json.loads(out)
    assert document["runs"] == {"total": 12, "found": len(kept), "made": 12 - len(kept)}
    assert "made up by models" in document["notes"][0]
    assert kept.items() <= {path.name: path.stat().st_mtime_ns for path in (broken / "runs").iterdir()}.items()
    out, _ = start(whole, 1).communicate(timeout=300)
    assert json.loads(out)["runs"]["found"] == 0
    assert contents(broken) == contents(whole)
    assert {"report.md", "tables/runs.csv", "tables/parts.csv"} <= set(contents(whole))

    words += ["--fail-if", "mean_wait > 1s", "--fail-if", "mean_wait < -99%"]
    again = start(whole, 1)
    out, err = again.communicate(timeout=300)
    assert again.returncode == 1
    assert json.loads(out)["runs"]["found"] == 12
    assert "a condition of --fail-if holds" in err
    assert "mean_wait > 1s: fcfs-bb" in err
    assert "-99%" not in err
