"""The table of a sweep: a row for all seeds of a combination, means with half of their 95 % intervals."""

from collections.abc import Mapping, Sequence
from typing import Any

from forebay._support.paper import Table
from forebay._support.text import counted
from forebay.experiments.grid import WRITTEN
from forebay.experiments.swept.runs import AXES
from forebay.experiments.tidy import METRICS, Combination
from forebay.experiments.verdicts import change_text
from forebay.metrics._numbers import NONE, shown

_TITLES = ("mean wait", "p95 wait", "bounded slowdown (10 min)")
_POLICY, _REFERENCE = "policy", "reference"


def table(found: Sequence[Combination]) -> Table:
    """What differs between combinations, the verdict on each by its mean wait, and its numbers."""
    places = [_place(one) for one in found]
    names = list(dict.fromkeys(name for place in places for name in place))
    varying = [name for name in names if name == _POLICY or len({place.get(name) for place in places}) > 1]
    judged = any(one.reference for one in found)
    titles = [*(name.replace("_", " ") for name in varying), *(["verdict", "change"] if judged else []), "seeds"]
    first = len(titles) - 1 - judged
    rows = [
        [
            *(str(place.get(name) or "") for name in varying),
            *(_verdict(one) if judged else []),
            str(len(one.runs)),
            *(_mean(one, metric) for metric in METRICS),
        ]
        for one, place in zip(found, places, strict=True)
    ]
    same = {name: places[0][name] for name in names if name not in varying and places[0].get(name)}
    titles += _TITLES
    return Table(titles, rows, range(first, len(titles)), _about(found, same))


def _place(one: Combination) -> dict[str, Any]:
    """The policy, other specs as the sweep has them, and the parameters in these: what is in the policy's, it shows."""
    run, place = one.runs[0][0], one.place
    written = dict(zip(AXES, run.tags[WRITTEN], strict=True))
    shown = {_POLICY: place[_POLICY]} | {name: written[name] for name in AXES if name != _POLICY}
    for name in place:
        if name not in AXES and f"{{{name}}}" not in written[_POLICY]:
            shown[name] = place[name]
    return shown


def halves(one: Combination) -> dict[str, Any]:
    """Half of the interval of each mean; None of a single seed."""
    spreads = {metric: one.spread(metric) for metric in METRICS}
    return {f"{metric}_half_95": None if seen is None else seen.half for metric, seen in spreads.items()}


def in_words(one: Combination) -> str:
    """Its mean wait."""
    return f"{_mean(one, METRICS[0])}, {counted(len(one.runs), 'seed')}"


def _mean(one: Combination, metric: str) -> str:
    seen = one.spread(metric)
    if seen is None:
        return NONE
    text = shown(metric, seen.mean)
    return text if seen.half is None else f"{text} ± {shown(metric, seen.half)}"


def _verdict(one: Combination) -> list[str]:
    if one.is_reference or not one.reference:
        return [_REFERENCE if one.is_reference else NONE, ""]
    verdict = one.verdict(METRICS[0])
    return [verdict.word, change_text(verdict)]


def _about(found: Sequence[Combination], same: Mapping[str, Any]) -> str:
    """What all have in common, and what intervals are."""
    shared = [f"{name.replace('_', ' ')} {value}" for name, value in same.items()]
    most = max(len(one.runs) for one in found)
    over = (
        "Means over seeds, with half of Student's 95 % intervals." if most > 1 else "A single seed, without intervals."
    )
    text = ", ".join(shared)
    return f"{text[:1].upper()}{text[1:]}. {over}{_against(found)}" if shared else f"{over}{_against(found)}"


def _against(found: Sequence[Combination]) -> str:
    """What changes are of; a reference with parameters is called as the sweep has it."""
    names = {one.reference[0][0].tags[WRITTEN][AXES.index(_POLICY)] for one in found if one.reference}
    return f" Changes of the {_TITLES[0]} against {', '.join(sorted(names))}." if names else ""
