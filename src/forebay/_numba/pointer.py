"""Hand a NamedTuple of tables to compiled code as ONE pointer.

Numba passes a tuple of arrays by value: three dozen tables are 250 arguments of every call, and most of the compile
time (85 s for the engine, against 26 with pointers). Here they are laid out in memory once a run, and a kernel loads
what it uses. Kernels look the same either way: `state.jobs[j]`.
"""

import hashlib
from functools import cache, cached_property
from operator import attrgetter
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_cast,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

from forebay._numba.facts import NO_FACTS, ROWS, Fact, Facts
from forebay.errors import ForebayError


class PointerType(types.Type):  # type: ignore[misc]
    """The type, to Numba, of a pointer to a NamedTuple of arrays, and what is known of these: see `narrow`."""

    def __init__(self, tables: types.BaseNamedTuple, facts: Facts = NO_FACTS):
        self.tables, self.facts = tables, facts
        # The full name of the tables is 5,000 characters, and stands in the symbol of every kernel that takes them.
        digest = hashlib.sha256(f"{_named(tables)}{sorted(facts) if facts else ''}".encode()).hexdigest()[:8]
        super().__init__(name=f"{tables.instance_class.__name__}_{digest}")
        self._within: dict[str, Any] = {}

    def known_of(self, name: str) -> dict[str, tuple[int, int]]:
        """What is known of a table: bounds, by what they bound."""
        return {fact.what: (fact.low, fact.high) for fact in self.facts if fact.table == name}

    def within(self, name: str) -> Any:
        """The type of a table or, of tables within, of a pointer to them with what is known of them."""
        if name not in self._within:
            kind, before = self.tables.types[self.tables.fields.index(name)], f"{name}."
            if isinstance(kind, types.BaseNamedTuple):
                mine = [fact for fact in self.facts if fact.table.startswith(before)]
                kind = PointerType(kind, frozenset(one._replace(table=one.table[len(before) :]) for one in mine))
            self._within[name] = kind
        return self._within[name]

    @cached_property
    def _asked(self) -> list[tuple[Any, Fact]]:
        return [(attrgetter(fact.table), fact) for fact in sorted(self.facts)]

    def check(self, tables: Any) -> None:
        """Refuse tables of which a fact does not hold: compiled code would go wrong, unseen."""
        for table_of, fact in self._asked:
            table = table_of(tables)
            found = len(table) if fact.what == ROWS else table[0][fact.what]
            if not fact.low <= found <= fact.high:
                raise WrongFactError(_wrong(f"{type(tables).__name__}.{fact.table}", fact, found))

    def can_convert_to(self, _: Any, other: Any) -> Any:
        """A pointer may forget what it knows; it never knows more than it did."""
        less = isinstance(other, PointerType) and other.tables == self.tables and other.facts < self.facts
        return Conversion.safe if less else None


class WrongFactError(ForebayError):
    """Compiled code was about to be handed tables of which what it knows does not hold."""


def _wrong(table: str, fact: Fact, found: Any) -> str:
    what = "rows" if fact.what == ROWS else f"in {fact.what}"
    known = f"{fact.low}" if fact.low == fact.high else f"{fact.low} to {fact.high}"
    return (
        f"{table} has {found} {what}, and the variant of compiled code that this run would enter knows {known}; "
        "this is a bug in forebay: please report it, and run with FOREBAY_INNER_KERNELS=0 meanwhile"
    )


@cache
def _named(tables: types.BaseNamedTuple) -> str:
    return str(tables)


@lower_cast(PointerType, PointerType)
def _forget(context: Any, builder: Any, known: PointerType, asked: PointerType, address: Any) -> Any:
    return address


class Pointer:
    """What Python hands to compiled code: an address, and the arrays kept alive behind it."""

    def __init__(self, tables: Any, kind: PointerType):
        self.tables = tables
        known = getattr(tables, "layout", None)
        self.layout = laid_out(tables) if known is None else known
        self.address = self.layout.ctypes.data
        self.type = kind


def pointer(tables: Any, kind: Any = None) -> Any:
    """What a kernel takes for `tables`: the tuple itself where the compiler is off.

    The type, where it is known, saves working it out: 7 ms for three dozen tables. What it knows must hold.
    """
    if kind is not None:
        kind.check(tables)
    return tables if numba.config.DISABLE_JIT else Pointer(tables, kind or pointer_type(tables))


