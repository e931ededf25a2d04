"""The claims of the work, and what our runs say of each."""

from collections.abc import Callable, Iterable, Sequence

from forebay.experiments.statistics import Spread
from forebay.studies import _judged as judged
from forebay.studies._expected import Expected
from forebay.studies._frame import Finished
from forebay.studies._tables import Row, tagged
from forebay.studies.sfsj2022 import _numbers as numbers
from forebay.studies.sfsj2022._plan import Scope

Verdict = Callable[[Sequence[Row], Sequence[Row]], str]

_TOY = (numbers.LONGEST, numbers.MEAN, numbers.WEIGHTED)


def toy(finished: Finished, expected: Expected) -> list[Row]:
    """Table 3.1: every flow, and three numbers of all of them."""
    made = []
    for run, record in finished:
        if not run.failures:
            continue
        flows = [float(flow) for flow in record.measures["turnaround_time"]]
        ours = {f"flow_{k}": flow for k, flow in enumerate(flows, 1)}
        ours |= {metric.name: record.summary[metric.name] for metric in _TOY}
        for name, value in ours.items():
            found = expected.find(section="toy", policy=run.policy, metric=name)
            if found is not None:
                assert found.tolerance is not None, "as of all numbers that are compared with"
                held = judged.is_so(abs(value - found.value) <= found.tolerance * found.value)
                text = f"Table 3.1: {name.replace('_', ' ')}"
                made.append(_claim(text, run.policy, f"{found.value:g}", f"{value:.5g}", held))
    return made


def published(scope: Scope, rows: Sequence[Row]) -> list[Row]:
    """What is said of stealing: of the usual cell if it was run, and how many cells say so."""
    cells = [(mine, base, where) for where, mine, base in each_cell(scope, rows)]
    usual = (scope.settings.mtbf, scope.settings.downtime)
    at = next((cell for cell in cells if cell[2] == usual), cells[0])
    made = []
    for text, stated, held in (
        ("utilisation improves", _points, utilisation_improves),
        ("flow of large jobs drops dramatically", _large, large_drop),
        ("flow of small jobs rises slightly", _small, small_rise),
    ):
        mine, base, where = at
        made.append(_claim(text, " / ".join(where), "yes", stated(mine, base), held(mine, base)))
        made.append(_claim(text, "all cells", "yes", judged.counted([held(one, other) for one, other, _ in cells]), ""))
    return made


def each_cell(scope: Scope, rows: Sequence[Row]) -> Iterable[tuple[tuple[str, str], list[Row], list[Row]]]:
    """Every MTBF and downtime, with the runs of the proposed policy and of the reference."""
    chosen = scope.settings
    for downtime in chosen.published.downtime:
        for mtbf in chosen.published.mtbf:
            cell = tagged(rows, mtbf=mtbf, downtime=downtime)
            mine, base = (tagged(cell, policy=policy) for policy in (chosen.proposed, chosen.reference))
            yield (mtbf, downtime), mine, base


def utilisation_improves(rows: Sequence[Row], bases: Sequence[Row]) -> str:
    """More useful node-time."""
    return judged.above(numbers.more(rows, bases, numbers.USEFUL))


def large_drop(rows: Sequence[Row], bases: Sequence[Row]) -> str:
    """A lower mean flow of large jobs."""
    return judged.below(numbers.rises(rows, bases, numbers.LARGE))


def small_rise(rows: Sequence[Row], bases: Sequence[Row]) -> str:
    """A higher mean flow of small jobs; slightly: by less than that of large ones falls."""
    small, large = (numbers.rises(rows, bases, metric) for metric in (numbers.SMALL, numbers.LARGE))
    held = judged.above(small)
    return "yes, not slightly" if held == judged.YES and small.mean >= -large.mean else held


def _claim(text: str, where: str, published: str, ours: str, held: str) -> Row:
    return {"claim": text, "where": where, "published": published, "ours": ours, "verdict": held}


def text(one: Spread, unit: str) -> str:
    """A share or difference of shares, in per cent or points, with half of its interval."""
    return judged.text(one, 2, f" {unit}", 100, "+")


def _points(rows: Sequence[Row], bases: Sequence[Row]) -> str:
    return text(numbers.more(rows, bases, numbers.USEFUL), "points")


def _large(rows: Sequence[Row], bases: Sequence[Row]) -> str:
    return text(numbers.rises(rows, bases, numbers.LARGE), "%")


def _small(rows: Sequence[Row], bases: Sequence[Row]) -> str:
    return text(numbers.rises(rows, bases, numbers.SMALL), "%")
