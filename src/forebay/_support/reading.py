"""Read files that users name: only such as end, and TOML with one message for whatever is wrong with it.

A pipe may never end and a device never does: a command that is given one in place of a file waits for ever.
"""

import errno
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any

from forebay.errors import InputError

MOST = 64 * 10**6
"""Bytes of a file that somebody writes by hand; more is something else."""

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def check_regular(path: Path) -> None:
    """Refuse what is there and not a file. What is not there fails when it is opened."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return
    kind = _KINDS.get(stat.S_IFMT(mode))
    if kind is not None:
        raise InputError(f"{path}: is {kind}, not a file; save what it holds in a file, and name that")


def read_bytes(path: Path, most: int | None = None) -> bytes:
    """All of a file, refused where it has more bytes than `most`, or than there is memory."""
    check_regular(path)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            if most is None and size > _memory():
                raise MemoryError
            data = file.read() if most is None else file.read(most + 1)
        except MemoryError:
            raise InputError(f"{path}: has {size / 1e9:,.1f} GB, more than fits in memory; is this the file?") from None
    if most is not None and len(data) > most:
        raise InputError(f"{path}: has more than {most / 1e6:,.0f} MB, which is no file of this kind; check the path")
    return data


def _memory() -> int:
    """Bytes of memory that the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def read_text(path: Path, most: int | None = None) -> str:
    """The same as text in UTF-8, with or without a mark at its beginning; ends of lines are one character."""
    text = read_bytes(path, most).decode("utf-8-sig")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_toml(path: Path, example: str) -> dict[str, Any]:
    """The tables of a file; `example` tells how its lines look. Only errors of the file system are the caller's."""
    try:
        return tomllib.loads(read_text(path, MOST))
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text; save the file as UTF-8") from None
    except RecursionError:
        raise InputError(f"{path}: not TOML that can be used: lists or tables nest too deep") from None
    except tomllib.TOMLDecodeError as error:
        what, _, place = str(error).partition(" (at ")
        line = re.match(r"line (\d+)", place)
        where = f"{path}:{line[1]}" if line else f"{path}: at its end"
        raise InputError(f"{where}: not valid TOML: {what}; lines look like {example}") from None
    except ValueError:  # what else the parser refuses
        raise InputError(f"{path}: not TOML that can be used: a number has thousands of digits") from None
