"""What was made last is kept for its source and keys, and no longer than its source."""

import gc

from forebay._support.last import Last


class Source:
    def __eq__(self, other):
        return True

    __hash__ = None


def test_only_the_same_source_with_equal_keys_finds_it():
    last, source = Last(), Source()
    assert last.of(source, 1) is None
    assert last.keep("made", source, 1, "a") == "made"
    assert last.of(source, 1, "a") == "made"
    assert last.of(source, 1, "b") is None
    assert last.of(source, 1) is None
    assert last.of(Source(), 1, "a") is None


def test_it_goes_with_its_source_and_a_later_one_stays():
    last, first, second = Last(), Source(), Source()
    last.keep("first", first)
    last.keep("second", second)
    del first
    gc.collect()
    assert last.of(second) == "second"
    del second
    gc.collect()
    assert last._kept is None
