"""A rule as a formula, `rule=nodes+2*burst_buffer`: the choice for which it is largest."""

import ast
import math
import operator
from collections.abc import Mapping
from typing import Any

from forebay.errors import InputError, brief

_BINARY: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_SIGNS: dict[type, Any] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_COMPARED: dict[type, Any] = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}
_FORM = "write numbers, names, + - * / **, brackets and < <= > >=, such as nodes+2*burst_buffer"
_DEEPEST = 50  # brackets within brackets; Python gives up at a few hundred


class Expression:
    """A formula over names. A comparison counts 1 where it holds, else 0."""

    def __init__(self, text: str):
        self.text = text
        try:
            self._tree = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise InputError(f"rule is {brief(text)}, which is no formula: {_FORM}") from None
        self._check(self._tree, 0)
        self.names = sorted({node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)})

    def _check(self, node: ast.AST, depth: int) -> None:
        """Refuse what is no part of a formula."""
        parts: list[ast.AST] = []
        known = depth < _DEEPEST
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            parts = [node.left, node.right]
        elif isinstance(node, ast.UnaryOp) and type(node.op) in _SIGNS:
            parts = [node.operand]
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.Constant):
            known = known and isinstance(node.value, int | float) and not isinstance(node.value, bool)
        else:
            known = known and isinstance(node, ast.Name)
        if not known:
            raise InputError(f"rule is {brief(self.text)}: {_FORM}")
        for part in parts:
            self._check(part, depth + 1)

    def value(self, values: Mapping[str, float]) -> float:
        """What it comes to; nan where it comes to no number, as a division by 0 does."""
        try:
            found = float(self._value(self._tree, values))
        except (ArithmeticError, TypeError, ValueError):  # a root of less than 0 is a complex number
            return math.nan
        return found

    def _value(self, node: Any, values: Mapping[str, float]) -> Any:
        if isinstance(node, ast.BinOp):
            return _BINARY[type(node.op)](self._value(node.left, values), self._value(node.right, values))
        if isinstance(node, ast.UnaryOp):
            return _SIGNS[type(node.op)](self._value(node.operand, values))
        if isinstance(node, ast.Compare):
            left, right = self._value(node.left, values), self._value(node.comparators[0], values)
            return float(_COMPARED[type(node.ops[0])](left, right))
        return values[node.id] if isinstance(node, ast.Name) else float(node.value)
