"""Where a comparison is put together: `unfinished` in the folder of the results. Its files move up when all is there.

Until then the results of an earlier comparison stay as they are; then they go, so that a folder holds one comparison,
never a mix of two. What belongs to it stands in compare.json: nothing else is ever removed. A comparison that was
stopped stays in `unfinished`, and the same one goes on from there.
"""

import fcntl
import json
import os
import shutil
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay._support.files import replacing, within, writable_folder
from forebay._support.reading import read_text
from forebay.errors import InputError

if TYPE_CHECKING:
    from forebay.results import Result

MANIFEST, TABLE, UNFINISHED = "compare.json", "compare.csv", "unfinished"
_FORMAT, _LOCK, _RUN = 1, ".lock", "run.json"


@dataclass(frozen=True)
class Part:
    """The run of one policy: the name of its folder, and a key that changes with whatever may change the policy."""

    folder: str
    key: str


class Workspace:
    """A comparison that is being made. Parts have their folders in `path`; so have the table and figures of all."""

    def __init__(self, folder: Path, setting: str, parts: Mapping[str, Part], command: Sequence[str] = ()) -> None:
        self.folder, self.path = folder, folder / UNFINISHED
        self._parts, self._complete = dict(parts), False
        self._results: dict[str, Result] = {}
        self._told = {"format": _FORMAT, "finished": False, "setting": setting, "command": list(command)}
        for part in parts.values():
            if (folder / part.folder).is_file():
                raise InputError(f"{folder / part.folder}: is a file where a folder of results goes; move it away")
        self._take_over()
        self._write(policies={policy: asdict(part) for policy, part in parts.items()})

    def place(self, policy: str) -> Path:
        """Where the files of a policy's run go."""
        return self.path / self._parts[policy].folder

    def target(self, policy: str) -> Path:
        """Where they will be."""
        return self.folder / self._parts[policy].folder

    def finished(self) -> list[str]:
        """Policies whose runs are there, as a whole: run.json is written last."""
        return [policy for policy in self._parts if (self.place(policy) / _RUN).is_file()]

    def result(self, policy: str) -> "Result":
        """The run of a policy, read once."""
        from forebay.results import load

        if policy not in self._results:
            self._results[policy] = load(self.place(policy))
        return self._results[policy]

    def replaces(self) -> str:
        """What is lost of the folder, in words; empty where this comparison has all that the one there has."""
        there = _read(self.folder / MANIFEST)
        if there is None:
            return ""
        if there.get("setting") == self._told["setting"] and set(there.get("policies", [])) <= self._parts.keys():
            return ""
        return f"replaces {_named(self.folder, there)} in {self.folder}"

    def publish(self) -> None:
        """All is there: let it take the place of what was in the folder before."""
        self.drop_half_made()
        files = sorted(
            path.relative_to(self.path).as_posix()
            for path in self.path.rglob("*")
            if path.is_file() and path.name not in (_LOCK, MANIFEST)
        )
        parts = {policy: asdict(self._parts[policy]) for policy in self.finished()}
        self._write(policies=list(parts), parts=parts, finished=True, files=files)
        self._complete = True
        _move_up(self.folder)

    def drop_half_made(self) -> None:
        """Take away what is left of runs that did not end; of a complete comparison, nothing is."""
        done = self.finished()
        for policy in [] if self._complete else self._parts:
            if policy not in done:
                shutil.rmtree(self.place(policy), ignore_errors=True)

    def _take_over(self) -> None:
        """Keep the runs of a stopped comparison that this one would only repeat, and nothing else of it."""
        found = _read(self.path / MANIFEST) or {}
        known = found["policies"] if found.get("setting") == self._told["setting"] else {}
        kept = {part.folder for policy, part in self._parts.items() if known.get(policy) == asdict(part)}
        for path in self.path.iterdir():
            if path.name in (_LOCK, MANIFEST) or (path.name in kept and (path / _RUN).is_file()):
                continue
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        self._reuse()

    def _reuse(self) -> None:
        """Take from the finished comparison in the folder the runs that this one would only repeat, as links."""
        found = _read(self.folder / MANIFEST) or {}
        known = found.get("parts", {}) if found.get("setting") == self._told["setting"] else {}
        for policy, part in self._parts.items():
            names = [name for name in found.get("files", []) if Path(name).parent.as_posix() == part.folder]
            there = all((self.folder / name).is_file() for name in names) and f"{part.folder}/{_RUN}" in names
            if known.get(policy) != asdict(part) or not there or self.place(policy).exists():
                continue
            self.place(policy).mkdir()
            for name in sorted(names, key=lambda name: Path(name).name == _RUN):
                _link(self.folder / name, self.path / name)

    def _write(self, **more: Any) -> None:
        with replacing(self.path / MANIFEST) as [temporary]:
            temporary.write_text(json.dumps(self._told | more, indent=2) + "\n", encoding="utf-8")


