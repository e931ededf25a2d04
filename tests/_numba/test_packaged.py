"""Code that a wheel brings: read where the user has none, on processors of its kind alone, never if damaged."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import warm_python
from forebay._numba import folder, packaged

pytestmark = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT) or platform.machine() not in packaged.PORTABLE, reason="no code to bring"
)

ASK = """
from forebay._numba import packaged
{before}
from forebay._numba.jit import fault_of, ready
from forebay.algorithms.nodes.setformat import write_sets
print(fault_of(write_sets) or "found", packaged.name(), len(ready(write_sets).overloads))
"""


def ask(root, cache, before="", **environment):
    """What an installation at `root` has of a kernel; and its name for what a wheel brings."""
    code, known = ASK.format(before=before), os.environ | {"FOREBAY_CACHE_DIR": str(cache), "PYTHONPATH": str(root)}
    if environment:  # which sets up the compiler
        words = [sys.executable, "-c", code]
        done = subprocess.run(words, env=known | environment, capture_output=True, text=True, check=False)
    else:
        done = warm_python.run(code, environment=known)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[:2]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An installation with one kernel, as a wheel leaves it."""
    root = tmp_path_factory.mktemp("made")
    shutil.copytree(Path(folder.__file__).parents[1], root / "forebay", ignore=lambda *_: ["__pycache__", "_compiled"])
    cpu, features = packaged.PORTABLE[platform.machine()]
    portable = {"NUMBA_CPU_NAME": cpu, "NUMBA_CPU_FEATURES": features}
    fault, name = ask(root, root / "cache", **portable)
    assert fault == "missing"
    (own,) = (root / "cache").iterdir()
    shutil.copytree(own, root / "forebay" / "_compiled" / name)
    return root


@pytest.fixture
def root(made, tmp_path):
    """The same, to be spoilt."""
    shutil.copytree(made / "forebay", tmp_path / "forebay")
    return tmp_path


def test_what_the_wheel_brings_is_not_compiled(root):
    if packaged._has(packaged.PORTABLE[platform.machine()][1]):
        assert ask(root, root / "cache")[0] == "found"
        assert not list((root / "cache").glob("*/*"))


def test_on_another_processor_or_another_python_it_is_compiled(root):
    assert ask(root, root / "one", "packaged._has = lambda features: False")[0] == "missing"
    assert ask(root, root / "two", "packaged.name = lambda: 'cpython-27'")[0] == "missing"
    assert ask(root, root / "two", "packaged.name = lambda: 'cpython-27'")[0] == "found"  # compiled before


@pytest.mark.parametrize("spoil", ["cut", "foreign", "open"])
def test_what_is_damaged_or_may_be_of_others_is_compiled_again(root, spoil):
    (file,) = (root / "forebay" / "_compiled").glob("*/*.kernel")
    if spoil == "open":
        file.chmod(0o666)
    else:
        file.write_bytes(file.read_bytes()[:-5] if spoil == "cut" else b"something else")
    assert ask(root, root / "cache")[0] == "packaged"
    assert ask(root, root / "cache")[0] == "found"


def test_a_folder_that_others_can_write_to_is_not_looked_into(root):
    (root / "forebay" / "_compiled").chmod(0o777)
    assert ask(root, root / "cache")[0] == "missing"
