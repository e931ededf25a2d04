"""ElastiSim's formulas: arithmetic over the number of nodes, for all numbers of nodes at once.

A formula is parsed into a list of steps that work on a stack. There is no way from a formula to Python: it has numbers,
the names it is given, and the functions listed here.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay._support.text import counted
from forebay.errors import brief, nearest

Values = NDArray[np.float64]

MAX_LENGTH = 2000
"""Characters of a formula, with the job's arguments put in."""

MAX_DEPTH = 50
"""Parentheses, signs and choices inside one another."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9]*)|(?P<sign><=|>=|==|!=|<>|[-+*/%^<>=&|?:(),]))"
)
_END = ""


class FormulaError(ValueError):
    """What is wrong with a formula; the caller knows where it stands."""


def _round(value: Any) -> Any:
    """Halves away from 0, as in C."""
    return np.trunc(value + np.copysign(0.5, value))


def _least(*values: Any) -> Any:
    return np.minimum.reduce(np.broadcast_arrays(*values))


def _most(*values: Any) -> Any:
    return np.maximum.reduce(np.broadcast_arrays(*values))


_MANY = -1  # as many arguments as one likes, at least one

_FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "abs": (1, np.abs),
    "ceil": (1, np.ceil),
    "exp": (1, np.exp),
    "floor": (1, np.floor),
    "if": (3, lambda test, one, other: np.where(test != 0, one, other)),
    "log": (1, np.log),
    "log10": (1, np.log10),
    "log2": (1, np.log2),
    "max": (_MANY, _most),
    "min": (_MANY, _least),
    "not": (1, lambda value: value == 0),
    "pow": (2, np.power),
    "round": (1, _round),
    "sqrt": (1, np.sqrt),
    "trunc": (1, np.trunc),
}

# How tightly an operator binds, and what it does; all take what is left of them first, but for ^.
_POWER = 6
_OPERATORS: dict[str, tuple[int, Callable[..., Any]]] = {
    "or": (1, lambda one, other: (one != 0) | (other != 0)),
    "and": (2, lambda one, other: (one != 0) & (other != 0)),
    "<": (3, np.less),
    "<=": (3, np.less_equal),
    ">": (3, np.greater),
    ">=": (3, np.greater_equal),
    "==": (3, np.equal),
    "!=": (3, np.not_equal),
    "+": (4, np.add),
    "-": (4, np.subtract),
    "*": (5, np.multiply),
    "/": (5, np.divide),
    "%": (5, np.fmod),
    "^": (_POWER, np.power),
}
_SAME = {"|": "or", "&": "and", "=": "==", "<>": "!="}


@dataclass(frozen=True)
class Formula:
    """Steps on a stack: a number, a name, or a function with the number of its arguments."""

    steps: tuple[float | str | tuple[int, Callable[..., Any]], ...]
    names: frozenset[str] = frozenset()

    def values(self, known: Mapping[str, Any]) -> Any:
        """What it gives; where there is none, nan or an infinity."""
        if isinstance(self.steps[0], float) and len(self.steps) == 1:
            return self.steps[0]
        stack: list[Any] = []
        with np.errstate(all="ignore"):
            for step in self.steps:
                if isinstance(step, float):
                    stack.append(np.float64(step))
                elif isinstance(step, str):
                    stack.append(known[step])
                else:
                    count, function = step
                    given = stack[-count:]
                    del stack[-count:]
                    stack.append(np.asarray(function(*given), np.float64))
        return stack[0]


def substituted(text: str, arguments: Mapping[str, str]) -> str:
    """A formula with a job's arguments put in, as ElastiSim does: as text, in the order of their names, everywhere.

    An argument `n` so becomes part of the name `num_nodes`, too.
    """
    for name in sorted(arguments):
        found = text.count(name)
        if found:
            if len(text) + found * len(arguments[name]) > MAX_LENGTH:
                raise FormulaError(f"grows beyond {MAX_LENGTH:,} characters when {brief(name)} is put in")
            text = text.replace(name, arguments[name])
    return text


def checked(text: str, known: Mapping[str, Any], more: Mapping[str, Any]) -> Formula:
    """The formula in a text, in which only `known` names stand; `more` are names that are put in before."""
    formula = parsed(text)
    for name in sorted(formula.names.difference(known)):
        raise FormulaError(f"has the unknown name {brief(name)}; {nearest(name, {*known, *more, *_FUNCTIONS})}")
    return formula


@lru_cache(maxsize=100_000)
def parsed(text: str) -> Formula:
    """The formula in a text."""
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"has {len(text):,} characters; write {MAX_LENGTH:,} at most")
    try:
        number = float(text) if text.isascii() and text[:1].isdigit() and "_" not in text else math.nan
    except ValueError:
        number = math.nan
    return Formula((number,)) if number == number else _Parser(text).whole()  # noqa: PLR0124


class _Parser:
    """Reads a formula from left to right, and writes down the steps in the order in which they are taken."""

    def __init__(self, text: str) -> None:
        self.words = _words(text)
        self.at = 0
        self.depth = 0
        self.steps: list[Any] = []

    def whole(self) -> Formula:
        self._choice()
        if self._next != _END:
            raise self._odd()
        return Formula(tuple(self.steps), frozenset(step for step in self.steps if isinstance(step, str)))

    @property
    def _next(self) -> str:
        return self.words[self.at]

    def _take(self) -> str:
        self.at += 1
        return self.words[self.at - 1]

    def _must(self, word: str) -> None:
        if self._next != word:
            raise self._odd(word)
        self.at += 1

    def _odd(self, wanted: str = "") -> FormulaError:
        more = f" where {wanted!r} should stand" if wanted else ""
        return FormulaError(f"has {brief(self._next)} out of place{more}" if self._next else f"ends too early{more}")

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise FormulaError(f"nests deeper than {MAX_DEPTH}")

    def _choice(self) -> None:
        """`test ? one : other`, or what has no such choice."""
        self._deeper()
        self._operation(1)
        if self._next == "?":
            self._take()
            self._choice()
            self._must(":")
            self._choice()
            self.steps.append(_FUNCTIONS["if"])
        self.depth -= 1

    def _operation(self, least: int) -> None:
        """Operands joined by operators that bind at least so tightly."""
        self._operand()
        while (found := _OPERATORS.get(_SAME.get(self._next, self._next))) and found[0] >= least:
            self._take()
            self._deeper()
            self._operation(found[0] if found[0] == _POWER else found[0] + 1)
            self.depth -= 1
            self.steps.append((2, found[1]))

    def _operand(self) -> None:
        word = self._take()
        if word in ("+", "-"):
            self._deeper()
            self._operation(_POWER)  # -2^2 is -(2^2)
            self.depth -= 1
            if word == "-":
                self.steps.append((1, np.negative))
        elif word == "(":
            self._choice()
            self._must(")")
        elif word[:1].isdigit() or word[:1] == ".":
            self.steps.append(float(word))
        elif word[:1].isalpha() or word[:1] == "_":
            self._named(word)
        else:
            self.at -= 1
            raise self._odd()

    def _named(self, word: str) -> None:
        """A function with its arguments, or a name."""
        if self._next != "(":
            if word == "not":
                self._operation(_POWER)
                self.steps.append(_FUNCTIONS[word])
            elif word.lower() in _FUNCTIONS or word in _OPERATORS:
                raise FormulaError(f"has {word!r} without what it should work on")
            else:
                self.steps.append(word)
            return
        if word.lower() not in _FUNCTIONS:
            raise FormulaError(f"unknown function {brief(word)}; {nearest(word, _FUNCTIONS)}")
        count, function = _FUNCTIONS[word.lower()]
        given = self._arguments()
        if count not in (given, _MANY):
            raise FormulaError(f"gives {counted(given, 'argument')} to {word}, which takes {count}")
        self.steps.append((given, function))

    def _arguments(self) -> int:
        """How many there are in parentheses, their steps written down."""
        self._must("(")
        self._choice()
        given = 1
        while self._next == ",":
            self._take()
            self._choice()
            given += 1
        self._must(")")
        return given


def _words(text: str) -> list[str]:
    words, at = [], 0
    text = text.rstrip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise FormulaError(f"has {brief(text[at:].strip()[:1])}, which means nothing here")
        words.append(found[found.lastgroup or 0])
        at = found.end()
    return [*words, _END]
