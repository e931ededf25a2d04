"""What-ifs: the site with one thing changed, a row each against the site as it is."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from forebay.errors import InputError, brief
from forebay.experiments.whatif.keys import Site, changed

__all__ = ["Site", "changed", "parse", "values_of"]


def parse(texts: Sequence[str]) -> dict[str, list[str]]:
    """The values of each key in `bf_window=720,1440` and the like."""
    found: dict[str, list[str]] = {}
    for text in texts:
        key, equals, rest = (part.strip() for part in text.partition("="))
        if not equals or not key or not rest:
            raise InputError(f"--vary {brief(text)} is not KEY=VALUE,VALUE; write one such as bf_window=720,1440")
        if key in found:
            raise InputError(f"--vary {key} is given twice; write all its values behind one: {key}=VALUE,VALUE")
        found[key] = values_of(key, rest.split(","))
    return found


def values_of(key: str, values: Any) -> list[str]:
    """Values as text, of one or several; Python gives numbers, too."""
    some = values if isinstance(values, Iterable) and not isinstance(values, str | Mapping) else [values]
    texts = [str(one).lower() if isinstance(one, bool) else str(one).strip() for one in some]
    for text in texts:
        if not text:
            raise InputError(f"--vary {key} has an empty value; write {key}=VALUE,VALUE")
        if texts.count(text) > 1:
            raise InputError(f"--vary {key} has the value {brief(text)} twice; keep one")
    if not texts:
        raise InputError(f"--vary {key} has no value; write {key}=VALUE,VALUE")
    return texts
