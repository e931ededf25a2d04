"""Compiled code on disk: found again, recognised when damaged, never taken from others."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import warm_python
from forebay._numba import folder
from forebay._numba.jit import ready
from forebay.algorithms.nodes.setformat import write_sets

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="the compiler is off")

ASK = """
from forebay._numba.jit import fault_of, ready
from forebay.algorithms.nodes.setformat import write_sets
print(fault_of(write_sets) or "stored", len(ready(write_sets).overloads))
"""


VARIANT = """
from forebay._numba.jit import fault_of, ready
from forebay.engine.driver.pause import pause
from forebay.engine.variants import facts_of
known = facts_of("rigid")[0]
print(fault_of(pause, known) or "stored", len(ready(pause, known).overloads))
"""
"""The same of a variant of a kernel: see engine.variants."""


def ask(cache, code=ASK, **environment):
    """Whether a kernel is there, in a new process, which then makes it."""
    done = warm_python.run(code, environment=os.environ | {"FOREBAY_CACHE_DIR": str(cache)} | environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture
def cache(tmp_path):
    """A folder with one kernel."""
    ready(write_sets)
    own = folder.cache_folder()
    shutil.copytree(own, tmp_path / own.name, ignore=lambda _, names: [n for n in names if "write_sets" not in n])
    return tmp_path


def files(cache):
    return sorted(Path(cache).glob("*/*.kernel"))


def test_there_is_one_file_a_kernel_and_it_is_found_again(tmp_path):
    known = os.environ | {"FOREBAY_CACHE_DIR": str(tmp_path)}
    for there in ("missing", "stored"):  # by a new Python, too
        assert subprocess.check_output([sys.executable, "-c", ASK], env=known, text=True).split() == [there, "1"]
    assert len(files(tmp_path)) == 1
    assert ask(tmp_path) == ["stored", "1"]
    assert [path.suffix for path in tmp_path.glob("*/*")] == [".kernel"]  # nothing temporary stays


def test_a_variant_is_kept_by_itself_and_compiled_again_where_it_is_damaged_or_of_another(tmp_path):
    assert ask(tmp_path, VARIANT) == ["missing", "1"]
    (lean,) = files(tmp_path)
    assert ask(tmp_path, VARIANT) == ["stored", "1"]
    other = ask(tmp_path, VARIANT.replace("rigid", "site"))
    assert other == ["missing", "1"]
    foreign = next(path for path in files(tmp_path) if path != lean)
    lean.write_bytes(lean.read_bytes()[:-5])
    assert ask(tmp_path, VARIANT) == ["damaged", "1"]
    lean.write_bytes(b"older" + foreign.read_bytes())
    assert ask(tmp_path, VARIANT) == ["damaged", "1"]
    assert ask(tmp_path, VARIANT) == ["stored", "1"]
    if os.getuid():  # root writes wherever it likes
        lean.parent.chmod(0o500)
        assert ask(tmp_path, VARIANT.replace("rigid", "contention")) == ["missing", "1"]
        lean.parent.chmod(0o700)


def test_what_is_kept_is_a_fraction_of_what_numba_would_keep(cache):
    """No bitcode: it is for linking, and nobody links an entry."""
    (file,) = files(cache)
    assert b"BC\xc0\xde" not in file.read_bytes()  # how bitcode begins


RAISING = """
from forebay._numba.jit import allocating_kernel, fault_of, ready
from numba import types

@allocating_kernel(types.int64(types.int64))
def positive(x):
    if x <= 0:
        raise ValueError("not positive", x)
    return x

stored = not fault_of(positive)
try:
    ready(positive)(-3)
except ValueError as error:
    print(stored, *error.args, sep="|")
