"""Who carries out which run, where several do at once: a small file beside each run that is under way.

Only one of all that try can make a file that must not be there yet, on a shared file system too. The file tells host,
process and time. A killed process leaves it behind: on the same host it is seen that the process is gone, on another
one that the file has not been touched for a while.
"""

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from forebay._support.reading import read_text

ENDING = ".claim"
BEAT = 20.0
"""Seconds between two touches of a claim that is held."""
LOST = 180.0
"""Seconds without a touch after which the holder on another host counts as gone."""
_GUARD = "takeover.lock"


class Claims:
    """The claims of this process in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, Path] = {}

    def take(self, key: str) -> bool:
        """Whether the run of this key is ours to carry out. What a dead process claimed is taken over."""
        place = self._folder / f"{key}{ENDING}"
        if _make(place) or (_is_stale(place) and self._take_over(place)):
            self._held[key] = place
            return True
        return False

    def release(self, key: str) -> None:
        """The run is over, one way or the other."""
        place = self._held.pop(key, None)
        if place is not None:
            place.unlink(missing_ok=True)

    @contextmanager
    def holding(self) -> Iterator["Claims"]:
        """Claims are kept alive inside the block, and released after it, however it ends."""
        over = threading.Event()
        thread = threading.Thread(target=self._beat, args=(over,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            over.set()
            for key in list(self._held):
                self.release(key)

    def others(self) -> int:
        """How many runs other processes have claimed that are still there."""
        mine = {place.name for place in self._held.values()}
        found = (path for path in self._folder.glob(f"*{ENDING}") if path.name not in mine)
        return sum(not _is_stale(path) for path in found)

    def _beat(self, over: threading.Event) -> None:
        while not over.wait(BEAT):
            for place in list(self._held.values()):
                with suppress(OSError):  # released meanwhile
                    os.utime(place)

    def _take_over(self, place: Path) -> bool:
        """Replace a stale claim. One process at a time may, and looks again: else it could remove a new one."""
        guard = self._folder / _GUARD
        if not _make(guard):
            if _age(guard) > LOST:
                guard.unlink(missing_ok=True)
            return False
        try:
            if not _is_stale(place):
                return False
            place.unlink(missing_ok=True)
            return _make(place)
        finally:
            guard.unlink(missing_ok=True)


def _make(place: Path) -> bool:
    """Make a file that tells of this process; False where it is there already."""
    try:
        number = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError:
        return False
    with os.fdopen(number, "w", encoding="utf-8") as file:
        json.dump({**_here(), "pid": os.getpid(), "begun": _begun(os.getpid()), "time": time.time()}, file)
    return True


def _is_stale(place: Path) -> bool:
    """Whether its process is gone; a claim that is gone itself is not stale, but free."""
    try:
        claim = json.loads(read_text(place))
        if {key: claim[key] for key in _here()} == _here():
            return bool(claim["begun"] != _begun(claim["pid"]))
    except FileNotFoundError:
        return False
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass  # just made and not yet written, or of another host
    return _age(place) > LOST


def _here() -> dict[str, str]:
    """The host, and the space of process numbers: two containers of one name may each have a process 7."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return {"host": socket.gethostname(), "space": space}


def _begun(pid: int) -> str:
    """When a process began, in the system's own count; empty if it is gone. Numbers of processes come again."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        state, *rest = stat.rpartition(")")[2].split()
        return "" if state in "ZX" else rest[18]
    except OSError:
        pass
    if Path("/proc/self/stat").exists():
        return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except OSError:  # it is another user's
        pass
    return "running"


def _age(place: Path) -> float:
    """Seconds since a file was touched, by the clock of the file system: those of hosts may differ."""
    probe = place.with_name(f".forebay-{os.urandom(8).hex()}.tmp")
    try:
        probe.touch()
        now: Any = probe.stat().st_mtime
        return float(now - place.stat().st_mtime)
    except OSError:
        return 0.0
    finally:
        probe.unlink(missing_ok=True)
