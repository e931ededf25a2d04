"""Ready-made machines by name: the signature of a preset's `make` is the list of parameters users may give."""

import inspect
from collections.abc import Mapping
from functools import lru_cache
from types import ModuleType
from typing import Any

from pydantic import ValidationError, create_model

from forebay.errors import InputError
from forebay.platforms._declared.problems import Problems
from forebay.platforms._fields import Model
from forebay.platforms.platform import Platform


def make(preset: ModuleType, spec: str, params: Mapping[str, str]) -> Platform:
    """The preset's machine with `params`, which are text still; `spec` is what the user wrote, for messages."""
    return _make(preset, spec, tuple(params.items()))


@lru_cache(maxsize=256)  # a machine never changes, and to make one takes longer than a short run
def _make(preset: ModuleType, spec: str, named: tuple[tuple[str, str], ...]) -> Platform:
    params = dict(named)
    problems = Problems(f"platform {spec!r}", equals="=", quotes=False)
    given = problems.check(_parameters(preset), params)
    problems.stop()
    try:
        machine: Platform = preset.make(**dict(given or {}))
    except InputError as error:  # each value is fine by itself, but not beside the others
        if not isinstance(error.__context__, ValidationError):
            raise
        problems.take(error.__context__, Platform)
        raise problems.error() from None
    return machine


def _parameters(preset: ModuleType) -> type[Model]:
    fields: dict[str, Any] = {
        name: (parameter.annotation, ... if parameter.default is parameter.empty else parameter.default)
        for name, parameter in inspect.signature(preset.make, eval_str=True).parameters.items()
    }
    return create_model("Parameters", __base__=Model, **fields)
