"""Which policies a comparison is of: names, specs, families, all; and the reference among them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forebay.errors import ForebayError, InputError
from forebay.experiments.comparison.entrants import named

if TYPE_CHECKING:
    from forebay.experiments.comparison import Plan
    from forebay.experiments.setting import Setting

ALL = "all"


@dataclass(frozen=True)
class Selection:
    """Policies that are asked for, by their specs, before it is known which are of use."""

    text: str | None
    policies: Mapping[str, Any]
    named: tuple[str, ...]  # of use or not
    reference: str | None

    def on(self, setting: "Setting") -> tuple[dict[str, Any], str]:
        """Those to compare, with the site's own unless a reference is named, and the reference."""
        from forebay.experiments.references import usual_reference
        from forebay.policies import load

        found, named = dict(self.policies), self.named
        if self.reference is None and setting.own is not None:
            found.setdefault(setting.own, load(setting.own))
            named += (setting.own,)
        found = {spec: policy for spec, policy in found.items() if spec in named or _is_of_use(policy, setting)}
        if not found:
            raise InputError(f"--policies {self.text!r}: none of these is of use on this machine with these jobs")
        return found, self.reference or usual_reference(list(found), setting.workload, setting.platform, setting.own)


def select(text: str | None, reference: str | None) -> Selection:
    """Policies and the reference as they are written, loaded."""
    from forebay.policies import load

    given, implied = wanted(text)
    asked = with_reference(given, implied, reference)
    return Selection(text, {spec: load(spec) for spec in [*given, *implied]}, tuple(given), asked)


def plan_of(setting: "Setting", policies: Any, reference: Any, replicas: int | None, bounds: bool) -> "Plan":
    """What to compare, as Python is given it: text as on the command line, or specs, objects and classes."""
    from forebay.experiments.comparison import Plan

    if policies is None or isinstance(policies, str):
        chosen = select(policies, reference if isinstance(reference, str) else None)
        found, usual = chosen.on(setting)
        entrants: dict[str, Any] = {spec: spec for spec in found}
    else:
        entrants, usual = named(policies), ""
        if reference is None and setting.own is not None and setting.own not in entrants.values():
            entrants[setting.own] = setting.own
    if not entrants:
        raise InputError("no policy to compare; forebay.policies.names() lists those that there are")
    against = _name_among(entrants, reference) if reference is not None else usual or _usual(entrants, setting)
    loaded = {name: _loaded(name, one) for name, one in entrants.items()}
    objects = {name: one for name, one in entrants.items() if not isinstance(one, str)}
    specs = {name: one for name, one in entrants.items() if isinstance(one, str)}
    return Plan(setting, loaded, against, replicas, bounds, objects, specs)


def _usual(entrants: Mapping[str, Any], setting: "Setting") -> str:
    """The default reference, by its name."""
    from forebay.experiments.references import usual_reference

    names = {one: name for name, one in entrants.items() if isinstance(one, str)}
    specs = [one if isinstance(one, str) else name for name, one in entrants.items()]
    found = usual_reference(specs, setting.workload, setting.platform, setting.own)
    return names.get(found, found)


def _name_among(entrants: dict[str, Any], reference: Any) -> str:
    """The name of the reference, which is one of these policies or joins them."""
    if isinstance(reference, str) and reference in entrants:
        return reference
    for name, one in named(reference).items():
        known = next((other for other, mine in entrants.items() if mine is one or mine == one), None)
        if known is not None:
            return known
        entrants[name] = one
    return next(reversed(entrants))


def _loaded(name: str, policy: Any) -> Any:
    from forebay.policies import load

    try:
        return load(policy)
    except ForebayError as error:
        if isinstance(policy, str) and name == policy:
            raise
        raise InputError(f"policy {name!r}: {error}") from None


def _is_of_use(policy: Any, setting: "Setting") -> bool:
    """Whether a policy can make use of what this machine and these jobs have."""
    if getattr(policy, "needs_tiers", False) and not setting.platform.by_choice:
        return False
    return not getattr(policy, "needs_times", False) or setting.workload.applications is not None


def wanted(text: str | None) -> tuple[list[str], list[str]]:
    """Policies that are named, and those that are meant: by `all` or a family, or if none is named."""
    from forebay.policies import COMPARED, family_of, names

    if text is None:
        return [], list(COMPARED)
    given, implied = [], []
    for spec in split_specs(text):
        family = names() if spec == ALL else [name for name in names() if family_of(name) == spec]
        if family:
            implied += [name for name in family if name not in implied]
        else:
            given.append(spec)
    return given, [name for name in implied if name not in given]


def with_reference(given: list[str], implied: list[str], reference: str | None) -> str | None:
    """The reference that --reference names, added to the given policies; None without that option."""
    from forebay._plugins import spelled

    if reference is None:
        return None
    spec = spelled("policies", reference.strip())
    if spec not in given:
        given.append(spec)
        if spec in implied:
            implied.remove(spec)
    return spec


def split_specs(text: str) -> list[str]:
    """The policies in `fcfs,fcfs-bb:depth=3,max_backfill=10,filler`: key=value goes on with the one before it."""
    from forebay._plugins import spelled

    specs: list[str] = []
    for item in (item.strip() for item in text.split(",")):
        if not item:
            raise InputError(f"--policies {text!r} names an empty policy; write names with a comma between two")
        if "=" not in item or ":" in item.partition("=")[0]:
            specs.append(spelled("policies", item))
        elif specs and ":" in specs[-1]:
            specs[-1] += f",{item}"
        else:
            raise InputError(f"--policies {text!r}: {item!r} belongs to no policy; write NAME:{item}")
    for spec in specs:
        if specs.count(spec) > 1:
            raise InputError(f"--policies {text!r} names {spec!r} twice; keep one")
    return specs
