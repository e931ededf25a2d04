"""The one place where Numba is configured. Every compiled function in forebay is a `kernel`.

Numba watches only the file a kernel stands in, not the files of what it calls, so the cache folder is keyed by the text
of everything kernels may call. Bounds-checked builds get a folder of their own.
"""

import hashlib
import os
import tempfile
from pathlib import Path
from types import FunctionType
from typing import Any

import numba

from forebay._files import writable_folder
from forebay.errors import InputError

_ROOT = Path(__file__).parents[1]


PLAIN = ("build", "collect", "interrupts", "ledger", "places", "program", "record", "run", "sizes")
"""Files of the engine without kernels, and without anything that kernels use: a change there compiles nothing."""


def _sources() -> list[Path]:
    whole = [path for folder in ("_numba", "core", "algorithms", "engine") for path in (_ROOT / folder).glob("*.py")]
    policies = [*(_ROOT / "policies").glob("_*/*.py"), *(_ROOT / "policies").glob("_*.py")]
    return sorted(path for path in [*whole, *policies] if path.parent.name != "engine" or path.stem not in PLAIN)


def cache_folder() -> Path:
    """Where compiled code is kept, for this version of the sources."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in _sources():
        digest.update(path.read_bytes())
    mode = (
        "-checked" if numba.config.BOUNDSCHECK else "-plain" if os.environ.get("FOREBAY_INNER_KERNELS") == "0" else ""
    )
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

try:
    from forebay._numba.inner import Kernel
except (ImportError, AttributeError):  # a Numba whose insides have changed: slower to compile, the same to run
    INNER = False
else:
    INNER = os.environ.get("FOREBAY_INNER_KERNELS") != "0"
"""Whether kernels become part of those that call them, see `inner`. FOREBAY_INNER_KERNELS=0 leaves it to Numba."""


def _plain(function: Any, signature: Any, options: dict[str, Any]) -> Any:
    return numba.njit(*([] if signature is None else [signature]), cache=True, **options)(function)


def _decorator(**options: Any) -> Any:
    """For use as @kernel, or with a signature: @kernel(types.void(...))."""
    options = {"nogil": True, "error_model": "numpy", **options}

    def decorate(signature_or_function: Any) -> Any:
        if numba.config.DISABLE_JIT:
            given = isinstance(signature_or_function, FunctionType)
            return signature_or_function if given else (lambda function: function)
        if isinstance(signature_or_function, FunctionType):
            return _make(signature_or_function, None, options)
        return lambda function: _make(function, signature_or_function, options)

    return decorate


_make = Kernel if INNER else _plain

kernel: Any = _decorator(_nrt=False)
"""A compiled function that allocates no arrays. Without Numba's reference counts: every call that hands on the tables
would count two dozen arrays up and down with atomic operations, which was 60 % of a run's time."""

inlined_kernel: Any = _decorator(_nrt=False, forceinline=True)
"""A kernel that becomes part of who calls it. An array is handed on as seven words or more, one by one: where jobs are
laid into plans that was an eighth of the time in a profile."""

allocating_kernel: Any = _decorator()
"""A compiled function that makes arrays of its own."""


def ready(function: Any) -> Any:
    """A kernel with a signature, compiled: what Python may hand to other kernels."""
    return getattr(function, "entry", function)
