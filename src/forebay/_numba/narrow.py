"""What a run does not use, taken out of its kernels before Numba types them.

A capability that a run does not use shows in its tables: some are empty, or a number in the machine's row says so.
Kernels ask for that with `len(truth.hidden) > 0` or `state.machine[0]["chunked"] >= 0`. The type of a pointer may carry
such facts. This pass works out what follows from them, also what other kernels then always return, and removes branches
that can never be taken and loops over nothing. What is called there alone is not even typed.
"""

import enum
import operator
from types import ModuleType
from typing import Any, NamedTuple

from numba.core import errors, ir
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler import run_frontend
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import build_definitions, simplify_CFG

from forebay._numba.facts import ROWS
from forebay._numba.known import Known
from forebay._numba.pointer import PointerType

_LONGEST = 500
"""Bytes of the code of a kernel up to which it is asked what it returns: those that always give the same are short."""


class _Tables(NamedTuple):
    """A pointer to tables."""

    kind: PointerType


class _Table(NamedTuple):
    """A table, or its first row, and what is known of it; its type where that tells."""

    known: dict[str, tuple[int, int]]
    kind: Any = None


class _Row(NamedTuple):
    known: dict[str, tuple[int, int]]


class _Items(NamedTuple):
    """A tuple that stands in the function itself."""

    of: tuple[Any, ...]


class _Number(NamedTuple):
    """A number within bounds."""

    low: Any
    high: Any

    @property
    def is_one(self) -> bool:
        return bool(self.low == self.high)


class _Word(NamedTuple):
    text: str


_NOTHING = object()
"""A sequence without items, or its iterator."""
_NONE = object()
"""What a kernel returns that returns nothing."""

_TURNED = {operator.lt: operator.gt, operator.gt: operator.lt, operator.le: operator.ge, operator.ge: operator.le}
_COMPARING = {*_TURNED, operator.eq, operator.ne}
_COUNTING = {operator.add, operator.sub, operator.mul, operator.and_, operator.or_}
_PURE = {"getattr", "static_getitem", "getitem", "build_tuple", "exhaust_iter", "cast", "binop", "unary"}
_HARMLESS = {len, range, min, max, abs, float, int, bool}


