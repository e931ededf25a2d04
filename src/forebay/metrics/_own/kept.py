"""What a folder of results keeps of users' metrics: without their code, a page can still write units."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from forebay.errors import InputError, brief
from forebay.metrics import _listing
from forebay.metrics._metric import HIGHER, LOWER, UNITS, Metric
from forebay.metrics._own import registry
from forebay.results import OWN_METRICS, Result


def described(numbers: Iterable[str], own: Iterable[Metric]) -> dict[str, dict[str, str]]:
    """The unit of each of these numbers that a metric of a user gives, and whether less of it is better."""
    found = {name: next((one for one in own if one.gives(name)), None) for name in numbers}
    return {
        name: {"unit": one.unit_of(name), "better": HIGHER if one.higher_is_better(name) else LOWER}
        for name, one in found.items()
        if one is not None and not _listing.is_built_in(name)
    }


def noted(numbers: Iterable[str], own: Iterable[Metric]) -> dict[str, Any]:
    """The same under its key, nothing where there is none: to be put beside a summary."""
    found = described(numbers, own)
    return {OWN_METRICS: found} if found else {}


def recall(document: Mapping[str, Any], path: Path) -> None:
    """Take over what a folder says of them."""
    kept = document.get(OWN_METRICS, {})
    if not isinstance(kept, dict):
        raise InputError(f"{path}: {OWN_METRICS} is {brief(kept)}, not a dictionary")
    for name, about in kept.items():
        known = about if isinstance(about, dict) else {}
        unit, better = known.get("unit"), known.get("better")
        if unit not in UNITS or better not in (LOWER, HIGHER):
            raise InputError(
                f"{path}: {OWN_METRICS}: {brief(name)} is {brief(about)}, not a unit of forebay's and what is better"
            )
        registry.remember(Metric(_gone, (name,), unit, "", _never, better))


def _gone(result: Result) -> None:
    """Only its numbers are left."""


def _never(result: Result) -> bool:
    return False
