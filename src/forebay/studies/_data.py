"""Where the authors' files are: in the folder that is named, else in $FOREBAY_DATA."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from forebay._support.text import counted
from forebay.errors import InputError, listed


def find(wanted: Sequence[tuple[str, Iterable[str]]], named: Path | None) -> dict[str, Path] | None:
    """Each file by its name; None if there are no data at all, and none were named.

    `wanted` has a name and the places, relative to the folder, where the file may lie; the first that exists counts. If
    some are there and others not, these are named: a study never leaves out part of itself unasked.
    """
    folder = named or (Path(os.environ["FOREBAY_DATA"]) if os.environ.get("FOREBAY_DATA") else None)
    if folder is None:
        return None
    if named is not None and not folder.is_dir():
        raise InputError(f"--data {folder}: no such folder; name the one with the authors' files")
    found = {name: _first(folder, places) for name, places in wanted}
    lacking = [name for name, path in found.items() if path is None]
    if named is None and len(lacking) == len(found):
        return None
    if lacking:
        option = f"--data {folder}" if named else f"FOREBAY_DATA={folder}"
        raise InputError(
            f"{option}: {len(lacking)} of {counted(len(found), 'file')} missing: {listed(lacking, width=80)}"
        )
    return {name: path for name, path in found.items() if path is not None}


def _first(folder: Path, places: Iterable[str]) -> Path | None:
    return next((folder / place for place in places if (folder / place).is_file()), None)
