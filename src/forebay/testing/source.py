"""A policy's own source: the functions that decide, and the numbers in them."""

import inspect
import math
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from forebay.errors import InputError

_OURS = Path(__file__).parents[1]
_HOOKS = {"kernel", "params", "params_on", "memory", "memory_on", "check", "remarks", "needs_times"}
"""Methods that the engine asks once: what decides is elsewhere."""
MOST_NUMBERS = 40


def file_of(policy: Any) -> str | None:
    """The file with a policy's class; None for policies that come with forebay."""
    codes = [function.__code__ for function in _methods(policy)]
    kernel = _kernel(policy)
    codes += [] if kernel is None else [kernel.__code__]
    module = inspect.getmodule(type(policy))
    name = getattr(module, "__file__", None) or (codes[0].co_filename if codes else None)
    return None if name is None or _is_ours(name) else name


def own_code(policy: Any) -> list[CodeType]:
    """The code of a policy's methods, of its kernel, and of functions in the same file that these name."""
    file, found = file_of(policy), dict[CodeType, None]()
    if file is None:
        return []
    kernel = _kernel(policy)
    waiting = [*_methods(policy), *([] if kernel is None else [kernel])]
    while waiting:
        function = waiting.pop()
        if function.__code__ in found or function.__code__.co_filename != file:
            continue
        for code in _nested(function.__code__):
            found[code] = None
            waiting += [one for name in code.co_names for one in _functions(function.__globals__.get(name))]
    return [*found]


def numbers_of(policy: Any) -> list[float]:
    """Its positive numbers, ascending: its parameters, attributes of its class, and those written in its code."""
    values: list[Any] = [*vars(policy).values()] if hasattr(policy, "__dict__") else []
    for cls in type(policy).__mro__:
        if cls.__module__ not in ("builtins", "forebay.policies._base"):
            values += vars(cls).values()
    for code in own_code(policy):
        values += code.co_consts
    for function in (*_methods(policy), *filter(None, [_kernel(policy)])):
        if not _is_ours(function.__code__.co_filename):
            names = {name for code in _nested(function.__code__) for name in code.co_names}
            values += [function.__globals__[name] for name in names if name in function.__globals__]
    if _kernel(policy) is not None and hasattr(policy, "params"):
        with suppress(InputError):  # the numbers of some policies depend on the machine
            values += np.ravel(policy.params()).tolist()
    found = sorted({number for value in values for number in _numbers(value)})
    return found[:: -(-len(found) // MOST_NUMBERS)] if len(found) > MOST_NUMBERS else found


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, tuple | list | frozenset) and len(value) <= MOST_NUMBERS:
        for one in value:
            yield from _numbers(one)
    elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value != 0:
        yield abs(float(value))


def _kernel(policy: Any) -> FunctionType | None:
    """What is compiled of it, in plain Python."""
    kernel = policy.kernel() if hasattr(policy, "kernel") else None
    plain = getattr(kernel, "py_func", kernel)
    return plain if isinstance(plain, FunctionType) else None


def _methods(policy: Any) -> list[FunctionType]:
    """The functions of its class, but for what every class has; of one that it overrides, only if it asks for it."""
    found: dict[str, list[FunctionType]] = {}
    for cls in type(policy).__mro__:
        if cls is object or cls.__module__ == "forebay.policies._base":
            continue
        for name, value in vars(cls).items():
            if name in _HOOKS or (name.startswith("__") and name.endswith("__")):
                continue
            above = found.setdefault(name, [])
            if not above or "super" in above[-1].__code__.co_names:
                above += _functions(value)
    return [function for functions in found.values() for function in functions]


def _functions(value: Any) -> list[FunctionType]:
    """The functions that a name stands for: one, those of a property, or the methods of a class."""
    if isinstance(value, property):
        return [one for one in (value.fget, value.fset) if isinstance(one, FunctionType)]
    if isinstance(value, type):
        return [one for own in vars(value).values() if not isinstance(own, type) for one in _functions(own)]
    if isinstance(value, ModuleType):
        return []
    plain = inspect.unwrap(getattr(value, "__func__", getattr(value, "py_func", value)))
    return [plain] if isinstance(plain, FunctionType) else []


def _nested(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and that of the functions in it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _nested(const)


def _is_ours(name: str) -> bool:
    return Path(name).is_relative_to(_OURS)
