"""Platforms declared in TOML: a table for the machine, its topology and failures; one a class, partition, tier and
limit."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from forebay import _plugins
from forebay._support.reading import read_toml
from forebay.errors import InputError, nearest
from forebay.platforms._declared.problems import Problems
from forebay.platforms._fields import FROM_FILE
from forebay.platforms.accounts import Account
from forebay.platforms.classes import NodeClass
from forebay.platforms.partitions import Partition
from forebay.platforms.platform import Platform
from forebay.platforms.reservations import Reservation
from forebay.platforms.rules import Rule
from forebay.platforms.tiers._base import BaseTier
from forebay.platforms.topologies._base import BaseTopology

M = TypeVar("M", bound=BaseModel)

_NAMED = (
    ("classes", NodeClass, "cpu] and below it nodes = 100"),
    ("partitions", Partition, 'standard] and below it nodes = "0-99"'),
    ("accounts", Account, "physics] and below it shares = 3"),
)
"""Tables of tables: their name, what each describes, and how one begins."""


def read(path: Path, overrides: Mapping[str, str]) -> Platform:
    """The platform in a file; `overrides` sets its nodes and its tiers' capacities, as text."""
    table = _parse(path)
    problems = Problems(str(path))
    _override(table, overrides, problems)
    problems.stop()  # a misspelt override says nothing of the file
    _place_trace(table, path.parent)
    _place_policy(table, path.parent)
    return build(table, problems, default_name=path.stem)


def trace_of(path: Path) -> str:
    """The trace of failures that a platform's file names; empty if it names none."""
    table = _parse(path)
    _place_trace(table, path.parent)
    failures = table.get("failures")
    trace = failures.get("trace") if isinstance(failures, dict) else None
    return trace if isinstance(trace, str) else ""


def build(table: Mapping[str, Any], problems: Problems, default_name: str) -> Platform:
    """A platform of a file's tables, or one InputError with all that is wrong with them."""
    values = {"name": default_name, **table}
    topology = _topology(values.pop("topology", {"kind": "flat"}), problems)
    tiers = _tiers(values.pop("tiers", {}), problems)
    before = len(problems.lines)
    named = {
        word: _named(values.pop(word), word, model, example, problems)
        for word, model, example in _NAMED
        if word in values
    }
    if len(problems.lines) > before:
        problems.stop()  # nodes and partitions go by classes: without one, more would seem wrong than is
    if not isinstance(values.get("failures", {}), dict):
        del values["failures"]
        problems.add("failures", 'must be a table: write [failures] and below it mtbf = "1 h"')
    parts: dict[str, Any] = {"topology": topology, "tiers": tiers} if topology else {"tiers": tiers}
    parts["limits"] = _each(values.pop("limits", []), "limits", Rule, problems)
    parts["reservations"] = _each(values.pop("reservations", []), "reservations", Reservation, problems)
    parts |= named
    # Parts go in as if written by the user, so that their keys count among the known ones in suggestions.
    platform = problems.check(Platform, {**values, **parts}, context=FROM_FILE)
    problems.stop()
    assert platform is not None
    return platform


def _parse(path: Path) -> dict[str, Any]:
    try:
        return read_toml(path, 'nodes = 100 or capacity = "10 TB"')
    except FileNotFoundError:
        presets = ", ".join(_plugins.names("platforms.presets"))
        raise InputError(f"{path}: no such file; check the path, or name a preset: {presets}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path and its permissions") from None


def _override(table: dict[str, Any], overrides: Mapping[str, str], problems: Problems) -> None:
    tiers = table.get("tiers", {})
    declared = tiers if isinstance(tiers, dict) else {}
    finite = {name for name, tier in declared.items() if isinstance(tier, dict) and "capacity" in tier}
    for name, text in overrides.items():
        if name == "nodes" and table.get("classes"):
            _override_classes(table, text, problems)
        elif name == "nodes":
            table["nodes"] = text
        elif name in finite:
            tiers[name]["capacity"] = text
        elif name in declared:
            problems.add(name, "this tier has no capacity to set; edit the file instead")
        else:
            problems.add(name, f"cannot be set after the file's name; {nearest(name, {'nodes', *finite})}")


