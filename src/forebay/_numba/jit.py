"""The one place where Numba is configured. Every compiled function in forebay is a `kernel`."""

import os
from types import FunctionType
from typing import Any

import numba

from forebay._numba.facts import Facts
from forebay._numba.folder import cache_folder, is_ours

try:
    from forebay._numba.inner import ApartKernel, Kernel
except (ImportError, AttributeError):  # a Numba whose insides have changed: slower to compile, the same to run
    INNER = False
else:
    INNER = os.environ.get("FOREBAY_INNER_KERNELS") != "0"
"""Whether kernels become part of those that call them, see `inner`. FOREBAY_INNER_KERNELS=0 leaves it to Numba."""


def _plain(function: Any, signature: Any, options: dict[str, Any]) -> Any:
    kept = is_ours(function) and cache_folder() is not None
    if kept:
        numba.config.CACHE_DIR = str(cache_folder())
    return numba.njit(*([] if signature is None else [signature]), cache=kept, **options)(function)


def _decorator(is_apart: bool = False, **options: Any) -> Any:
    """For use as @kernel, or with a signature: @kernel(types.void(...))."""
    options = {"nogil": True, "error_model": "numpy", **options}
    make = _plain if not INNER else ApartKernel if is_apart else Kernel

    def decorate(signature_or_function: Any) -> Any:
        if numba.config.DISABLE_JIT:
            given = isinstance(signature_or_function, FunctionType)
            return signature_or_function if given else (lambda function: function)
        if isinstance(signature_or_function, FunctionType):
            return make(signature_or_function, None, options)
        return lambda function: make(function, signature_or_function, options)

    return decorate


kernel: Any = _decorator(_nrt=False)
"""A compiled function that allocates no arrays. Without Numba's reference counts: every call that hands on the tables
would count two dozen arrays up and down with atomic operations, which was 60 % of a run's time."""

inlined_kernel: Any = _decorator(_nrt=False, forceinline=True)
"""A kernel that becomes part of who calls it. An array is handed on as seven words or more, one by one: where jobs are
laid into plans that was an eighth of the time in a profile."""

allocating_kernel: Any = _decorator()
"""A compiled function that makes arrays of its own."""

apart_kernel: Any = _decorator(is_apart=True)
"""The same, with a signature: compiled once for all that call it, which do not take it in. For large kernels that many
ways into compiled code share: the code of backfilling was compiled, and kept, for each of nine policies."""


def has_variants(function: Any) -> bool:
    """Whether a kernel can be compiled for what is known: not where kernels are left to Numba, nor one of a user's,
    which is compiled once for every run. With the compiler off there is nothing to compile, and facts are checked."""
    plain: Any = function if numba.config.DISABLE_JIT else getattr(function, "py_func", None)
    varies = bool(numba.config.DISABLE_JIT) or hasattr(function, "variant")
    return varies and hasattr(plain, "__code__") and is_ours(plain)


def ready(function: Any, *facts: Facts) -> Any:
    """A kernel with a signature, compiled: what Python may hand to other kernels.

    It may be compiled for what is known of its first arguments. The caller must have checked that it holds.
    """
    return getattr(variant_of(function, *facts), "entry", function)


def direct(entry: Any) -> Any:
    """A ready kernel as Python calls it most quickly: Numba looks at no argument, which takes 5 us where one is a
    pointer to tables. The caller must hand over what the signature says, arrays contiguous and of its types."""
    results = list(getattr(entry, "overloads", {}).values())
    return results[0].entry_point if len(results) == 1 else entry


def fault_of(function: Any, *facts: Facts) -> str:
    """Why it must be compiled, see `store.Fault`; empty if it is ready, or can be read from the disk."""
    fault = getattr(variant_of(function, *facts), "fault", None)
    return fault.value if fault else ""


def variant_of(function: Any, *facts: Facts) -> Any:
    """A kernel for what is known of its first arguments; the kernel itself where kernels are left to Numba."""
    return function.variant(facts) if hasattr(function, "variant") else function
