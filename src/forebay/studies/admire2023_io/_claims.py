"""What the text claims, and what our runs say of each."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from forebay.experiments import statistics
from forebay.studies import _judged as judged
from forebay.studies._expected import Expected, Published
from forebay.studies._tables import Metric, Row, tagged
from forebay.studies.admire2023_io import _numbers as numbers
from forebay.studies.admire2023_io._plan import Scope
from forebay.studies.admire2023_io._series import BUSY, Series

STAGNANT = 0.25
"""The share of what alpha = 0.4 brings, below which what more than that brings counts as stagnation."""
NEGLIGIBLE = 0.1
"""The share of FCFSm's deviation below which that of another policy is negligible."""

SeriesOf = Mapping[str, Sequence[Series]]
"""Runs over time of some workloads, by policy."""


def of(scope: Scope, rows: Sequence[Row], expected: Expected) -> list[Row]:
    """Claims on times, which every section with the policies of the text can judge."""
    by_policy = {policy: tagged(rows, policy=policy) for policy in scope.policies}
    base, alphas = by_policy[scope.settings.reference], {a: by_policy[name] for a, name in scope.alphas.items()}
    balancing = {alpha: mine for alpha, mine in sorted(alphas.items()) if alpha > 0}
    if not balancing:
        return []
    made = []
    for alpha, mine in balancing.items():
        published = expected.find(section="published", policy=scope.alphas[alpha], metric="change_mean_io_time")
        if published is not None:
            text = f"mean checkpoint time: {published.value:+.1f} %, in the range of ours, to a tenth of that"
            made.append(_number(text, alpha, numbers.change(mine, base, numbers.CHECKPOINT), published))
    made += _stagnates(balancing, base)
    changes = {alpha: numbers.change(mine, base, numbers.MAKESPAN) for alpha, mine in balancing.items()}
    best = min(changes, key=lambda alpha: changes[alpha].mean)
    published = expected.find(section="published", policy="io-intensity", metric="change_makespan")
    if published is not None:
        text = f"makespan: {published.value:+.1f} % at best, in the range of ours, to a quarter of that"
        made.append(_number(text, best, changes[best], published))
    for metric in (numbers.TURNAROUND, numbers.WAIT):
        made.append(_falls(metric, balancing, base))
    cpu = [numbers.mean(mine, numbers.CPU) for mine in (base, *balancing.values())]
    words = f"{100 * cpu[0]:.1f} %; {', '.join(f'{100 * one:.1f}' for one in cpu[1:])} %"
    held = judged.both(judged.above(numbers.more(mine, base, numbers.CPU)) for mine in balancing.values())
    return [*made, _claim("CPUs are in use more than under FCFSm", _range(balancing), words, held)]


def over_time(scope: Scope, series: SeriesOf) -> list[Row]:
    """Claims on what happens during a run."""
    base = series[scope.settings.reference]
    alphas = {alpha: series[name] for alpha, name in sorted(scope.alphas.items())}
    balancing = {alpha: mine for alpha, mine in alphas.items() if alpha > 0}
    if not balancing:
        return []
    where = _range(balancing)
    every = (base, *balancing.values())
    busy_each = [[one.busy() for one in some] for some in every]
    off_each = [[one.intensities.deviation() for one in some] for some in every]
    busy, off = ([statistics.mean(some) for some in each] for each in (busy_each, off_each))
    negligible = statistics.paired(off_each[-1], [NEGLIGIBLE * one for one in off_each[0]])
    made = [
        _claim(
            f"file system {100 * BUSY:.0f} % busy for less of the time than under FCFSm",
            where,
            f"{100 * busy[0]:.1f} %; {', '.join(f'{100 * one:.1f}' for one in busy[1:])} %",
            judged.both(judged.below(statistics.paired(some, busy_each[0])) for some in busy_each[1:]),
        ),
        _claim(
            "mean |W - S| falls with alpha",
            where,
            f"{off[0]:.4f}; {', '.join(f'{one:.4f}' for one in off[1:])}",
            _monotonous(off_each, judged.below),
        ),
        _claim(
            "mean |W - S| is negligible: a tenth of FCFSm's",
            f"alpha = {max(balancing):g}",
            f"{off[-1] / off[0]:.3f} of it",
            judged.below(negligible),
        ),
    ]
    if 0.0 in alphas:
        early = max(one.out_of_order() for one in alphas[0.0])
        held = judged.is_so(early == 0)
        made.append(_claim("jobs are admitted in order of arrival", "alpha = 0", f"{early} places early", held))
    places = [[float(one.out_of_order()) for one in some] for some in balancing.values()]
    words = f"up to {', '.join(f'{statistics.mean(some):,.0f}' for some in places)} places early"
    widens = _monotonous(places, judged.above)
    return [*made, _claim("the window of admission widens with alpha", where, words, widens)]


def deviation(series: Sequence[Series]) -> float:
    """The mean distance of system and workload, over some runs."""
    return statistics.mean([one.intensities.deviation() for one in series])


def _claim(text: str, where: str, ours: str, held: str) -> Row:
    return {"claim": text, "where": where, "ours": ours, "verdict": held}


def _number(text: str, alpha: float, ours: statistics.Spread, published: Published) -> Row:
    """One that was published of a single draw."""
    words = f"{numbers.change_text(ours)}, from {ours.least:+.1f} to {ours.largest:+.1f} %"
    return _claim(text, f"alpha = {alpha:g}", words, judged.as_published(ours, published))


def _monotonous(each: Sequence[Sequence[float]], how: Callable[[statistics.Spread], str]) -> str:
    """Whether values of the same workloads are `how` from one step to the next, at each of them."""
    return judged.both(how(statistics.paired(later, one)) for one, later in pairwise(each))


def _range(balancing: Mapping[float, object]) -> str:
    return f"alpha = {min(balancing):g} to {max(balancing):g}"


def _stagnates(balancing: Mapping[float, Sequence[Row]], base: Sequence[Row]) -> list[Row]:
    if 0.4 not in balancing or max(balancing) == 0.4:
        return []
    first, last = (numbers.changes(balancing[alpha], base, numbers.CHECKPOINT) for alpha in (0.4, max(balancing)))
    begin = statistics.spread(first)
    further = statistics.paired(last, first)
    less = statistics.paired(last, [(1 + STAGNANT) * one for one in first])
    text = "checkpoint times stagnate: more than 0.4 brings less than a quarter as much again"
    ours = f"{numbers.change_text(begin)}, then {numbers.change_text(further, ' points')}"
    held = judged.both((judged.below(begin), judged.above(less)))
    return [_claim(text, f"alpha = 0.4 to {max(balancing):g}", ours, held)]


def _falls(metric: Metric, balancing: Mapping[float, Sequence[Row]], base: Sequence[Row]) -> Row:
    """Whether a metric is below that of FCFSm, and the more so the larger alpha."""
    means = [numbers.mean(mine, metric) for mine in (base, *balancing.values())]
    ours = ", ".join(f"{100 * (mean / means[0] - 1):+.1f}" for mean in means[1:])
    word = metric.title.partition(" (")[0]
    held = _monotonous([numbers.by_workload(mine, metric) for mine in (base, *balancing.values())], judged.below)
    return _claim(f"{word} falls with alpha", _range(balancing), f"{ours} %", held)
