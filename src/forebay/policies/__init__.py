"""One file a policy; `load("fcfs-bb:depth=3")` makes the policy that policies/fcfs_bb.py defines.

A policy may also stand in a user's own file: `load("mine.py:Mine:patience=3")`.
"""

import dataclasses
import inspect
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from forebay import _plugins
from forebay._support.own_file import import_file, sources_digest
from forebay._support.reading import check_regular
from forebay.core.limits import Limits
from forebay.errors import ForebayError, InputError, nearest
from forebay.policies._base import Policy
from forebay.policies._by_priority import asks_for_priority, preset_of
from forebay.policies._limited import MARK, Limited, apart, parse_limits
from forebay.policies._manner import Every, IoScheduled, Placed, bare, loaded_with
from forebay.policies._orders import ALL

__all__ = ["Every", "IoScheduled", "Limited", "Limits", "Placed", "Policy", "describe", "load", "names"]

COMPARED = ("fcfs", "fcfs-easy", "filler", "fcfs-bb", "sjf-bb", "conservative-bb", "bbsched-exact", "plan-best")
"""What `forebay compare` compares by default: few, each a step on from those before it."""
FAMILIES = ("queue", "window", "plan", "tiers")
"""Queues in some order, a window of them optimised, plans of all waiting jobs, and choices between tiers of storage."""


def names() -> list[str]:
    """Every policy that can be named.

    Examples
    --------
    >>> "fcfs-bb" in fb.policies.names()
    True
    """
    return _plugins.names("policies")


def describe(name: str) -> dict[str, Any]:
    """A policy in words: its name, what it does, its parameters with their defaults, family, and if `compare` has it.

    Parameters
    ----------
    name
        One of `names()`.

    Examples
    --------
    >>> fb.policies.describe("fcfs-bb")["parameters"]["depth"]
    1
    """
    module = _plugins.load("policies", name, "policy")
    text = (module.__doc__ or "").strip().split("\n")[0]
    params = {key: "all" if p.default == ALL else p.default for key, p in _parameters(_own_class(module)).items()}
    name = str(_plugins.find("policies", name))
    described = {"name": name, "description": text, "parameters": params}
    return described | {"family": family_of(name), "compared": name in COMPARED}


def family_of(name: str) -> str:
    """The family of a policy: what its kernel decides on, or tiers where it chooses between them."""
    cls = _own_class(_plugins.load("policies", name, "policy"))
    if getattr(cls, "needs_tiers", False):
        return "tiers"
    words = str(getattr(cls, "compiled", "")).split(".")  # plan.plan.plan, predicted.plan
    return next((word for word in words if word in FAMILIES), "queue")


def load(spec: str | Any) -> Any:
    """A policy from its spec; an object that already is one passes through.

    Parameters
    ----------
    spec
        "fcfs-bb:depth=3", "mine.py:Mine:patience=3", either with "+every=60s", "+io:set-10" or "+limits:user_jobs=4"
        behind it; or an object with `decide(view, act)`, or a class of such that needs no arguments.

    Returns
    -------
    object
        What `forebay.simulate` asks for decisions.

    Examples
    --------
    >>> fb.policies.load("fcfs-bb:depth=3").depth
    3
    """
    if inspect.isclass(spec):
        spec = _made(spec)
    if not isinstance(spec, str):
        plain, _ = apart(spec)
        _check(plain, type(plain).__name__)
        return spec
    if bare(spec) != spec:
        return loaded_with(spec, load(bare(spec)))
    plain, mark, rest = spec.partition(MARK)
    if mark:
        try:
            return Limited(load(plain), parse_limits(f"limits{rest}"))
        except InputError as error:
            raise InputError(f"policy {spec!r}: {error}") from None
    if spec.endswith(".py"):
        raise InputError(f"policy {spec!r} is a file; name the class in it too: {spec}:ClassName")
    own = _in_file(spec)
    if own:
        name, given = _plugins.parse_spec(own["rest"])
        cls = _from_file(Path(own["path"]), name)
    else:
        name, given = _plugins.parse_spec(spec)
        cls = _own_class(_plugins.load("policies", name, "policy"))
    preset: dict[str, Any] = {}
    if asks_for_priority(cls, given):
        preset, cls = preset_of(cls, given)
    values = _plugins.values(f"policy {name!r}", given, _parameters(cls), {"all": ALL})
    try:
        policy = cls(**(preset | values))
    except ForebayError as error:
        raise type(error)(f"policy {spec!r}: {error}") from None
    except TypeError as error:
        raise InputError(f"policy {spec!r}: {error}") from None
    except (Exception, SystemExit) as error:
        raise InputError(f"policy {spec!r}: cannot be made: {type(error).__name__}: {error}") from error
    _check(policy, spec)
    return policy


_OWN_FILE = re.compile(r"(?P<path>.+\.py):(?P<rest>.+)")
_OWN_RULE = re.compile(r"[:,]\s*rule\s*=\s*(?P<path>[^,]+\.py):[^,]+")


