"""Names of users, groups, queues, accounts and qualities of service: numbers in the job table, their names beside it.

Policies compare numbers, people read names. A number without a name is called by itself. In two workloads those are the
same that are called alike, whatever their numbers.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import polars as pl

from forebay._support.text import plain
from forebay.core.schemas import NAMED
from forebay.workload.workload import Workload

Names = Mapping[str, Mapping[int, str]]
"""Of a column, number by number."""


def called(names: Names, column: str, number: int) -> str:
    """What a number stands for: its name, else itself."""
    return names.get(column, {}).get(number) or str(number)


def numbers(names: Names, column: str, word: str) -> list[int]:
    """The numbers that are called so, as a name is or as a screen shows it."""
    known = names.get(column, {}).items()
    return [number for number, name in known if name == word] or [n for n, name in known if plain(name) == word]


def column_of(jobs: pl.DataFrame, names: Names, column: str) -> pl.Series:
    """The name behind each row's number; a number without one as text, an unknown one as null."""
    found = pl.Series([number for number in jobs[column].unique().sort() if number >= 0], dtype=pl.Int64)
    words = pl.Series([called(names, column, number) for number in found], dtype=pl.String)
    return jobs[column].replace_strict(found, words, default=None, return_dtype=pl.String).alias(f"{column}_name")


def only(names: Names, jobs: pl.DataFrame) -> dict[str, dict[int, str]]:
    """The names that these jobs need; none else stays in a part of a workload."""
    kept = {}
    for column, known in names.items():
        there = set(jobs[column].unique()) if column in jobs.columns else set()
        kept[column] = {number: name for number, name in known.items() if number in there}
    return {column: known for column, known in kept.items() if known}


def joined(
    ws: Sequence[Workload], tables: Sequence[pl.DataFrame]
) -> tuple[list[pl.DataFrame], dict[str, dict[int, str]], list[str]]:
    """Job tables of several workloads with numbers that mean the same in all, what they mean, and notes.

    Numbers stay as they are where all tables agree on them, as on the user ids of one site. Without names at all there
    is nothing to go by but the numbers.
    """
    tables, names, notes = list(tables), {}, []
    renumbered = []
    for column in NAMED:
        words = [_words(w, jobs, column) for w, jobs in zip(ws, tables, strict=True)]
        if not any(column in w.names for w in ws):
            continue
        half = [k for k, w in enumerate(ws) if words[k] and column not in w.names]
        if half:
            notes.append(
                f"{column} has names in some parts and numbers alone in {', '.join(ws[k].name for k in half)}: "
                "there each number is taken as a name of its own"
            )
        if _agree(words):
            known = {number: word for some in words for number, word in some.items()}
        else:
            renumbered.append(column)
            every = dict.fromkeys(word for some in words for word in some.values())
            number = {word: k for k, word in enumerate(every, 1)}
            known = {k: word for word, k in number.items()}
            for k, some in enumerate(words):
                if some:
                    new = pl.Series([number[word] for word in some.values()], dtype=pl.Int64)
                    old = pl.Series(list(some), dtype=pl.Int64)
                    tables[k] = tables[k].with_columns(pl.col(column).replace_strict(old, new, default=-1))
        names[column] = {number: word for number, word in known.items() if word != str(number)}
    if renumbered:
        notes.append(f"the parts number {', '.join(renumbered)} differently: joined by name, and numbered again")
    return tables, {column: known for column, known in names.items() if known}, notes


def _words(w: Workload, jobs: pl.DataFrame, column: str) -> dict[int, str]:
    """What each number of a column stands for, in order of appearance."""
    if column not in jobs.columns:
        return {}
    return {
        number: called(w.names, column, number) for number in jobs[column].unique(maintain_order=True) if number >= 0
    }


def _agree(words: Sequence[Mapping[int, str]]) -> bool:
    """Whether a number stands for one name in all parts, and a name for the same numbers in all that have it."""
    seen: dict[int, str] = {}
    used: dict[str, set[int]] = {}
    for some in words:
        mine: defaultdict[str, set[int]] = defaultdict(set)
        for number, word in some.items():
            if seen.setdefault(number, word) != word:
                return False
            mine[word].add(number)
        if any(used.setdefault(word, found) != found for word, found in mine.items()):
            return False
    return True


def numbered(keys: Sequence[str], shown: Mapping[str, str]) -> tuple[pl.Series, dict[int, str]]:
    """Numbers for the words by which a trace tells users apart, and the names of those that have one.

    Whole numbers stay as they are, and "" is -1; with any other word among them, all are 1, 2, ... in order of
    appearance. What is `shown` for a word is its name; else it is the word itself.
    """
    every = list(dict.fromkeys(keys))
    if all(word.isdecimal() and word.isascii() and len(word) <= 15 for word in every if word):
        number = {word: int(word) if word else -1 for word in every}
        names = {number[word]: shown[word] for word in every if shown.get(word, word) != word}
    else:
        number = {word: k for k, word in enumerate((word for word in every if word), 1)} | {"": -1}
        names = {k: shown.get(word) or word for word, k in number.items() if word}
    return pl.Series([number[word] for word in keys], dtype=pl.Int64), names
