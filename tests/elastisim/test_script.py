"""algorithm.py run as its author would: what it finds, what it leaves, and what goes wrong in it."""

import sys
from pathlib import Path

import pytest

from cases.elastisim import IN_ORDER, leaving_files_open, rigid, run, write
from forebay.elastisim import project
from forebay.elastisim.script import MODULE, run_script
from forebay.errors import InputError

pytestmark = pytest.mark.small


@pytest.fixture
def script(tmp_path, monkeypatch):
    """A script run on a project of one job; what came of it."""
    monkeypatch.chdir(tmp_path)

    def script(text, url=""):
        made = project.read(write(tmp_path / "project", rigid(), algorithm=text))
        found = []
        run_script(tmp_path / "project" / "algorithm.py", lambda schedule: found.append(run(made, schedule)[0]), url)
        return found[0]

    return script


def test_it_finds_its_address_its_folder_and_its_package(script, tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "beside_it.py").write_text("from elastisim_python import Gpu, GpuState, InvocationType\n")
    before, arguments = sys.path[:], sys.argv
    result = script("import beside_it, sys\nassert sys.argv[1] == 'ipc://x'\n" + IN_ORDER, "ipc://x")
    assert result.jobs["finish_time"].to_list() == [10]
    assert (sys.path, sys.argv) == (before, arguments)
    assert not {"beside_it", MODULE} & set(sys.modules)


def test_a_package_of_that_name_stays(script, monkeypatch):
    theirs = type(sys)(MODULE)
    monkeypatch.setitem(sys.modules, MODULE, theirs)
    script(IN_ORDER)
    assert sys.modules[MODULE] is theirs


def test_files_that_it_leaves_open_are_written(script):
    text = IN_ORDER.replace("pass_algorithm(schedule", "pass_algorithm(noting(schedule)")
    noting = """
import csv
def noting(schedule):
    calls = csv.writer(open("calls.csv", "w"))
    def noted(*given):
        calls.writerow([given[2]["time"]])
        schedule(*given)
    noted.itself = noted
    return noted
"""
    with leaving_files_open():
        script(noting + text)
    assert Path("calls.csv").read_text().split() == ["0.0", "10.0"]


def test_it_may_leave_when_it_is_done(script):
    assert script(IN_ORDER + "    sys.exit(0)\n").jobs.height == 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x = 1\n", r"algorithm.py: never calls pass_algorithm\(schedule, url\)"),
        ("x = 1\ny = {}['gone']\n", r"algorithm.py:2: the algorithm raised KeyError: 'gone'$"),
        ("x = 1\ny = (\n", r"algorithm.py:2: the algorithm raised SyntaxError: '\(' was never closed$"),
        ("import no_such_package\n", "algorithm.py:1: the algorithm raised ModuleNotFoundError: No module named"),
        ("open('no/such/file')\n", "algorithm.py:1: the algorithm raised FileNotFoundError: .*no/such/file"),
        ("import sys\nsys.exit('no')\n", "algorithm.py:2: the algorithm raised SystemExit: no"),
        (
            IN_ORDER.replace("    for job in jobs:\n", "    for job in jobs:\n        job.colour\n"),
            r"algorithm.py:8: the algorithm raised AttributeError: 'Job' object has no attribute 'colour'$",
        ),
        (IN_ORDER + "    pass_algorithm(schedule, '')\n", "algorithm.py: calls pass_algorithm twice"),
    ],
)
def test_what_goes_wrong_is_told_with_its_line(script, text, complaint):
    with pytest.raises(InputError, match=complaint):
        script(text)


def test_what_its_helpers_raise_is_told_with_their_line(script, tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "beside_it.py").write_text("def work(jobs):\n    return jobs['first']\n")
    text = "import beside_it\n" + IN_ORDER.replace("    for job in jobs:\n", "    for job in beside_it.work(jobs):\n")
    with pytest.raises(InputError, match=r"beside_it.py:2: the algorithm raised TypeError"):
        script(text)


def test_a_script_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"mine.py: no such file; name the algorithm with --algorithm FILE"):
        run_script(tmp_path / "mine.py", print)
