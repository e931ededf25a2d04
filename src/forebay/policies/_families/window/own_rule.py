"""A site's own rule over the Pareto set: a formula over the objectives, or a function in a file of its own."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from forebay._support.own_file import import_file
from forebay._support.reading import check_regular
from forebay.errors import BadActionError, InputError, brief, nearest
from forebay.policies._families.window.expression import Expression

if TYPE_CHECKING:
    from forebay.core.view import View

_IN_FILE = re.compile(r"(?P<path>.+\.py):(?P<name>[^:]+)")
BESIDE = ("jobs", "wait")
"""What a formula may name besides objectives: how many jobs start, and for how many seconds they have waited in all."""
_EQUAL = 1e-12  # sums of shares: what is equal may differ in the last bits


class Choice(NamedTuple):
    """A point of the Pareto set: jobs that would start together, and what would then be in use."""

    jobs: tuple[int, ...]
    """Rows of `view.jobs`, in the order of the window."""
    use: dict[str, float]
    """The share of each objective that is in use if they start, what is in use already included. What is wasted of
    devices in nodes counts below 0."""


Rule = Callable[[Sequence[Choice], "View"], object]


def path_of(rule: str) -> str:
    """The user's file that a rule names; empty if it is a formula."""
    found = _IN_FILE.fullmatch(rule)
    return found["path"] if found else ""


def check_rule(rule: str) -> None:
    """Refuse a rule that is neither a formula nor a function in a file."""
    if path_of(rule):
        _function(rule)
    else:
        Expression(rule)


def rule_on(rule: str, objectives: Sequence[str], words: Iterable[str]) -> Rule:
    """A rule for a machine with these objectives; `words` are the rules that have names."""
    if path_of(rule):
        return _function(rule)
    formula, known = Expression(rule), [*objectives, *BESIDE]
    for name in formula.names:
        if name not in known:
            what = f"rule names {name!r}, which is no objective here: {nearest(name, known)}"
            raise InputError(f"{what}; rules with names are {', '.join(words)}")
    return _Largest(formula)


class _Largest:
    """The choice for which a formula is largest; of equal ones the first, which uses more nodes."""

    def __init__(self, formula: Expression):
        self._formula = formula

    def __call__(self, choices: Sequence[Choice], view: "View") -> Choice:
        best, most = None, -math.inf
        for choice in choices:
            waited = float(np.sum(view.now - view.jobs["submit"][list(choice.jobs)]))
            value = self._formula.value(choice.use | {"jobs": float(len(choice.jobs)), "wait": waited})
            if math.isnan(value):
                use = ", ".join(f"{name} {share:.4g}" for name, share in choice.use.items())
                what = f"{view._when} asked for the rule {brief(self._formula.text)}, which is no number"
                raise BadActionError(f"{what} for {_ids(view, choice.jobs)} ({use}); let it divide by no 0")
            if best is None or value > most + _EQUAL:
                best, most = choice, value
        assert best is not None
        return best


def chosen_by(rule: Rule, name: str, choices: Sequence[Choice], view: "View") -> Choice:
    """What a rule chooses: one of the choices, or the jobs of one."""
    found = rule(tuple(choices), view)
    for choice in choices:
        if found is choice:
            return choice
    said = f"{view._when} asked the rule {brief(name)}, which"
    if found is None:
        raise BadActionError(f"{said} returned nothing; return one of the choices that it is given")
    try:
        rows: Any = found.jobs if isinstance(found, Choice) else found
        jobs = {view._row(job) for job in rows}
    except TypeError:
        raise BadActionError(f"{said} returned {brief(found)}; return one of the choices that it is given") from None
    for choice in choices:
        if jobs == set(choice.jobs):
            return choice
    others = jobs.difference(*(choice.jobs for choice in choices))
    if others:
        raise BadActionError(
            f"{said} returned {_ids(view, sorted(others))}, in none of the choices; return one of them"
        )
    what = f"{_ids(view, sorted(jobs))} together, which is none of the choices" if jobs else "no job at all"
    raise BadActionError(f"{said} returned {what}; return one of those that it is given")


def _ids(view: "View", jobs: Iterable[int]) -> str:
    numbers = [str(int(view.jobs["id"][job])) for job in jobs]
    return f"job{'s' * (len(numbers) > 1)} {', '.join(numbers)}"


def _function(rule: str) -> Rule:
    """The function of a user's file."""
    found = _IN_FILE.fullmatch(rule)
    assert found is not None
    path, name = Path(found["path"]), found["name"]
    check_regular(path)
    if not path.is_file():
        raise InputError(f"rule: {path}: no such file; name a function in your own file as path/to/mine.py:function")
    module = import_file(path)
    own = [
        key for key, one in vars(module).items() if callable(one) and getattr(one, "__module__", "") == module.__name__
    ]
    if name not in own:
        raise InputError(f"rule: {path} defines no function {name!r}: {nearest(name, own) if own else 'it has none'}")
    function: Rule = getattr(module, name)
    return function
