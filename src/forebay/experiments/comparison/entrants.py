"""The policies of a comparison, by the names that tables show.

A policy that a spec names can be made by any process. An object of a user's stays in the process that has it, as no
file says how to make it again.
"""

import copy
import hashlib
import inspect
import itertools
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from forebay._run.labels import Called, called
from forebay.errors import InputError

if TYPE_CHECKING:
    from forebay.experiments.setting import Setting
    from forebay.platforms.platform import Platform


@dataclass(frozen=True)
class Entrants:
    """Specs and objects by name; a name is in one of both."""

    specs: Mapping[str, str]
    objects: Mapping[str, Any] = field(default_factory=dict)
    machines: "Mapping[str, Platform]" = field(default_factory=dict)  # of what-ifs that change the machine

    def __getstate__(self) -> dict[str, Any]:
        """What another process gets."""
        return {"specs": dict(self.specs), "objects": {}, "machines": dict(self.machines)}

    def setting(self, name: str, setting: "Setting") -> "Setting":
        """What a run is made in: no command has words for a machine that a what-if has changed."""
        if name not in self.machines:
            return setting
        return replace(setting, platform=self.machines[name], given=())

    def load(self, name: str) -> Any:
        """A policy that no other run has used."""
        from forebay import policies

        if name not in self.objects:
            return policies.load(self.specs[name])
        one = self.objects[name]
        return policies.load(one if inspect.isclass(one) else _copied(one))

    def key(self, name: str) -> str:
        """It changes with whatever may change the policy: that of an object is never the same again."""
        from forebay.experiments.runs import own_file

        spec = self.specs.get(name)
        if spec is None:
            return f"{name} {uuid.uuid4()}"
        machine = (
            hashlib.sha256(self.machines[name].model_dump_json().encode()).hexdigest() if name in self.machines else ""
        )
        return f"{name} {spec} {own_file(spec)} {machine}".rstrip()


def _copied(policy: Any) -> Any:
    try:
        return copy.deepcopy(policy)
    except Exception:
        return policy  # it holds something that cannot be copied; `setup` is to begin it again


def named(given: Any, setting: "Setting | None" = None) -> dict[str, Any]:
    """Policies as Python has them, by name: specs, objects and classes, one or several, or by names of the user's.

    Specs are those that make the policies on the setting's machine.
    """
    if isinstance(given, Mapping):
        return {str(name): _called(one, setting).spec if isinstance(one, str) else one for name, one in given.items()}
    found: dict[str, Any] = {}
    for one in given if isinstance(given, Iterable) and not isinstance(given, str) else [given]:
        if isinstance(one, str):
            name, spec = _called(one, setting)
            if name in found:
                what = f"the policy {one!r} is named twice; keep one"
                raise InputError(what if spec == found[name] else f"two policies are called {name!r}; rename one")
            found[name] = spec
        else:
            name, numbers = _name_of(one), itertools.count(2)
            while name in found:  # two objects of one class
                name = f"{_name_of(one)} {next(numbers)}"
            found[name] = one
    return found


def _called(text: str, setting: "Setting | None") -> Called:
    return called(text, setting.own, setting.platform.name) if setting else called(text, None, "of a sweep")


def _name_of(policy: Any) -> str:
    from forebay.policies import load

    load(policy)  # what is none is refused here
    return str((policy if inspect.isclass(policy) else type(policy)).__name__)
