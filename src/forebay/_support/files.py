"""Write files whole or not at all: to a temporary name beside the target, then renamed; and never through a link."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from forebay.errors import InputError, wrong_type

_LONG = 150  # bytes of a name; file systems take 255, endings and numbers included


def _temporary(folder: Path) -> Path:
    """A name that none else takes, in another thread or on another host; what a killed process leaves is so found."""
    return folder / f".forebay-{os.urandom(8).hex()}.tmp"


def as_path(given: Any, what: str) -> Path:
    """A path that a user gives, of which messages speak as `what`."""
    if not isinstance(given, str | os.PathLike):
        raise wrong_type(what, given, "its name or path")
    return Path(given)


def writable_folder(folder: Path) -> Path:
    """Make `folder` if need be and prove that a file can be written there, before any long work begins."""
    probe = _temporary(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise InputError(f"{folder}: cannot write there ({error.strerror}); choose another folder") from None
    return folder


def within(folder: Path, name: str | os.PathLike[str]) -> Path:
    """A place in a folder of results, to write or delete there. A link that leads out of the folder is refused.

    What lies behind such a link is somebody else's. The folder itself may be a link: its user named it.
    """
    place = folder / name
    try:
        leads_out = not place.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # links that lead to each other
        leads_out = True
    if leads_out:
        parts = place.relative_to(folder).parts
        steps = (folder.joinpath(*parts[: n + 1]) for n in range(len(parts)))
        link = next((step for step in steps if step.is_symlink()), place)
        raise InputError(
            f"{link}: is a link that leads out of the folder of results, where nothing is written or deleted; "
            "remove the link, or choose another folder"
        )
    return place


def file_names(labels: Sequence[str]) -> list[str]:
    """A file's or folder's name for each label: as it is, with whatever may trouble a file system replaced."""
    names: list[str] = []
    for label in labels:
        plain = re.sub(r"[^\w.=,+-]", "_", label).lstrip(".").encode()[:_LONG].decode(errors="ignore") or "policy"
        taken = sum(re.sub(r"~\d+$", "", name) == plain for name in names)
        names.append(f"{plain}~{taken + 1}" if taken else plain)
    return names


@contextmanager
def replacing(*targets: Path) -> Iterator[list[Path]]:
    """Temporary paths to write; on success each takes its target's place, on any exception (Ctrl-C too) all vanish."""
    temporary = [_temporary(within(target.parent, target.name).parent) for target in targets]
    try:
        try:
            yield temporary
        except OSError as error:
            raise InputError(f"{targets[0].parent}: cannot write there ({error.strerror or error})") from None
        for path, target in zip(temporary, targets, strict=True):
            path.replace(target)
    finally:
        for path in temporary:
            path.unlink(missing_ok=True)
