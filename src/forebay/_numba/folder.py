"""Where compiled code is kept.

The folder is named after the text of everything that kernels may call, so that code is never older than its sources.
"""

import hashlib
import os
import stat
import sys
import tempfile
from functools import cache
from pathlib import Path
from types import FunctionType

import llvmlite
import numba

from forebay.errors import InputError

_ROOT = Path(__file__).parents[1]

PLAIN = {
    "engine": (
        "capabilities",
        "capability",
        "entering",
        "variants",
    ),
    "engine/build": ("feasibility", "leg_balance", "program", "tables", "table_roles", "template"),
    "engine/driver": (
        "__init__",
        "batch",
        "deciders",
        "history",
        "recorder",
        "refusals",
        "rng_pool",
        "signals",
        "snapshot",
        "stepper",
    ),
    "engine/policy_io": ("idle_nodes", "preview"),
    "engine/reservations": ("build",),
    "engine/results": ("run_alone", "tables"),
    "engine/shared_nodes": ("preview",),
    "core": ("actions", "limits", "outlook", "schemas", "shapes", "units", "view"),
    "policies": ("__init__", "_base", "_limited"),
}
"""Files without kernels, and without anything that kernels use: a change there compiles nothing."""
_NO_KERNELS = ("engine/jobmodels", "engine/adhoc")


def _is_plain(path: Path) -> bool:
    folder = path.parent.relative_to(_ROOT).as_posix()
    described = folder.startswith("engine/") and path.name in ("capability.py", "frames.py")
    return described or folder in _NO_KERNELS or path.stem in PLAIN.get(folder, ())


def _sources() -> list[Path]:
    own = [path for folder in ("_numba", "core", "algorithms", "engine") for path in (_ROOT / folder).rglob("*.py")]
    policies = [*(_ROOT / "policies").glob("_*/**/*.py"), *(_ROOT / "policies").glob("_*.py")]
    return sorted(path for path in [*own, *policies] if not _is_plain(path))


@cache
def _digest_of_sources() -> bytes:
    digest = hashlib.sha256()
    for path in _sources():
        digest.update(path.read_bytes())
    return digest.digest()


@cache
def version_of(minor_alone: bool = False) -> str:
    """The name of a folder: all that decides what comes out of the compiler, but for the processor."""
    python = sys.implementation.cache_tag if minor_alone else sys.version
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__} {python}".encode() + _digest_of_sources())
    inner = os.environ.get("FOREBAY_INNER_KERNELS") != "0"
    return digest.hexdigest()[:12] + ("-checked" if numba.config.BOUNDSCHECK else "" if inner else "-plain")


def cache_folder() -> Path | None:
    """Where compiled code is kept, for this version of the sources; None where there is no safe place.

    That is the folder the user named, else the user's cache folder, else one of the user's own among temporary files.
    """
    chosen = os.environ.get("FOREBAY_CACHE_DIR")
    if chosen:
        folder = _opened(Path(chosen))
        if folder is None and unsafe_folder() is None:
            raise InputError(f"FOREBAY_CACHE_DIR={chosen}: cannot write there; choose another folder")
        return folder
    return _opened(_home() / "forebay") or _opened(_private())


def _home() -> Path:
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # nobody knows where home is
        return Path(os.devnull)


def _private() -> Path:
    """A folder among temporary files that nobody else can have prepared: what lies in it is run."""
    folder = Path(tempfile.gettempdir()) / f"forebay-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return Path(os.devnull)
    safe = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
    return folder if safe else Path(os.devnull)


def keeps(folder: Path | None) -> bool:
    """Whether what is compiled can be kept there: not in one made in advance, on a disk that is read only, say."""
    return folder is not None and os.access(folder, os.W_OK)


def is_safe(found: os.stat_result) -> bool:
    """Whether only we and root can have written a file or folder: what lies in the cache is run."""
    return found.st_uid in (0, os.getuid()) and not found.st_mode & 0o022


def unsafe_folder() -> Path | None:
    """The folder for compiled code that is there and not used, as others can write to it; None if there is no such."""
    folder = Path(os.environ.get("FOREBAY_CACHE_DIR") or _home() / "forebay") / version_of()
    try:
        return None if is_safe(folder.stat()) else folder
    except OSError:
        return None


def _opened(base: Path) -> Path | None:
    """This version's folder in `base`: one of root's that can be read, as in an image made in advance, or ours."""
    folder = base / version_of()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not is_safe(folder.stat()):
            return None
    except OSError:
        return None
    return folder if os.access(folder, os.R_OK | os.X_OK) else None


def is_ours(function: FunctionType) -> bool:
    """Whether a function stands in one of these sources. Those of users may use modules and values no key can name."""
    return Path(function.__code__.co_filename).is_relative_to(_ROOT)
