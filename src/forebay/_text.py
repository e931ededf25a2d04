"""Text that every reader takes: JSON, small tables in HTML, and durations in words."""

import html
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def as_json(document: Any) -> str:
    """A document as text: numbers that are not finite are null, paths are text."""
    return json.dumps(_plain(document), indent=2, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value


def html_table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """Words and what they mean, as notebooks show objects. Names come from files of others: none becomes markup."""
    cells = (f"<tr><th>{html.escape(word)}</th><td>{html.escape(str(what))}</td></tr>" for word, what in rows)
    return f"<table><caption>{html.escape(title)}</caption>{''.join(cells)}</table>"


def about(seconds: float | None) -> str:
    """A duration in one unit, such as "3.2 min"; a dash where there is none."""
    if seconds is None or not math.isfinite(seconds):
        return "-"
    size, unit = next(((size, unit) for size, unit in _UNITS if abs(seconds) >= size), (1, "s"))
    return f"{seconds / size:.3g} {unit}" if seconds < 1000 * size else f"{seconds / size:,.0f} {unit}"


_UNITS = ((86400, "d"), (3600, "h"), (60, "min"))


def counted(n: int, word: str) -> str:
    """So many of something: "1 job", "1,000 jobs"."""
    return f"{n:,} {word}{'' if n == 1 else 's'}"
