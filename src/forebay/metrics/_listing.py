"""Metrics are found by looking: in every module of this folder, and behind every entry point `forebay.metrics`."""

import inspect
import pkgutil
from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from forebay import _plugins
from forebay.errors import InputError, nearest
from forebay.metrics._metric import GROUPS, Metric


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
def metrics() -> tuple[Metric, ...]:
    """Every metric, in the order of summaries: by group, then by module and line."""
    modules = [_plugins.load("metrics", name, "metric") for name in _plugins.names("metrics")]
    found = [one.metric for module in modules for one in _functions(module).values() if hasattr(one, "metric")]
    places = {group: place for place, group in enumerate(GROUPS)}
    return tuple(sorted(found, key=lambda one: places.get(one.group, len(places))))


def about(name: str) -> Metric:
    """The metric that gives a number of this name."""
    by_name = {known: one for one in metrics() for known in one.names}
    found = by_name.get(name) or next((one for one in metrics() if one.gives(name)), None)
    if found is None:
        raise InputError(f"unknown metric {name!r}: {nearest(name, by_name)}")
    return found
