"""What cells of a table mean, as expressions over whole columns: moments, lengths, counts and sizes.

A cell that is empty, or a word for it, is null; one that makes no sense is null too, where `known` is not.

Most tables hold plain numbers and dates of one form, which `quick` reads ten times as fast; a table with a cell that it
does not know is read once more with care.
"""

import re

import polars as pl

UNKNOWN = ("", "unknown", "none", "nan", "null", "n/a", "na", "nat", "(null)")
_ENDLESS = ("unlimited", "infinite", "infinity", "inf", "partition_limit")
_ZONED = r"(Z|UTC|[+-]\d\d:?\d\d)$"
_FORMS = {
    "%Y-%m-%d %H:%M:%S": r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d",
    "%Y-%m-%dT%H:%M:%S": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d",
}
_MOST = 1e10  # s: what is more is in another unit
_LARGEST = 9.2e18  # of whole numbers of 64 bits


def known(name: str, dtype: pl.DataType) -> pl.Expr:
    """Whether there is anything in a cell."""
    cell = pl.col(name)
    return text(name).is_not_null() if dtype == pl.String else cell.is_not_null()


def text(name: str) -> pl.Expr:
    """Words without blanks around them; null for those that stand for nothing."""
    cell = pl.col(name).cast(pl.String).str.strip_chars()
    return pl.when(~cell.str.to_lowercase().is_in(UNKNOWN)).then(cell)


def number(name: str, dtype: pl.DataType) -> pl.Expr:
    """A number, in whatever type."""
    found = text(name).cast(pl.Float64, strict=False) if dtype == pl.String else pl.col(name).cast(pl.Float64)
    return pl.when(found.is_finite()).then(found)


def quick(name: str, sample: str, zone: str, scale: float = 1.0) -> pl.Expr:
    """A number, or a date like the sample; else null."""
    form = next((form for form, like in _FORMS.items() if re.fullmatch(like, sample)), None)
    if form is None:
        return pl.col(name).cast(pl.Float64, strict=False) * scale
    return _unix(pl.col(name).str.to_datetime(form, time_unit="us", strict=False), zone)


def moment(name: str, dtype: pl.DataType, scale: float, zone: str) -> pl.Expr:
    """Unix time, of a number in units of `scale` seconds, or of a date, in `zone` where it names none."""
    if dtype.is_numeric():
        return number(name, dtype) * scale
    if dtype == pl.Datetime:
        naive = getattr(dtype, "time_zone", None) is None
        cell = pl.col(name).cast(pl.Datetime("us", getattr(dtype, "time_zone", None)))
        return _unix(cell, zone) if naive else cell.dt.epoch("us") / 1e6
    words = text(name).str.replace(" ", "T", literal=True)
    offset = words.str.extract(r"([+-]\d\d:?\d\d)$").str.replace(":", "", literal=True)
    minutes = offset.str.slice(1, 2).cast(pl.Float64) * 60 + offset.str.slice(3, 2).cast(pl.Float64)
    east = pl.when(offset.str.starts_with("-")).then(-minutes).otherwise(minutes)
    date = words.str.head(19).str.to_datetime("%Y-%m-%dT%H:%M:%S", time_unit="us", strict=False)
    whole = words.str.contains(r"^[^+.Z]{19}(\.\d+)?([ T]?(Z|UTC)|[+-]\d\d:?\d\d)?$")
    part = words.str.extract(r"^.{19}(\.\d{1,6})").cast(pl.Float64, strict=False).fill_null(0.0)
    zoned = date.dt.epoch("us") / 1e6 - east.fill_null(0.0) * 60
    seconds = pl.when(words.str.contains(_ZONED)).then(zoned).otherwise(_unix(date, zone)) + part
    return pl.coalesce(words.cast(pl.Float64, strict=False) * scale, pl.when(whole).then(seconds))


def _unix(date: pl.Expr, zone: str) -> pl.Expr:
    """Of dates on the clocks of a place; of an hour that comes twice the first, of one that is skipped the next."""
    if zone in ("", "UTC"):
        return date.dt.epoch("us") / 1e6
    local = pl.coalesce(
        date.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null"),
        date.dt.offset_by("1h").dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null"),
    )
    return local.dt.epoch("us") / 1e6


def zoned(name: str, dtype: pl.DataType) -> pl.Expr:
    """Whether a date names its zone; null for what is no date in words."""
    if dtype != pl.String:
        return pl.lit(None, pl.Boolean)
    words = text(name)
    return pl.when(words.str.contains(r"^\d{4}-\d\d-\d\d.")).then(words.str.contains(_ZONED))


def length(name: str, dtype: pl.DataType, scale: float) -> pl.Expr:
    """Seconds of a number in units of `scale`, of `1-02:03:04` or `2 days 03:04:05`; infinite where endless."""
    if dtype == pl.Duration:
        return pl.col(name).dt.total_microseconds() / 1e6
    if dtype.is_numeric():
        return pl.col(name).cast(pl.Float64) * scale
    words = text(name)
    parts = words.str.extract_groups(r"^(?:(\d+)(?:-| days? ))?(\d+):(\d\d):(\d\d(?:\.\d+)?)$")
    days, hours, minutes, seconds = (parts.struct.field(str(k)).cast(pl.Float64) for k in (1, 2, 3, 4))
    clock = ((days.fill_null(0.0) * 24 + hours) * 60 + minutes) * 60 + seconds
    endless = pl.when(words.str.to_lowercase().is_in(_ENDLESS)).then(float("inf"))
    return pl.coalesce(words.cast(pl.Float64, strict=False) * scale, clock, endless)


def whole(amount: pl.Expr) -> pl.Expr:
    """Amounts from 0 up as whole numbers, a begun one for a whole: half a GPU takes one."""
    return pl.when(amount.is_between(0, _LARGEST)).then((amount - 1e-9).ceil()).cast(pl.Int64)


def within(seconds: pl.Expr, least: float = 0.0) -> pl.Expr:
    """Times that make sense."""
    return pl.when(seconds.is_between(least, _MOST) | seconds.is_infinite()).then(seconds)
