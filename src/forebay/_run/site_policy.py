"""A site's own policy, as its platform names it: the default policy of runs, and the reference of comparisons."""

from os import PathLike
from typing import Any

from forebay import policies
from forebay._plugins import spelled
from forebay.errors import InputError
from forebay.platforms.platform import Platform

USUAL = "fcfs-bb"
"""The default where the platform names none."""


def site_policy(platform: Platform, named: Any = None) -> str | None:
    """The spec of the policy that a machine brings; None where it brings none.

    Platforms know no policies, so a wrong one is found here. `named` is how the machine was named, which messages begin
    with: a file or a spec.
    """
    if platform.policy is None:
        return None
    try:
        policies.load(platform.policy)
    except InputError as error:
        where = named if isinstance(named, str | PathLike) else f"platform {platform.name}"
        raise InputError(f"{where}: policy: {error}") from None
    return spelled("policies", platform.policy)
