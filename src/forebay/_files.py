"""Write files whole or not at all: to a temporary name beside the target, then renamed. And read Parquet with care."""

import io
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.errors import InputError, wrong_type

if TYPE_CHECKING:
    import polars as pl


def as_path(given: Any, what: str) -> Path:
    """A path that a user gives, of which messages speak as `what`."""
    if not isinstance(given, str | os.PathLike):
        raise wrong_type(what, given, "its name or path")
    return Path(given)


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


def file_names(labels: Sequence[str]) -> list[str]:
    """A file's or folder's name for each label: as it is, with whatever may trouble a file system replaced."""
    names: list[str] = []
    for label in labels:
        plain = re.sub(r"[^\w.=,+-]", "_", label).lstrip(".") or "policy"
        taken = sum(re.sub(r"~\d+$", "", name) == plain for name in names)
        names.append(f"{plain}~{taken + 1}" if taken else plain)
    return names


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


def read_parquet(data: bytes, where: str) -> "pl.DataFrame":
    """The table in the bytes of a Parquet file; `where` is what messages call it."""
    import polars as pl

    try:
        return pl.read_parquet(io.BytesIO(data))
    # A damaged file may also hit an assertion of polars, and such a panic is no PolarsError.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise InputError(f"{where}: not Parquet that can be read; is the file whole?") from None
