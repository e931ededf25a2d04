"""The one place where Numba is configured. Every compiled function in forebay is a `kernel`.

Numba watches only the file a kernel stands in, not the files of what it calls, so the cache folder is keyed by the text
of everything kernels may call. Bounds-checked builds get a folder of their own.
"""

import hashlib
import os
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numba

from forebay._files import writable_folder
from forebay.errors import InputError

_ROOT = Path(__file__).parent


def _sources() -> list[Path]:
    shared = [path for folder in ("core", "algorithms", "engine") for path in (_ROOT / folder).glob("**/*.py")]
    return sorted([*shared, *(_ROOT / "policies").glob("_*.py"), *_ROOT.glob("_[jmp]*.py")])


def cache_folder() -> Path:
    """Where compiled code is kept, for this version of the sources."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in _sources():
        digest.update(path.read_bytes())
    mode = "-checked" if numba.config.BOUNDSCHECK else ""
    return _base() / (digest.hexdigest()[:12] + mode)


def _base() -> Path:
    """The folder the user named, else the user's cache folder, else one of the user's own among temporary files."""
    chosen = os.environ.get("FOREBAY_CACHE_DIR")
    if chosen:
        return writable_folder(Path(chosen))
    try:
        return writable_folder(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "forebay")
    except InputError:  # a home that cannot be written to, as in many containers
        return writable_folder(Path(tempfile.gettempdir()) / f"forebay-{os.getuid()}")


numba.config.CACHE_DIR = str(cache_folder())

kernel: Any = partial(numba.njit, cache=True, nogil=True, error_model="numpy", _nrt=False)
"""A compiled function that allocates no arrays. Without Numba's reference counts: every call that hands on the tables
would count two dozen arrays up and down with atomic operations, which was 60 % of a run's time."""

inlined_kernel: Any = partial(kernel, forceinline=True)
"""A kernel that becomes part of who calls it. An array is handed on as seven words or more, one by one: where jobs are
laid into plans that was an eighth of the time in a profile."""

allocating_kernel: Any = partial(numba.njit, cache=True, nogil=True, error_model="numpy")
"""A compiled function that makes arrays of its own."""
