"""Processes end with the one that started them, whatever they do; and what policies fork or start holds nothing up."""

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


STARTS = """
import os, subprocess
def start(way):
    words = ["sh", "-c", "echo from a program; echo complains >&2; echo $$ > $FOREBAY_TEST_PID; exec sleep 300"]
    if way == "a shell":
        os.system("sh -c '" + words[2] + "' &")
    elif way == "spawned":
        os.posix_spawn("/bin/sh", words, os.environ)
    else:
        subprocess.Popen(words)
    while not os.path.exists(os.environ["FOREBAY_TEST_PID"]):
        pass

class Starts:
    def decide(self, view, act):
        if not hasattr(self, "done"):
            self.done = True
            print("from the policy", flush=True)
            start(os.environ["FOREBAY_TEST_WAY"])
        for job in view.queue:
            if act.fits(job):
                act.start(job)

class Dies(Starts):
    def decide(self, view, act):
        start("a process")
        os._exit(7)
"""


def starting(tmp_path, name="Starts", then=""):
    """A run in which a policy starts a program, in a shell that does something else behind it."""
    (tmp_path / "mine.py").write_text(STARTS)
    words = f"-c 'from forebay.cli.main import main; main()' run table1 --policy {tmp_path / 'mine.py'}:{name}"
    return f"{sys.executable} {words} -o {tmp_path / 'out'}; {then}"


@pytest.mark.parametrize("way", ["a process", "a shell", "spawned"])
def test_a_pipe_ends_with_the_run_though_a_policy_has_started_a_program(tmp_path, monkeypatch, pid, way):
    monkeypatch.setenv("FOREBAY_TEST_WAY", way)
    words = ["sh", "-c", starting(tmp_path, then="echo and then")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=240, check=True)
    lines = done.stdout.splitlines()
    assert lines[:2] == ["from the policy", "from a program"]
    assert any(line.startswith("mean wait") for line in lines)
    assert lines[-1] == "and then"
    assert "complains" in done.stderr
    assert is_there(pid())


def test_lines_of_two_streams_in_one_pipe_keep_their_order(tmp_path, monkeypatch, pid):
    monkeypatch.setenv("FOREBAY_TEST_WAY", "a process")
    words = ["sh", "-c", f"({starting(tmp_path)}) 2>&1 | head -3"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=240, check=True)
    assert done.stdout.splitlines() == ["from the policy", "from a program", "complains"]
    assert is_there(pid())


def test_the_pipe_ends_with_a_process_that_dies_too(tmp_path, pid):
    words = ["sh", "-c", starting(tmp_path, "Dies", then="exit $?")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stdout) == (7, "from a program\n")
    assert is_there(pid())


def test_a_run_fails_with_its_process_though_a_child_of_that_lives_on(runs, tmp_path, pid):
    (tmp_path / "mine.py").write_text(FORKS)
    outcomes = {}
    run = replace(runs[0], name="Dies", policy=f"{tmp_path / 'mine.py'}:Dies")
    in_processes(1)([run], lambda run, outcome: outcomes.__setitem__(run.name, outcome))
    assert outcomes == {"Dies": Failure("its process died (exit code 7)", 1)}
    assert is_there(pid())
