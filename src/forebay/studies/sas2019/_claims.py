"""The paper's claims, as its text has them, and what our runs say of each."""

from collections.abc import Sequence
from itertools import pairwise

from forebay.experiments import statistics
from forebay.studies._tables import Metric, Row
from forebay.studies.sas2019 import _numbers as numbers
from forebay.studies.sas2019._plan import Scope

YES, PARTLY, NO = "yes", "partly", "no"


def of(scope: Scope, section: str, rows: Sequence[Row]) -> list[Row]:
    """The claims that a section can judge."""
    if section == "random":
        return _random(scope, rows)
    if section == "staging":
        return _staging(scope, rows)
    return _mistakes(rows) if section == "mistakes" else []


def _claim(text: str, ours: str, held: Sequence[bool]) -> Row:
    return {"claim": text, "ours": ours, "verdict": YES if all(held) else PARTLY if any(held) else NO}


def _random(scope: Scope, rows: Sequence[Row]) -> list[Row]:
    parts = {size: numbers.chosen(rows, capacity=size) for size in scope.settings.capacities}
    made = [
        _minimum(parts, numbers.MAKESPAN, "Makespan of random tiers is least at p from 0.5 to 0.9", 0.5, 0.9),
        _minimum(parts, numbers.TURNAROUND, "Turnaround of random tiers is least at p from 0.3 to 0.6", 0.3, 0.6),
    ]
    texts, held = [], []
    for size, mine in parts.items():
        sas = numbers.chosen(mine, policy="sas")
        for metric in numbers.TIMES:
            over_p = numbers.curve(numbers.chosen(mine, policy="random"), "p", metric)
            best = numbers.ratio(sas, numbers.chosen(mine, policy="random", p=over_p.lowest), metric)
            texts.append(f"{size} {metric.title.partition(' (')[0]} {best.mean:.3f}{_half(best)} of the best p")
            held.append(numbers.mean(sas, metric) < min(over_p.y))
    made.append(_claim("SAS is below every p on makespan and turnaround", "; ".join(texts), held))
    for metric, share in ((numbers.NODES, 0.8), (numbers.FAST, 0.7)):
        found = {size: numbers.utilisation(numbers.chosen(mine, policy="sas"), metric) for size, mine in parts.items()}
        made.append(
            _claim(
                f"SAS: {metric.title}, about {100 * share:.0f} % (within 10 points)",
                "; ".join(f"{size} {100 * value:.1f} %" for size, value in found.items()),
                [abs(value - share) <= 0.1 for value in found.values()],
            )
        )
    made += _uses(parts)
    if len(parts) > 1:
        made.append(_larger(scope, rows, scope.settings.against.k[0], better=True))
    return made


def _minimum(parts: dict[str, list[Row]], metric: Metric, text: str, low: float, high: float) -> Row:
    found = {}
    for size, mine in parts.items():
        found[size] = numbers.curve(numbers.chosen(mine, policy="random"), "p", metric)
    ours = "; ".join(f"{size} p = {one.lowest:g}, of the fit {one.fitted:.2f}" for size, one in found.items())
    return _claim(text, ours, [low <= one.lowest <= high for one in found.values()])


def _uses(parts: dict[str, list[Row]]) -> list[Row]:
    """With p, fast storage is used more and more, and nodes less and less."""
    nodes, fast, held_nodes, held_fast = [], [], [], []
    for size, mine in parts.items():
        drawn = numbers.chosen(mine, policy="random")
        of_nodes = numbers.curve(drawn, "p", numbers.NODES, pooled=True).y
        of_fast = numbers.curve(drawn, "p", numbers.FAST, pooled=True).y
        nodes.append(f"{size} from {100 * of_nodes[0]:.0f} to {100 * of_nodes[-1]:.0f} %")
        fast.append(f"{size} from {100 * of_fast[0]:.0f} to {100 * of_fast[-1]:.0f} %")
        held_nodes.append(of_nodes[-1] < of_nodes[0] / 2)
        held_fast.append(all(later > one - 0.03 for one, later in pairwise(of_fast)))
    return [
        _claim("Use of nodes slumps as p grows", "; ".join(nodes), held_nodes),
        _claim("Use of fast storage grows steadily with p (steps down below 3 points)", "; ".join(fast), held_fast),
    ]


