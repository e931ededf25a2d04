"""Names and labels of policies, as users write them where a spec is taken: `fcfs-bb`, `wide=fcfs-bb:depth=3`, `site`.

What stands before the first `=`, and before any colon, is a label: tables, figures and folders show it instead of the
spec. `site` is the policy that a platform's file brings; `site:bf_window=1440` is that policy with another value.
"""

import re
from dataclasses import is_dataclass
from typing import Any, NamedTuple

from forebay import policies
from forebay._plugins import parse_spec, spelled
from forebay._run.site_policy import USUAL, site_policy
from forebay._support.input_limits import short_enough
from forebay._support.text import plain
from forebay.errors import InputError, brief
from forebay.platforms.platform import Platform
from forebay.policies._limited import MARK
from forebay.policies._manner import bare, marks_of

SITE = "site"
_OF_SITE = re.compile(r"site(?=$|[:+])", re.IGNORECASE)


class Called(NamedTuple):
    """A policy: what tables call it, and the spec that makes it."""

    label: str
    spec: str


def apart(text: str) -> tuple[str, str]:
    """The label of a text, empty for none, and the spec behind it."""
    label, equals, spec = text.partition("=")
    if not equals or ":" in label or "+" in label or policies.own_file(text.strip()):
        return "", text.strip()
    label, spec = label.strip(), spec.strip()
    if not label or not spec:
        what = "label before" if not label else "policy after"
        raise InputError(f"policy {brief(text)} has no {what} the first =; write one such as wide=fcfs-bb:depth=3")
    if plain(label) != label or "," in label:
        raise InputError(f"policy {brief(text)}: a label is made of letters, digits, spaces and signs, without commas")
    try:
        return short_enough(label), spec
    except ValueError as error:
        raise InputError(f"policy {brief(text)}: its label: {error}") from None


def of_site(spec: str) -> bool:
    """Whether it names the policy of the site, with changes or without."""
    return _OF_SITE.match(spec) is not None


def check(text: str) -> None:
    """Complain of a text that names no policy, as far as can be known without the machine."""
    spec = apart(text)[1]
    if not of_site(spec):
        policies.load(spec)


def called(text: str, own: str | None, machine: str) -> Called:
    """The policy that a text names; `own` is that of the site, and `machine` what messages call the platform."""
    label, spec = apart(text)
    if not of_site(spec):
        spec = spelled("policies", spec)
        return Called(label or spec, spec)
    if own is None:
        raise InputError(
            f"policy {brief(text)}: the platform {machine} brings no policy; write one into its file, such as "
            'policy = "slurm:bf_interval=60", or name another'
        )
    made = changed(own, spec)
    changes = spec[len(SITE) :].lstrip(":+").replace(MARK, f",{MARK[1:]}").split(",")
    return Called(label or ", ".join(filter(None, (SITE, *changes))), made)


def loaded_on(policy: Any, platform: Platform, named: Any) -> tuple[Any, str, str]:
    """A policy on a machine, its name, and its spec, empty for an object; None is that of the site, or the usual.

    `named` is how the machine was named.
    """
    if policy is not None and not isinstance(policy, str):
        loaded = policies.load(policy)
        return loaded, _name(loaded), ""
    own = site_policy(platform, named) if policy is None or of_site(apart(policy)[1]) else None
    found = called(policy or (SITE if own else USUAL), own, platform.name)
    return policies.load(found.spec), *found


def _name(policy: Any) -> str:
    """A policy object in words that are the same in every run: no memory addresses."""
    return repr(policy) if is_dataclass(policy) else type(policy).__name__


def changed(own: str, spec: str) -> str:
    """The policy of the site with what `site:key=value,...+limits:...` says of it."""
    asked, mark, limits = bare(spec).partition(MARK)
    base, own_mark, own_limits = bare(own).partition(MARK)
    _, changes = parse_spec(asked)
    if changes:
        base = with_parameters(base, changes)
    return base + marks_of(spec, own) + (mark + limits if mark else own_mark + own_limits)


def with_parameters(spec: str, changes: dict[str, str]) -> str:
    """A spec with other values of parameters."""
    file = policies.own_file(spec)
    file = file if spec.startswith(file) else ""  # of a rule: it stands among the parameters
    name, given = parse_spec(spec[len(file) + 1 :] if file else spec)
    words = ",".join(f"{key}={value}" for key, value in (given | changes).items())
    return f"{file}:{name}:{words}" if file else f"{name}:{words}"
