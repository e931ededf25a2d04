"""What can go wrong, by name. Every message says where (file, line or job), what is wrong, and how to fix it."""

import difflib
import reprlib
from collections.abc import Iterable
from typing import Any

LINES, CHARACTERS = 20, 2000
"""Of a message, at most."""

_LEFT_OUT = " ... "
_WIDE = 40  # characters of a name or value that a message shows

# Python's own repr gives up on very deep values, and takes its time over very large ones.
_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxlong, _SHORT.maxother = 4, 2 * _WIDE, 2 * _WIDE, 2 * _WIDE


class ForebayError(Exception):
    """Anything forebay refuses. The command line prints the message alone and leaves with `exit_code`.

    The text is short whatever it quotes; `args` has all of it.
    """

    exit_code = 2

    def __str__(self) -> str:
        return shortened(super().__str__())


class LongRunWarning(UserWarning):
    """A run will take long, at its pace so far or by what its jobs do."""


class MetricWarning(UserWarning):
    """A metric of the user's own raised, or gave no number; it is left empty, and the others go on."""


class InputError(ForebayError):
    """A file, name or value that cannot be used as given."""


class PolicyError(ForebayError):
    """A policy did what no policy may do; the run stops before any table is harmed."""

    exit_code = 3


class OversubscribedError(PolicyError):
    """A start for which a resource has too little left."""


class StartedTwiceError(PolicyError):
    """A start of a job that already runs or has ended."""


class StartedEarlyError(PolicyError):
    """A start of a job that has not been submitted yet."""


class UnknownJobError(PolicyError):
    """An action that names no job of this workload."""


class BadActionError(PolicyError):
    """An action whose other fields make no sense (a wake in the past, a rejection of a job that has begun)."""


class StalledError(PolicyError):
    """Nothing runs, nothing will arrive, jobs wait, and the policy starts none of them."""


class PolicyRaisedError(PolicyError):
    """A policy in plain Python raised; the message carries its traceback, the simulated time and the job."""


def wrong_type(what: str, given: object, wanted: str) -> InputError:
    """The error for a value of another type than it is used as."""
    return InputError(f"{what} is {brief(given)}, of type {type(given).__name__}; give {wanted}")


def nearest(word: Any, known: Iterable[str]) -> str:
    """A ready-made ending for 'unknown X' messages: the closest known names, else all of them."""
    names = sorted(known)
    close = difflib.get_close_matches(str(word), names, n=3, cutoff=0.5)
    if close:
        return f"did you mean {' or '.join(brief(name) for name in close)}?"
    return f"known: {listed(names)}"


def shortened(text: str) -> str:
    """A message as a screen can show it, LINES lines and CHARACTERS characters at most: its beginning and its end."""
    lines = text.split("\n")
    if len(lines) > LINES:
        first, last = lines[: LINES // 2], lines[-(LINES - LINES // 2 - 1) :]
        lines = [*first, f"... {len(lines) - len(first) - len(last):,} lines left out ...", *last]
    width = CHARACTERS
    while sum(map(len, lines)) + len(lines) - 1 > CHARACTERS:
        width = width * 3 // 4
        lines = [_without_middle(line, width) for line in lines]
    return "\n".join(lines)


def _without_middle(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    last = width // 3
    return f"{line[: width - last - len(_LEFT_OUT)]}{_LEFT_OUT}{line[-last:]}"


def brief(value: Any) -> str:
    """A value as messages show it: on one line, and short."""
    try:
        text = " ".join(_SHORT.repr(value).split())
    except ValueError:  # Python writes no whole number of thousands of digits
        text = "a number of thousands of digits"
    return text if len(text) <= _WIDE else text[: _WIDE - 3] + "..."


def listed(names: Iterable[str], most: int = 30, width: int = _WIDE) -> str:
    """Names with commas, as a message can show them: not too many, none too long, nothing that a screen would obey."""
    names = list(names)
    words = [name if name.isprintable() else repr(name)[1:-1] for name in names[:most]]
    words = [word if len(word) <= width else f"{word[: width - 3]}..." for word in words]
    more = len(names) - most
    return ", ".join(words) + (f" and {more:,} more" if more > 0 else "")
