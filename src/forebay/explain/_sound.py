"""What the compiled replay takes for granted: it looks up rows by number, and nothing there would stop a wrong one.

Logs that the engine has written keep to it. One that came from a file may hold anything.
"""

from typing import Any

import numpy as np

from forebay.algorithms.waiting import Replay
from forebay.errors import InputError


def check_sound(run: Replay) -> None:
    """Refuse a run whose log tells of what cannot be."""
    n, stores = len(run.times), run.holds["store"] + run.holds["n_stores"]
    kept = run.holds["n_stores"] > 0
    sound = (
        bool(np.isfinite(run.times).all()),
        _between(run.holds["resource"], 0, len(run.capacity)),
        _spans(run.holds, n),
        _spans(run.waits, n),
        _between(run.waits["job"], 0, run.n_jobs),
        _between(run.holds["store"][kept], 0, len(run.stores)),
        _between(stores[kept], 1, len(run.stores) + 1),
        run.stores.size == 0 or run.chunked < 0 or _between(run.stores[:, 0], 0, len(run.room)),
        *(_between(changes["subject"], 0, run.n_jobs) for changes in (run.held, run.said)),
        all(_ascends(changes["instant"]) for changes in (run.held, run.said, run.down)),
    )
    if not all(sound):
        raise InputError("the log of the run contradicts itself: it was changed; write the run again")


def _between(values: np.ndarray, low: int, high: int) -> bool:
    return bool(((values >= low) & (values < high)).all())


def _ascends(values: np.ndarray) -> bool:
    return bool((np.diff(values) >= 0).all())


def _spans(table: Any, n: int) -> bool:
    """Whether rows begin one after the other, at instants that there are, and none ends before it begins."""
    return (
        _ascends(table["first"]) and _between(table["first"], 0, n) and _between(table["last"], 0, n)
        and bool((table["last"] >= table["first"]).all())
    )  # fmt: skip
