"""A process between a command and its pipes: see `programs`. It imports nothing of forebay: it starts at once."""

import os
import select
import sys
from collections.abc import Mapping

_MOST = 1 << 20
"""Bytes read at once: more than a pipe holds."""


def pass_on(life: int, routes: Mapping[int, int]) -> None:
    """Copy what comes from pipes to where they lead, until `life` has no other end; then what is left there."""
    waiting, open_ones = select.poll(), dict(routes)
    for source in (life, *open_ones):
        waiting.register(source, select.POLLIN)
    while open_ones:
        ready = [source for source, _ in waiting.poll()]
        if life in ready:
            break
        for source in ready:
            if not _copy(source, open_ones[source]):
                waiting.unregister(source)
                os.close(source)  # who writes there finds its reader gone, as it would without us
                del open_ones[source]
    for source, target in open_ones.items():
        os.set_blocking(source, False)
        _copy(source, target)


def _copy(source: int, target: int) -> bool:
    """Whether there may be more to come."""
    try:
        data = os.read(source, _MOST)
        left = memoryview(data)
        while left:
            left = left[os.write(target, left) :]
    except OSError:
        return False
    return bool(data)


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    pass_on(numbers[0], dict(zip(numbers[1::2], numbers[2::2], strict=True)))
