"""Metrics are found by looking: in every module of this folder, and behind every entry point `forebay.metrics`.

Those that users define join them: see `forebay.metrics._own`.
"""

import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from forebay import _plugins
from forebay.errors import InputError, nearest
from forebay.metrics._metric import GROUPS, Metric, pattern_of
from forebay.metrics._own import registry
from forebay.results._format import EARLIER


def _functions(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """Those that a module defines, not those it imports, in the order of its lines."""
    mine = vars(module).items()
    return {name: one for name, one in mine if inspect.isfunction(one) and one.__module__ == module.__name__}


def public(package: str, path: list[str]) -> dict[str, Callable[..., Any]]:
    """Every function of a package's modules that is for users."""
    modules = [one.name for one in pkgutil.iter_modules(path) if not one.name.startswith("_")]
    functions = [_functions(import_module(f"{package}.{name}")) for name in sorted(modules)]
    return {name: one for some in functions for name, one in some.items() if not name.startswith("_")}


@cache
def built_in() -> tuple[Metric, ...]:
    """Ours and those of other packages, in the order of summaries: by group, then by module and line."""
    modules = [_plugins.load("metrics", name, "metric") for name in _plugins.names("metrics")]
    return in_order(one.metric for module in modules for one in _functions(module).values() if hasattr(one, "metric"))


def in_order(some: Iterable[Metric]) -> tuple[Metric, ...]:
    """As they stand in summaries: by group."""
    places = {group: place for place, group in enumerate(GROUPS)}
    return tuple(sorted(some, key=lambda one: places.get(one.group, len(places))))


def metrics() -> tuple[Metric, ...]:
    """Every metric that this process knows, in the order of summaries."""
    return in_order((*built_in(), *own)) if (own := registry.own()) else built_in()


def find(name: str) -> Metric | None:
    """The metric that gives a number of this name, or gave it in a folder that was read, if there is one."""
    every = metrics()
    exact = (one for one in every if name in one.names)
    return next(exact, None) or registry.kept(name) or next((one for one in every if one.gives(name)), None)


def about(name: str) -> Metric:
    """The same; an error where there is none."""
    found = find(name)
    if found is None:
        raise InputError(
            f"unknown metric {name!r}: {nearest(name, [known for one in metrics() for known in one.names])}"
        )
    return found


def own_among(summaries: Iterable[Iterable[str]]) -> list[str]:
    """Of the numbers of summaries, those of metrics that users have defined, known to this process or not."""
    names = dict.fromkeys(name for one in summaries for name in one)
    return [name for name in names if name not in EARLIER and not is_built_in(name)]


def is_built_in(name: str) -> bool:
    """Whether a number of this name is of a metric that is installed."""
    return _names().fullmatch(name) is not None


@cache
def _names() -> re.Pattern[str]:
    """What numbers of installed metrics are called. MEASURE is one of a few: mean_cost is not the mean of one."""
    from forebay.metrics.jobs import SPREAD

    every = (pattern_of(name) for one in built_in() for name in one.names if not name.endswith("_MEASURE"))
    measures = (name.removesuffix("MEASURE") for one in built_in() for name in one.names if name.endswith("_MEASURE"))
    return re.compile("|".join([*every, *(f"{statistic}(?:{'|'.join(SPREAD)})" for statistic in measures)]))
