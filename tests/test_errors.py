"""Words and values in messages: short, on one line, and nothing that a screen would obey."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.errors import InputError, PolicyRaisedError, brief, listed, nearest

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


@given(st.text(st.sampled_from("ab\n"), max_size=200), st.integers(1, 100))
def test_messages_are_of_bounded_length(text, times):
    text *= times
    found = str(InputError(text))
    assert len(found) <= 2000
    assert len(found.split("\n")) <= 20
    if len(text) <= 2000 and text.count("\n") < 20:
        assert found == text
    assert InputError(text).args == (text,)


def test_messages_keep_their_beginning_and_their_end():
    found = str(InputError("file: line 3: " + "x" * 10**6 + "; write another"))
    assert 1000 < len(found) <= 2000
    assert found.startswith("file: line 3: xxx")
    assert found.endswith("xxx; write another")
    lines = str(PolicyRaisedError("\n".join(map(str, range(100))))).split("\n")
    assert lines == [*map(str, range(10)), "... 81 lines left out ...", *map(str, range(91, 100))]
    wide = str(InputError("\n".join(["short", *["y" * 5000 + "end"] * 15, "last"])))
    assert wide.startswith("short\nyyy")
    assert wide.endswith("yyend\nlast")
