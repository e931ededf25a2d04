"""The keys of a sweep with names for objects.

A workload becomes a file, as every process can read it; a policy of a module in a file of its own becomes the spec that
names it there. Others get marks, and runs with one stay in this process.
"""

import hashlib
import inspect
import sys
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from forebay._run import labels
from forebay._support.files import file_names
from forebay.errors import InputError
from forebay.experiments.objects.marks import Objects, marked


def taken(keys: Mapping[str, Any], folder: Path) -> tuple[dict[str, Any], Objects]:
    """The keys of a sweep with names for objects, and these; workloads are written to a folder."""
    from forebay.platforms.platform import Platform
    from forebay.workload import Workload, write

    found, marks, files = dict(keys), dict[str, str](), dict[str, str]()

    def known(name: str, one: Any, content: str) -> str:
        marks[name] = marked(name, one, content)
        return name

    def workload(name: str, one: Workload) -> str:
        path = folder / f"{file_names([name])[0]}.parquet.zip"
        folder.mkdir(parents=True, exist_ok=True)
        write(one, path)
        files[str(path)] = name
        return str(path)

    def platform(name: str, one: Platform) -> str:
        return known(name, one, hashlib.sha256(one.model_dump_json().encode()).hexdigest())

    if "policies" in keys:
        found["policies"] = _policies(keys["policies"], known)
    for key, kind, named in (("workloads", Workload, workload), ("platforms", Platform, platform)):
        if key in keys:
            found[key] = _renamed(keys[key], kind, named)
    return found, Objects(marks, files)


def _renamed(given: Any, kind: type, named: Callable[[str, Any], str]) -> Any:
    """A list with names in place of objects; any other as it is, for the grid to refuse."""
    some = [given] if isinstance(given, kind) else given
    if isinstance(some, str | Mapping) or not isinstance(some, Iterable):
        return some
    listed = list(some)
    seen = {one for one in listed if isinstance(one, str)}
    for place, one in enumerate(listed):
        if isinstance(one, kind):
            name = str(one.name)  # type: ignore[attr-defined]
            if name in seen:
                raise InputError(f"two among them are called {name!r}; give the object another name")
            seen.add(name)
            listed[place] = named(name, one)
    return listed


def _policies(given: Any, known: Callable[[str, Any, str], str]) -> Any:
    from forebay.experiments.comparison.entrants import named

    objects = isinstance(given, Mapping) or inspect.isclass(given) or hasattr(given, "decide")
    some = given if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    if not objects and all(isinstance(one, str) for one in some):
        return given
    found = []
    for name, one in named(given).items():
        text = _labelled(name, one if isinstance(one, str) else _in_file(one))
        found.append(text or known(name, one, uuid.uuid4().hex))
    return found


def _labelled(name: str, spec: str) -> str:
    """A spec with the name that tables show; empty without a spec, or where the name can be no label."""
    if not spec or name == spec:
        return spec
    text = f"{name}={spec}"
    try:
        return text if labels.apart(text) == (name, spec) else ""
    except InputError:
        return ""


def _in_file(policy: Any) -> str:
    """The spec by which any process finds a policy in its file; empty where none does."""
    if isinstance(policy, str):
        return ""
    kind = policy if inspect.isclass(policy) else type(policy)
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    alone = file and kind.__module__ != "__main__" and not getattr(module, "__package__", None)
    if not alone or getattr(module, kind.__qualname__, None) is not kind:
        return ""
    spec = f"{Path(str(file)).resolve()}:{kind.__qualname__}"
    if policy is kind:
        return spec
    if not is_dataclass(policy):
        return ""
    values = {one.name: getattr(policy, one.name) for one in fields(policy) if one.init}
    if any(
        not isinstance(value, bool | int | float | str) or set(str(value)) & set(",:=") for value in values.values()
    ):
        return ""
    words = ",".join(
        f"{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in values.items()
    )
    return f"{spec}:{words}" if words else spec
