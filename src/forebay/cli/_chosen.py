"""Which policies a comparison is of: names, specs, families, all; and the reference among them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forebay.errors import InputError
from forebay.experiments.verdicts import REFERENCE

if TYPE_CHECKING:
    from forebay.platforms.platform import Platform
    from forebay.workload import Workload

WITH_MORE = "fcfs-bb"
"""The reference where jobs ask for more than nodes."""
ALL = "all"


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


def site_policy(platform: "Platform") -> str | None:
    """The policy that a machine's own description brings, as a spec; None where it brings none."""
    policy = getattr(platform, "policy", None)
    return policy if isinstance(policy, str) and policy else None


def usual_reference(policies: Sequence[str], workload: "Workload", platform: "Platform") -> str:
    """The default reference: the policy of the site; else EASY that reserves all that jobs ask for.

    Backfilling that reserves only nodes is a weak reference where jobs wait for burst buffer, too. Where neither is
    among the policies, the first of them is the reference.
    """
    more = [name for name in platform.resources[1:] if name in workload.jobs.columns]
    asked = any((workload.jobs[name] > 0).any() for name in more)
    best = [site_policy(platform) or "", *([WITH_MORE] if asked else []), REFERENCE]
    return next((policy for policy in best if policy in policies), policies[0])


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
