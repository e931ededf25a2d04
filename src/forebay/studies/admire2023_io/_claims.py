"""What the text claims, and what our runs say of each."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from forebay.experiments import statistics
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
            text = f"mean checkpoint time: {published.value:+.1f} %, to a tenth of that"
            made.append(_number(text, alpha, numbers.change(mine, base, numbers.CHECKPOINT), published))
    made += _stagnates(balancing, base)
    changes = {alpha: numbers.change(mine, base, numbers.MAKESPAN) for alpha, mine in balancing.items()}
    best = min(changes, key=lambda alpha: changes[alpha].mean)
    published = expected.find(section="published", policy="io-intensity", metric="change_makespan")
    if published is not None:
        text = f"makespan: {published.value:+.1f} % at best, to a quarter of that"
        made.append(_number(text, best, changes[best], published))
    for metric in (numbers.TURNAROUND, numbers.WAIT):
        made.append(_falls(metric, balancing, base))
    cpu = [numbers.mean(mine, numbers.CPU) for mine in (base, *balancing.values())]
    words = f"{100 * cpu[0]:.1f} %; {', '.join(f'{100 * one:.1f}' for one in cpu[1:])} %"
    return [*made, _claim("CPUs are in use more than under FCFSm", _range(balancing), words, min(cpu[1:]) > cpu[0])]


def over_time(scope: Scope, series: SeriesOf) -> list[Row]:
    """Claims on what happens during a run."""
    base = series[scope.settings.reference]
    alphas = {alpha: series[name] for alpha, name in sorted(scope.alphas.items())}
    balancing = {alpha: mine for alpha, mine in alphas.items() if alpha > 0}
    if not balancing:
        return []
    where = _range(balancing)
    busy = [statistics.mean([one.busy() for one in some]) for some in (base, *balancing.values())]
    off = [deviation(some) for some in (base, *balancing.values())]
    falls = all(later < one for one, later in pairwise(off))
    made = [
        _claim(
            f"file system {100 * BUSY:.0f} % busy for less of the time than under FCFSm",
            where,
            f"{100 * busy[0]:.1f} %; {', '.join(f'{100 * one:.1f}' for one in busy[1:])} %",
            max(busy[1:]) < busy[0],
        ),
        _claim(
            "mean |W - S| falls with alpha",
            where,
            f"{off[0]:.4f}; {', '.join(f'{one:.4f}' for one in off[1:])}",
            falls,
        ),
        _claim(
            "mean |W - S| is negligible: a tenth of FCFSm's",
            f"alpha = {max(balancing):g}",
            f"{off[-1] / off[0]:.3f} of it",
            off[-1] < NEGLIGIBLE * off[0],
        ),
    ]
    if 0.0 in alphas:
        early = max(one.out_of_order() for one in alphas[0.0])
        made.append(_claim("jobs are admitted in order of arrival", "alpha = 0", f"{early} places early", early == 0))
    places = [statistics.mean([float(one.out_of_order()) for one in some]) for some in balancing.values()]
    words = f"up to {', '.join(f'{place:,.0f}' for place in places)} places early"
    widens = all(later > one for one, later in pairwise(places))
    return [*made, _claim("the window of admission widens with alpha", where, words, widens)]


def deviation(series: Sequence[Series]) -> float:
    """The mean distance of system and workload, over some runs."""
    return statistics.mean([one.intensities.deviation() for one in series])


def _claim(text: str, where: str, ours: str, held: bool) -> Row:
    return {"claim": text, "where": where, "ours": ours, "verdict": "yes" if held else "no"}


def _number(text: str, alpha: float, ours: statistics.Spread, published: Published) -> Row:
    margin = abs(published.value) * (published.tolerance or 0.0)
    return _claim(text, f"alpha = {alpha:g}", numbers.told(ours), abs(ours.mean - published.value) <= margin)


def _range(balancing: Mapping[float, object]) -> str:
    return f"alpha = {min(balancing):g} to {max(balancing):g}"


def _stagnates(balancing: Mapping[float, Sequence[Row]], base: Sequence[Row]) -> list[Row]:
    if 0.4 not in balancing or max(balancing) == 0.4:
        return []
    first = numbers.change(balancing[0.4], base, numbers.CHECKPOINT).mean
    last = numbers.change(balancing[max(balancing)], base, numbers.CHECKPOINT).mean
    text = "checkpoint times stagnate: more than 0.4 brings less than a quarter as much again"
    ours = f"{first:+.1f} %, then {last - first:+.1f} points"
    return [_claim(text, f"alpha = 0.4 to {max(balancing):g}", ours, first < 0 and last - first > STAGNANT * first)]


def _falls(metric: Metric, balancing: Mapping[float, Sequence[Row]], base: Sequence[Row]) -> Row:
    """Whether a metric is below that of FCFSm, and the more so the larger alpha."""
    means = [numbers.mean(mine, metric) for mine in (base, *balancing.values())]
    ours = ", ".join(f"{100 * (mean / means[0] - 1):+.1f}" for mean in means[1:])
    word = metric.title.partition(" (")[0]
    held = all(later < one for one, later in pairwise(means))
    return _claim(f"{word} falls with alpha", _range(balancing), f"{ours} %", held)
