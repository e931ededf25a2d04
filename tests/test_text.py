"""Text of others, made harmless."""

import json

import polars as pl
import pytest

from forebay._support.text import amount, as_csv, as_json, counted, for_spreadsheets, plain

pytestmark = pytest.mark.small

HOSTILE = "a\x1b[31m\x07\x9b2J\u202eb\x7f\r\n\t"


def test_what_a_terminal_obeys_is_shown_as_an_escape():
    assert plain(HOSTILE) == r"a\x1b[31m\x07\x9b2J\u202eb\x7f\r\n\t"
    assert plain("two\nlines\x1b", "\n") == "two\nlines\\x1b"
    assert plain("\ud800") == r"\ud800"
    assert plain("Müller, 東京 5 %") == "Müller, 東京 5 %"


def test_json_keeps_what_it_hides():
    text = as_json({HOSTILE: [HOSTILE]})
    assert all(line.isprintable() for line in text.split("\n"))
    assert json.loads(text) == {HOSTILE: [HOSTILE]}


def test_words_are_no_formulas_and_numbers_stay_numbers():
    given = ["=1+1", "+x", "-x", "@x", "\t=1", "\r=1", "-5", "+1e5", "-", "fcfs", None]
    shown = for_spreadsheets(pl.DataFrame({"word": given, "number": [-1.0] * len(given)}))
    assert shown["word"].to_list() == ["'=1+1", "'+x", "'-x", "'@x", r"\t=1", r"\r=1", "-5", "+1e5", "-", "fcfs", None]
    assert shown["number"].to_list() == [-1.0] * len(given)


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["=1+1", "\t=1", "a"])])
def test_words_of_categories_are_no_formulas_either(kind):
    shown = for_spreadsheets(pl.DataFrame({"word": pl.Series(["=1+1", "\t=1", "a", None], dtype=kind)}))
    assert shown["word"].to_list() == ["'=1+1", r"\t=1", "a", None]


def test_titles_of_columns_are_no_formulas():
    assert as_csv(pl.DataFrame({"=1+1": ["a"], "\t@": ["b"], "-5": ["c"]})) == "'=1+1,\\t@,-5\na,b,c\n"


def test_wide_signs_begin_formulas_too():
    given = ["\uff1d1+1", "\uff0bx", "\uff0dx", "\uff20x"]
    assert for_spreadsheets(pl.DataFrame({"word": given}))["word"].to_list() == [f"'{one}" for one in given]


def test_numbers_and_nouns_agree():
    assert [counted(n, "job") for n in (0, 1, 1000)] == ["0 jobs", "1 job", "1,000 jobs"]
    assert [counted(n, "policy is", "policies are") for n in (1, 2)] == ["1 policy is", "2 policies are"]
    assert [amount(n, "nodes") for n in (1, 79)] == ["1 node", "79 nodes"]
    assert amount(1000, "licences") == "1,000 of licences"
