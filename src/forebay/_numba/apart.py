"""Kernels that stand apart: compiled once, kept once, and called by their symbols.

A kernel becomes part of all that call it. Where it is large and many call it, each of them would compile, optimise and
keep it again. A symbol is made of the kernel's name and the types of its arguments, so code that was compiled by one
process calls what another has compiled. Whatever calls such a kernel says so in the store: it is read first. Numba's
own cache cannot say so, and keeps no plain function of a user's that calls one.
"""

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm


class Place(NamedTuple):
    """Where the store has it."""

    module: str
    name: str
    made_for: str  # the types of its arguments


places: dict[Any, Place] = {}
"""Those in this process, by their libraries."""
ready: dict[Place, Any] = {}
"""What they were compiled to."""


def offer(library: Any, described: Any, environment: Any) -> object:
    """Let others call what a library has; returns what stands for it, as no Python code can call it."""
    name = described.llvm_func_name
    llvm.add_symbol(name, library.get_pointer_to_function(name))
    library.codegen.set_env(described.env_name, environment)
    return object()


def stand_in(codegen: Any) -> Any:
    """What is linked in place of a kernel that stands apart: nothing but a mark of what Numba does not keep."""
    module = llvm.parse_assembly('@"numba.dynamic.globals.apart" = weak global i64 0')
    module.data_layout = codegen._data_layout
    return module


def note(place: Place, result: Any) -> None:
    """It can be called in this process."""
    places[result.library], ready[place] = place, result


class Turn:
    """One process at a time compiles a kernel: others wait, and find it in the store."""

    def __init__(self, path: Path | None):
        self._path, self._handle = path, -1

    def take(self) -> None:
        """Wait for it."""
        if self._path is not None:
            with suppress(OSError):  # a folder that cannot be written to, or cannot be locked: then all compile
                self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
                fcntl.flock(self._handle, fcntl.LOCK_EX)

    def leave(self) -> None:
        """It is the next one's."""
        if self._handle >= 0:
            with suppress(OSError):
                os.unlink(str(self._path))  # those that wait have it open, and those that come later find the code
            os.close(self._handle)
            self._handle = -1

    def __enter__(self) -> None:
        self.take()

    def __exit__(self, *_: object) -> None:
        self.leave()
