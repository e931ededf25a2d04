"""Processes: outcomes are those of one process; what fails or dies is told by name, and the rest goes on."""

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from forebay.experiments import sweep
from forebay.experiments.execution.executor import Failure, attempt, in_processes
from forebay.results import Record

POLICIES = """
import os, signal

class Raises:
    def decide(self, view, act):
        raise KeyError("oops")

class Dies:
    def decide(self, view, act):
        os.kill(os.getpid(), signal.SIGKILL)

class Leaves:
    def decide(self, view, act):
        os._exit(7)
"""


def test_whatever_happens_to_one_run_the_others_end(runs, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(POLICIES)
    bad = [replace(runs[0], name=name, policy=f"{path}:{name}") for name in ("Raises", "Dies", "Leaves")]
    good = [run for run in runs if not run.added][:2]
    sweep.warm_up(["fcfs"])
    outcomes = {}
    in_processes(2)([*bad, *good], lambda run, outcome: outcomes.__setitem__(run.name, outcome))
    assert isinstance(outcomes["Raises"], Failure)
    assert "KeyError" in outcomes["Raises"].text
    assert outcomes["Raises"].exit_code == 3
    assert outcomes["Dies"] == Failure("its process died (SIGKILL; is there enough memory? --jobs 1 needs less)", 1)
    assert outcomes["Leaves"] == Failure("its process died (exit code 7)", 1)
    for run in good:
        mine, here = outcomes[run.name], attempt(run)
        assert isinstance(mine, Record)
        assert mine.summary == pytest.approx(here.summary, rel=1e-12)  # sums of one thread, and of many
        assert {name: values.tolist() for name, values in mine.measures.items()} == {
            name: values.tolist() for name, values in here.measures.items()
        }


@pytest.mark.small
def test_a_bug_is_an_outcome_too(runs, monkeypatch):
    from forebay.experiments.execution import executor

    monkeypatch.setattr(executor, "perform", lambda run: 1 / 0)
    outcome = executor.attempt(runs[0])
    assert "ZeroDivisionError" in outcome.text
    assert outcome.exit_code == 1


def test_stopping_keeps_what_is_finished(runs, tmp_path):
    """Ctrl-C while an outcome is being written: it is written all the same, and no process stays."""
    from forebay.experiments.store import Store

    store, calls = Store(tmp_path), []

    def done(run, outcome):
        calls.append(run.name)
        if len(calls) == 1:
            raise KeyboardInterrupt
        store.save(run, outcome)

    with pytest.raises(KeyboardInterrupt):
        in_processes(1)(runs[:3], done)
    assert calls[0] == calls[1]
    assert any(run in store for run in runs[:3])


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux which signals a process blocks")
def test_ctrl_c_is_not_for_the_first_process_either():
    """In an interpreter that has started none before: the first one brings a tracker of resources with it."""
    code = (
        "from forebay.experiments.execution import executor\n"
        "process, _ = executor._start()\n"
        "print(open(f'/proc/{process.pid}/status').read())\n"
        "process.terminate()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    blocked = next(int(line.split()[1], 16) for line in done.stdout.splitlines() if line.startswith("SigBlk"))
    assert blocked >> (signal.SIGINT - 1) & 1
