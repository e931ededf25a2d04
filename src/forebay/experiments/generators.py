"""Workloads that a function in a user's own file makes: `mygen.py:make:jobs=500,load=0.9`.

The function is called as `make(seed, jobs=500, load=0.9)` and returns a Workload. A parameter with a default takes
values of its type; what only a `**parameters` catches is a number where it reads as one, else text.
"""

import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from forebay import _plugins
from forebay.errors import ForebayError, InputError, nearest
from forebay.experiments import files
from forebay.workload import Workload


def generate(spec: str, seed: int) -> Workload:
    """The workload that the function of a spec makes of a seed."""
    function, values = load(spec)
    try:
        made = function(seed, **values)
    except ForebayError as error:
        raise type(error)(f"{spec}: {error}") from None
    except Exception as error:
        raise InputError(f"{spec}: fails with seed {seed}: {type(error).__name__}: {error}") from error
    if not isinstance(made, Workload):
        raise InputError(f"{spec}: returns {type(made).__name__}; return a forebay.Workload")
    line = f"made by {files.named(spec)} [seed {seed}]"
    return replace(made, provenance=(*made.provenance, line))


def load(spec: str) -> tuple[Callable[..., Any], dict[str, Any]]:
    """The function that a spec names, and what it is called with beside the seed."""
    from forebay._support.own_file import import_file

    path = files.path_in(spec)
    if not path.endswith(".py"):
        raise InputError(f"{spec}: no such file; name a generator as path/to/mine.py:function")
    name, given = _plugins.parse_spec(spec[len(path) + 1 :])
    functions = {key: one for key, one in vars(import_file(Path(path))).items() if inspect.isfunction(one)}
    if name not in functions:
        found = nearest(name, functions) if functions else "it has none"
        raise InputError(f"{path} defines no function {name!r}: {found}")
    parameters = list(inspect.signature(functions[name]).parameters.values())
    if not parameters or parameters[0].kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD):
        raise InputError(f"{path}: {name} takes no seed; define it as {name}(seed, ...)")
    del parameters[0]
    named = {one.name: one for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}
    free = any(one.kind is one.VAR_KEYWORD for one in parameters)
    values = {key: _number(given.pop(key)) for key in list(given) if free and key not in named}
    typed = {key: one for key, one in named.items() if key in given and one.default is not one.empty}
    untyped = {key: _number(given.pop(key)) for key in list(given) if key in named and key not in typed}
    return functions[name], values | untyped | _plugins.values(f"generator {spec!r}", given, named)


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
