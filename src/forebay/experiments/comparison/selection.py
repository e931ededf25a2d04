"""Which policies a comparison is of: names, specs, families, all; and the reference among them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forebay._run import labels
from forebay._run.labels import SITE
from forebay.errors import ForebayError, InputError
from forebay.experiments.comparison.entrants import named

if TYPE_CHECKING:
    from forebay.experiments.comparison import Plan
    from forebay.experiments.setting import Setting
    from forebay.platforms.platform import Platform

ALL = "all"


@dataclass(frozen=True)
class Selection:
    """Policies that are asked for, as they are written, before it is known which are of use."""

    text: str | None
    given: tuple[str, ...]  # of use or not
    implied: tuple[str, ...]
    reference: str | None

    def on(self, setting: "Setting") -> tuple[dict[str, str], str]:
        """Specs of those to compare by their labels, and the reference: the site's own joins where none is named."""
        from forebay.policies import load

        found = named(self.given, setting)
        asked = None if self.reference is None else _name_among(found, self.reference, setting)
        if asked is None and setting.own is not None and setting.own not in found.values():
            found |= named(SITE, setting)
        found |= {name: name for name in self.implied if name not in found and _is_of_use(load(name), setting)}
        if not found:
            raise InputError(f"--policies {self.text!r}: none of these is of use on this machine with these jobs")
        return found, asked or _usual(found, setting)


def select(text: str | None, reference: str | None) -> Selection:
    """Policies and the reference as they are written; what can be known to be wrong without the machine is refused."""
    given, implied = wanted(text)
    known = {labels.apart(one)[0] or one for one in given}
    for one in [*given, *([] if reference is None or reference.strip() in known else [reference])]:
        labels.check(one)
    return Selection(text, tuple(given), tuple(implied), None if reference is None else reference.strip())


def plan_of(
    setting: "Setting",
    policies: Any,
    reference: Any,
    replicas: int | None,
    bounds: bool,
    vary: Mapping[str, Any] | None = None,
) -> "Plan":
    """What to compare, as Python is given it: text as on the command line, or specs, objects and classes.

    `vary` asks what-ifs: values by key, each a run of the reference, which runs with them alone if no policy is named.
    """
    from forebay.experiments.comparison import Plan

    if vary and policies is None:
        policies, reference = (), reference if reference is not None else _alone(setting)
    if policies is None or isinstance(policies, str):
        chosen = select(policies, reference if isinstance(reference, str) else None)
        found, usual = chosen.on(setting)
        entrants: dict[str, Any] = dict(found)
    else:
        entrants, usual = named(policies, setting), ""
        if reference is None and setting.own is not None and setting.own not in entrants.values():
            entrants |= named(SITE, setting)
    if not entrants and reference is None:
        raise InputError("no policy to compare; forebay.policies.names() lists those that there are")
    against = _name_among(entrants, reference, setting) if reference is not None else usual or _usual(entrants, setting)
    entrants, machines = with_whatifs(entrants, against, setting, vary or {})
    loaded = {name: _loaded(name, one) for name, one in entrants.items()}
    objects = {name: one for name, one in entrants.items() if not isinstance(one, str)}
    specs = {name: one for name, one in entrants.items() if isinstance(one, str)}
    return Plan(setting, loaded, against, replicas, bounds, objects, specs, machines)


def _alone(setting: "Setting") -> str:
    """What what-ifs are held against where no policy is named: the site's own, else the usual one."""
    from forebay.experiments.references import OF_ALL, OF_NODES

    return SITE if setting.own else _usual({OF_NODES: OF_NODES, OF_ALL: OF_ALL}, setting)


def with_whatifs(
    entrants: Mapping[str, Any], against: str, setting: "Setting", vary: Mapping[str, Any]
) -> "tuple[dict[str, Any], dict[str, Platform]]":
    """The entrants with the reference's what-ifs, and the machines of those that change them."""
    from forebay.experiments.whatif import Site, changed, values_of

    base, found, machines = entrants[against], dict(entrants), dict[str, Any]()
    site = Site(setting.platform, base if isinstance(base, str) else "")
    for key, values in vary.items():
        for value in values_of(key, values):
            made, label = changed(site, key, value), f"{against}, {key}={value}"
            if label in found:
                raise InputError(f"--vary {key}: {label!r} is compared already; leave one out")
            found[label] = made.policy or base
            if made.platform is not setting.platform:
                machines[label] = made.platform
    return found, machines


def _usual(entrants: Mapping[str, Any], setting: "Setting") -> str:
    """The default reference, by its name."""
    from forebay.experiments.references import usual_reference

    names = {one: name for name, one in entrants.items() if isinstance(one, str)}
    specs = [one if isinstance(one, str) else name for name, one in entrants.items()]
    found = usual_reference(specs, setting.workload, setting.platform, setting.own)
    return names.get(found, found)


def _name_among(entrants: dict[str, Any], reference: Any, setting: "Setting") -> str:
    """The name of the reference, which is one of these policies or joins them."""
    if isinstance(reference, str) and reference in entrants:
        return reference
    for name, one in named(reference, setting).items():
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


def split_specs(text: str) -> list[str]:
    """The policies in `fcfs,wide=fcfs-bb:depth=3,max_backfill=10,filler`, as they are written.

    What has no colon, and reads key=value, goes on with the policy before it, unless it names a policy itself.
    """
    specs: list[str] = []
    for item in (item.strip() for item in text.split(",")):
        if not item:
            raise InputError(f"--policies {text!r} names an empty policy; write names with a comma between two")
        if "=" not in item or ":" in item.partition("=")[0] or _begins(item, specs[-1] if specs else ""):
            specs.append(_spelled(item))
        elif specs and ":" in specs[-1]:
            specs[-1] += f",{item}"
        else:
            raise InputError(f"--policies {text!r}: {item!r} belongs to no policy; write NAME:{item}")
    for spec in specs:
        if specs.count(spec) > 1:
            raise InputError(f"--policies {text!r} names {spec!r} twice; keep one")
    return specs


def _begins(item: str, before: str) -> bool:
    """Whether `easy=fcfs-easy` is a policy with its label, rather than a parameter of the policy before it."""
    from forebay import _plugins
    from forebay.policies import takes

    key, _, spec = (part.strip() for part in item.partition("="))
    name = re.split("[:+]", spec, maxsplit=1)[0]
    if not (_plugins.find("policies", name) or labels.of_site(spec) or ".py:" in spec):  # a file may be missing
        return False
    return ":" not in before or labels.of_site(labels.apart(before)[1]) or not takes(labels.apart(before)[1], key)


def _spelled(text: str) -> str:
    """A policy with its name as `forebay policies` spells it; its label stays."""
    from forebay._plugins import spelled

    label, spec = labels.apart(text)
    return f"{label}={spelled('policies', spec)}" if label else spelled("policies", spec)
