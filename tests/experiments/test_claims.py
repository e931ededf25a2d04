"""One process a run: a claim is one's alone while its process lives, and another's once it is gone."""

import json
import os
import subprocess
import sys
import time

import pytest

from forebay.errors import InputError
from forebay.experiments import claims as module
from forebay.experiments import sweep
from forebay.experiments.claims import Claims
from forebay.experiments.store import Store

pytestmark = pytest.mark.small

TAKE = """
import sys, time
from pathlib import Path
from forebay.experiments.claims import Claims
mine = Claims(Path(sys.argv[1]))
print([mine.take(key) for key in sys.argv[2:]], flush=True)
time.sleep(60)
"""


@pytest.fixture
def other(tmp_path):
    """Another process that takes claims and holds them."""
    words = [sys.executable, "-c", TAKE, str(tmp_path), "a", "b"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "[True, True]\n"
        yield process
        process.kill()


def test_a_claim_is_of_one_process_until_that_is_gone(tmp_path, other):
    mine = Claims(tmp_path)
    assert [mine.take(key) for key in "abc"] == [False, False, True]
    assert mine.others() == 2
    other.kill()
    other.wait()
    assert mine.others() == 0
    assert mine.take("a")
    assert not Claims(tmp_path).take("a")
    mine.release("a")
    assert Claims(tmp_path).take("a")
    assert json.loads((tmp_path / "a.claim").read_text())["pid"] == os.getpid()


def test_claims_of_another_host_count_while_they_are_touched(tmp_path):
    place = tmp_path / "a.claim"
    place.write_text(json.dumps({"host": "elsewhere", "space": "", "pid": 1, "begun": "1", "time": 0}))
    assert not Claims(tmp_path).take("a")
    long_ago = time.time() - 2 * module.LOST
    os.utime(place, (long_ago, long_ago))
    assert Claims(tmp_path).take("a")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.claim"]


def test_claims_are_released_however_the_work_ends(tmp_path):
    def stopped():
        with Claims(tmp_path).holding() as mine:
            assert mine.take("a")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert list(tmp_path.iterdir()) == []


def test_what_another_carries_out_is_waited_for(runs, here, tmp_path, monkeypatch):
    """And is not carried out twice: it comes into the store from elsewhere."""
    store, elsewhere = Store(tmp_path), Store(tmp_path)
    records = {}
    here()(runs, lambda run, outcome: records.__setitem__(run.key, outcome))
    theirs = elsewhere.claims()
    assert theirs.take(runs[0].key)

    def rest(seconds):
        elsewhere.save(runs[0], records[runs[0].key])
        theirs.release(runs[0].key)

    monkeypatch.setattr(sweep.time, "sleep", rest)
    made = []

    def execute(tasks, done):
        here()(tasks, lambda run, outcome: (made.append(run.key), done(run, outcome)))

    sweep.carry_out(runs, store, execute)
    assert sorted(made) == sorted(run.key for run in runs[1:])
    assert all(run in store for run in runs)
    assert list(store.runs.glob("*.claim")) == []


def test_runs_that_are_under_way_are_not_forgotten(tmp_path, monkeypatch, runs):
    store = Store(tmp_path)
    monkeypatch.setattr(module, "_begun", str)
    assert store.claims().take(runs[0].key)
    with pytest.raises(InputError, match="are being carried out there"):
        Store(tmp_path, fresh=True)
