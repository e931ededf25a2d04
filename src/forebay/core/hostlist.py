"""Lists of nodes as Slurm writes them, `cirrus[0-279,300]` or `r[1-2]n[01-36]`, read and written."""

import re
from collections.abc import Iterable, Sequence
from itertools import product

from forebay._support import input_limits
from forebay.errors import InputError, brief

MOST = 1_000_000
"""Nodes of a list: more than any machine has, few enough to hold."""

_NUMBERED = re.compile(r"(.*?)([0-9]+)", re.ASCII)
_LIKE = "write names such as node[1-4,7]"


def split_outside(text: str, separator: str = ",") -> list[str]:
    """Parts of a list whose items may have separators of their own in brackets or parentheses."""
    parts, depth, begin = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "[(") - (letter in "])")
        if letter == separator and depth <= 0:
            parts.append(text[begin:place])
            begin = place + 1
    return [part.strip() for part in (*parts, text[begin:]) if part.strip()]


def expand(text: str, where: str) -> list[str]:
    """Every name of a list, in order."""
    most = input_limits.limit(input_limits.NODES, MOST)
    names: list[str] = []
    for item in split_outside(text):
        parts = _parts(item, where)
        size = 1
        for choices in parts:
            size *= sum(last - first + 1 for first, last, _ in choices) if isinstance(choices, list) else 1
        if len(names) + size > most:
            raise InputError(
                f"{where}: {brief(text)} names more than {most:,} nodes; write fewer, or set the variable "
                f"{input_limits.NODES} to as many"
            )
        names += ("".join(letters) for letters in product(*(_spelled(choices) for choices in parts)))
    return names


Range = tuple[int, int, int]
"""First and last number, and how many digits they have at least."""


def _parts(item: str, where: str) -> list[str | list[Range]]:
    """Letters and ranges in turn."""
    parts: list[str | list[Range]] = []
    for piece in re.split(r"(\[[^\[\]]*\])", item):
        if piece.startswith("["):
            parts.append([_range(text.strip(), item, where) for text in piece[1:-1].split(",")])
        elif piece:
            if not re.fullmatch(r"[\w.+:@-]+", piece):
                raise InputError(f"{where}: {brief(item)} is not a list of nodes; {_LIKE}")
            parts.append(piece)
    return parts


def _range(text: str, item: str, where: str) -> Range:
    found = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", text, re.ASCII)
    if not found:
        raise InputError(f"{where}: {brief(item)} has {brief(text)} in brackets; {_LIKE}")
    first, last = int(found[1]), int(found[2] or found[1])
    if last < first:
        raise InputError(f"{where}: {brief(item)} counts down from {first} to {last}; {_LIKE}")
    return first, last, len(found[1])


def _spelled(choices: str | list[Range]) -> Iterable[str]:
    if isinstance(choices, str):
        return [choices]
    return [f"{number:0{width}}" for first, last, width in choices for number in range(first, last + 1)]


def compress(names: Sequence[str], most: int = 8) -> str:
    """Names in Slurm's short form; what does not fit in `most` pieces is cut off, for people to read."""
    runs: list[tuple[str, str, int, int]] = []  # letters, first number as written, first and last number
    for name in names:
        found = _NUMBERED.fullmatch(name)
        letters, digits = found.groups() if found else (name, "")
        number = int(digits[:18]) if digits else -1
        if runs and digits:
            before, first, begin, last = runs[-1]
            if before == letters and first and number == last + 1 and len(digits) == len(f"{last + 1:0{len(first)}}"):
                runs[-1] = (letters, first, begin, number)
                continue
        runs.append((letters, digits, number, number))
    spelled = [
        f"{letters}[{first}-{last:0{len(first)}}]" if last > begin else f"{letters}{first}"
        for letters, first, begin, last in runs[:most]
    ]
    return ",".join(spelled) + (f",... ({len(names):,} in all)" if len(runs) > most else "")
