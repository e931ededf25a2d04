"""Words and values in messages: short, on one line, and nothing that a screen would obey."""

import pytest

from forebay.errors import brief, listed, nearest

pytestmark = pytest.mark.small


def test_values_are_short_and_on_one_line():
    assert brief("a\nb\x1b[31m") == r"'a\nb\x1b[31m'"
    assert len(brief("x" * 10**6)) == 40
    assert brief(list(range(10**6))) == "[0, 1, 2, 3, 4, 5, ...]"
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert brief(deep) == "[[[[[...]]]]]"
    while deep:  # taken apart by hand: Python would do it by recursion
        deep = deep.pop()


def test_lists_of_names_end():
    assert listed(["a", "b"]) == "a, b"
    assert listed(map(str, range(40))).endswith("28, 29 and 10 more")
    assert listed(["x" * 100], width=10) == "xxxxxxx..."
    assert listed(["\u2028", "é"]) == r"\u2028, é"


def test_suggestions_are_short_too():
    assert len(nearest("d" * 5000, ["d" * 5001])) < 80
