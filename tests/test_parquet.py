"""Parquet: what a file would take is known before it is read, and damage is one message and nothing on stderr."""

import io
from random import Random

import polars as pl
import pytest

from forebay._support.parquet import _memory, read_parquet
from forebay.errors import InputError

pytestmark = pytest.mark.small


def packed(frame, **options):
    data = io.BytesIO()
    frame.write_parquet(data, **options)
    return data.getvalue()


def test_a_small_file_of_many_rows_is_not_read():
    data = packed(pl.DataFrame({"id": pl.repeat(7, 9_000_000, dtype=pl.Int64, eager=True)}))
    assert len(data) < 100_000
    with pytest.raises(InputError, match=r"x: unpacks to more than 67 MB, .* set the variable FOREBAY_MAX_BYTES"):
        read_parquet(data, "x")


def test_nor_is_one_of_a_single_long_text():
    data = packed(pl.DataFrame({"id": ["x" * 70_000_000]}))
    assert len(data) < 100_000
    with pytest.raises(InputError, match="unpacks to more"):
        read_parquet(data, "x")


def test_the_variable_decides(monkeypatch):
    data = packed(pl.DataFrame({"id": list(range(1000))}))
    assert len(read_parquet(data, "x")) == 1000
    monkeypatch.setenv("FOREBAY_MAX_BYTES", "7999")
    with pytest.raises(InputError, match="unpacks to more"):
        read_parquet(data, "x")
    monkeypatch.setenv("FOREBAY_MAX_BYTES", "1e4")
    assert len(read_parquet(data, "x")) == 1000
    monkeypatch.setenv("FOREBAY_MAX_BYTES", "much")
    with pytest.raises(InputError, match="the variable FOREBAY_MAX_BYTES is 'much'; set it to a whole number above 0"):
        read_parquet(data, "x")


@pytest.mark.parametrize("rows", [0, 1, 5000])
def test_what_a_table_takes_is_what_the_file_says(rows):
    frame = pl.DataFrame(
        {"a": list(range(rows)), "b": [0.5] * rows, "c": ["word"] * rows}, {"a": int, "b": float, "c": str}
    )
    needed = _memory(packed(frame, row_group_size=1000))
    assert needed >= frame.estimated_size() - rows * 4  # text is counted by its views
    assert needed <= 3 * frame.estimated_size() + 2000


def test_damage_is_told_in_one_line_and_nothing_is_on_stderr(capfd):
    frame = pl.DataFrame({"id": list(range(50)), "x": [0.25] * 50, "w": [f"w{k}" for k in range(50)]})
    data, refused = packed(frame), []
    for number in range(400):
        rng, made = Random(number), bytearray(data)
        for _ in range(rng.choice([1, 2, 8])):
            made[rng.randrange(len(made))] ^= 1 << rng.randrange(8)
        if number % 4 == 0:
            made = made[: rng.randrange(len(made))]
        try:
            read_parquet(bytes(made), "x.parquet")
        except InputError as error:
            refused.append(str(error))
    assert len(refused) > 100
    assert all(text.startswith("x.parquet: ") and "\n" not in text for text in refused)
    assert capfd.readouterr() == ("", "")