def _larger(scope: Scope, rows: Sequence[Row], k: int, better: bool) -> Row:
    """More fast storage under SAS."""
    sizes = scope.settings.capacities
    small, large = (numbers.chosen(rows, policy="sas", k=k, capacity=size) for size in (sizes[0], sizes[-1]))
    texts, held = [], []
    for metric in numbers.TIMES:
        change = numbers.ratio(large, small, metric)
        texts.append(f"{metric.title.partition(' (')[0]} {change.mean:.3f}{_half(change)} of that with less")
        held.append((change.mean < 1) == better)
    word = "better" if better else "not better"
    return _claim(f"k = {k}: more fast storage is {word}", "; ".join(texts), held)


def _half(spread: statistics.Spread) -> str:
    return "" if spread.half is None else f" ± {spread.half:.3f}"


def _staging(scope: Scope, rows: Sequence[Row]) -> list[Row]:
    held, texts = [], []
    for k in scope.settings.staging.k:
        n_below, n = 0, 0
        for size in scope.settings.capacities:
            mine = numbers.chosen(rows, k=k, capacity=size)
            for metric in numbers.TIMES:
                sas = numbers.mean(numbers.chosen(mine, policy="sas"), metric)
                drawn = numbers.curve(numbers.chosen(mine, policy="random"), "p", metric).y
                n_below += sum(sas < y for y in drawn)
                n += len(drawn)
        texts.append(f"k = {k}: below {n_below} of {n}")
        held.append(n_below > 0.9 * n)
    made = [_claim("SAS mostly beats random tiers for other k (nine tenths of all p)", "; ".join(texts), held)]
    if len(scope.settings.capacities) > 1 and 1 in scope.settings.staging.k:
        made.append(_larger(scope, rows, 1, better=False))
    return made


def _mistakes(rows: Sequence[Row]) -> list[Row]:
    sas, drawn = numbers.chosen(rows, policy="sas"), numbers.chosen(rows, policy="random")
    on_fast = numbers.curve(sas, "theta", Metric("n_on_fast", "", 0)).y
    used = numbers.curve(sas, "theta", numbers.FAST, pooled=True).y
    nodes = numbers.curve(sas, "theta", numbers.NODES, pooled=True).y
    made = [
        _claim(
            "With theta fewer jobs use fast storage",
            f"{on_fast[0]:.0f} jobs at theta = 0, {on_fast[-1]:.0f} at 1",
            [on_fast[-1] < on_fast[0]],
        ),
        _claim(
            "With theta fast storage is used less, nodes about as much (within 10 points)",
            f"fast {100 * used[0]:.1f} to {100 * used[-1]:.1f} %; nodes {100 * nodes[0]:.1f} to {100 * nodes[-1]:.1f}",
            [used[-1] < used[0], abs(nodes[-1] - nodes[0]) < 0.1],
        ),
    ]
    for metric, text in (
        (numbers.MAKESPAN, "For every theta the makespan of SAS is below that of every p"),
        (numbers.TURNAROUND, "For every theta the turnaround of SAS is at the lower end of random's (lowest fifth)"),
    ):
        random, mine = numbers.curve(drawn, "p", metric).y, numbers.curve(sas, "theta", metric).y
        bound = min(random) if metric is numbers.MAKESPAN else min(random) + (max(random) - min(random)) / 5
        n = sum(y < bound for y in mine)
        made.append(_claim(text, f"{n} of {len(mine)} thetas", [n == len(mine), n > 0.5 * len(mine)]))
    return made