"""


def test_code_that_makes_python_objects_still_does_when_read_again(tmp_path):
    """What is raised with a number needs the kernel's environment, which code without Python objects does without."""
    shutil.copytree(Path(folder.__file__).parents[1], tmp_path / "forebay")
    (tmp_path / "forebay" / "raising.py").write_text(RAISING)
    environment = os.environ | {"FOREBAY_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    for stored in (False, True):
        done = warm_python.run("import forebay.raising", environment=environment)
        assert done.stdout.strip() == f"{stored}|not positive|-3", done.stderr


def test_another_installation_of_the_same_code_compiles_nothing(cache, tmp_path_factory):
    """Numba's own cache would look for the path of the sources."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    shutil.copytree(Path(folder.__file__).parents[1], elsewhere / "forebay")
    assert ask(cache, PYTHONPATH=str(elsewhere)) == ["stored", "1"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-100],
        lambda data: data[:20],
        lambda data: b"",
        lambda data: data[:5000] + bytes([data[5000] ^ 1]) + data[5001:],
    ],
    ids=["cut", "cut to less than its checksum", "empty", "one bit"],
)
def test_a_damaged_file_is_compiled_again(cache, damage):
    (file,) = files(cache)
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert ask(cache) == ["damaged", "1"]
    assert ask(cache) == ["stored", "1"]


@pytest.mark.parametrize("fault", ["another's", "open to the group", "open to all", "link", "pipe", "folder"])
def test_a_file_that_others_may_have_written_is_neither_run_nor_replaced(cache, fault):
    """What lies in the cache is run: here it is whole, so that nothing but its owner or its mode can give it away."""
    (file,) = files(cache)
    whole = file.read_bytes()
    if fault == "another's":
        if os.getuid() != 0:
            pytest.skip("only root can give files away")
        os.chown(file, 12345, 12345)
    elif fault in ("link", "pipe", "folder"):
        file.rename(cache / "elsewhere")
        {"link": lambda: file.symlink_to(cache / "elsewhere"), "pipe": lambda: os.mkfifo(file), "folder": file.mkdir}[
            fault
        ]()
    else:
        file.chmod(0o660 if "group" in fault else 0o606)
    before = file.lstat()
    for _ in range(2):
        assert ask(cache) == ["unsafe", "1"]
    assert (file.lstat().st_ino, file.lstat().st_mode) == (before.st_ino, before.st_mode)
    if file.is_file() and not file.is_symlink():
        assert file.read_bytes() == whole
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("fault", ["another's", "open to the group", "open to all"])
def test_nothing_in_a_folder_that_others_can_write_to_is_run(cache, fault):
    (file,) = files(cache)
    if fault == "another's":
        if os.getuid() != 0:
            pytest.skip("only root can give folders away")
        os.chown(file.parent, 12345, 12345)
    else:
        file.parent.chmod(0o770 if "group" in fault else 0o707)
    before = file.stat()
    assert ask(cache) == ["missing", "1"]
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_what_root_made_in_advance_is_run(monkeypatch):
    """In an image, say, where it is read by users of other names."""
    found = os.stat_result((0o100644, *[0] * 9))  # of root
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert folder.is_safe(found)
    assert not folder.is_safe(os.stat_result((0o100644, 0, 0, 0, 54321, *[0] * 5)))
    assert not folder.is_safe(os.stat_result((0o100666, *[0] * 9)))


def test_processes_that_compile_the_same_at_once_do_not_mind(tmp_path):
    environment = os.environ | {"FOREBAY_CACHE_DIR": str(tmp_path)}
    started = [warm_python.start(ASK, environment=environment) for _ in range(3)]
    for one in started:
        out, errors = one.communicate()
        assert (one.returncode, out.split()[1:]) == (0, ["1"]), errors
    assert [path.suffix for path in tmp_path.glob("*/*")] == [".kernel"]
    assert ask(tmp_path) == ["stored", "1"]


NOTE = """
from forebay._run.compilation import prepare_parts
prepare_parts([("forebay.algorithms.nodes.setformat", name) for name in ("write_sets", "group_intervals")])
"""


def noted(cache):
    done = warm_python.run(NOTE, environment=os.environ | {"FOREBAY_CACHE_DIR": str(cache)})
    assert done.returncode == 0, done.stderr
    return [line for line in done.stderr.splitlines() if line.startswith("note: ")]


def test_what_is_not_used_is_noted_in_a_line_and_nothing_else_is_compiled(tmp_path):
    assert noted(tmp_path) == []
    one, other = files(tmp_path)
    kept = other.stat().st_mtime_ns
    one.write_bytes(one.read_bytes()[:-1])
    place = one.parent
    name = one.name.split("-")[0]
    assert noted(tmp_path) == [f"note: compiled code of {name} in {place} is damaged, and compiled again"]
    assert (noted(tmp_path), other.stat().st_mtime_ns) == ([], kept)
    one.chmod(0o666)
    (note,) = noted(tmp_path)
    assert note == (
        f"note: compiled code of {name} in {place} is another user's or can be written to by others: "
        "it is not run, and compiled for this run alone"
    )
    place.chmod(0o777)
    (note,) = noted(tmp_path)
    assert note == (
        f"note: {place} is another user's, or others can write to it: "
        "compiled code in it is not run, and none is kept there"
    )


def test_a_folder_made_in_advance_need_not_be_writable(cache):
    place = files(cache)[0].parent
    place.chmod(0o500)
    try:
        assert ask(cache) == ["stored", "1"]
    finally:
        place.chmod(0o700)


@pytest.mark.parametrize("fault", ["link", "open to others"])
def test_nothing_is_taken_from_a_temporary_folder_that_others_can_write(fault, tmp_path, monkeypatch):
    """What lies in the cache is run."""
    monkeypatch.delenv("FOREBAY_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    own = tmp_path / f"forebay-{os.getuid()}"
    assert folder.cache_folder().parent == own
    assert own.stat().st_mode & 0o777 == 0o700
    if fault == "link":
        own.rename(tmp_path / "other")
        own.symlink_to(tmp_path / "other")
    else:
        own.chmod(0o777)
    assert folder.cache_folder() is None


def test_without_a_safe_place_everything_still_runs(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    place = tmp_path / f"forebay-{os.getuid()}"
    place.symlink_to(tmp_path)
    environment = {"XDG_CACHE_HOME": str(file), "TMPDIR": str(tmp_path), "FOREBAY_CACHE_DIR": ""}
    assert ask("", **environment) == ["missing", "1"]
    assert files(tmp_path) == []