def _in_file(spec: str) -> re.Match[str] | None:
    """The parts of a spec of a policy in a user's file; not of one of ours with a rule in one."""
    if _plugins.find("policies", spec.partition(":")[0]):
        return None
    return _OWN_FILE.fullmatch(spec)


def own_file(spec: str) -> str:
    """The user's file that a spec names, as it is written, for the policy or its rule; empty if it names none."""
    plain = bare(spec).partition(MARK)[0]
    found = _in_file(plain) or _OWN_RULE.search(plain)
    return found["path"].strip() if found and Path(found["path"].strip()).is_file() else ""


def takes(spec: str, parameter: str) -> bool:
    """Whether the policy of a spec has a parameter, or a limit behind it, of this name."""
    return parameter in (inspect.signature(Limits).parameters if MARK in spec else parameters(spec))


def parameters(spec: str) -> list[str]:
    """The parameters that the policy of a spec may be given."""
    plain = bare(spec).partition(MARK)[0]
    own = _in_file(plain)
    name = (own["rest"] if own else plain).partition(":")[0]
    cls = _from_file(Path(own["path"]), name) if own else _own_class(_plugins.load("policies", name, "policy"))
    return list(_parameters(cls))


def digest_of(spec: str) -> str:
    """A hash of the user's sources that a spec names, with all that they import; empty if it names none."""
    path = own_file(spec)
    return sources_digest(Path(path)) if path else ""


def in_messages(policy: Any, name: str) -> str:
    """How messages name a policy: a spec as it was written, an object by the name of its preset or class."""
    if not dataclasses.is_dataclass(policy) or not name.endswith(")"):
        return name
    package, _, module = type(policy).__module__.rpartition(".")
    return module.replace("_", "-") if package == "forebay.policies" else type(policy).__name__


def _made(cls: type) -> Any:
    """An object of a class that was given instead of one."""
    try:
        return cls()
    except TypeError as error:
        raise InputError(
            f"policy {cls.__name__} is a class, and no object can be made without arguments ({error}); "
            f"give an object: {cls.__name__}(...)"
        ) from None


@cache
def _own_class(module: Any) -> type:
    """The one policy that a module of ours defines, beside helpers of its own."""
    classes = [c for c in vars(module).values() if inspect.isclass(c) and c.__module__ == module.__name__]
    (cls,) = [c for c in classes if not c.__name__.startswith("_")]
    return cls


@lru_cache  # not for ever: a user's class may be another in each cell of a notebook
def _parameters(cls: type) -> Mapping[str, inspect.Parameter]:
    if dataclasses.is_dataclass(cls) or "__init__" in vars(cls):
        return inspect.signature(cls).parameters
    return {}


def _from_file(path: Path, name: str) -> type:
    """Class `name` of a user's file."""
    check_regular(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file; name a policy in your own file as path/to/mine.py:ClassName")
    module = import_file(path)
    classes = {key: c for key, c in vars(module).items() if inspect.isclass(c) and c.__module__ == module.__name__}
    if name not in classes:
        raise InputError(f"{path} defines no class {name!r}: {nearest(name, classes) if classes else 'it has none'}")
    return classes[name]


def _check(policy: Any, spec: str) -> None:
    """A policy must be able to decide. Only the methods count; the base class is a convenience."""
    compiled = getattr(policy, "kernel", None)
    decides = callable(getattr(policy, "decide", None)) and type(policy).decide is not Policy.decide
    overrides = callable(compiled) and getattr(type(policy), "kernel", None) is not Policy.kernel
    if not decides and not overrides and not getattr(policy, "compiled", ""):
        raise InputError(f"{spec}: a policy needs a method decide(self, view, act), or kernel(self); it has neither")
    if decides:
        _check_decide(policy, spec)


def _check_decide(policy: Any, spec: str) -> None:
    """Whether `decide` can be called with a view and actions, and does its work when it is."""
    cls, decide = type(policy), policy.decide
    wrong = "is a generator" if inspect.isgeneratorfunction(decide) else ""
    wrong = "is asynchronous" if inspect.iscoroutinefunction(decide) else wrong
    try:
        signature = inspect.signature(decide)
        signature.bind(None, None)
    except TypeError:
        wrong = f"takes {_asked(decide, signature)}"
    except ValueError:
        return  # of a compiled extension: the first call will say
    if wrong:
        code = getattr(inspect.unwrap(getattr(decide, "__func__", decide)), "__code__", None)
        where = f"{code.co_filename}, line {code.co_firstlineno}" if code else spec
        raise InputError(
            f"{where}: {cls.__name__}.decide {wrong}; it is called with a view and what to act by: "
            f"write def decide(self, view, act)"
        )


def _asked(decide: Any, signature: inspect.Signature) -> str:
    """What a method takes, as it stands in its file."""
    whole = inspect.signature(decide.__func__) if inspect.ismethod(decide) else signature
    return str(whole.replace(return_annotation=inspect.Signature.empty))