@contextmanager
def workspace(
    folder: Path, setting: str, parts: Mapping[str, Part], command: Sequence[str] = ()
) -> Iterator[Workspace]:
    """A workspace in a folder, for one comparison at a time. However it ends, what is whole stays there.

    `command` gives the same comparison again; compare.json has it.
    """
    path = within(folder, UNFINISHED)
    there = _read(folder / MANIFEST) or {}  # to complain now, not after hours
    _refuse_links(folder, [*there.get("files", []), *(part.folder for part in parts.values())])
    _refuse_links(path, [one.name for one in path.iterdir()] if path.is_dir() else [])
    if path.exists() and _read(path / MANIFEST) is None and any(one.name != _LOCK for one in path.iterdir()):
        raise InputError(f"{path}: is not a comparison that was stopped; move it away, or choose another folder")
    writable_folder(path)
    with _alone(path, folder):
        try:
            if (_read(path / MANIFEST) or {}).get("finished"):
                _move_up(folder)  # it was stopped while it did
                writable_folder(path)
            made = Workspace(folder, setting, parts, command)
            try:
                yield made
            finally:
                made.drop_half_made()
        finally:
            complete = (_read(path / MANIFEST) or {}).get("finished", False)
            if path.is_dir() and not complete and not any(path.glob(f"*/{_RUN}")):
                shutil.rmtree(path)


@contextmanager
def _alone(path: Path, folder: Path) -> Iterator[None]:
    lock = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise InputError(f"{folder}: another comparison is being made there; choose another folder with -o") from None
    except OSError:  # a file system without locks
        pass
    try:
        yield
    finally:
        os.close(lock)


def _move_up(folder: Path) -> None:
    """Let a comparison that is complete take the place of an earlier one. Begun again, it ends what it began.

    The table goes first and comes last: without it the folder is not taken for a comparison.
    """
    path = folder / UNFINISHED
    new = _read(path / MANIFEST) or {}
    _refuse_links(folder, new["files"])
    with _unstoppable():
        moved = {name for name in new["files"] if not (path / name).exists()}
        old = (_read(folder / MANIFEST) or {}).get("files", [])
        for name in sorted(set(old) - moved, key=lambda name: name != TABLE):
            (folder / name).unlink(missing_ok=True)
        for parent in {(folder / name).parent for name in old} - {folder}:
            with suppress(OSError):  # it holds something else too
                parent.rmdir()
        for name in sorted(set(new["files"]) - moved, key=lambda name: name == TABLE):
            (folder / name).parent.mkdir(exist_ok=True)
            (path / name).replace(folder / name)
        (path / MANIFEST).replace(folder / MANIFEST)
        shutil.rmtree(path)


def _refuse_links(folder: Path, names: Iterable[str]) -> None:
    for name in names:
        within(folder, name)


def _link(old: Path, new: Path) -> None:
    try:
        os.link(old, new)
    except OSError:  # a file system without links
        shutil.copy2(old, new)


@contextmanager
def _unstoppable() -> Iterator[None]:
    """Ctrl-C and the like wait until files have their places."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _read(path: Path) -> dict[str, Any] | None:
    """What a manifest says; None if there is none."""
    try:
        found = json.loads(read_text(path))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("format") != _FORMAT or not all(map(_inside, found.get("files", []))):
        raise InputError(f"{path}: does not tell of a comparison by this version; choose another folder with -o")
    return found


def _named(folder: Path, manifest: dict[str, Any]) -> str:
    """A comparison by its workload and machine, as one of its runs tells them, where one still does."""
    from forebay.results import read_document

    for name in manifest.get("files", []):
        with suppress(InputError, KeyError, TypeError):
            if Path(name).name == _RUN:
                run = read_document((folder / name).parent)
                return f"the comparison of {run['workload']} on {run['platform']['name']}"
    return "an earlier comparison"


def _inside(name: object) -> bool:
    """Whether it names a file of the folder or of one in it: no other was ever written."""
    return isinstance(name, str) and not Path(name).is_absolute() and ".." not in Path(name).parts