def pointer_type(tables: Any) -> Any:
    """The type of a pointer to tuples like this one, for signatures."""
    return PointerType(numba.typeof(tables))


def laid_out(tables: Any) -> np.ndarray:
    """What a pointer points to. Tables that know theirs have it as `layout`."""
    return np.array(_words(tables), np.int64)


def _words(tables: Any) -> list[int]:
    """Arrays as Numba lays them out, without owners: they are the caller's to keep."""
    words: list[int] = []
    for table in tables:
        if isinstance(table, tuple):
            words += _words(table)
        else:
            # Not by its __array_interface__: that spells out all columns, in 30 times the time.
            words += [0, 0, table.size, table.itemsize, table.ctypes.data, *table.shape, *table.strides]
    return words


@register_model(PointerType)
class _PointerModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, pointer: PointerType):
        super().__init__(manager, pointer, ir.IntType(64))


@typeof_impl.register(Pointer)
def _typeof(value: Pointer, _: Any) -> PointerType:
    return value.type


@unbox(PointerType)
def _unbox(_: PointerType, value: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(value, "address")
    native = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(native, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


@infer_getattr
class _Table(AttributeTemplate):  # type: ignore[misc]
    key = PointerType

    def generic_resolve(self, pointer: PointerType, name: str) -> Any:
        return pointer.within(name) if name in pointer.tables.fields else None


@lower_getattr_generic(PointerType)
def _load(context: Any, builder: Any, pointer: PointerType, address: Any, name: str) -> Any:
    """A table's array structure; of tables within, where they begin."""
    place = pointer.tables.fields.index(name)
    layout = context.get_value_type(pointer.tables)
    at = cgutils.gep_inbounds(builder, builder.inttoptr(address, layout.as_pointer()), 0, place)
    if isinstance(pointer.tables.types[place], types.BaseNamedTuple):
        return builder.ptrtoint(at, ir.IntType(64))
    return builder.load(at)


def _ownerless(builder: Any, array: Any) -> Any:
    """Without an owner an array is never counted, nor freed: who reads it through a pointer only borrows."""
    for owner in (0, 1):
        array = builder.insert_value(array, ir.Constant(array.type.elements[owner], None), owner)
    return array


@intrinsic
def _on_stack(_: Any, tables: types.BaseNamedTuple) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        ownerless = arguments[0]
        for place in range(len(tables.types)):
            array = _ownerless(builder, builder.extract_value(ownerless, place))
            ownerless = builder.insert_value(ownerless, array, place)
        return builder.ptrtoint(cgutils.alloca_once_value(builder, ownerless), ir.IntType(64))

    return PointerType(tables)(tables), code


@intrinsic(prefer_literal=True)
def _replaced(_: Any, pointer: PointerType, name: types.StringLiteral, table: types.Array) -> Any:
    place = pointer.tables.fields.index(name.literal_value)

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        layout = context.get_value_type(pointer.tables)
        copy = builder.load(builder.inttoptr(arguments[0], layout.as_pointer()))
        copy = builder.insert_value(copy, _ownerless(builder, arguments[2]), place)
        return builder.ptrtoint(cgutils.alloca_once_value(builder, copy), ir.IntType(64))

    return pointer(pointer, name, table), code


@intrinsic
def _keep(_: Any, tables: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.get_dummy_value()

    return types.none(tables), code


def _as_it_is(tables: Any) -> Any:
    return tables


def _put(tables: Any, name: str, table: Any) -> Any:
    return tables._replace(**{name: table})


on_stack = _as_it_is if numba.config.DISABLE_JIT else _on_stack
"""A pointer to arrays that a kernel has made itself. It is good until that kernel returns, if the kernel calls `keep`
at its end: Numba frees an array after its last use, and does not know of the pointer."""
replaced = _put if numba.config.DISABLE_JIT else _replaced
"""The tables behind a pointer with one of them, by name, replaced: `replaced(state, "legs", legs)`. It is good until
the kernel that makes it returns; where that made the table itself, it calls `keep` with it at its end."""
keep = _as_it_is if numba.config.DISABLE_JIT else _keep
"""Where a kernel has come so far, these tables are still there."""
