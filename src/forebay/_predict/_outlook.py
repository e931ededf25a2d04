"""The machine over the next day: its queue, its load, and waits by partition, with bands."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from forebay._predict._playing import Played
from forebay.workload.names import Names, called

HOURS = 24
_HOUR = 3600.0
_BAND = (0.1, 0.5, 0.9)
_NAMES = ("low", "middle", "high")


def outlook(played: Sequence[Played], nodes: int) -> pl.DataFrame:
    """A row an hour from now on: jobs that wait, and the share of nodes in use, at 10, 50 and 90 %."""
    times = np.arange(HOURS + 1) * _HOUR
    waiting = np.stack([_count(one.submit, one.start, times) for one in played])
    used = np.stack([_count(one.start, one.end, times, one.nodes) for one in played]) / max(nodes, 1)
    columns = {"seconds": times}
    for name, counts in (("waiting", waiting), ("in_use", used)):
        columns |= {
            f"{name}_{place}": row for place, row in zip(_NAMES, np.quantile(counts, _BAND, axis=0), strict=True)
        }
    return pl.DataFrame(columns)


def _count(since: np.ndarray, until: np.ndarray, times: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """How many have begun and not ended, at each time; NaN is never."""
    weight = np.ones(len(since)) if weight is None else weight.astype(float)
    rows = np.zeros(len(times))
    for moments, sign in ((since, 1.0), (until, -1.0)):
        known = ~np.isnan(moments)
        order = np.argsort(moments[known], kind="stable")
        total = np.r_[0.0, np.cumsum(weight[known][order])]
        rows += sign * total[np.searchsorted(moments[known][order], times, "right")]
    return rows


def waits(played: Sequence[Played], names: Names) -> pl.DataFrame:
    """A row a partition: what jobs that come within a day wait, at 10, 50 and 90 %."""
    queue = np.concatenate([one.queue[_coming(one)] for one in played])
    wait = np.concatenate([(one.start - one.submit)[_coming(one)] for one in played])
    rows = []
    for number in np.unique(queue):
        mine = wait[(queue == number) & ~np.isnan(wait)]
        if len(mine):
            known = int(number) >= 0
            name = called(names, "queue", int(number)) if known else "all"
            bands = dict(zip(_NAMES, np.quantile(mine, _BAND).tolist(), strict=True))
            rows.append({"queue": name, "jobs": len(mine) / len(played), **bands})
    schema = {"queue": pl.String, "jobs": pl.Float64, **dict.fromkeys(_NAMES, pl.Float64)}
    return pl.DataFrame(rows, schema=schema)


def _coming(one: Played) -> np.ndarray:
    found: np.ndarray = (one.submit > 0) & (one.submit <= HOURS * _HOUR)
    return found
