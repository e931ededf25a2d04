"""The command line as its users meet it: arguments in; exit code, stdout and stderr out."""

import os
import signal
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from forebay._run.compilation import prepare
from forebay.cli._render.printing import hush
from forebay.cli.main import main
from forebay.cli.warmup import InOrder
from forebay.policies import load
from forebay.workload import read, write
from forebay.workload.operations import first

Outcome = namedtuple("Outcome", "code out err")

SHELL = (sys.executable, "-c", "from forebay.cli.main import main; main()")


@pytest.fixture(scope="session")
def compiled():
    """Everything compiled beforehand, so that no notice of it stands between what tests look for."""
    prepare([load("fcfs"), InOrder()])


@pytest.fixture(autouse=True)
def no_terminal_width(monkeypatch):
    """pytest-xdist sets COLUMNS for its workers; a pipe that nobody watches has none."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def forebay(capsys, compiled):
    """A command run in this process."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}

    def command(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        return Outcome(left.value.code, *capsys.readouterr())

    yield command
    hush(False)  # what one test wants of its output is not for the next
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def shell(tmp_path, compiled):
    """A command run in a process of its own, in an empty folder."""

    def command(*arguments, **environment):
        done = subprocess.run(
            [*SHELL, *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=os.environ | environment,
            timeout=300,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return command


@pytest.fixture
def start(tmp_path, compiled):
    """A command started in a process of its own, still running."""

    def command(*arguments, stdout=subprocess.PIPE):
        words = [*SHELL, *map(str, arguments)]
        return subprocess.Popen(words, stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=tmp_path)

    return command


@pytest.fixture
def data() -> Path:
    folder = os.environ.get("FOREBAY_DATA")
    if not folder:
        pytest.skip("FOREBAY_DATA does not name the folder of real traces")
    return Path(folder)


@pytest.fixture
def trace(tmp_path):
    """An SWF file of (submit, run time, processors, walltime) for a machine of 4."""

    def write(*jobs, header="; MaxProcs: 4\n"):
        lines = [
            f"{number} {submit} -1 {run} {nodes} -1 -1 {nodes} {asked} -1 1 1 1 -1 -1 -1 -1 -1\n"
            for number, (submit, run, nodes, asked) in enumerate(jobs, 1)
        ]
        path = tmp_path / "trace.swf"
        path.write_text(header + "".join(lines))
        return path

    return write


@pytest.fixture(scope="session")
def hundred(tmp_path_factory):
    """The first jobs of the embedded workload, with all that they stage: every policy is quick on them."""
    path = tmp_path_factory.mktemp("jobs") / "hundred.parquet.zip"
    write(first(read("default"), 100), path)
    return path


@pytest.fixture
def policies(tmp_path):
    """A file of policies: one in order, and some that break the rules."""
    path = tmp_path / "mine.py"
    path.write_text(
        """
class InOrder:
    def __init__(self, patience: int = 3):
        self.patience = patience
    def decide(self, view, act):
        print("deciding")
        for job in view.queue:
            if not act.fits(job):
                return
            act.start(job)

class Raises:
    def decide(self, view, act):
        raise KeyError("[bold]oops[/bold]")

class TooMuch:
    def decide(self, view, act):
        for job in view.queue:
            act.start(job)

class Twice:
    def decide(self, view, act):
        for job in view.queue:
            if act.fits(job):
                act.start(job)
                act.start(job)
"""
    )
    return path
