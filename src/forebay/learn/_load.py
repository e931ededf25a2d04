"""Estimators by name."""

import inspect
from dataclasses import is_dataclass
from typing import Any

from forebay import _plugins
from forebay.errors import wrong_type
from forebay.learn._base import Estimator

USUAL = "survival"
"""The one that predictions use."""
_GROUP = "learn.estimators"


def names() -> list[str]:
    """Every estimator that `load` knows.

    Examples
    --------
    >>> fb.learn.names()
    ['last-two', 'survival', 'user-median', 'walltime']
    """
    return _plugins.names(_GROUP)


def describe(name: str) -> str:
    """The first paragraph of what an estimator says of itself."""
    return (inspect.getdoc(_class(name)) or "").partition("\n\n")[0]


def load(spec: Any = USUAL) -> Estimator:
    """An estimator that has learned nothing yet.

    Parameters
    ----------
    spec
        Its name, with parameters where you like: "survival:shrink=10". A class, or a function without arguments, is
        called; so an estimator of your own can be used wherever a name can.

    Examples
    --------
    >>> fb.learn.load("survival:last=50")
    Survival(last=50, shrink=6.0, fade=0.97, blur=0.15)
    """
    if isinstance(spec, str):
        name, given = _plugins.parse_spec(spec)
        made = _class(name)
        parameters = inspect.signature(made).parameters
        estimator: Any = made(**_plugins.values(f"estimator {name!r}", given, parameters))
    else:
        estimator = spec() if callable(spec) else spec
    if not (callable(getattr(estimator, "learn", None)) and callable(getattr(estimator, "likely", None))):
        hint = "a name such as 'survival', or a class with learn(asked, seconds) and likely(asked)"
        raise wrong_type("the estimator", spec, hint)
    found: Estimator = estimator
    return found


def _class(name: str) -> Any:
    """The estimator of a module is the dataclass that it defines."""
    module = _plugins.load(_GROUP, name, "estimator")
    return next(
        made
        for made in vars(module).values()
        if inspect.isclass(made) and is_dataclass(made) and made.__module__ == module.__name__
    )
