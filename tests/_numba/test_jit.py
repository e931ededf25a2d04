"""Where compiled code is kept."""

import os
import re
import subprocess
import sys
from pathlib import Path

from forebay._numba import folder

ASK = "from forebay._numba.folder import cache_folder; print(cache_folder())"


def ask(**environment):
    return subprocess.run(
        [sys.executable, "-c", ASK],
        capture_output=True,
        text=True,
        check=False,
        env={k: v for k, v in os.environ.items() if k != "FOREBAY_CACHE_DIR"} | environment,
    )


def test_the_folder_is_the_one_named(tmp_path):
    assert ask(FOREBAY_CACHE_DIR=str(tmp_path)).stdout.startswith(str(tmp_path))


def test_bounds_checks_have_a_folder_of_their_own(tmp_path):
    plain = ask(FOREBAY_CACHE_DIR=str(tmp_path), NUMBA_BOUNDSCHECK="0").stdout.strip()
    assert ask(FOREBAY_CACHE_DIR=str(tmp_path), NUMBA_BOUNDSCHECK="1").stdout.strip() == plain + "-checked"


def test_a_home_that_cannot_be_written_to_is_no_obstacle(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    said = ask(XDG_CACHE_HOME=str(file / "cache"), TMPDIR=str(tmp_path))
    assert said.stdout.startswith(str(tmp_path / f"forebay-{os.getuid()}")), said.stderr


def test_a_named_folder_that_cannot_be_written_to_is_refused(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    said = ask(FOREBAY_CACHE_DIR=str(file / "cache"))
    assert "cannot write there" in said.stderr


def test_files_without_kernels_are_just_that():
    """The cache folder does not depend on them, so nothing that kernels use may stand there."""
    root = Path(folder.__file__).parents[1]
    for name in [f"{place}/{name}.py" for place, names in folder.PLAIN.items() for name in names]:
        assert not re.search(r"^@\w*kernel|np\.dtype\(|IntEnum\)", (root / name).read_text(), re.M), name


def test_a_change_of_any_kernel_is_seen():
    """The cache folder depends on every file with kernels, however deep it lies: no old code is run."""
    root = Path(folder.__file__).parents[1]
    with_kernels = {path for path in root.rglob("*.py") if re.search(r"^@\w*kernel", path.read_text(), re.M)}
    assert with_kernels
    assert with_kernels - set(folder._sources()) == set()
