"""Rigid jobs after Lublin & Feitelson, "The workload on parallel supercomputers: modeling the characteristics of rigid
jobs" (JPDC 2003; first as a report in 1999).

Sizes: a share of serial jobs; else 2^u nodes with u from a two-stage uniform, whole for the share of powers of two.
Run times: e^x seconds with x from a mix of two gammas; the larger the job, the likelier the second, longer one.
Arrivals: e^x seconds of rush-hour time with x from a gamma, paid out over 48 half hours of the day of unequal weight.

The constants are those of the authors' program m_lublin99.c, for 128 nodes. They advise log2 of the machine's size as
the largest u, and the turn of the two stages 2.5 below; this is done for other sizes. Interactive jobs, which reach 45
of 128 nodes there, reach the same share of other machines.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from forebay._support.text import counted
from forebay.workload._source import in_order
from forebay.workload.models import _checks as checks
from forebay.workload.workload import Workload, job_table

DESCRIPTION = "rigid jobs with a daily cycle, batch or interactive (Lublin & Feitelson 2003)"

EPOCH = 1704067200.0  # 1 January 2024, 00:00 UTC: the day begins at midnight
LONGEST = 162754.791419  # s, e^12: 45 hours
LONGEST_GAP = 13.0  # of ln(rush-hour seconds); larger draws are drawn again
BUCKET = 1800.0  # s, a half hour

_NAME = "lublin99"
_BUCKETS = 48
_DAY_START = 11  # the half hour, counted from 1, at which the gamma of the day begins
_MEASURED_NODES = 128
_TURNS = 100  # of drawing again

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Kind:
    """The constants of one kind of jobs, named as in the authors' program."""

    serial: float
    power_of_two: float
    low: float  # of log2(nodes)
    middle: float
    high: float
    first_stage: float  # share of jobs in [low, middle]
    run: tuple[float, float, float, float]  # shapes and scales of ln(run time): a1, b1, a2, b2
    slope: float  # the share of the first gamma is slope x nodes + intercept
    intercept: float
    gap: tuple[float, float, float]  # shape and scale of ln(gap) in rush hours, and the ratio of all hours to these
    day: tuple[float, float]  # shape and scale of the arrivals over the half hours of a day
    queue: int


KINDS = {
    "batch": Kind(
        0.2927, 0.6686, 1.2, 5.0, 7.0, 0.875, (6.57, 0.823, 639.1, 0.0156), -0.003, 0.6986,
        (6.0415, 0.8531, 1.0519), (6.1271, 5.2740), 1,
    ),
    "interactive": Kind(
        0.1541, 0.625, 1.0, 3.0, 5.5, 0.705, (3.8351, 0.6605, 7.073, 0.6856), -0.0118, 0.9156,
        (6.5510, 0.6621, 0.9797), (8.9186, 3.6680), 0,
    ),
    "untyped": Kind(
        0.244, 0.576, 0.8, 4.5, 7.0, 0.86, (4.2, 0.94, 312.0, 0.03), -0.0054, 0.78,
        (10.2303, 0.4871, 1.0225), (8.1737, 3.9631), -1,
    ),
}  # fmt: skip


def generate(
    rng: np.random.Generator,
    *,
    jobs: int = 1000,
    nodes: int = 128,
    kind: str = "untyped",
    longest: checks.Seconds = LONGEST,
    gap_factor: float = 1.0,
    load: float = 0.0,
) -> Workload:
    """`jobs` jobs for a machine of `nodes` nodes, from midnight on; users know their run times.

    `kind` is untyped, batch, interactive or mixed (batch in queue 1, interactive in queue 0, each with arrivals of its
    own). Run times above `longest` are drawn again. Gaps between jobs are multiplied by `gap_factor`, or, where `load`
    is above 0, by whatever lets the jobs ask for that share of the machine from the first to the last arrival.
    """
    checks.at_least(_NAME, 1, jobs=jobs)
    checks.at_least(_NAME, 8, nodes=nodes)
    checks.one_of(_NAME, ("untyped", "batch", "interactive", "mixed"), kind=kind)
    checks.at_least(_NAME, 60, longest=longest)
    checks.above(_NAME, 0, gap_factor=gap_factor)
    checks.load(_NAME, load)
    kinds = [KINDS["batch"], KINDS["interactive"]] if kind == "mixed" else [KINDS[kind]]
    streams = [_arrivals(rng, jobs, one) for one in kinds]
    which, points = _first_to_come(streams, kinds, jobs, gap_factor)
    size, run = np.empty(jobs, np.int64), np.empty(jobs)
    for k, one in enumerate(kinds):
        mine = which == k
        size[mine] = sizes(rng, int(mine.sum()), one, nodes)
        run[mine] = run_times(rng, size[mine], one, longest)
    factor = gap_factor
    if load > 0 and jobs > 1:
        factor = _factor_for(float((size * run).sum()) / (nodes * load), which, points, kinds)
    submit = _times(which, points * factor, kinds)
    table, first = in_order(
        job_table(
            {
                "id": np.arange(1, jobs + 1),
                "submit": np.floor(submit),
                "walltime": run,
                "run_time": run,
                "nodes": size,
                "queue": np.array([one.queue for one in kinds])[which],
            }
        )
    )
    return Workload(
        _NAME,
        table.with_columns(id=np.arange(1, jobs + 1)),
        epoch=EPOCH + first,
        platform=f"flat:nodes={nodes}",
        records=jobs,
        provenance=(
            f"made by lublin99: {counted(jobs, f'{kind} job')} for {counted(nodes, 'node')}, gaps x {factor:.4g}",
        ),
    )


