"""Whatever is wrong is told in one message, with its exit code, and leaves nothing behind."""

import os
import signal
import time

import pytest

BAD_INPUT = {
    "unknown policy": (["--policy", "fcfs-bbb"], "did you mean 'fcfs-bb'"),
    "unknown parameter": (["--policy", "fcfs-bb:dpth=3"], "did you mean 'depth'?"),
    "bad value": (["--policy", "fcfs-bb:depth=deep"], "whole number"),
    "class missing": (["--policy", "mine.py"], "mine.py:ClassName"),
    "file missing": (["--policy", "nowhere.py:Mine"], "no such file"),
    "unknown platform": (["--platform", "flt:nodes=4"], "did you mean 'flat'?"),
    "unknown preset key": (["--platform", "flat:nods=4"], "did you mean 'nodes'?"),
    "bad preset value": (["--platform", "flat:nodes=four"], "not a whole number"),
    "platform file missing": (["--platform", "nowhere.toml"], "nowhere.toml"),
    "unknown job model": (["--job-model", "aloc-only"], "did you mean 'alloc-only'"),
    "bad job model": (["--job-model", "alloc-only:kil=true"], "did you mean 'kill'?"),
    "empty window": (["--window", "5:1"], "its start must come before its end"),
    "no window": (["--window", "5"], "START:END"),
    "bad window": (["--window", "5 weeks:"], "not a unit of time"),
    "window without jobs": (["--window", "2d:"], "no job is submitted in it"),
    "no failures": (["--failures", ""], "names none; write mtbf=1h"),
    "unknown key of failures": (["--failures", "mtfb=1h"], "did you mean 'mtbf'?"),
    "bad time of failures": (["--failures", "mtbf=1 week"], "not a unit of time"),
    "mtbf of zero": (["--failures", "mtbf=0"], "mtbf is 0; give a time above 0"),
    "negative downtime": (["--failures", "mtbf=1h,downtime=-1"], "downtime is -1; give a time above 0"),
    "shape of zero": (["--failures", "mtbf=1h,shape=0"], "shape is 0; give a number from 0.1 up"),
    "two means": (["--failures", "mtbf=1h,node_mtbf=1d"], "give one of them, not both"),
    "two checkpoints": (["--failures", "mtbf=1h,checkpoint=1,checkpoint_bytes=1GB"], "give one of them, not both"),
    "negative checkpoint": (["--failures", "mtbf=1h,checkpoint=-1"], "checkpoint is -1"),
    "negative period": (["--failures", "mtbf=1h,checkpoint=1,period=-1"], "period is -1"),
    "no period": (["--failures", "checkpoint=300s"], "give a period, such as period=4h"),
    "recovery of nothing": (["--failures", "mtbf=1h,recovery=1"], "jobs write none"),
    "no attempt": (["--failures", "mtbf=1h,max_attempts=0"], "give a count from 1 up"),
    "no file system": (["--failures", "mtbf=1h,checkpoint_bytes=1GB"], "table1 has none; add a tier of kind pfs"),
    "trace missing": (["--failures", "nowhere.csv"], "nowhere.csv: no such file"),
    "trace missing, by its key": (["--failures", "trace=nowhere.csv"], "nowhere.csv: no such file"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input(forebay, tmp_path, case):
    options, words = BAD_INPUT[case]
    code, out, err = forebay("run", "table1", *options, "-o", tmp_path / "out")
    assert (code, out) == (2, "")
    assert err.startswith("forebay: ")
    assert words in " ".join(err.split())
    assert "Traceback" not in err
    assert not (tmp_path / "out").exists()


BAD_TRACES = {
    "empty": ("", "is empty; write a header node,down,up"),
    "no text": ("\udcff", "line 1: not text in UTF-8"),
    "no column": ("node,down\n0,1\n", "line 1: the column up is missing"),
    "no such node": ("node,down,up\n3,1,2\n4,2,3\n", "node 4, down at 2 s, does not exist: the machine has 4 nodes"),
    "up too soon": ("node,down,up\n0,2,1\n", "line 2: up is 1, not after down, 2"),
    "not in order": ("node,down,up\n0,2,3\n1,1,2\n", "line 3: down is 1, before the 2 of line 2"),
    "negative": ("node,down,up\n0,-2,3\n", "line 2: down is '-2'"),
    "not finite": ("node,down,up\n0,inf,\n", "line 2: down is 'inf'"),
    "not gone": ('{"timestamp": 1, "type": "machine_available", "resources": "0"}', "line 1: node 0 becomes available"),
    "no JSON": ('{"timestamp": 1', "line 1: not JSON"),
}


@pytest.mark.parametrize("command", ["run", "compare"])
@pytest.mark.parametrize("case", BAD_TRACES)
def test_bad_traces_of_failures(forebay, tmp_path, command, case):
    text, words = BAD_TRACES[case]
    (tmp_path / "trace").write_bytes(text.encode(errors="surrogateescape"))
    code, out, err = forebay(command, "table1", "--failures", tmp_path / "trace", "-o", tmp_path / "out")
    assert (code, out) == (2, "")
    assert err.startswith("forebay: ")
    assert words in " ".join(err.split())
    assert "trace" in err
    assert not (tmp_path / "out").exists()


def test_failures_and_a_trace_exclude_each_other(forebay, tmp_path):
    (tmp_path / "trace").write_text("node,down,up\n0,1,2\n")
    code, _, err = forebay("run", "table1", "--failures", f"{tmp_path / 'trace'},mtbf=1h")
    assert code == 2
    assert "trace says when nodes are down; give one of them, not both" in " ".join(err.split())


def test_a_workload_that_is_not_there(forebay, tmp_path):
    code, _, err = forebay("run", "tabel1", "-o", tmp_path / "out")
    assert code == 2
    assert "did you mean 'table1'?" in err
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written(forebay, tmp_path):
    (tmp_path / "file").write_text("")
    for arguments in (["run", "table1"], ["compare", "table1"], ["workload", "split", "default", 2]):
        code, _, err = forebay(*arguments, "-o", tmp_path / "file" / "out")
        assert code == 2
        assert "cannot write there" in err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_full_disk(forebay, tmp_path, monkeypatch):
    import polars as pl

    def full(*_, **__):
        raise pl.exceptions.ComputeError("No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    code, _, err = forebay("run", "table1", "-o", tmp_path / "out")
    assert code == 2
    assert "No space left on device" in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", ["fcfs,,filler", "depth=3", "fcfs,fcfs", "fcfs,fillr"])
def test_bad_lists_of_policies(forebay, tmp_path, text):
    code, out, err = forebay("compare", "table1", "--policies", text, "-o", tmp_path / "out")
    assert (code, out) == (2, "")
    assert err.startswith("forebay: ")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("Raises", "KeyError: '[bold]oops[/bold]'"),  # the traceback, and brackets as they are
        ("TooMuch", "needs 3 nodes while 2 are free"),
        ("Twice", "which it had started already in the same decision"),
    ],
)
def test_policies_that_break_the_rules(forebay, policies, tmp_path, policy, words):
    code, out, err = forebay("run", "table1", "--policy", f"{policies}:{policy}", "-o", tmp_path / "out" / "deep")
    assert (code, out) == (3, "")
    assert words in err
    assert not (tmp_path / "out").exists()


def test_an_unreadable_file(forebay, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied", "secret.swf")

    monkeypatch.setattr("forebay.workload.read", refuse)
    code, _, err = forebay("run", "secret.swf")
    assert (code, err) == (2, "forebay: secret.swf: Permission denied\n")


def test_a_bug_of_ours_is_called_one(forebay, monkeypatch):
    monkeypatch.setattr("forebay.workload.read", lambda *_, **__: 1 / 0)
    code, _, err = forebay("run", "table1")
    assert code == 1
    assert "ZeroDivisionError" in err
    assert "please report it" in err


def test_a_traceback_if_asked_for(forebay, monkeypatch):
    assert "Traceback" not in forebay("run", "nowhere").err
    monkeypatch.setenv("FOREBAY_DEBUG", "1")
    assert "Traceback" in forebay("run", "nowhere").err


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_closed_pipe_is_no_drama(start, form):
    reader, writer = os.pipe()
    os.close(reader)
    running = start("policies", "--format", form, stdout=writer)
    os.close(writer)
    assert running.communicate(timeout=60)[1] == ""
    assert running.returncode == 1


@pytest.fixture
def big(tmp_path):
    """A workload that keeps a simulator busy for some seconds: 150,000 jobs, slightly more than the machine takes."""
    lines = ["; MaxProcs: 1000\n"]
    for k in range(150_000):
        run, nodes = 10 + 7919 * k % 2000, 1 + 104_729 * k % 20
        lines.append(f"{k + 1} {10 * k} -1 {run} {nodes} -1 -1 {nodes} {2 * run} -1 1 1 1 -1 -1 -1 -1 -1\n")
    path = tmp_path / "big.swf"
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopping_leaves_nothing_behind(start, big, tmp_path, number, code):
    folder = tmp_path / "results" / "out"
    # Without "all" the queue is read job by job, which takes a minute.
    running = start("run", big, "--policy", "fcfs-easy:max_backfill=1000000", "-o", folder)
    give_up = time.monotonic() + 120
    while not folder.exists() and running.poll() is None and time.monotonic() < give_up:
        time.sleep(0.02)
    time.sleep(1)
    running.send_signal(number)
    out, err = running.communicate(timeout=120)
    assert running.returncode == code, err
    assert out == ""
    assert "Traceback" not in err
    assert ("forebay: stopped\n" in err) == (number == signal.SIGINT)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["big.swf"]


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="Python hears signals by itself")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), pytest.param(signal.SIGINT, 130, marks=pytest.mark.full)]
)
def test_a_kernel_that_searches_for_minutes_can_be_stopped(start, tmp_path, number, code):
    """3,000 jobs at once, planned together: the first decision alone would take longer than this test waits."""
    lines = ["; MaxProcs: 64\n"]
    for k in range(3000):
        run, nodes = 10 + 7919 * k % 2000, 1 + 104_729 * k % 20
        lines.append(f"{k + 1} 0 -1 {run} {nodes} -1 -1 {nodes} {2 * run} -1 1 1 1 -1 -1 -1 -1 -1\n")
    (tmp_path / "crowd.swf").write_text("".join(lines))
    running = start("run", tmp_path / "crowd.swf", "--policy", "plan-1:planned=all", "-o", tmp_path / "out")
    give_up = time.monotonic() + 120
    while not (tmp_path / "out").exists() and running.poll() is None and time.monotonic() < give_up:
        time.sleep(0.02)
    time.sleep(4)
    running.send_signal(number)
    _, err = running.communicate(timeout=30)
    assert running.returncode == code, err
