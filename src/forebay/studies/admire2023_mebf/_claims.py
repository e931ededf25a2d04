"""The text's claims, and what our runs say of each."""

from collections.abc import Sequence

from forebay.experiments.statistics import Spread
from forebay.studies import _judged as judged
from forebay.studies._expected import Expected
from forebay.studies._tables import Metric, Row, averaged, tagged
from forebay.studies.admire2023_mebf import _numbers as numbers
from forebay.studies.admire2023_mebf._plan import Scope

MINUTE = 60.0


def of(scope: Scope, rows: Sequence[Row], expected: Expected) -> list[Row]:
    """All of them, figure by figure."""
    chosen = scope.settings
    mine = tagged(rows, policy=chosen.proposed)
    bases = tagged(rows, policy=chosen.reference)
    return [
        *_execution(chosen.published.applications, mine, bases, expected),
        *_turnaround(chosen.published.applications, mine, bases),
        *_use(chosen.published.applications, mine, bases),
        *_allocations(mine, bases, expected),
        *_early(chosen.published.applications, mine, bases),
        *_makespans(mine, bases, expected),
    ]


def _claim(text: str, where: str, published: str, ours: str, held: str) -> Row:
    return {"claim": text, "where": where, "published": published, "ours": ours, "verdict": held}


def _percent(one: Spread) -> str:
    return judged.text(one, 1, " %", 100)


def _sizes(rows: Sequence[Row]) -> list[int]:
    return sorted({row["jobs"] for row in rows})


def _execution(names: Sequence[str], mine: list[Row], bases: list[Row], expected: Expected) -> list[Row]:
    """Fig. 4.1. "Up to" is the largest of the sizes."""
    made = []
    for name in names:
        each = {
            jobs: numbers.falls(
                tagged(mine, application=name, jobs=jobs),
                tagged(bases, application=name, jobs=jobs),
                numbers.EXECUTION,
            )
            for jobs in _sizes(mine)
        }
        best = max(each, key=lambda jobs: each[jobs].mean)
        found = expected.find(section="published", policy="mebf", metric=f"execution_falls_{name}")
        if found is not None:
            ours = f"{_percent(each[best])} ({best} jobs)"
            held = judged.as_published(each[best], found)
            made.append(_claim("Fig. 4.1: execution falls by up to", name, f"{100 * found.value:g} %", ours, held))
    return made


def _turnaround(names: Sequence[str], mine: list[Row], bases: list[Row]) -> list[Row]:
    """The conclusion: response times fall too."""
    made = []
    for name in names:
        each = [
            numbers.falls(
                tagged(mine, application=name, jobs=jobs),
                tagged(bases, application=name, jobs=jobs),
                numbers.TURNAROUND,
            )
            for jobs in _sizes(mine)
        ]
        ours, held = f"by {', '.join(map(_percent, each))}", dict.fromkeys(map(judged.above, each))
        made.append(_claim("Conclusion: response times fall", name, "", ours, ", ".join(held)))
    return made


def _largest(names: Sequence[str], rows: list[Row]) -> dict[str, list[Row]]:
    most = _sizes(rows)[-1]
    return {name: tagged(rows, application=name, jobs=most) for name in names}


def _use(names: Sequence[str], mine: list[Row], bases: list[Row]) -> list[Row]:
    """Fig. 4.2, of the largest workload."""
    ours, theirs = _largest(names, mine), _largest(names, bases)
    made = []
    for name in names:
        one, other = (numbers.spread(rows[name], numbers.NODES) for rows in (ours, theirs))
        over = numbers.more(ours[name], theirs[name], numbers.NODES)
        text = f"{_percent(one)}, not {_percent(other)}"
        made.append(_claim("Fig. 4.2: more of the nodes is in use", name, "", text, judged.above(over)))
    return made


def _allocations(mine: list[Row], bases: list[Row], expected: Expected) -> list[Row]:
    """Fig. 4.3: means over all applications of the largest workload, one a draw."""
    made = []
    for policy, rows in (("ebf", bases), ("mebf", mine)):
        found = expected.find(section="published", policy=policy, metric=numbers.ALLOCATIONS.name)
        if found is not None:
            one = numbers.spread(_over_applications(rows, numbers.ALLOCATIONS), numbers.ALLOCATIONS)
            held = judged.as_published(one, found)
            text = f"Fig. 4.3: jobs per node under {policy.upper()}"
            made.append(_claim(text, "all", f"{found.value:g}", judged.text(one, 2), held))
    return made


def _over_applications(rows: list[Row], metric: Metric) -> list[Row]:
    return averaged(tagged(rows, jobs=_sizes(rows)[-1]), "application", ("draw",), metric.name)


def _early(names: Sequence[str], mine: list[Row], bases: list[Row]) -> list[Row]:
    """Fig. 4.4, of the smallest workload."""
    least, made = _sizes(mine)[0], []
    for name in names:
        ours, theirs = (tagged(rows, application=name, jobs=least) for rows in (mine, bases))
        fall = numbers.falls(ours, theirs, numbers.MAKESPAN)
        text = f"{_percent(fall)} earlier"
        made.append(_claim(f"Fig. 4.4: {least} jobs end earlier", name, "", text, judged.above(fall)))
    return made


def _makespans(mine: list[Row], bases: list[Row], expected: Expected) -> list[Row]:
    """Fig. 4.5: bounds, of the smallest mixed workload."""
    least, made = _sizes(mine)[0], []
    for policy, rows, over in (("ebf", bases, True), ("mebf", mine, False)):
        some = tagged(rows, application="mixed", jobs=least)
        found = expected.find(section="published", policy=policy, metric=numbers.MAKESPAN.name)
        if found is not None and some:
            one = numbers.spread(some, numbers.MAKESPAN)
            bound = f"{'more' if over else 'less'} than {found.value / MINUTE:g} min"
            held = (judged.above if over else judged.below)(one, found.value)
            ours = judged.text(one, 0, " min", 1 / MINUTE)
            made.append(_claim(f"Fig. 4.5: {least} jobs under {policy.upper()} take", "mixed", bound, ours, held))
    return made
