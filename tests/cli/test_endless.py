"""Pipes and devices in place of files are refused at once, and so are files too large to be what they should be."""

import os
import signal

import pytest

import forebay as fb
from forebay._support import reading

pytestmark = pytest.mark.small

SPEC = 'workloads = ["table1"]\npolicies = ["fcfs"]\n'


@pytest.fixture(params=["pipe", "device"])
def endless(request, tmp_path, monkeypatch):
    """A pipe that nobody writes to, or a device, under a name. Whoever waits for the pipe is woken, and fails.

    The device does end: to read one that does not would take all memory before anybody notices.
    """

    def wake(*_):
        raise AssertionError("still waiting for the pipe")

    before = signal.signal(signal.SIGALRM, wake)
    signal.alarm(60)

    def make(name):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        os.mkfifo(path) if request.param == "pipe" else path.symlink_to("/dev/null")
        return path

    make.kind = request.param
    monkeypatch.chdir(tmp_path)
    yield make
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("s.toml", ["sweep", "PATH"]),
        ("p.toml", ["run", "table1", "--platform", "PATH"]),
        ("p.toml", ["run", "table1", "--platform", "PATH:nodes=4"]),
        ("w.swf", ["run", "PATH"]),
        ("w.swf.gz", ["workload", "info", "PATH"]),
        ("w.json", ["workload", "convert", "PATH", "OUT/w.swf"]),
        ("f.csv", ["run", "table1", "--failures", "trace=PATH"]),
        ("mine.py", ["run", "table1", "--policy", "PATH:Mine"]),
        ("slurm.conf", ["platforms", "--slurm-conf", "PATH"]),
        ("e.json", ["elastisim", "PATH", "--policy", "fcfs"]),
    ],
)
def test_inputs(forebay, endless, tmp_path, name, words):
    path = endless(name)
    words = [word.replace("PATH", str(path)).replace("OUT", str(tmp_path)) for word in words]
    done = forebay(*words)
    assert done.code == 2, done.err
    assert f"{path}: is a {endless.kind}, not a file" in done.err
    assert done.err.count("forebay:") == 1


@pytest.mark.parametrize(
    ("spec", "where"),
    [
        ('workloads = ["W"]\npolicies = ["fcfs"]\n', "w.swf"),
        ('workloads = ["table1"]\npolicies = ["fcfs"]\nplatforms = ["W"]\n', "p.toml"),
        ('workloads = ["table1"]\npolicies = ["W:Mine"]\n', "mine.py"),
        ('workloads = ["table1"]\npolicies = ["fcfs"]\nfailures = ["trace=W"]\n', "f.csv"),
    ],
)
def test_inputs_of_a_sweep(forebay, endless, tmp_path, spec, where):
    endless(where)
    (tmp_path / "s.toml").write_text(spec.replace("W", where))
    done = forebay("sweep", "s.toml", "-o", "out")
    assert done.code == 2, done.err
    assert f"{where}: is a {endless.kind}, not a file" in done.err


@pytest.mark.parametrize("name", ["compare.json", "figures.json", "unfinished/compare.json"])
def test_what_a_comparison_finds_in_its_folder(forebay, endless, name):
    path = endless(f"out/{name}")
    done = forebay("compare", "table1", "--policies", "fcfs,fcfs-easy", "-o", "out")
    assert done.code == 2
    assert f"out/{name}: is a " in done.err
    assert path.exists()


def test_what_a_sweep_finds_in_its_folder(forebay, endless, tmp_path):
    endless("out/manifest.json")
    (tmp_path / "s.toml").write_text(SPEC)
    done = forebay("sweep", "s.toml", "-o", "out")
    assert done.code == 2
    assert "out/manifest.json: is a " in done.err


@pytest.mark.parametrize("name", ["run.json", "jobs.parquet"])
def test_a_result(forebay, endless, tmp_path, name):
    fb.simulate("table1").save(tmp_path / "out")
    endless(f"out/{name}")
    done = forebay("report", "out")
    assert done.code == 2
    assert done.err.startswith("forebay: out: ")


@pytest.mark.parametrize("words", [["sweep", "big.toml"], ["run", "table1", "--platform", "big.toml"]])
def test_a_file_too_large_to_be_written_by_hand(forebay, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    with (tmp_path / "big.toml").open("wb") as file:
        file.truncate(reading.MOST + 1)
    done = forebay(*words)
    assert done.code == 2
    assert "big.toml: has more than 64 MB" in done.err
