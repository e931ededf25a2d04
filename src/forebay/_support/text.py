"""Text of others made harmless, for terminals, tables and spreadsheets; JSON, HTML and durations for any reader."""

import html
import json
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

_OBEYED = "\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
"""Characters that a terminal or an editor obeys: controls, and marks of direction."""

_UNSEEN = re.compile(f"[{_OBEYED}\ud800-\udfff]")  # and halves of characters, which no file can hold
_FORMULA = r"^[=+\-@\uff1d\uff0b\uff0d\uff20]."  # also as wide as ideographs: some spreadsheets take them alike
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def plain(text: str, keep: str = "") -> str:
    r"""The same with each character that a screen would obey as an escape, such as \x1b; those in `keep` stay."""
    return _UNSEEN.sub(lambda found: found[0] if found[0] in keep else _escape(found[0]), text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()


def as_json(document: Any) -> str:
    """A document as text: numbers that are not finite are null, paths are text, and nothing in it is obeyed."""
    text = json.dumps(_plain(document), indent=2, ensure_ascii=False, allow_nan=False)
    return _UNSEEN.sub(lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text)


def write_csv(table: "pl.DataFrame", path: Path, **how: Any) -> None:
    """A table as a CSV file in which no name is a formula: every CSV of results is written by this."""
    for_spreadsheets(table).write_csv(path, **how)


def as_csv(table: "pl.DataFrame") -> str:
    """The same as text."""
    return for_spreadsheets(table).write_csv()


def for_spreadsheets(table: "pl.DataFrame") -> "pl.DataFrame":
    """A table as CSV files hold it: words in which nothing is obeyed, and none that a spreadsheet takes for a formula.

    A word that begins like one gets an apostrophe before it; numbers stay as they are. Titles of columns are words too,
    and so are the words of categories.
    """
    import polars as pl

    words = pl.selectors.string()
    table = table.with_columns(pl.selectors.by_dtype(pl.Categorical, pl.Enum).cast(pl.String))
    titles = pl.DataFrame({"title": table.columns}, schema={"title": pl.String})
    return _harmless(table, words).rename(dict(zip(table.columns, _harmless(titles, words)["title"], strict=True)))


def _harmless(table: "pl.DataFrame", words: Any) -> "pl.DataFrame":
    import polars as pl

    meant = words.str.contains(_FORMULA) & ~words.str.contains(_NUMBER)
    unseen = [name for name in table.select(words).columns if table[name].str.contains(f"[{_OBEYED}]").any()]
    shown = table.with_columns(pl.col(name).map_elements(plain, return_dtype=pl.String) for name in unseen)
    return shown.with_columns(pl.when(meant).then(pl.lit("'") + words).otherwise(words).name.keep())


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


def shared(values: Iterable[Any], word: str) -> str:
    """What all values are, else how many different ones there are: "kth", "4 workloads"; nothing of none."""
    found = list(dict.fromkeys(str(value) for value in values if value))
    return found[0] if len(found) == 1 else f"{len(found):,} {word}" if found else ""


def together(notes: Iterable[str]) -> list[str]:
    """Notes, those that are alike but for names and numbers in one line: the first, and what differs in the others."""
    groups: dict[str, list[str]] = {}
    for note in dict.fromkeys(notes):
        groups.setdefault(_VARIES.sub("*", note), []).append(note)
    found = []
    for alike in groups.values():
        if len(alike) < _MANY_NOTES:
            found += alike
            continue
        parts = [_VARIES.findall(note) for note in alike]
        names = next(list(column) for column in zip(*parts, strict=True) if len(set(column)) > 1)
        others = list(dict.fromkeys(names[1:]))
        more = f" and {len(others) - _NAMED:,} more" if len(others) > _NAMED else ""
        found.append(f"{alike[0]} ({len(alike) - 1:,} notes more like this: {', '.join(others[:_NAMED])}{more})")
    return found


_VARIES = re.compile(r"'[^']*'|=\S+|[\d.,]*\d\S*")
_MANY_NOTES, _NAMED = 4, 5
"""How many notes that are alike become one, and how many names that one has."""


def amount(n: int, resource: str) -> str:
    """So much of a resource: "1 node", "79 nodes", "10 of licences"."""
    return counted(n, "node") if resource == "nodes" else f"{n:,} of {resource}"


def counted(n: int, one: str, many: str = "") -> str:
    """So many of something: "1 job", "1,000 jobs"; `many` is what is not `one` with an s: "jobs are", "policies"."""
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"
