"""Columns of words to columns of numbers: each word is read once, and rows with one that cannot be read are set aside.

Most rows of a listing share their words (limits, sizes, states), so words are read in Python, one of each; only times,
of which nearly all differ, are read as whole columns.
"""

from collections.abc import Callable, Iterable
from typing import Any

import polars as pl

from forebay._support.input_limits import LONGEST
from forebay.workload.formats import _sacct_values as values

MOMENTS = ("Submit", "Eligible", "Start", "End")
WAYS = ("", values.EPOCH, values.CALENDAR, values.ZONED)
"""How a time is written, by the number in a column such as `Submit way`."""

_ISO = "%Y-%m-%dT%H:%M:%S"
_ISO_LENGTH = 19
_CLOCK = r"^(\d{1,6}-)?\d\d:\d\d:\d\d$"
_MOST = 200_000  # words of a column whose meaning is kept

Known = dict[str, Any]
"""What a column's words mean."""


class Rows:
    """Rows of a listing that are of use so far, and lines that cannot be read, with the reason."""

    def __init__(self, table: pl.DataFrame, wrong: Iterable[tuple[int, str]], known: dict[str, Known]) -> None:
        self.table = table
        self.wrong = list(wrong)
        self._known = known  # what words of earlier blocks meant

    def _each(self, name: str, words: pl.Series, read: Callable[[str], Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """What each word means for a column `name`, None where it cannot be read; and why not."""
        known = self._known.setdefault(name, {})
        if len(known) > _MOST:
            known.clear()
        found: dict[str, Any] = {}
        wrong: dict[str, str] = {}
        for word in words.unique(maintain_order=True):
            if word in known:
                found[word] = known[word]
                continue
            try:
                found[word] = known[word] = read(word)
            except values.UnreadableError as error:
                found[word], wrong[word] = None, str(error)
        return found, wrong

    def __len__(self) -> int:
        return len(self.table)

    def words(self, column: str) -> pl.Series:
        """A column of the file, empty words where it has none of that name."""
        if column in self.table.columns:
            return self.table[column]
        return pl.Series(column, [""], pl.String).new_from_index(0, len(self.table))

    def set(self, **columns: pl.Series | pl.Expr) -> None:
        """Add columns."""
        self.table = self.table.with_columns(**columns)

    def keep(self, which: pl.Expr | pl.Series) -> None:
        """Go on with these rows only."""
        self.table = self.table.filter(which)

    def refuse(self, which: pl.Series, why: Callable[[dict[str, Any]], str]) -> None:
        """Set rows aside; `why` is given a row by its columns."""
        if not which.any():
            return
        self.wrong += [(row["line"], why(row)) for row in self.table.filter(which).iter_rows(named=True)]
        self.keep(~which)

    def read(self, name: str, words: pl.Series, read: Callable[[str], Any], dtype: Any) -> None:
        """A column `name` of what `read` makes of the words; `words` has the name that messages give them."""
        found, wrong = self._each(name, words, read)
        every = pl.Series(list(found), dtype=pl.String)
        made = pl.Series(list(found.values()), dtype=dtype)
        self.set(**{name: replaced(words, every, made)})
        self._set_aside(words, wrong, f"{words.name} ")

    def read_length(self, name: str, words: pl.Series) -> None:
        """A column of durations in seconds; `1-02:03:04` is read in whole columns, as most of them differ."""
        clock = words.str.contains(_CLOCK)
        self.set(clock=pl.when(clock).then(_seconds(words)))
        self.read(name, words.set(clock, ""), values.length, pl.Float64)
        self.set(**{name: pl.coalesce("clock", name)})

    def read_tres(self) -> None:
        """Columns of what lists of trackable resources say: `tres nodes`, ..., and `amount NAME` of each resource."""
        pairs = pl.select(
            pl.concat_str(self.words("ReqTRES"), self.words("AllocTRES"), separator="\n").alias("TRES")
        ).to_series()
        found, wrong = self._each("TRES", pairs, lambda pair: values.tres(*pair.split("\n", 1)))
        lists = [one or values.Tres() for one in found.values()]
        names = dict.fromkeys(name for one in lists for name in one.amounts)
        columns: dict[str, tuple[list[Any], Any]] = {
            "tres nodes": ([_bounded(one.nodes) for one in lists], pl.Int64),
            "tres cpus": ([_bounded(one.cpus) for one in lists], pl.Int64),
            "tres memory": ([one.memory and one.memory[0] for one in lists], pl.Float64),
            "tres each": ([one.memory and one.memory[1] for one in lists], pl.String),
            "gpus": ([one.gpus for one in lists], pl.Int64),
            "gpu": ([one.gpu for one in lists], pl.String),
            "mixed": ([one.mixed for one in lists], pl.Boolean),
            **{f"amount {name}": ([one.amounts[name] for one in lists], pl.Int64) for name in names},
        }
        every = pl.Series(list(found), dtype=pl.String)
        place = replaced(pairs, every, pl.arange(len(found), eager=True, dtype=pl.UInt32))
        self.set(**{name: pl.Series(made, dtype=dtype).gather(place) for name, (made, dtype) in columns.items()})
        self._set_aside(pairs, wrong, "")

    def read_first_count(self, name: str, columns: Iterable[str], fallback: str) -> None:
        """A whole number: of the first of the columns in which it is above 0, else of the column `fallback`."""
        self.set(**{name: pl.lit(None, pl.Int64)})
        for column in columns:
            if column in self.table.columns:
                words = pl.select(pl.when(self.table[name].is_null()).then(self.table[column]).otherwise(pl.lit("")))
                self.read("count", words.to_series().alias(column), lambda text: _bounded(values.count(text)), pl.Int64)
                given = pl.when(pl.col("count") > 0).then("count")
                self.set(**{name: pl.coalesce(name, given)})
        self.set(**{name: pl.coalesce(name, fallback)})

    def read_moments(self) -> None:
        """Columns `Submit time`, ... in seconds since 1970, and how each is written, `Submit way`, as in `WAYS`."""
        for column in MOMENTS:
            self._read_moment(column)

    def _read_moment(self, column: str) -> None:
        words = self.words(column)
        seconds = words.cast(pl.Int64, strict=False).cast(pl.Float64)
        date = pl.when(words.str.len_bytes() == _ISO_LENGTH).then(words)
        made = pl.DataFrame({"words": words, "seconds": seconds}).with_columns(
            date=date.str.to_datetime(_ISO, time_unit="us", strict=False).dt.epoch("us") / 1e6
        )
        plain = pl.col("seconds").is_between(0, LONGEST)
        dated = pl.col("date") >= 0
        made = made.select(
            words=pl.when(~plain.fill_null(False) & ~dated.fill_null(False)).then("words").otherwise(pl.lit("")),
            time=pl.when(plain).then("seconds").when(dated).then("date"),
            way=pl.when(plain).then(1).when(dated).then(2).otherwise(0).cast(pl.Int8),
        )
        if column != "Submit":  # 0 is the database's own word for "not yet"
            zero = words == "0"
            made = made.with_columns(
                time=pl.when(~zero).then("time"), way=pl.when(zero).then(0).otherwise("way").cast(pl.Int8)
            )
        rest = made["words"].alias(column)
        found, wrong = self._each(column, rest, values.moment)
        readings = [(word, *one) for word, one in found.items() if one is not None]
        if readings:
            every = pl.Series([word for word, _, _ in readings], dtype=pl.String)
            times = pl.Series([time for _, time, _ in readings], dtype=pl.Float64)
            ways = pl.Series([WAYS.index(way) for _, _, way in readings], dtype=pl.Int8)
            made = made.with_columns(
                time=pl.coalesce("time", rest.replace_strict(every, times, default=None, return_dtype=pl.Float64)),
                way=pl.max_horizontal("way", rest.replace_strict(every, ways, default=0, return_dtype=pl.Int8)),
            )
        self.set(**{f"{column} time": made["time"], f"{column} way": made["way"]})
        self._set_aside(rest, wrong, f"{column} ")

    def _set_aside(self, words: pl.Series, wrong: dict[str, str], before: str) -> None:
        if wrong:
            key = pl.Series("why", words)
            self.set(why=key)
            self.refuse(key.is_in(list(wrong)), lambda row: before + wrong[row["why"]])


def replaced(words: pl.Series, every: pl.Series, made: pl.Series) -> pl.Series:
    """What was made of each word; of no words polars would make words."""
    return words.replace_strict(every, made, return_dtype=made.dtype) if len(words) else made.clear()


def _seconds(words: pl.Series) -> pl.Series:
    """Of words such as `1-02:03:04`, counted from their ends; those of another form make no sense here."""
    second, minute, hour = (words.str.slice(at, 2).cast(pl.Float64, strict=False) for at in (-2, -5, -8))
    days = words.str.head(-9).cast(pl.Float64, strict=False).fill_null(0)
    return ((days * 24 + hour) * 60 + minute) * 60 + second


def _bounded(number: int | None) -> int | None:
    """A number that a column can hold; what is so large is refused where it is known what it counts."""
    return None if number is None else min(number, 2**62)
