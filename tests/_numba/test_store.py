"""Compiled code on disk: found again, recognised when damaged, never taken from others."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from forebay._numba import folder
from forebay._numba.jit import ready
from forebay.algorithms.setformat import write_sets

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="the compiler is off")

ASK = """
from forebay._numba.jit import is_stored, ready
from forebay.algorithms.setformat import write_sets
print(is_stored(write_sets), len(ready(write_sets).overloads))
"""


def ask(cache, **environment):
    """Whether a kernel is there, in a new process, which then makes it."""
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        env=os.environ | {"FOREBAY_CACHE_DIR": str(cache)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
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
    assert ask(tmp_path) == ["False", "1"]
    assert len(files(tmp_path)) == 1
    assert ask(tmp_path) == ["True", "1"]
    assert [path.suffix for path in tmp_path.glob("*/*")] == [".kernel"]  # nothing temporary stays


def test_what_is_kept_is_a_fraction_of_what_numba_would_keep(cache):
    """No bitcode: it is for linking, and nobody links an entry."""
    (file,) = files(cache)
    assert b"BC\xc0\xde" not in file.read_bytes()  # how bitcode begins


RAISING = """
from forebay._numba.jit import allocating_kernel, is_stored, ready
from numba import types

@allocating_kernel(types.int64(types.int64))
def positive(x):
    if x <= 0:
        raise ValueError("not positive", x)
    return x

stored = is_stored(positive)
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
        done = subprocess.run(
            [sys.executable, "-c", "import forebay.raising"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.strip() == f"{stored}|not positive|-3", done.stderr


def test_another_installation_of_the_same_code_compiles_nothing(cache, tmp_path_factory):
    """Numba's own cache would look for the path of the sources."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    shutil.copytree(Path(folder.__file__).parents[1], elsewhere / "forebay")
    assert ask(cache, PYTHONPATH=str(elsewhere)) == ["True", "1"]


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
    assert ask(cache) == ["False", "1"]
    assert ask(cache) == ["True", "1"]


def test_a_folder_made_in_advance_need_not_be_writable(cache):
    place = files(cache)[0].parent
    place.chmod(0o500)
    try:
        assert ask(cache) == ["True", "1"]
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
    assert ask("", **environment) == ["False", "1"]
    assert files(tmp_path) == []
