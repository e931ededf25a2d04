"""The log and the placements, however small their buffers are."""

import gc
import os
import signal

import pytest

import forebay
from cases import pooled, transfers
from constancy.runs import Dice, fingerprint
from forebay.engine import truth
from forebay.engine.driver import recorder

pytestmark = pytest.mark.small


@pytest.mark.parametrize("rows", [1, 2, 7])
def test_a_full_buffer_is_emptied_in_the_middle_of_a_step(rows, monkeypatch):
    """One start writes several rows and takes several pieces of nodes: nothing is lost between them."""
    runs = [(pooled.make(3), "fcfs-bb", {}), (transfers.make(2), "filler", {"job_model": "io-aware"})]
    runs.append((pooled.make(9), Dice(), {"seed": 4}))
    whole = [forebay.simulate(*made, policy, **options) for made, policy, options in runs]
    monkeypatch.setattr(truth, "BUFFER", rows)
    for (made, policy, options), expected in zip(runs, whole, strict=True):
        found = forebay.simulate(*made, policy, **options)
        assert fingerprint(found) == fingerprint(expected)
        assert found.facts["log_sha256"] == expected.facts["log_sha256"]
        assert found.placements.equals(expected.placements)


def test_what_emptying_raises_ends_the_run(monkeypatch):
    """It must neither be lost nor leave a buffer full."""

    def fails(self, rows):
        raise MemoryError("no room")

    monkeypatch.setattr(truth, "BUFFER", 3)
    monkeypatch.setattr(recorder.Rows, "add", fails)
    with pytest.raises(MemoryError, match="no room"):
        forebay.simulate(*pooled.make(3), "fcfs-bb")


def test_a_signal_is_handled_where_the_loop_looks(monkeypatch):
    """Python would run the handler as soon as it empties a buffer, where what it raises is lost."""
    emptied = []
    drain = recorder.Recorder.drain

    def interrupted(self):
        if not emptied:
            os.kill(os.getpid(), signal.SIGINT)
        emptied.append(len(emptied))
        drain(self)

    monkeypatch.setattr(truth, "BUFFER", 3)
    monkeypatch.setattr(recorder.Recorder, "drain", interrupted)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        forebay.simulate(*pooled.make(3), "fcfs-bb")
    assert len(emptied) == 1
    assert signal.getsignal(signal.SIGINT) is before


class Spins:
    """A policy that never decides."""

    def decide(self, view, act):
        os.kill(os.getpid(), signal.SIGINT)
        while True:
            pass


def test_a_policy_in_python_can_be_stopped_at_once():
    with pytest.raises(KeyboardInterrupt):
        forebay.simulate(*pooled.make(3), Spins())


@pytest.mark.parametrize("policy", ["fcfs-bb", Dice()], ids=["compiled", "python"])
def test_the_tables_of_a_run_go_when_it_is_over(policy):
    """Not when the garbage collector comes by, which large tables alone do not call: a hundred runs took 10 GB."""
    made = pooled.make(3)
    forebay.simulate(*made, policy)
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        forebay.simulate(*made, policy)
        gc.collect()
        left = {type(thing).__name__ for thing in gc.garbage}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert not left & {
        "State",
        "Truth",
        "Stepper",
        "Recorder",
        "Record",
        "Callback",
        "View",
        "ndarray",
        "CFunctionType",
    }
