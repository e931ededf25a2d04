"""Write files whole or not at all: to a temporary name beside the target, then renamed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from forebay.errors import InputError


def writable_folder(folder: Path) -> Path:
    """Make `folder` if need be and prove that a file can be written there, before any long work begins."""
    probe = folder / f".forebay-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise InputError(f"{folder}: cannot write there ({error.strerror}); choose another folder") from None
    return folder


@contextmanager
def replacing(*targets: Path) -> Iterator[list[Path]]:
    """Temporary paths to write; on success each takes its target's place, on any exception (Ctrl-C too) all vanish."""
    temporary = [target.with_name(f".{target.name}.{os.getpid()}.tmp") for target in targets]
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
