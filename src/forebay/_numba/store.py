"""Compiled code on disk: a file for each way into compiled code.

Numba's own cache watches the file that a kernel stands in, not those of what it calls, and names its place by the path
of that file. Here a file is named after its kernel, in a folder that is named after all sources: a second installation
compiles nothing. A file carries its checksum: what is damaged is compiled again, and nothing else. A file that somebody
else may have written is neither run nor replaced. Kernels of users are never kept.
"""

import hashlib
import os
import pickle
import stat
import tempfile
from enum import Enum
from pathlib import Path
from types import FunctionType
from typing import Any

from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from forebay._numba import apart, packaged
from forebay._numba.apart import Place
from forebay._numba.finished import assembled, parts_of
from forebay._numba.folder import cache_folder, is_ours, is_safe

_DIGEST = 32
"""Bytes of a checksum, with which a file begins."""


class Fault(Enum):
    """Why compiled code cannot be read from the disk."""

    MISSING = "missing"
    DAMAGED = "damaged"
    UNSAFE = "unsafe"  # others may have written it
    PACKAGED = "packaged"  # what the wheel brought is damaged, or others may have written it


class Store:
    """What Numba takes for a function's cache."""

    is_apart = False

    def __init__(self, module: str, name: str):
        self._module, self._kernel = module, name

    @property
    def cache_path(self) -> str:
        """Where the files are."""
        return str(cache_folder())

    def fault(self, signature: Any, target: Any) -> Fault | None:
        """Why the function must be compiled; None if it was before, from these sources, and can be read.

        What it calls that stands apart must be there, too.
        """
        found = self._read(signature, target.codegen())
        if isinstance(found, Fault):
            return found
        faults = (_shelf(place).fault(place.made_for, target) for place in found[0] if place not in apart.ready)
        return next(filter(None, faults), None)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """What was compiled before, or None.

        Numba would fill its registries first, in half a second. Code that is finished needs none of them.
        """
        found = self._read(signature, target.codegen())
        if isinstance(found, Fault):
            return None
        rtsys.initialize(target)
        needed, data = found
        if any(_shelf(place).fetch(place.made_for, target) is None for place in needed):
            return None
        return assembled(target, self.is_apart, *pickle.loads(data))

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep what was compiled, where it can be kept."""
        folder = cache_folder()
        if folder is None or result.lifted or result.reload_init or result.library.has_dynamic_globals:
            return
        path = folder / self._name(signature, result.codegen.magic_tuple())
        if _read(path) is Fault.UNSAFE:
            return
        data = pickle.dumps((tuple(result.library.apart), dumps(parts_of(result))))
        temporary = None
        try:
            handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=folder)
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(data).digest() + data)
            Path(temporary).replace(path)
        except OSError:  # a folder made in advance, or a full disk: it will be compiled again
            if temporary is not None:
                Path(temporary).unlink(missing_ok=True)

    def lock(self, signature: Any, target: Any) -> Path | None:
        """A file that is locked by the process that compiles this."""
        folder = cache_folder()
        return folder / f".{self._name(signature, target.codegen().magic_tuple())}.lock" if folder else None

    def enable(self) -> None:
        """It always is."""

    disable = flush = enable

    def _read(self, signature: Any, codegen: Any) -> tuple[tuple[Place, ...], bytes] | Fault:
        """What was compiled here, else what the wheel brought: what it needs that stands apart, and itself."""
        folder = cache_folder()
        found = _read(folder / self._name(signature, codegen.magic_tuple())) if folder else Fault.MISSING
        found = self._packaged(signature, codegen, found) if isinstance(found, Fault) else found
        return found if isinstance(found, Fault) else pickle.loads(found)

    def _packaged(self, signature: Any, codegen: Any, fault: Fault) -> bytes | Fault:
        folder, target = packaged.folder(), packaged.target(codegen)
        if folder is None or target is None:
            return fault
        found = _read(folder / self._name(signature, target))
        spoilt = fault is Fault.MISSING and found in (Fault.DAMAGED, Fault.UNSAFE)
        return Fault.PACKAGED if spoilt else fault if isinstance(found, Fault) else found

    def _name(self, signature: Any, target: tuple[str, ...]) -> str:
        made_for = hashlib.sha256(repr((str(signature), target)).encode()).hexdigest()[:8]
        return f"{self._module}.{self._kernel}-{made_for}.kernel"


class Shelf(Store):
    """The same for a kernel that stands apart, which is loaded once in a process."""

    is_apart = True

    def __init__(self, module: str, name: str):
        super().__init__(module, name)
        self._turn = apart.Turn(None)

    def fetch(self, signature: Any, target: Any) -> Any:
        """What was compiled before, by this process or another; or None."""
        place = self._place(signature)
        if place not in apart.ready:
            found = super().load_overload(signature, target)
            if found is not None:
                apart.note(place, found)
        return apart.ready.get(place)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The same; where there is none it will be compiled here, and other processes wait for that."""
        found = self.fetch(signature, target)
        if found is None:
            self._turn = apart.Turn(self.lock(signature, target))
            self._turn.take()
            found = self.fetch(signature, target)  # another process may have compiled it meanwhile
        return found

    def leave(self) -> None:
        """It is there, or is not compiled here after all."""
        self._turn.leave()

    def save_overload(self, signature: Any, result: Any) -> None:
        """Others in this process call it in any case."""
        apart.note(self._place(signature), result)
        super().save_overload(signature, result)

    def _place(self, signature: Any) -> Place:
        return Place(self._module, self._kernel, str(signature))


def _shelf(place: Place) -> Shelf:
    return Shelf(place.module, place.name)


def _read(path: Path) -> bytes | Fault:
    try:
        # What is looked at is what is read: no link to elsewhere, and nothing put in its place in between.
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or not is_safe(found):
                return Fault.UNSAFE
            content = file.read()
    except FileNotFoundError:
        return Fault.MISSING
    except OSError:
        return Fault.UNSAFE
    data = content[_DIGEST:]
    return data if hashlib.sha256(data).digest() == content[:_DIGEST] else Fault.DAMAGED


def store_for(function: FunctionType) -> Store | None:
    """Where to keep a kernel of ours; nowhere if it is a user's."""
    return Store(function.__module__, function.__qualname__) if is_ours(function) else None
