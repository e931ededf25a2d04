"""Runs of a comparison in processes: the same results, stopped and gone on with, and nothing imported by accident."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

PROCESSES = """
from forebay.cli._render import progress
from forebay.experiments.execution import parallel
parallel.HERE = parallel.SHORT = progress.PATIENCE = 0
"""
MAIN = "from forebay.cli.main import main\nif __name__ == '__main__':\n    main()\n"

SLOW = """
import time
import beside

class Slow:
    def decide(self, view, act):
        until = time.process_time() + PAUSE
        while time.process_time() < until:
            pass
        print("deciding")
        beside.in_order(view, act)
"""
BESIDE = """
def in_order(view, act):
    for job in view.queue:
        if not act.fits(job):
            return
        act.start(job)
"""


@pytest.fixture
def command(tmp_path, compiled):
    """A command as the console script starts it: a file in a folder of its own. All runs may be in processes."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "here").mkdir()
    scripts = {}
    for name, lines in (("processes.py", PROCESSES + MAIN), ("main.py", MAIN)):
        scripts[name] = tmp_path / "bin" / name
        scripts[name].write_text(lines)

    def start(*arguments, processes=True, **options):
        # Written once: a second command must not empty the file that the first is about to read.
        script = scripts["processes.py" if processes else "main.py"]
        return subprocess.Popen(
            [sys.executable, script, *map(str, arguments)],
            cwd=tmp_path / "here",
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **options,
        )

    return start


@pytest.fixture
def slow(tmp_path):
    """A policy in plain Python, in a folder of its own beside a module that it needs; and how to set its pace."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "beside.py").write_text(BESIDE)

    def write(pause):
        (folder / "new").write_text(SLOW.replace("PAUSE", str(pause)))
        (folder / "new").rename(folder / "slow.py")
        return "../own/slow.py:Slow"

    return write


def contents(folder):
    """Every file of a comparison, but for how long its runs took."""
    return {
        path.relative_to(folder).as_posix(): re.sub(rb'seconds": [\d.e-]+|"run.json": "\w+"', b"", path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_processes_change_nothing(command, slow, hundred, tmp_path):
    specs = f"fcfs,{slow(0)},fcfs-bb,sjf-bb:depth=2"
    found = []
    for place, options in enumerate((["--jobs", 1], ["--jobs", 3])):
        out = tmp_path / "here" / f"out{place}"
        words = ("compare", hundred, "--policies", specs, "-o", out)
        running = command(*words, *options)
        said, err = running.communicate(timeout=300)
        assert running.returncode == 0, err
        assert "deciding" not in said
        found.append((said.replace(f"out{place}", "out"), contents(out)))
    assert found[0] == found[1]
    assert len(found[0][1]) > 20
    assert {"gantt.svg", "waits.svg"} <= found[0][1].keys()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.full)]
)
def test_stopped_and_gone_on_with_it_is_the_same_to_the_byte(command, slow, tmp_path, number, code):
    """Ctrl-C as a terminal sends it, to the command and all its processes; SIGTERM as a batch system does."""
    broken, whole = tmp_path / "here" / "broken", tmp_path / "here" / "whole"

    def compare(pause, folder, jobs=2):
        words = ("table1", "--policies", f"fcfs,filler,{slow(pause)},fcfs-bb", "--no-plots")
        return command("compare", *words, "--jobs", jobs, "-o", folder, processes=False)

    first = compare(2, broken)
    until = time.monotonic() + 120
    # Two policies are simulated by the command itself, and one in a process while the slow one keeps another busy.
    fast = [broken / "unfinished" / policy / "run.json" for policy in ("fcfs", "filler", "fcfs-bb")]
    while not all(path.exists() for path in fast) and time.monotonic() < until:
        assert first.poll() is None, first.communicate()[1]
        time.sleep(0.01)
    os.killpg(first.pid, number)
    out, err = first.communicate(timeout=60)
    assert first.returncode == code, err
    assert out == ""
    assert "3 of 4 policies kept in" in err
    assert "Traceback" not in err
    kept = {path for path in contents(broken) if not path.endswith((".lock", ".json"))}
    assert {path.split("/")[1] for path in kept} == {"fcfs", "filler", "fcfs-bb"}
    assert not [path for path in kept if path.endswith(".tmp")]

    again, anew = compare(0, broken), compare(0, whole, jobs=1)
    _, err = again.communicate(timeout=120)
    assert "3 of 4 policies there already" in err
    assert again.returncode == 0
    _, err = anew.communicate(timeout=120)
    assert "there already" not in err
    assert contents(broken) == contents(whole)


def test_whatever_happens_to_one_process_the_others_results_stand(command, tmp_path):
    mine = tmp_path / "here" / "mine.py"
    mine.write_text("import os\nclass Dies:\n    def decide(self, view, act):\n        os.kill(os.getpid(), 9)\n")
    words = ("table1", "--policies", "fcfs,mine.py:Dies,filler", "--no-plots")
    running = command("compare", *words, "--jobs", 2, "--format", "json")
    out, err = running.communicate(timeout=120)
    assert running.returncode == 1
    document = json.loads(out)
    assert {one["policy"] for one in document["policies"]} == {"fcfs", "filler"}
    assert [one["policy"] for one in document["failed"]] == ["mine.py:Dies"]
    assert "its process died (SIGKILL; is there enough memory?" in err


def test_nothing_is_imported_from_the_current_folder(command, tmp_path):
    """What users call their files is their affair: processes must find Python's modules, and ours, all the same."""
    here = tmp_path / "here"
    for name in ("numba", "polars", "queue", "socket", "pickle", "selectors", "multiprocessing", "forebay"):
        (here / f"{name}.py").write_text(f"open({str(here / 'planted')!r}, 'a').write({name!r})\nraise ImportError\n")
    running = command("compare", "table1", "--policies", "fcfs,filler", "--no-plots", "-o", "out")
    _, err = running.communicate(timeout=120)
    assert not (here / "planted").exists(), (here / "planted").read_text()
    assert running.returncode == 0, err
    assert (here / "out" / "filler" / "run.json").exists()


def test_lines_tell_of_progress_where_nobody_watches_a_bar(command, slow):
    arguments = ("compare", "table1", "--policies", f"fcfs,{slow(0)},filler", "--no-plots")
    out, err = command(*arguments, "-o", "a").communicate(timeout=120)
    assert re.search(r"^\.\./own/slow\.py:Slow done, \d of 3, \d+\.\d s$", err, re.MULTILINE)
    assert not [letter for letter in err if ord(letter) < 32 and letter != "\n"]
    quiet, err = command(*arguments, "-o", "b", "--quiet").communicate(timeout=120)
    assert set(err.split()) == {"deciding"}  # which is the policy's, not ours
    assert quiet == re.sub(r"\ba/", "b/", out)
