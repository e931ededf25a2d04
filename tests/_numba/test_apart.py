"""Kernels that stand apart: compiled once, kept once; whatever is wrong with a file, the answer is right."""

import fcntl
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numba
import pytest

import warm_python
from forebay._numba import folder, packaged
from forebay._numba.jit import INNER

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT) or not INNER, reason="no kernel stands apart")

KERNELS = """
from numba import types
from forebay._numba.jit import apart_kernel, kernel

_i8 = types.int64

@apart_kernel(_i8(_i8))
def square(x):
    return x * x

@apart_kernel(_i8(_i8))
def middle(x):
    return 2 * square(x) + 3

@kernel
def inner(x):
    return middle(x) - x

@kernel(_i8(_i8))
def one(x):
    return inner(x) + square(x)

@kernel(_i8(_i8))
def other(x):
    return square(x) - 1

@kernel(_i8(_i8))
def alone(x):
    return x + 1
"""
"""`one` takes `inner` in; that calls `middle`, and both call `square`."""

WANTED = {"one": 3 * 49 + 3 - 7, "other": 48, "middle": 101, "square": 49, "alone": 8}
"""Of 7, by hand."""

ASK = """
import sys
from forebay import standing
from forebay._numba.jit import fault_of, ready
for name in sys.argv[1:]:
    kernel = getattr(standing, name)
    print(name, fault_of(kernel) or "stored", ready(kernel)(7))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """An installation with these kernels: what users write is never kept."""
    root = tmp_path_factory.mktemp("package")
    shutil.copytree(Path(folder.__file__).parents[1], root / "forebay", ignore=lambda *_: ["__pycache__", "_compiled"])
    (root / "forebay" / "standing.py").write_text(KERNELS)
    return root


class Installation:
    """It, and a cache folder."""

    def __init__(self, root, cache):
        self.root, self.cache, self.before = root, cache, []

    def start(self, code, *words, environment=None):
        """A process; a new Python where others come before, or the compiler is to be set up in another way."""
        known = os.environ | {"PYTHONPATH": str(self.root), "FOREBAY_CACHE_DIR": str(self.cache)}
        if not self.before and not environment:
            return warm_python.start(code, *words, environment=known)
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        command = [*self.before, sys.executable, "-c", code, *words]
        return subprocess.Popen(command, env=known | (environment or {}), **pipes)

    def said(self, running):
        """What it has written."""
        out, errors = running.communicate(timeout=120)
        assert running.returncode == 0, errors
        return out

    def ask(self, *names, **more):
        """What there was of each kernel, in a new process, which then calls it."""
        lines = [line.split() for line in self.said(self.start(ASK, *names, **more)).splitlines()]
        assert {name: int(answer) for name, _, answer in lines} == {name: WANTED[name] for name in names}
        return [fault for _, fault, _ in lines]

    def files(self):
        """The files of a kernel: that which is called apart comes before the entry of the same name."""
        return {path.name.split("-")[0].rpartition(".")[2]: path for path in sorted(self.cache.glob("*/*.kernel"))}

    def whole(self):
        """Whether nothing lies there but code."""
        return all(path.suffix == ".kernel" for path in self.cache.glob("*/*"))


@pytest.fixture(scope="module")
def filled(package, tmp_path_factory):
    """A cache folder with `one`, `other` and `alone`, and what they need."""
    made = Installation(package, tmp_path_factory.mktemp("filled"))
    assert made.ask("one", "other", "alone") == ["missing"] * 3
    return made


@pytest.fixture
def full(filled, tmp_path):
    """The same, to be spoilt."""
    shutil.copytree(filled.cache, tmp_path / "cache")
    return Installation(filled.root, tmp_path / "cache")


@pytest.fixture
def empty(package, tmp_path):
    return Installation(package, tmp_path / "cache")


def test_each_is_kept_once_and_found_again(full):
    assert sorted(full.files()) == ["alone", "middle", "one", "other", "square"]
    assert len(list(full.cache.glob("*/*"))) == 5
    written = {name: path.stat().st_mtime_ns for name, path in full.files().items()}
    assert full.ask("one", "other", "alone") == ["stored"] * 3
    assert {name: path.stat().st_mtime_ns for name, path in full.files().items()} == written


def test_a_new_python_finds_them(full):
    full.before = ["env"]
    assert full.ask("one", "other", "alone") == ["stored"] * 3


def test_what_one_has_compiled_another_does_not(empty):
    assert empty.ask("other") == ["missing"]
    square = empty.files()["square"]
    kept = square.stat().st_ino
    assert empty.ask("one") == ["missing"]
    assert empty.files()["square"].stat().st_ino == kept


@pytest.mark.parametrize("first", [("square", "one"), ("one", "square")], ids=" ".join)
def test_python_calls_them_too(empty, first):
    assert empty.ask(*first) == ["missing"] * 2
    assert empty.ask(*first) == ["stored"] * 2
    assert empty.ask(*reversed(first)) == ["stored"] * 2


SPOIL = {
    "missing": lambda path: path.unlink(),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-7]),
    "empty": lambda path: path.write_bytes(b""),
    "another's": lambda path: path.write_bytes(next(path.parent.glob("*alone*")).read_bytes()[:-1]),
}
FAULTS = {"missing": "missing", "cut": "damaged", "empty": "damaged", "another's": "damaged"}


@pytest.mark.parametrize(
    ("which", "others", "how"), [*(("square", "damaged", how) for how in SPOIL), ("middle", "stored", "cut")]
)
def test_one_that_is_missing_or_damaged_is_compiled_again_with_what_needs_it(full, which, others, how):
    kept = full.files()["alone"].stat().st_ino
    SPOIL[how](full.files()[which])
    other = FAULTS[how] if others == "damaged" else others
    assert full.ask("alone", "one") == ["stored", FAULTS[how]]
    assert full.ask("other") == ["stored"]  # `square` is there again
    assert full.ask("one", "other", "alone") == ["stored"] * 3
    assert full.whole()
    assert full.files()["alone"].stat().st_ino == kept
    SPOIL[how](full.files()[which])
    assert full.ask("other") == [other]


NOTE = """
from forebay._run.compilation import prepare_parts
prepare_parts([("forebay.standing", name) for name in ("one", "other", "alone")])
"""


def noted(given, **more):
    running = given.start(NOTE, **more)
    _, errors = running.communicate(timeout=120)
    assert running.returncode == 0, errors
    return [line for line in errors.splitlines() if line.startswith("note: ")], "compiled in" in errors


def test_a_damaged_one_is_noted_by_the_names_of_those_that_need_it(full):
    place = full.files()["square"].parent
    SPOIL["cut"](full.files()["square"])
    note = f"note: compiled code of forebay.standing.one and 1 more in {place} is damaged, and compiled again"
    assert noted(full) == ([note], True)
    assert noted(full) == ([], False)


@pytest.mark.parametrize("how", ["open", "link"])
def test_one_that_others_may_have_written_is_neither_run_nor_replaced(full, how):
    path = full.files()["square"]
    if how == "link":
        path.rename(full.cache / "elsewhere")
        path.symlink_to(full.cache / "elsewhere")
    else:
        path.chmod(0o646)
    before = path.lstat()
    for _ in range(2):
        assert full.ask("one", "other", "alone") == ["unsafe", "stored", "stored"]  # what was compiled is ready
    assert (path.lstat().st_ino, path.lstat().st_mode) == (before.st_ino, before.st_mode)
    assert full.whole()


def test_what_another_version_has_left_is_not_looked_at(full):
    (here,) = full.cache.iterdir()
    here.rename(full.cache / "0123456789ab")
    assert full.ask("one") == ["missing"]
    assert full.ask("one") == ["stored"]


def test_processes_at_once_all_have_the_answer_and_leave_nothing_else(empty):
    """One of them compiles each kernel, or all do where files cannot be locked."""
    running = [empty.start(ASK, name) for name in ("one", "one", "other")]
    answers = [empty.said(each).split() for each in running]
    assert [int(answer) for _, _, answer in answers] == [WANTED["one"], WANTED["one"], WANTED["other"]]
    assert empty.whole()
    assert empty.ask("one", "other") == ["stored"] * 2


LOCK = """
from forebay import standing
from numba.core.registry import cpu_target
from forebay._numba.store import Shelf
print(Shelf("forebay.standing", "square").lock(standing.square._signature.args, cpu_target.target_context))
"""


def waits(process, path):
    """Whether a process waits for the lock of a file, as Linux tells."""
    ours = (line.split() for line in Path("/proc/locks").read_text(encoding="ascii").splitlines() if "->" in line)
    return any(str(process.pid) in words and words[6].endswith(f":{path.stat().st_ino}") for words in ours)


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="nothing tells who waits")
def test_a_second_process_waits_for_the_first_and_takes_what_that_has_compiled(full):
    square = full.files()["square"]
    square.rename(full.cache / "compiled")
    full.files()["other"].unlink()
    lock = Path(full.said(full.start(LOCK)).strip())
    assert lock.parent == square.parent
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        second, give_up = full.start(ASK, "other"), time.monotonic() + 60
        while not waits(second, lock) and second.poll() is None and time.monotonic() < give_up:
            time.sleep(0.02)
        assert second.poll() is None
        (full.cache / "compiled").rename(square)
        kept = square.stat().st_ino
        lock.unlink()
    assert full.said(second).split() == ["other", "missing", str(WANTED["other"])]
    assert square.stat().st_ino == kept
    assert full.ask("other") == ["stored"]
    (full.cache / "compiled").unlink(missing_ok=True)
    assert full.whole()


AGAIN = """
from forebay import standing
from forebay._numba import apart
from forebay._numba.jit import ready