def sizes(rng: np.random.Generator, n: int, kind: Kind, nodes: int) -> NDArray[np.int64]:
    """Nodes of `n` jobs on a machine of `nodes`."""
    high, middle = _stages(kind, nodes)
    u, stage, place = rng.random((3, n))
    first = stage <= kind.first_stage
    exponent = np.where(first, kind.low + (middle - kind.low) * place, middle + (high - middle) * place)
    whole = np.minimum(np.floor(exponent + 0.5), math.floor(high))
    exponent = np.where(u <= kind.serial + kind.power_of_two, whole, exponent)
    size = np.where(u <= kind.serial, 1.0, np.floor(2.0**exponent + 0.5))
    return np.minimum(size, nodes).astype(np.int64)


def run_times(rng: np.random.Generator, size: NDArray[np.int64], kind: Kind, longest: float) -> _Floats:
    """Whole seconds, drawn again while above `longest`; what still is after many turns is cut."""
    a1, b1, a2, b2 = kind.run
    chance = np.clip(kind.slope * size + kind.intercept, 0.0, 1.0)
    log = np.empty(len(size))
    todo = np.arange(len(size))
    for _ in range(_TURNS):
        first = rng.random(len(todo)) <= chance[todo]
        log[todo] = np.where(first, rng.gamma(a1, b1, len(todo)), rng.gamma(a2, b2, len(todo)))
        todo = todo[log[todo] > math.log(longest)]
        if not len(todo):
            break
    return np.floor(np.exp(np.minimum(log, math.log(longest))))


@cache
def day_weights(kind: Kind) -> _Floats:
    """What each half hour of the day costs, in points; 1 on average. The busiest cost most.

    Cached: the bisection of `_factor_for` asks dozens of times, a tenth of a second in all.
    """
    shape, scale = kind.day
    weights = np.empty(_BUCKETS)
    for i in range(_DAY_START, _DAY_START + _BUCKETS):
        weights[(i - 1) % _BUCKETS] = _gamma_cdf((i + 0.5) / scale, shape) - _gamma_cdf((i - 0.5) / scale, shape)
    result: _Floats = weights / weights.mean()
    result.flags.writeable = False
    return result


def _stages(kind: Kind, nodes: int) -> tuple[float, float]:
    """Upper end and turn of the two-stage uniform; on machines that leave no room for the first stage it shrinks."""
    if nodes == _MEASURED_NODES:
        return kind.high, kind.middle
    high = kind.high + math.log2(nodes / _MEASURED_NODES)
    middle = high - 2.5 if high - 2.5 > kind.low else max(high - 1.5, kind.low)
    return high, middle


def _arrivals(rng: np.random.Generator, n: int, kind: Kind) -> _Floats:
    """Points gathered until each of `n` arrivals: the seconds between them if every half hour were alike."""
    shape, scale, ratio = kind.gap
    log = rng.gamma(shape * ratio, scale, n)
    while (log > LONGEST_GAP).any():
        far = log > LONGEST_GAP
        log[far] = rng.gamma(shape * ratio, scale, int(far.sum()))
    return np.cumsum(np.exp(log))


def _first_to_come(
    streams: list[_Floats], kinds: list[Kind], n: int, factor: float
) -> tuple[NDArray[np.int64], _Floats]:
    """The first `n` arrivals of several kinds: the kind of each and its points."""
    points = np.concatenate(streams)
    which = np.repeat(np.arange(len(streams)), [len(one) for one in streams])
    order = np.argsort(_times(which, points * factor, kinds), kind="stable")[:n]
    return which[order], points[order]


def _times(which: NDArray[np.int64], points: _Floats, kinds: list[Kind]) -> _Floats:
    """Seconds since the first midnight at which these points are spent: each half hour takes its weight in points."""
    edges = BUCKET * np.arange(_BUCKETS + 1)
    result = np.empty(len(points))
    for k, kind in enumerate(kinds):
        mine = which == k
        spent = BUCKET * np.concatenate(([0.0], np.cumsum(day_weights(kind))))
        day, rest = np.divmod(points[mine], edges[-1])
        result[mine] = day * edges[-1] + np.interp(rest, spent, edges)
    return result


def _factor_for(span: float, which: NDArray[np.int64], points: _Floats, kinds: list[Kind]) -> float:
    """The factor of all gaps that spreads the arrivals over `span` seconds, by bisection."""

    def spread(factor: float) -> float:
        times = _times(which, points * factor, kinds)
        return float(times.max() - times.min())

    low = high = 1.0
    while spread(low) > span and low > 1e-9:
        low /= 2
    while spread(high) < span and high < 1e9:
        high *= 2
    for _ in range(50):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if spread(middle) < span else (low, middle)
    return high


def _gamma_cdf(x: float, shape: float) -> float:
    """The regularised lower incomplete gamma function, by its series; for x of some tens at most."""
    term = total = 1.0
    for k in range(1, 1000):
        term *= x / (shape + k)
        total += term
        if term < 1e-16 * total:
            break
    return total * math.exp(shape * math.log(x) - x - math.lgamma(shape + 1))
