"""The paper's claims, as its text has them, and what our runs say of each."""

from collections.abc import Sequence
from itertools import pairwise

from forebay.studies import _judged as judged
from forebay.studies._tables import Metric, Row, tagged
from forebay.studies.sas2019 import _numbers as numbers
from forebay.studies.sas2019._plan import Scope


def of(scope: Scope, section: str, rows: Sequence[Row]) -> list[Row]:
    """The claims that a section can judge."""
    if section == "random":
        return _random(scope, rows)
    if section == "staging":
        return _staging(scope, rows)
    return _mistakes(scope, rows) if section == "mistakes" else []


def _claim(text: str, where: str, ours: str, held: bool | str) -> Row:
    """A row; what carries an interval comes judged by it."""
    return {
        "claim": text,
        "where": where,
        "ours": ours,
        "verdict": held if isinstance(held, str) else judged.is_so(held),
    }


def _word(metric: Metric) -> str:
    return metric.title.partition(" (")[0].removeprefix("mean ")


def _random(scope: Scope, rows: Sequence[Row]) -> list[Row]:
    parts = {size: tagged(rows, capacity=size) for size in scope.settings.capacities}
    made = _lowest(parts, numbers.MAKESPAN, 0.5, 0.9) + _lowest(parts, numbers.TURNAROUND, 0.3, 0.6)
    for size, mine in parts.items():
        sas, drawn = tagged(mine, policy="sas"), tagged(mine, policy="random")
        for metric in numbers.TIMES:
            over_p = numbers.curve(drawn, "p", metric)
            best = numbers.ratio(sas, tagged(drawn, p=over_p.lowest), metric)
            ours = f"{judged.text(best, 3)} of the best"
            made.append(_claim(f"SAS: {_word(metric)} below every p", size, ours, judged.below(best, 1.0)))
    for metric, share in ((numbers.NODES, 0.8), (numbers.FAST, 0.7)):
        for size, mine in parts.items():
            value = numbers.utilisation(tagged(mine, policy="sas"), metric)
            text = f"SAS: {metric.title}, {100 * share:.0f} ± 10 %"
            made.append(_claim(text, size, f"{100 * value:.1f} %", abs(value - share) <= 0.1))
    for size, mine in parts.items():
        made += _uses(size, tagged(mine, policy="random"))
    return made + _larger(scope, rows, scope.settings.against.k[0], better=True)


def _lowest(parts: dict[str, list[Row]], metric: Metric, low: float, high: float) -> list[Row]:
    made = []
    for size, mine in parts.items():
        one = numbers.curve(tagged(mine, policy="random"), "p", metric)
        ours = f"p = {one.lowest:g}, of the fit {one.fitted:.2f}"
        text = f"Random: {_word(metric)} is least at p from {low:g} to {high:g}"
        made.append(_claim(text, size, ours, low <= one.lowest <= high))
    return made


def _uses(size: str, drawn: Sequence[Row]) -> list[Row]:
    """With p, fast storage is used more and more, and nodes less and less."""
    nodes = numbers.curve(drawn, "p", numbers.NODES, pooled=True).y
    fast = numbers.curve(drawn, "p", numbers.FAST, pooled=True).y
    steady = all(later > one - 0.03 for one, later in pairwise(fast))
    ours_nodes, ours_fast = (f"from {100 * one[0]:.0f} to {100 * one[-1]:.0f} %" for one in (nodes, fast))
    return [
        _claim("Random: use of nodes slumps with p", size, ours_nodes, nodes[-1] < nodes[0] / 2),
        _claim("Random: use of fast storage grows with p", size, ours_fast, steady),
    ]


def _larger(scope: Scope, rows: Sequence[Row], k: int, better: bool) -> list[Row]:
    """More fast storage under SAS."""
    sizes, made = scope.settings.capacities, []
    if len(sizes) < 2:
        return []
    small, large = (tagged(rows, policy="sas", k=k, capacity=size) for size in (sizes[0], sizes[-1]))
    for metric in numbers.TIMES:
        change = numbers.ratio(large, small, metric)
        text = f"SAS: more fast storage is {'better' if better else 'not better'}, {_word(metric)}"
        ours, held = f"{judged.text(change, 3)} of that with less", judged.below(change, 1.0)
        made.append(_claim(text, f"k = {k}", ours, held if better else judged.opposite(held)))
    return made


def _staging(scope: Scope, rows: Sequence[Row]) -> list[Row]:
    made = []
    for k in scope.settings.staging.k:
        n_below, n = 0, 0
        for size in scope.settings.capacities:
            mine = tagged(rows, k=k, capacity=size)
            for metric in numbers.TIMES:
                sas = numbers.mean(tagged(mine, policy="sas"), metric)
                drawn = numbers.curve(tagged(mine, policy="random"), "p", metric).y
                n_below += sum(sas < y for y in drawn)
                n += len(drawn)
        made.append(_claim("SAS: mostly below random tiers", f"k = {k}", f"{n_below} of {n}", n_below > 0.9 * n))
    return made + (_larger(scope, rows, 1, better=False) if 1 in scope.settings.staging.k else [])


def _mistakes(scope: Scope, rows: Sequence[Row]) -> list[Row]:
    size = scope.settings.mistakes.capacity
    sas, drawn = tagged(rows, policy="sas"), tagged(rows, policy="random")
    on_fast = numbers.curve(sas, "theta", Metric("n_on_fast", "", 0)).y
    fast = numbers.curve(sas, "theta", numbers.FAST, pooled=True).y
    nodes = numbers.curve(sas, "theta", numbers.NODES, pooled=True).y
    texts = [f"{100 * one[0]:.1f} to {100 * one[-1]:.1f} %" for one in (fast, nodes)]
    made = [
        _claim(
            "Mistakes: fewer jobs on fast storage",
            size,
            f"{on_fast[0]:.0f} to {on_fast[-1]:.0f} jobs",
            on_fast[-1] < on_fast[0],
        ),
        _claim("Mistakes: less use of fast storage", size, texts[0], fast[-1] < fast[0]),
        _claim("Mistakes: use of nodes hardly changes (5 points)", size, texts[1], abs(nodes[-1] - nodes[0]) < 0.05),
    ]
    random, mine = numbers.curve(drawn, "p", numbers.MAKESPAN).y, numbers.curve(sas, "theta", numbers.MAKESPAN).y
    n = sum(y < min(random) for y in mine)
    made.append(_claim("Mistakes: makespan below every p", size, f"{n} of {len(mine)} thetas", n == len(mine)))
    random, mine = numbers.curve(drawn, "p", numbers.TURNAROUND).y, numbers.curve(sas, "theta", numbers.TURNAROUND).y
    n = sum(y < min(random) + (max(random) - min(random)) / 5 for y in mine)
    text = "Mistakes: turnaround in the lowest fifth of random's"
    return [*made, _claim(text, size, f"{n} of {len(mine)} thetas", n == len(mine))]