offer = apart.offer

def interrupted(*given):
    raise KeyboardInterrupt

apart.offer = interrupted
try:
    ready(standing.other)
except KeyboardInterrupt:
    print("interrupted")
apart.offer = offer
print(ready(standing.other)(7))
"""


def test_one_that_was_interrupted_is_compiled_when_asked_again(empty):
    """In a notebook, say: nobody waits for what nobody compiles any more."""
    running = empty.start(AGAIN)
    try:
        assert empty.said(running).split() == ["interrupted", str(WANTED["other"])]
    finally:
        running.kill()
    assert empty.whole()
    assert empty.ask("other") == ["stored"]


PLAIN = """
import sys
import numba
from forebay import standing
from forebay._numba.jit import allocating_kernel, fault_of

sys.path.insert(0, sys.argv[1])
import mine
print(mine.calls(7), mine.through(7), fault_of(standing.other) or "stored")
"""
MINE = """
import numba
from forebay import standing

@numba.njit(cache={cache})
def calls(x):
    return standing.square(x) + 1

@numba.njit(cache={cache})
def through(x):
    return standing.inner(x) + calls(x)
"""


@pytest.mark.parametrize("cache", [False, True])
@pytest.mark.parametrize("there", [False, True])
def test_plain_functions_of_users_call_them(package, filled, tmp_path, there, cache):
    """Whether they were compiled by this process or another, and though Numba keeps what it compiles."""
    (tmp_path / "mine.py").write_text(MINE.format(cache=cache))
    given = Installation(package, tmp_path / "cache")
    if there:
        shutil.copytree(filled.cache, tmp_path / "cache")
    wanted = WANTED["square"] + 1, WANTED["middle"] - 7 + WANTED["square"] + 1
    for turn in range(2):
        out = given.said(given.start(PLAIN, str(tmp_path))).split()
        assert tuple(map(int, out[:2])) == wanted
        assert turn == 0 or out[2] == ("stored" if there else "missing")


def test_without_standing_apart_the_answers_are_the_same(empty):
    assert empty.ask("one", "other", "middle", "alone", environment={"FOREBAY_INNER_KERNELS": "0"})


def bound():
    """The words before a command that may not write wherever it likes, as root may."""
    words = ["setpriv", "--bounding-set=-dac_override"] if os.getuid() == 0 else []
    if words and (not shutil.which("setpriv") or subprocess.run([*words, "true"], check=False).returncode):
        pytest.skip("root writes wherever it likes")
    return words


def test_where_nothing_can_be_kept_all_runs_and_it_is_said(full):
    full.files()["square"].unlink()
    place, full.before = full.files()["one"].parent, bound()
    kept = sorted((path.name, path.stat().st_mtime_ns) for path in place.iterdir())
    place.chmod(0o555)
    try:
        assert full.ask("one", "other", "alone") == ["missing", "stored", "stored"]  # what was compiled is ready
        notes, compiled = noted(full)
    finally:
        place.chmod(0o700)
    assert notes == [f"note: {place} cannot be written to: what is compiled now is for this run alone"]
    assert compiled
    assert sorted((path.name, path.stat().st_mtime_ns) for path in place.iterdir()) == kept


@pytest.mark.skipif(platform.machine() not in packaged.PORTABLE, reason="no code to bring")
@pytest.mark.parametrize("spoilt", ["", "open", "missing"])
def test_a_wheel_brings_them(package, tmp_path, spoilt):
    """Its folder is read only, or might as well be: nothing is ever written there."""
    shutil.copytree(package, tmp_path / "package")
    given = Installation(tmp_path / "package", tmp_path / "made")
    cpu, features = packaged.PORTABLE[platform.machine()]
    if not packaged._has(features):
        pytest.skip("this processor is older than that")
    given.ask("one", "other", environment={"NUMBA_CPU_NAME": cpu, "NUMBA_CPU_FEATURES": features})
    (made,) = given.cache.iterdir()
    shutil.copytree(made, given.root / "forebay" / "_compiled" / packaged.name())
    given.cache = tmp_path / "cache"
    (path,) = given.root.glob("forebay/_compiled/*/*square*")
    if spoilt == "open":
        path.chmod(0o666)
    elif spoilt:
        path.unlink()
    fault = {"": "stored", "missing": "missing", "open": "packaged"}[spoilt]
    assert given.ask("one") == [fault]
    assert ("square" in given.files()) == bool(spoilt)
    assert given.ask("one", "other") == ["stored"] * 2
