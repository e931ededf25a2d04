"""Whether the files of a run are still what was written: run.json has the SHA-256 of each, and of itself without these.

Tables may be edited, and most that reads them does not mind. Where something cannot go on, a file that was changed is
what is wrong; if none was, it is a bug.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from forebay._support.reading import read_bytes
from forebay._support.text import as_json
from forebay.errors import ForebayError, InputError
from forebay.results._format import DIGESTS, JOBS_FOR_OTHERS, RUN


def digests_of(document: Mapping[str, Any], files: Mapping[str, Path]) -> dict[str, str]:
    """What run.json is to hold of itself, which holds `document`, and of the other files, by name."""
    found = {name: hashlib.sha256(read_bytes(path)).hexdigest() for name, path in files.items()}
    return found | {RUN: _digest(document)}


def _digest(document: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in document.items() if key != DIGESTS}
    return hashlib.sha256(as_json(rest).encode()).hexdigest()


def changed(folder: Path) -> str:
    """The first file of a run that is not as it was written, run.json first; empty if all are."""
    try:
        document = json.loads(read_bytes(folder / RUN))
        known = document[DIGESTS]
        if known[RUN] != _digest(document) or json.loads(as_json(document)) != document:
            return RUN  # infinity is no number that we write, and has the digest of none at all
    except (OSError, ValueError, LookupError, TypeError, RecursionError, ForebayError):
        return RUN  # one of an earlier version has no digests: there is no way to know
    for name, digest in known.items():
        if name in (RUN, JOBS_FOR_OTHERS):
            continue
        try:
            if hashlib.sha256(read_bytes(folder / name)).hexdigest() != digest:
                return str(name)
        except (OSError, ValueError, ForebayError):
            return str(name)
    return ""


@contextmanager
def reading(*folders: Path) -> Iterator[None]:
    """Refuse folders of runs in which a file was changed so that what stands in the block cannot go on."""
    try:
        yield
    except (ForebayError, OSError):
        raise
    except Exception:
        for folder in folders:
            if name := changed(folder):
                why = "it is damaged, or was changed after the run, and no longer agrees with the other files"
                raise InputError(f"{folder / name}: {why}; write the run again with forebay run -o") from None
        raise
