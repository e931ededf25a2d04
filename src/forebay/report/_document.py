"""What commands write down of their answers, for pages to be made of."""

import json
from pathlib import Path
from typing import Any

from forebay._support.reading import read_text
from forebay.errors import InputError

FORMAT = 1
"""Goes up when a page can no longer be made of an older document."""


def read_answer(path: Path) -> dict[str, Any]:
    """The document that a command has written."""
    try:
        found = json.loads(read_text(path))
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("format", FORMAT) != FORMAT:
        raise unreadable(path)
    return found


def unreadable(path: Path) -> InputError:
    """What to say of a document of which no page can be made."""
    return InputError(f"{path}: does not tell of an answer by this version; give the command that wrote it again")
