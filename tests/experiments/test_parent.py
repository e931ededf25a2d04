"""Processes end with the one that started them, whatever they do; and children that policies fork hold nothing up."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace

import pytest

from forebay.experiments.execution.executor import Failure, in_processes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process that compiles ends a while later")

HOLDS = """
import ctypes, os, pathlib
pathlib.Path(os.environ["FOREBAY_TEST_PID"]).write_text(str(os.getpid()))
ctypes.PyDLL(None).sleep(120)  # as the compiler does, it lets no other thread run
"""
SWEEPS = """
import forebay.experiments.execution.executor as executor
def hold(task, tell):
    import holds
if __name__ == "__main__":
    import runs_them
    executor.in_processes(1, runs_them.hold)([1], print)
"""
COMPILES = """
from forebay._run import compilation
compilation._Worker().work(lambda parts=[("holds", "nothing")]: parts.pop(), None)
"""
FORKS = """
import os, pathlib, time
def fork():
    child = os.fork()
    if child == 0:
        time.sleep(120)
        os._exit(0)
    pathlib.Path(os.environ["FOREBAY_TEST_PID"]).write_text(str(child))

class Forks:
    def decide(self, view, act):
        if not hasattr(self, "done"):
            self.done = True
            fork()
        for job in view.queue:
            if act.fits(job):
                act.start(job)

class Dies:
    def decide(self, view, act):
        fork()
        os._exit(7)
"""


@pytest.fixture
def pid(tmp_path, monkeypatch):
    """Who has written its number; it is ended after the test."""
    path = tmp_path / "pid"
    monkeypatch.setenv("FOREBAY_TEST_PID", str(path))

    def pid():
        until = time.monotonic() + 120
        while not (path.exists() and path.read_text()) and time.monotonic() < until:
            time.sleep(0.05)
        return int(path.read_text())

    yield pid
    if path.exists():
        with suppress(ProcessLookupError):
            os.kill(pid(), signal.SIGKILL)


def is_there(number):
    """Whether a process runs: one that has ended may still be waited for."""
    try:
        with open(f"/proc/{number}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("code", [SWEEPS, COMPILES], ids=["a sweep's", "the compiler's"])
def test_a_process_ends_with_its_parent_though_no_thread_of_it_can_run(tmp_path, monkeypatch, pid, code):
    (tmp_path / "holds.py").write_text(HOLDS)
    (tmp_path / "runs_them.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]))
    parent = subprocess.Popen([sys.executable, tmp_path / "runs_them.py"], stderr=subprocess.DEVNULL)
    child = pid()
    assert is_there(child)
    parent.kill()
    parent.wait()
    until = time.monotonic() + 20
    while is_there(child) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_there(child)


def test_a_pipe_ends_with_the_run_though_a_policy_has_forked_a_child(tmp_path, pid):
    (tmp_path / "mine.py").write_text(FORKS)
    words = [sys.executable, "-c", "from forebay.cli.main import main; main()"]
    words += ["run", "table1", "--policy", f"{tmp_path / 'mine.py'}:Forks"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert "mean wait" in done.stdout
    assert is_there(pid())


def test_a_run_fails_with_its_process_though_a_child_of_that_lives_on(runs, tmp_path, pid):
    (tmp_path / "mine.py").write_text(FORKS)
    outcomes = {}
    run = replace(runs[0], name="Dies", policy=f"{tmp_path / 'mine.py'}:Dies")
    in_processes(1)([run], lambda run, outcome: outcomes.__setitem__(run.name, outcome))
    assert outcomes == {"Dies": Failure("its process died (exit code 7)", 1)}
    assert is_there(pid())
