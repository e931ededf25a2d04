"""Any preset of backfilling in the order of multifactor priorities: `conservative-bb:order=fairshare`."""

import dataclasses
from typing import Any

from forebay.errors import InputError

PRIORITIES = ("multifactor", "fairshare")
"""Orders that are policies of their own, as they have many parameters and remember what was used."""


def asks_for_priority(cls: type, given: dict[str, str]) -> bool:
    """Whether a preset of backfilling is asked to go by priorities."""
    if given.get("order") not in PRIORITIES:
        return False
    from forebay.policies._families.backfill import Backfill
    from forebay.policies._families.prioritised import Prioritised

    return issubclass(cls, Backfill) and not issubclass(cls, Prioritised) and cls.compiled == Backfill.compiled


def preset_of(cls: Any, order: str, given: dict[str, str]) -> dict[str, Any]:
    """What the preset says of reservations and of who may pass; the order is the other policy's."""
    from forebay.policies._families.backfill import Backfill

    if "descending" in given:
        raise InputError(f"descending says nothing with order={order}: the highest priority goes first; leave it out")
    own = {field.name: field.default for field in dataclasses.fields(cls)}
    names = [field.name for field in dataclasses.fields(Backfill)]
    return {name: own[name] for name in names if name not in ("order", "descending")}