def _override_classes(table: dict[str, Any], text: str, problems: Problems) -> None:
    """The nodes of the machine are those of its class, if it is the only one."""
    classes = table["classes"]
    if isinstance(classes, dict) and len(classes) > 1:
        names = ", ".join(list(classes)[:5])
        problems.add("nodes", f"follow from the classes ({names}); edit the file instead")
    elif isinstance(classes, dict):
        table.pop("nodes", None)
        for one in classes.values():
            if isinstance(one, dict):
                one["nodes"] = text
                one.pop("names", None)  # of as many as there were


def _place_trace(table: Mapping[str, Any], folder: Path) -> None:
    """A trace of failures lies beside the platform's file, wherever the command is given."""
    failures = table.get("failures")
    if isinstance(failures, dict) and isinstance(failures.get("trace"), str):
        failures["trace"] = str(folder / failures["trace"])


def _place_policy(table: dict[str, Any], folder: Path) -> None:
    """So does a file with the site's policy."""
    policy = table.get("policy")
    if isinstance(policy, str) and ".py:" in policy:
        table["policy"] = str(folder / policy)


def _kind(table: Any, path: str, group: str, word: str, example: str, problems: Problems) -> str | None:
    """The plug-in that a table asks for with its `kind`; None after a complaint."""
    known = [name.replace("-", "_") for name in _plugins.names(group)]
    if not isinstance(table, dict):
        problems.add(path, f'must be a table: write [{path}] and below it kind = "{example}"')
        return None
    kind = table.get("kind")
    if kind is None:
        problems.add(f"{path}.kind", f'missing; write kind = "{example}" (known: {", ".join(known)})')
    elif not isinstance(kind, str) or kind.lower().replace("-", "_") not in known:
        problems.add(f"{path}.kind", f"unknown {word} {kind!r}; {nearest(str(kind), known)}")
    else:
        return kind.lower().replace("-", "_")
    return None


def _each(tables: Any, name: str, model: type[M], problems: Problems) -> tuple[M, ...]:
    """What a list of tables declares, one by one."""
    if not isinstance(tables, list):
        problems.add(name, f"must be a list of tables: write [[{name}]] above each")
        return ()
    made = [problems.check(model, one, f"{name}[{k}].", FROM_FILE) for k, one in enumerate(tables, 1)]
    return tuple(one for one in made if one is not None)


def _topology(table: Any, problems: Problems) -> BaseTopology | None:
    kind = _kind(table, "topology", "platforms.topologies", "topology", "flat", problems)
    if kind is None:
        return None
    model = _plugins.load("platforms.topologies", kind.replace("_", "-"), "topology").Topology
    return problems.check(model, {**table, "kind": kind}, path="topology.", context=FROM_FILE)


def _named(tables: Any, word: str, model: type[Any], example: str, problems: Problems) -> tuple[Any, ...]:
    """One `model` a table, called as the table is."""
    if not isinstance(tables, dict):
        problems.add(word, f"must be tables: write [{word}.{example}")
        return ()
    made = []
    for name, table in tables.items():
        if isinstance(table, dict):
            made.append(problems.check(model, table, f"{word}.{name}.", FROM_FILE, known={"name": name}))
        else:
            problems.add(f"{word}.{name}", f"must be a table: write [{word}.{example}")
    return tuple(one for one in made if one is not None)


def _tiers(tables: Any, problems: Problems) -> tuple[BaseTier, ...]:
    if not isinstance(tables, dict):
        problems.add("tiers", 'must be tables: write [tiers.burst_buffer] and below it kind = "shared_bb"')
        return ()
    made = []
    for name, table in tables.items():
        path = f"tiers.{name}"
        kind = _kind(table, path, "platforms.tiers", "tier kind", "shared_bb", problems)
        if kind is None:
            continue
        model = _plugins.load("platforms.tiers", kind.replace("_", "-"), "tier kind").Tier
        made.append(problems.check(model, {**table, "kind": kind}, f"{path}.", FROM_FILE, known={"name": name}))
    return tuple(tier for tier in made if tier is not None)