class _Function:
    """A function as Numba reads it, and what is known of its arguments."""

    def __init__(self, function_ir: Any, kinds: tuple[Any, ...]):
        self.ir, self.kinds = function_ir, kinds
        self._asks_others = self._put_off = False
        self._look_again()

    def _look_again(self) -> None:
        self.ir._definitions = build_definitions(self.ir.blocks)
        self._found: dict[str, Any] = {}

    def value(self, variable: Any) -> Any:
        """What is known of a variable; None if nothing is."""
        name = variable.name
        if name not in self._found:
            self._found[name] = None  # of one that is defined by itself
            definitions = self.ir._definitions.get(name, [])
            if len(definitions) == 1:
                self._found[name] = self.of(definitions[0])
        return self._found[name]

    def of(self, what: Any) -> Any:
        """The same of what it is assigned."""
        if isinstance(what, ir.Arg):
            kind = self.kinds[what.index]
            if isinstance(kind, PointerType):
                return _Tables(kind)
            return _Table(kind.known, kind) if isinstance(kind, Known) else None
        if isinstance(what, ir.Var):
            return self.value(what)
        if isinstance(what, ir.Const | ir.Global | ir.FreeVar):
            return _constant(what.value)
        if isinstance(what, ir.Expr) and what.op in _KNOWN_OPERATIONS:
            return _KNOWN_OPERATIONS[what.op](self, what)
        return None

    def _global(self, variable: Any) -> Any:
        """The object behind a name of the module."""
        definitions = self.ir._definitions.get(variable.name, [])
        outside = len(definitions) == 1 and isinstance(definitions[0], ir.Global | ir.FreeVar)
        return definitions[0].value if outside else None

    def attribute(self, what: Any) -> Any:
        owner = self._global(what.value)
        if isinstance(owner, enum.EnumMeta):
            member = getattr(owner, what.attr, None)
            return _constant(int(member)) if isinstance(member, int) else None
        if isinstance(owner, ModuleType):
            return _constant(getattr(owner, what.attr, None))
        tables = self.value(what.value)
        if not isinstance(tables, _Tables) or what.attr not in tables.kind.tables.fields:
            return None
        kind = tables.kind.within(what.attr)
        return _Tables(kind) if isinstance(kind, PointerType) else _Table(tables.kind.known_of(what.attr))

    def item(self, what: Any) -> Any:
        table = self.value(what.value)
        index = _constant(what.index) if what.op == "static_getitem" else self.value(what.index)
        if isinstance(table, _Items) and isinstance(index, _Number) and index.is_one:
            return self.value(table.of[index.low])
        if isinstance(table, _Table) and isinstance(index, _Number) and index.is_one:
            if str(index.low) in table.known:
                return _Number(*table.known[str(index.low)])
            return _Row(table.known) if index.low == 0 else None
        if isinstance(table, _Row) and isinstance(index, _Word) and index.text in table.known:
            return _Number(*table.known[index.text])
        return None

    def over(self, what: Any) -> Any:
        """An iterator, and its next item."""
        sequence = self.value(what.value)
        if isinstance(sequence, _Table) and sequence.known.get(ROWS) == (0, 0):
            return _NOTHING
        return sequence if sequence is _NOTHING else None

    def goes_on(self, what: Any) -> Any:
        return _Number(False, False) if self.value(what.value) is _NOTHING else None

    def tuple_of(self, what: Any) -> Any:
        return _Items(tuple(what.items))

    def same(self, what: Any) -> Any:
        return self.value(what.value)

    def two(self, what: Any) -> Any:
        return _reckon(what.fn, self.value(what.lhs), self.value(what.rhs))

    def one(self, what: Any) -> Any:
        number = self.value(what.value)
        if not isinstance(number, _Number) or not number.is_one:
            return None
        if what.fn in (operator.not_, "not"):
            return _constant(not number.low)
        return _constant(-number.low) if what.fn in (operator.neg, "-") else None

    def call(self, what: Any) -> Any:
        called = self._global(what.func)
        if called is None or what.kws or what.vararg:
            return None
        if called in (len, range, float, int, bool):
            return self._plain_call(called, [self.value(one) for one in what.args])
        function = getattr(called, "py_func", None)
        if function is None or len(function.__code__.co_code) > _LONGEST:
            return None
        if not self._asks_others:
            self._put_off = True
            return None
        kinds = tuple(getattr(self.value(one), "kind", None) for one in what.args)
        return _result_of(function, kinds) if any(kind.facts for kind in kinds if kind is not None) else None

    def _plain_call(self, called: Any, given: list[Any]) -> Any:
        if called is len and isinstance(given[0], _Table) and ROWS in given[0].known:
            return _Number(*given[0].known[ROWS])
        if called is float and isinstance(given[0], _Word):
            return _constant(float(given[0].text))
        if not all(isinstance(one, _Number) and one.is_one for one in given):
            return None
        if called is range:
            return None if range(*(one.low for one in given)) else _NOTHING
        return None if called is len else _constant(called(given[0].low))

    def narrow(self) -> bool:
        """Work out and remove until nothing changes; whether anything did."""
        changed = self._asks_others = self._put_off = False
        while True:
            changed |= self._write_down()
            if self._straighten():
                changed = True
            elif self._put_off and not self._asks_others:
                # Others are asked about what is then left: what is never called need not be read.
                self._asks_others, self._found = True, {}
            else:
                break
        if changed:
            self._drop_unused()
            self.ir.blocks = simplify_CFG(self.ir.blocks)
            self._look_again()
        return changed

    def _write_down(self) -> bool:
        """Put numbers in place of what is always the same. Members of enumerations stay, and so do floats."""
        changed = False
        for block in self.ir.blocks.values():
            for line in block.body:
                if not isinstance(line, ir.Assign) or not isinstance(line.value, ir.Expr) or line.value.op == "getattr":
                    continue
                found = self.of(line.value)
                if found is _NONE:
                    line.value, changed = ir.Const(None, line.loc), True
                elif isinstance(found, _Number) and found.is_one and isinstance(found.low, int):
                    line.value, changed = ir.Const(found.low, line.loc), True
        return changed

    def _straighten(self) -> bool:
        """Make branches of which one side is never taken jumps, and drop what nothing leads to; whether any was."""
        found = False
        for block in self.ir.blocks.values():
            last = block.body[-1]
            if isinstance(last, ir.Branch):
                condition = self.value(last.cond)
                if isinstance(condition, _Number) and condition.is_one:
                    block.body[-1] = ir.Jump(last.truebr if condition.low else last.falsebr, last.loc)
                    found = True
        if found:
            for dead in compute_cfg_from_blocks(self.ir.blocks).dead_nodes():
                del self.ir.blocks[dead]
            self._look_again()
        return found

    def _drop_unused(self) -> None:
        """Drop lookups that nothing uses."""
        while True:
            used: set[str] = set()
            for block in self.ir.blocks.values():
                for line in block.body:
                    used |= _read_by(line)
            dropped = False
            for block in self.ir.blocks.values():
                kept = [line for line in block.body if not self._is_useless(line, used)]
                dropped = dropped or len(kept) < len(block.body)
                block.body = kept
            if not dropped:
                return

    def _is_useless(self, line: Any, used: set[str]) -> bool:
        if isinstance(line, ir.Del):
            return True
        if not isinstance(line, ir.Assign) or line.target.name in used:
            return False
        return self.is_pure(line.value) or self.of(line.value) is _NOTHING

    def is_pure(self, what: Any) -> bool:
        """Whether nothing happens when this is worked out."""
        if not isinstance(what, ir.Expr):
            return isinstance(what, ir.Const | ir.Global | ir.FreeVar | ir.Var)
        return what.op in _PURE or (what.op == "call" and self._global(what.func) in _HARMLESS)


