"""Ctrl-C and SIGTERM where compiled code would go on for hours: within one decision, one job, or one instant."""

import os
import signal
import time

import pytest

from cases.elastisim import write

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="without the compiler, Python hears signals by itself"
)

COMPUTES = {"type": "cpu", "flops": 1e9, "computation_pattern": "all_ranks"}
TAKES_NO_TIME = {"type": "busy_wait", "delay": 0, "pattern": "uniform"}
BACKFILLS = """class Mine:
    def decide(self, view, act):
        while True:
            act.backfill(order=list(view.queue), depth=10**6)
"""


DROPS = """import ctypes, os, pathlib, signal, time
class Mine:
    def decide(self, view, act):
        pathlib.Path("begun").touch()
        def drops():  # what is raised here is lost
            os.kill(os.getpid(), signal.NUMBER)
            time.sleep(0.1)
        ctypes.CFUNCTYPE(None)(drops)()
        while True:
            time.sleep(0.01)
"""


def rounds(folder, task, kind="rigid"):
    """A job that takes hours."""
    sizes = {"num_nodes": 4} if kind == "rigid" else {"num_nodes_min": 2, "num_nodes_max": 4}
    model = {"phases": [{"tasks": [task], "iterations": 2**31 - 1, "scheduling_point": kind != "rigid"}] * 50}
    project = write(folder, {"type": kind, "submit_time": 0, "application_model": "model.json"} | sizes, model=model)
    return "elastisim", project, "--policy", "fcfs" if kind == "rigid" else "fcfs-malleable"


def crowd(folder, policy, n_jobs=4000):
    """Many jobs at once."""
    lines = ["; MaxProcs: 64\n"]
    for k in range(n_jobs):
        run, nodes = 10 + 7919 * k % 2000, 1 + 104_729 * k % 20
        lines.append(f"{k + 1} 0 -1 {run} {nodes} -1 -1 {nodes} {2 * run} -1 1 1 1 -1 -1 -1 -1 -1\n")
    (folder / "crowd.swf").write_text("".join(lines))
    return "run", folder / "crowd.swf", "--policy", policy


def in_python(folder):
    (folder / "mine.py").write_text(BACKFILLS)
    return crowd(folder, f"{folder / 'mine.py'}:Mine", 20_000)


LONG = {
    "one job": lambda folder: rounds(folder, COMPUTES),
    "one instant": lambda folder: rounds(folder, TAKES_NO_TIME),
    "one job with points": lambda folder: rounds(folder, COMPUTES, "malleable"),
    "one choice in a window": lambda folder: crowd(folder, "bbsched:generations=1000000000000"),
    "one decision in Python": in_python,
}


CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
STOPPED = [
    pytest.param(what, number, marks=[pytest.mark.full] * ((kind + turn) % 2), id=f"{what}-{number.name}")
    for kind, what in enumerate(LONG)
    for turn, number in enumerate(CODES)
]
"""Each kind by one signal, in turns; by both in the full run, since each keeps a core busy for seconds."""


@pytest.mark.parametrize(("what", "number"), STOPPED)
def test_a_run_of_hours_can_be_stopped(start, tmp_path, what, number):
    (tmp_path / "files").mkdir()
    words = LONG[what](tmp_path / "files")
    running = start(*words, "-o", tmp_path / "results" / "out")
    give_up = time.monotonic() + 120
    while not (tmp_path / "results" / "out").exists() and running.poll() is None and time.monotonic() < give_up:
        time.sleep(0.02)
    time.sleep(3)
    running.send_signal(number)
    try:
        out, err = running.communicate(timeout=60)
    finally:
        running.kill()
    assert (running.returncode, out) == (CODES[number], ""), err
    assert "Traceback" not in err
    assert ("forebay: stopped\n" in err) == (number == signal.SIGINT)
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_that_comes_where_nothing_can_be_raised_is_not_lost(start, tmp_path, name, code):
    """As while a compiler calls Python."""
    if signal.getsignal(getattr(signal, name)) == signal.SIG_IGN:
        pytest.skip(f"{name} is ignored by whatever started the tests, as under nohup, and so by runs")
    (tmp_path / "mine.py").write_text(DROPS.replace("NUMBER", name))
    running = start("run", "table1", "--policy", f"{tmp_path / 'mine.py'}:Mine")
    try:
        out, err = running.communicate(timeout=60)
    finally:
        running.kill()
    assert (running.returncode, out) == (code, ""), err
    assert (tmp_path / "begun").exists()
    assert "Traceback" not in err
