"""Compiled code that a wheel brings, for every processor of a kind: what a user has compiled goes first.

It lies in a folder that is named after the sources, like a user's own (see `folder`), and after what it was made with.
On another kind of machine, or under another Python or Numba, it is not found, and code is compiled as without it.
"""

from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from forebay._numba.folder import is_safe, version_of

PORTABLE = {
    "x86_64": ("x86-64-v3", "+avx,+avx2,+bmi,+bmi2,+cx16,+f16c,+fma,+lzcnt,+movbe,+popcnt,+sse4.2,+ssse3,+xsave"),
    "aarch64": ("generic", "+neon,+fp-armv8,+crc,+lse"),
}
"""What code of wheels is made for, by architecture: NUMBA_CPU_NAME and NUMBA_CPU_FEATURES."""

PLACE = Path(__file__).parents[1] / "_compiled"


def name() -> str:
    """The folder's, in `PLACE`: after the version of Python up to the minor one, which compiled code depends on."""
    return version_of(minor_alone=True)


@cache
def folder() -> Path | None:
    """Where the wheel's code is; None where there is none that is safe to run."""
    found = PLACE / name()
    try:
        return found if is_safe(PLACE.stat()) and is_safe(found.stat()) else None
    except OSError:
        return None


def target(codegen: Any) -> tuple[str, str, str] | None:
    """What code for this processor was made for, as Numba describes it; None if the processor is of no such kind."""
    triple = codegen.magic_tuple()[0]
    kind = PORTABLE.get(triple.partition("-")[0])
    return (triple, *kind) if kind and _has(kind[1]) else None


@cache
def _has(features: str) -> bool:
    """Whether this processor has them all."""
    try:
        here = llvm.get_host_cpu_features()
    except RuntimeError:  # LLVM does not know
        return False
    return all(here.get(feature[1:], False) for feature in features.split(","))