_KNOWN_OPERATIONS = {
    "getattr": _Function.attribute,
    "static_getitem": _Function.item,
    "getitem": _Function.item,
    "getiter": _Function.over,
    "iternext": _Function.over,
    "pair_second": _Function.goes_on,
    "build_tuple": _Function.tuple_of,
    "exhaust_iter": _Function.same,
    "cast": _Function.same,
    "binop": _Function.two,
    "unary": _Function.one,
    "call": _Function.call,
}


def _constant(value: Any) -> Any:
    if isinstance(value, str):
        return _Word(value)
    if isinstance(value, enum.Enum):
        return None
    return _Number(value, value) if isinstance(value, int | float) else None


def _reckon(how: Any, a: Any, b: Any) -> Any:
    """What an operation on two numbers gives, if their bounds tell."""
    if not isinstance(a, _Number) or not isinstance(b, _Number):
        return None
    if a.is_one and b.is_one and how in _COMPARING | _COUNTING:
        return _constant(how(a.low, b.low))
    if how in (operator.eq, operator.ne):
        return _constant(how is operator.ne) if a.high < b.low or b.high < a.low else None
    if how not in _TURNED:
        return None
    ends = {bool(how(x, y)) for x in a for y in b}  # each comparison is monotone in both
    return _constant(ends.pop()) if len(ends) == 1 else None


def _read_by(line: Any) -> set[str]:
    """The variables that a statement reads."""
    what = line.value if isinstance(line, ir.Assign) else line
    if isinstance(what, ir.Var):
        return {what.name}
    return {one.name for one in what.list_vars()} if isinstance(what, ir.Inst) else set()


_results: dict[Any, Any] = {}


def _result_of(function: Any, kinds: tuple[Any, ...]) -> Any:
    """What a kernel always returns for such tables, if it also does nothing else; None if that differs."""
    key = function, kinds
    if key not in _results:
        _results[key] = None  # of one that calls itself
        _results[key] = _work_out(function, kinds)
    return _results[key]


def _work_out(function: Any, kinds: tuple[Any, ...]) -> Any:
    try:
        one = _Function(run_frontend(function), kinds)
    except (errors.NumbaError, NotImplementedError):
        return None
    one.narrow()
    if compute_cfg_from_blocks(one.ir.blocks).loops():
        return None
    returned = []
    for block in one.ir.blocks.values():
        for line in block.body:
            if isinstance(line, ir.Return):
                returned.append(_NONE if _is_none(one.ir, line.value) else one.value(line.value))
            elif isinstance(line, ir.Assign):
                if not (isinstance(line.value, ir.Arg) or one.is_pure(line.value)):
                    return None
            elif not isinstance(line, ir.Jump | ir.Branch | ir.Del):
                return None
    first = returned[0] if returned else None
    alike = all(one is first or (isinstance(one, _Number) and _is_same(one, first)) for one in returned)
    return first if alike and (first is _NONE or (isinstance(first, _Number) and first.is_one)) else None


def _is_same(a: _Number, b: Any) -> bool:
    return isinstance(b, _Number) and a == b and type(a.low) is type(b.low)


def _is_none(function_ir: Any, variable: Any) -> bool:
    """Whether a variable is None, wherever it comes from."""
    definitions = function_ir._definitions.get(variable.name, [])
    if len(definitions) != 1:
        return False
    what = definitions[0]
    if isinstance(what, ir.Expr) and what.op == "cast":
        what = what.value
    if isinstance(what, ir.Var):
        return _is_none(function_ir, what)
    return isinstance(what, ir.Const) and what.value is None


@register_pass(mutates_CFG=True, analysis_only=False)
class Narrow(FunctionPass):  # type: ignore[misc]
    """Take out what cannot happen in a run of which so much is known."""

    _name = "forebay_narrow"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        kinds = tuple(state.args)
        if not any(getattr(kind, "facts", None) for kind in kinds):
            return False
        return _Function(state.func_ir, kinds).narrow()
