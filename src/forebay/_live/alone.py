"""One process at a time for a folder."""

import fcntl
import os
from pathlib import Path

from forebay.errors import InputError


def be_alone(folder: Path, name: str) -> int:
    """Hold the folder until this process ends; InputError where another does. Gives what holds it, to be closed."""
    held = os.open(folder / f"{name}.lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        raise InputError(f"{folder}: another {name} runs with this folder; end it first") from None
    return held
