"""Models of workloads: one module each, with `DESCRIPTION` and either `generate` or `attach`.

`generate(rng, ...)` makes a workload of nothing; `attach(workload, rng, ...)` gives the jobs of one what they lack.
Their parameters are keywords with defaults; one whose name Python keeps for itself ends in an underscore there, and in
specs does not (`from_`, `from=memory`). Every draw comes from the generator that is passed in: `stream` makes one
for each model, so that adding a model never changes what another one draws.
"""

import dataclasses
import hashlib
import inspect
import math
from collections import Counter
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import numpy as np

from forebay import _plugins
from forebay._support import input_limits
from forebay.errors import InputError, brief
from forebay.workload.models import _checks as checks
from forebay.workload.workload import Workload

__all__ = ["attach", "describe", "generate", "names", "stream"]

_GROUP = "workload.models"
_MOST = {"writes": 10**4, "int": 10**7, "float": 10**15}  # by parameter, else by type
_LEAST = 1e-15
_USERS, _WHOSE = "users", ("users", "zipf", "groups")
"""The model that gives jobs users, and its parameters: every model that makes jobs takes them, too."""


def names() -> list[str]:
    """Every model that can be named."""
    return _plugins.names(_GROUP)


def describe(name: str) -> dict[str, Any]:
    """A model in words: what it does, whether it generates or attaches, and its parameters with their defaults."""
    module = _load(name)
    kind = "generate" if hasattr(module, "generate") else "attach"
    params = {key: one.default for key, one in _parameters(module).items()}
    return {"name": _proper(name), "kind": kind, "description": module.DESCRIPTION, "parameters": params}


def stream(seed: int, name: str, turn: int = 0) -> np.random.Generator:
    """The random numbers of one model under one seed; `turn` counts its earlier uses on the same workload."""
    if seed < 0:
        raise InputError(f"the seed is {seed}; give a whole number from 0 up")
    label = int.from_bytes(hashlib.sha256(_proper(name).encode()).digest()[:8], "big")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, label], spawn_key=(turn,))))


def generate(spec: str, seed: int, **more: Any) -> Workload:
    """The workload of `lublin99:nodes=256,load=0.8`; `more` are parameters that win over those of the spec."""
    name, module, values = _parsed(spec)
    if not hasattr(module, "generate"):
        known = f"those that do: {_of_kind('generate')}"
        raise InputError(f"model {name!r} makes no jobs, it completes those of a workload; {known}")
    values = _bounded(name, values | more)
    whose = {key: values.pop(key) for key in _WHOSE if key in values and key not in _parameters(module)}
    made: Workload = module.generate(stream(seed, name), **values)
    made = _signed(made, spec, seed)
    if not whose:
        return made
    if not whose.get("users"):
        raise InputError(f"model {name!r}: {next(iter(whose))} is for jobs with users; say how many, such as users=50")
    # With draws of their own, so that the jobs are the same as without users.
    users = _load(_USERS)
    return _signed(users.attach(made, stream(seed, _USERS), **whose), spec, seed)


def attach(workload: Workload, specs: Iterable[str], seed: int) -> Workload:
    """The workload after each of these models in turn."""
    turns: Counter[str] = Counter()
    for spec in specs:
        name, module, values = _parsed(spec)
        if not hasattr(module, "attach"):
            known = f"those that complete one: {_of_kind('attach')}"
            raise InputError(f"model {name!r} makes a workload of its own; {known}")
        rng = stream(seed, name, turns[name])
        workload = _signed(module.attach(workload, rng, **_bounded(name, values)), spec, seed)
        turns[name] += 1
    return workload


def check(spec: str, kind: str) -> None:
    """Refuse the spec of a model that does not `generate` or `attach`, as wanted, or lacks such parameters."""
    name, module, values = _parsed(spec)
    if not hasattr(module, kind):
        raise InputError(f"model {name!r} does not {kind}; those that do: {_of_kind(kind)}")
    _bounded(name, values)


def _proper(name: str) -> str:
    """The model's own name, which also labels its random numbers; an unknown one as it is."""
    return _plugins.find(_GROUP, name) or name


def _load(name: str) -> ModuleType:
    return _plugins.load(_GROUP, name, "model")


def _of_kind(kind: str) -> str:
    return ", ".join(one for one in names() if hasattr(_load(one), kind))


def _signed(workload: Workload, spec: str, seed: int) -> Workload:
    """The model's line of provenance, with all that is needed to repeat it."""
    *before, line = workload.provenance or (f"model {spec}",)
    return dataclasses.replace(workload, provenance=(*before, f"{line} [{spec}, seed {seed}]"))


def _parameters(module: ModuleType) -> dict[str, inspect.Parameter]:
    """Parameters by the names that specs have for them."""
    function = getattr(module, "generate", None) or module.attach
    own = inspect.signature(function).parameters
    return {key.rstrip("_"): one for key, one in own.items() if one.kind is one.KEYWORD_ONLY}


def _parsed(spec: str) -> tuple[str, ModuleType, dict[str, Any]]:
    """Name, module and parameters of a spec, each value as its parameter wants it."""
    name, given = _plugins.parse_spec(spec)
    module = _load(name)
    known = _parameters(module)
    if hasattr(module, "generate"):
        known = {key: one for key, one in _parameters(_load(_USERS)).items() if key in _WHOSE} | known
    return _proper(name), module, _plugins.values(f"model {name!r}", given, known)


def _bounded(name: str, values: dict[str, Any]) -> dict[str, Any]:
    """`values`, none of them so large, or so near 0, that its work would not fit in memory or its numbers in a double.

    What they mean, and so their own bounds, the models know.
    """
    for key, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        most = checks.most_jobs() if key == "jobs" else _MOST.get(key, _MOST[type(value).__name__])
        if math.inf > abs(value) > most or 0 < abs(value) < _LEAST:
            bounds = f"{most:,} at most" if abs(value) > most else f"0, or at least {_LEAST:g}"
            more = f", or set the variable {input_limits.JOBS} to as many" if key == "jobs" else ""
            raise InputError(f"model {name!r}: {key.rstrip('_')} is {brief(value)}; give {bounds}{more}")
    return values
