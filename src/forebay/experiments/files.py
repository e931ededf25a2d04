"""Files of users that specs name: a policy or a generator in Python, a platform in TOML, a trace of outages.

They count by what is in them, wherever they lie, so keys hold their names and digests, not their paths. And they
travel: a worker on another machine finds them below a folder of its own, in the same places relative to each other.
"""

import hashlib
from functools import lru_cache
from pathlib import Path

from forebay._support.reading import check_regular, read_bytes
from forebay.errors import InputError


def path_in(spec: str) -> str:
    """The user's file that the spec of a policy, generator or platform names, as it is written; empty if none."""
    from forebay.policies import own_file

    for ending in (".toml", ".py"):
        if ending in spec:
            check_regular(Path(spec.partition(ending)[0] + ending))
    stem, found, _ = spec.partition(".toml")
    if found and Path(stem + found).is_file():
        return stem + found
    return own_file(spec)


def trace_in(failures: str) -> str:
    """The trace that a spec of failures names; empty if none."""
    from forebay.platforms.failures import parse

    return parse(failures).get("trace", "") if failures else ""


def digest(spec: str) -> str:
    """Of the file that a spec names, with all that it needs in turn; empty if it names none."""
    from forebay.policies import digest_of

    path = path_in(spec)
    if not path.endswith(".toml"):
        return digest_of(spec)
    trace = outages_of(path, content := read_bytes(Path(path)))
    return digest_of_bytes(content) + (digest_of_file(Path(trace)) if trace else "")


def described_metrics(tokens: tuple[str, ...]) -> list[list[str]]:
    """What tells runs apart by metrics of the user's own: each file's name and digest."""
    from forebay.metrics._own.files import described

    return described(tokens)


def path_of_metrics(token: str) -> str:
    """The file of metrics that a run is given; empty where only this process has them."""
    from forebay.metrics._own.own import is_mark

    return "" if is_mark(token) else token


def digest_of_file(path: Path) -> str:
    """Of a file's bytes."""
    try:
        return digest_of_bytes(read_bytes(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}); check the path") from None


def digest_of_bytes(content: bytes) -> str:
    """SHA-256, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


@lru_cache(maxsize=64)
def outages_of(path: str, content: bytes) -> str:
    """The trace of outages that a platform's file names; its content is there to be remembered by."""
    from forebay.platforms._declared.toml import trace_of

    return trace_of(Path(path))


def named(spec: str) -> str:
    """The spec with the name of its file alone."""
    path = path_in(spec)
    return spec.replace(path, Path(path).name, 1) if path else spec


def named_trace(failures: str) -> str:
    """The same, of a spec of failures."""
    trace = trace_in(failures)
    return failures.replace(trace, Path(trace).name, 1) if trace else failures
