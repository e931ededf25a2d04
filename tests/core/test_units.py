"""Quantities as people write them, both ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.core.units import (
    INT64_MAX,
    format_bytes,
    format_flops,
    format_rate,
    format_seconds,
    parse_bytes,
    parse_flops,
    parse_rate,
    parse_seconds,
)
from forebay.errors import InputError

pytestmark = pytest.mark.small


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("10 TB", 10**13),
        ("10TB", 10**13),
        ("  7 B ", 7),
        ("0 B", 0),
        ("1 kB", 1000),
        ("1 KB", 1000),
        ("10gb", 10**10),
        ("4.5 GB", 4_500_000_000),
        ("0.1 TB", 10**11),  # in floats 0.1 * 10**12 is whole only by luck
        (".5 kB", 500),
        ("1e3 B", 1000),
        ("3 PB", 3 * 10**15),
        ("1 KiB", 1024),
        ("512 MiB", 512 * 2**20),
        ("1.5 GiB", 3 * 2**29),
        ("2 TiB", 2**41),
        ("1 PiB", 2**50),
        ("9223372036854775807 B", INT64_MAX),
        ("20T", 20 * 10**12),
        ("20t", 20 * 10**12),
        ("20 Ti", 20 * 2**40),
        ("0.5k", 500),
        ("20tib", 20 * 2**40),
    ],
)
def test_bytes(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("10", "'10' has no unit"),
        ("10 Gb", "'Gb' reads as bits"),
        ("10 XB", "'XB' is not a unit of size"),
        ("10 GB/s", "'GB/s' is not a unit of size"),
        ("-5 GB", "not a number with a unit"),
        ("", "not a number with a unit"),
        ("TB", "not a number with a unit"),
        ("nan GB", "not a number with a unit"),
        ("1e999999999 GB", "not a number with a unit"),
        ("10000 PB", "more than"),
    ],
)
def test_bad_bytes_show_the_text_and_an_example(text, complaint):
    with pytest.raises(InputError) as caught:
        parse_bytes(text)
    assert repr(text) in str(caught.value)
    assert complaint in str(caught.value)
    assert '"10 TB"' in str(caught.value)


@pytest.mark.parametrize("parse", [parse_bytes, parse_rate, parse_flops, parse_seconds])
def test_thousands_of_digits_are_refused_in_one_short_line(parse):
    for text in ("9" * 5000, "9" * 5000 + " GB", "9" * 5000 + " d", "9" * 5000 + " GB/s", "9" * 5000 + " Gflop/s"):
        with pytest.raises(InputError) as caught:
            parse(text)
        assert len(str(caught.value)) < 300


def test_a_fraction_of_a_byte_is_refused_with_the_nearest_whole():
    with pytest.raises(InputError, match=r"'1\.3 KiB' is not a whole number of bytes; write \"1331 B\""):
        parse_bytes("1.3 KiB")


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("5 GB/s", 5e9),
        ("5GB / s", 5e9),
        ("10 Gbit/s", 1.25e9),
        ("10 gbit/s", 1.25e9),
        ("100 MiB/s", 100 * 2.0**20),
        ("8 bit/s", 1.0),
        ("0.5 B/s", 0.5),
    ],
)
def test_rates(text, rate):
    assert parse_rate(text) == rate


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("5", "has no unit"),
        ("5 GB", "'GB' is not a unit of bandwidth"),
        ("10 Gb/s", "may mean bits or bytes"),
        ("10 Gbps", "may mean bits or bytes"),
        ("fast", "not a number with a unit"),
    ],
)
def test_bad_rates(text, complaint):
    with pytest.raises(InputError, match=complaint) as caught:
        parse_rate(text)
    assert '"5 GB/s"' in str(caught.value)


@pytest.mark.parametrize(
    ("text", "speed"), [("1 Gflop/s", 1e9), ("1GFLOPS", 1e9), ("2.5 Tflop/s", 2.5e12), ("7 flop/s", 7)]
)
def test_flops(text, speed):
    assert parse_flops(text) == speed


@pytest.mark.parametrize(("text", "complaint"), [("1e9", "has no unit"), ("1 GHz", "'GHz' is not a unit of speed")])
def test_bad_flops(text, complaint):
    with pytest.raises(InputError, match=complaint) as caught:
        parse_flops(text)
    assert '"1 Gflop/s"' in str(caught.value)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("600", 600),
        ("0.5", 0.5),
        ("10 min", 600),
        ("10min", 600),
        ("90 s", 90),
        ("1.5 h", 5400),
        ("2 d", 172800),
        ("1 h 30 min", 5400),
        ("1d2h", 93600),
    ],
)
def test_seconds(text, seconds):
    assert parse_seconds(text) == seconds


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("10 m", "'m' is not a unit of time"),
        ("30 min 1 h", "from large to small"),
        ("1 h 2 h", "from large to small"),
        ("soon", "'soon' is not a time"),
        ("-3", "'-3' is not a time"),
    ],
)
def test_bad_seconds(text, complaint):
    with pytest.raises(InputError, match=complaint) as caught:
        parse_seconds(text)
    assert '"10 min"' in str(caught.value)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (480 * 10**9, "480 GB"),
        (4_500_000_000, "4.5 GB"),
        (64 * 2**30, "64 GiB"),  # 68.72 GB would be rounded
        (3_141_592_653_589, "3.142 TB"),
        (999_999, "1 MB"),  # not "1000 kB"
        (INT64_MAX, "9223 PB"),
        (10**20, "100000 PB"),  # a sum over jobs may pass what one job can ask for
    ],
)
def test_format_bytes(size, text):
    assert format_bytes(size) == text


@given(st.integers(0, INT64_MAX))
def test_formatted_bytes_read_back_close(size):
    assert abs(parse_bytes(format_bytes(size)) - size) <= 0.0005 * size


@given(st.integers(0, 999), st.sampled_from(["B", "kB", "MB", "GB", "TB", "PB", "KiB", "MiB", "GiB", "TiB", "PiB"]))
def test_whole_counts_of_a_unit_read_back_exactly(count, unit):
    size = parse_bytes(f"{count} {unit}")
    assert parse_bytes(format_bytes(size)) == size


def test_format_rates_and_speeds():
    assert format_rate(5e9) == "5 GB/s"
    assert format_rate(1.25e9) == "1.25 GB/s"
    assert format_rate(0.5) == "0.5 B/s"
    assert format_flops(1e9) == "1 Gflop/s"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.25, "0.25 s"),
        (12.5, "12.5 s"),
        (59.96, "1 min"),
        (90, "1 min 30 s"),
        (3599.7, "1 h"),  # not "60 min"
        (13920, "3 h 52 min"),
        (86399, "1 d"),
        (100_000, "1 d 4 h"),
        (1e7, "115 d 18 h"),
        (-90, "-1 min 30 s"),
        (float("inf"), "inf"),
    ],
)
def test_format_seconds(seconds, text):
    assert format_seconds(seconds) == text


@given(st.floats(60, 1e9))
def test_formatted_seconds_read_back_close(seconds):
    # Rounded to the second of two units: half an hour in a day at worst.
    assert parse_seconds(format_seconds(seconds)) == pytest.approx(seconds, rel=0.5 / 24)
