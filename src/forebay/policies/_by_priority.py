"""A preset of backfilling, or of windows, in the order of multifactor priorities: `conservative-bb:order=fairshare`."""

import dataclasses
from typing import Any

from forebay import _plugins
from forebay.errors import InputError

PRIORITIES = ("multifactor", "fairshare")
"""Orders that are policies of their own, as they have many parameters and remember what was used."""


def asks_for_priority(cls: type, given: dict[str, str]) -> bool:
    """Whether a preset of backfilling or of windows is asked to go by priorities."""
    from forebay.policies._families.window.by_priority import RANKS

    order = given.get("order")
    return (order in PRIORITIES and _backfills(cls)) or (order in RANKS and _has_windows(cls))


def _backfills(cls: Any) -> bool:
    from forebay.policies._families.backfill import Backfill
    from forebay.policies._families.prioritised import Prioritised

    return issubclass(cls, Backfill) and not issubclass(cls, Prioritised) and cls.compiled == Backfill.compiled


def _has_windows(cls: type) -> bool:
    from forebay.policies._families.window import Windowed

    return issubclass(cls, Windowed)


def preset_of(cls: Any, given: dict[str, str]) -> tuple[dict[str, Any], Any]:
    """What the preset says besides its order, with the weights of that, and the class; the order is taken from it."""
    order = given.pop("order")
    own = {field.name: field.default for field in dataclasses.fields(cls)}
    if _has_windows(cls):
        from forebay.policies._families.window.by_priority import OF_SITE, Ranked

        return own | ({} if order == OF_SITE else _weights_of(_class_of(order))) | {"order": order}, Ranked
    from forebay.policies._families.backfill import Backfill

    if "descending" in given:
        raise InputError(f"descending says nothing with order={order}: the highest priority goes first; leave it out")
    names = [field.name for field in dataclasses.fields(Backfill)]
    return {name: own[name] for name in names if name not in ("order", "descending")}, _class_of(order)


def _class_of(order: str) -> Any:
    """The policy that goes by these priorities."""
    module = _plugins.load("policies", order, "policy")
    return getattr(module, order.capitalize())


def _weights_of(cls: Any) -> dict[str, Any]:
    from forebay.policies._families.multifactor import Weighted

    own = {field.name: field.default for field in dataclasses.fields(cls)}
    return {field.name: own[field.name] for field in dataclasses.fields(Weighted)}
