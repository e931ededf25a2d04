"""Metrics of one's own: what a function must be, what becomes of a bad one, and who knows it."""

import importlib
import math
import os
import sys

import numpy as np
import pytest

import forebay as fb
from forebay.errors import InputError, MetricWarning
from forebay.experiments import grid
from forebay.experiments.targets import parse_target
from forebay.metrics import _listing
from forebay.metrics._numbers import shown
from forebay.metrics._own import decorator, files, registry
from forebay.metrics._own.own import stays_here

pytestmark = pytest.mark.small

FILE = """
import forebay as fb
@fb.metric(unit="s")
def longest_wait(result):
    return result.jobs["waiting_time"].max()
"""


@pytest.fixture
def result():
    return fb.simulate("table1")


def test_it_is_in_every_summary(result):
    @fb.metric(unit="s", better="higher")
    def longest_wait(result):
        """The longest wait."""
        return result.jobs["waiting_time"].max()

    found = fb.summary(result)
    assert found["longest_wait"] == 540
    assert fb.summary(result, window=(0, 60))["longest_wait"] == 0
    assert shown("longest_wait", 540.0) == "9 min"
    assert _listing.own_among([found]) == ["longest_wait"]
    assert str(parse_target("longest_wait <= 6min")) == "longest wait <= 6 min"
    assert longest_wait(result) == 540, "it stays a function"
    registry.forget()
    assert "longest_wait" not in fb.summary(result)


def test_several_numbers_of_one_function(result):
    @fb.metric("jobs_of_STATE", "n_states", unit="jobs", group="counts")
    def states(result):
        counts = result.jobs["final_state"].cast(str).value_counts()
        return {f"jobs_of_{state.lower()}": n for state, n in counts.rows()} | {"n_states": counts.height}

    found = fb.summary(result)
    assert (found["jobs_of_completed_successfully"], found["n_states"]) == (8, 1)
    assert list(found).index("n_states") < list(found).index("makespan")


def test_where_a_run_lacks_what_it_needs_its_name_is_left_out(result):
    @fb.metric(needs=lambda result: "watts" in result.jobs.columns)
    def watts(result):
        return result.jobs["watts"].sum()

    assert "watts" not in fb.summary(result)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (None, None),
        (3, 3),
        (True, 1),
        (2.5, 2.5),
        (np.float32(0.5), 0.5),
        (np.int64(7), 7),
        (math.nan, None),
        (2**70, float(2**70)),
    ],
)
def test_what_counts_as_a_number(result, value, number):
    @fb.metric()
    def mine(result):
        return value

    found = fb.summary(result)["mine"]
    assert found == number
    assert type(found) is type(number)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("9", "gave '9', of type str; give a finite number, or None if there is none"),
        ([1.0], r"gave \[1\.0\], of type list"),
        (math.inf, "gave inf, of type float"),
        (1j, "gave 1j, of type complex"),
        (10**400, "of type int; give a finite number"),
        ({"mine": "9"}, "gave '9', of type str"),
        ({"other": 1.0}, "metric other is left empty: mine.. in test_own.py gave a number of that name; it is said to"),
    ],
)
def test_what_does_not_is_named_and_left_empty(result, value, says):
    @fb.metric()
    def mine(result):
        return value

    @fb.metric()
    def after(result):
        return 1.0

    with pytest.warns(MetricWarning, match=says):
        found = fb.summary(result)
    assert (found["mine"], found["after"]) == (None, 1.0)


@pytest.mark.parametrize("where", ["of", "needs"])
def test_what_raises_is_named_and_left_empty(result, where):
    def bad(result):
        raise KeyError("watts\nand more")

    @fb.metric("a", "b", **({"needs": bad} if where == "needs" else {}))
    def both(result):
        return bad(result)

    said = r"^metric a, b is left empty: both\(\) in test_own\.py raised KeyError: 'watts\\nand more'$"
    with pytest.warns(MetricWarning, match=said):
        found = fb.summary(result)
    assert found["a"] is found["b"] is None
    assert found["mean_wait"] == 142.5


def test_one_number_where_several_are_announced(result):
    @fb.metric("a", "b")
    def both(result):
        return 1.0

    with pytest.warns(MetricWarning, match="gave 1.0; give a dictionary of a, b"):
        assert fb.summary(result)["a"] is None


def test_sys_exit_does_not_end_a_run(result):
    @fb.metric()
    def leaves(result):
        sys.exit(3)

    with pytest.warns(MetricWarning, match="raised SystemExit: 3"):
        assert fb.summary(result)["leaves"] is None


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("makespan",), "metric 'makespan' of mine.. in test_own.py exists already: forebay has a number of that name"),
        (("utilisation_gpus",), "forebay has a number of that name"),
        (("p95_wait",), "forebay has a number of that name"),
        (("seed",), r"tables have a column of that name; write @fb.metric\(\"other_name\"\)"),
        (("ci95_mine",), "no metric can be called 'ci95_mine'"),
        (("Longest",), "no metric can be called 'Longest'; names are words of small letters and digits joined by _"),
        (("a b",), "no metric can be called 'a b'"),
        (("a" * 101,), "no metric can be called"),
        ((3,), "no metric can be called 3"),
    ],
)
def test_names_that_cannot_be(names, says):
    with pytest.raises(InputError, match=says):

        @fb.metric(*names)
        def mine(result):
            return 1.0


def test_a_name_like_that_of_a_measure_is_free(result):
    """mean_MEASURE is a mean of six measures, not of anything."""

    @fb.metric()
    def mean_cost(result):
        return 2.0

    assert _listing.own_among([fb.summary(result)]) == ["mean_cost"]


def test_columns_of_tables_are_no_names():
    assert grid._TAKEN <= decorator.TAKEN


def test_two_functions_of_one_name_are_refused_and_one_again_is_not(result):
    for value in (1.0, 2.0):  # as a cell of a notebook that is run twice

        @fb.metric()
        def mine(result, value=value):
            return value

    assert fb.summary(result)["mine"] == 2
    with pytest.raises(
        InputError, match=r"metric 'mine' of other\(\) in test_own.py exists already: mine\(\) in test_"
    ):

        @fb.metric("mine")
        def other(result):
            return 3.0

    with pytest.raises(InputError, match="exists already"):

        @fb.metric("m_ANY", "mine")
        def many(result):
            return {}


def test_mistakes_of_the_line():
    with pytest.raises(InputError, match=r"metric has no brackets before mine; write @fb\.metric\(unit="):

        @fb.metric
        def mine(result):
            return 1.0

    with pytest.raises(InputError, match="unknown unit 'seconds': known:"):
        fb.metric(unit="seconds")
    with pytest.raises(InputError, match='better is \'more\'; write "lower" or "higher"'):
        fb.metric(better="more")
    with pytest.raises(InputError, match=r"what @fb\.metric stands before is .*, of type type; give a function"):
        fb.metric()(int)


def test_what_stays_in_this_process_and_what_a_file_has(tmp_path, monkeypatch):
    @fb.metric()
    def mine(result):
        return 1.0

    assert stays_here(registry.tokens())
    registry.forget()
    (tmp_path / "counted_waits.py").write_text(FILE)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.import_module("counted_waits")
    assert registry.tokens() == (str(tmp_path / "counted_waits.py"),)
    assert not stays_here(registry.tokens())
    del sys.modules["counted_waits"]


def test_a_file_that_changes_is_read_again(tmp_path, result):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    os.utime(path, (1, 1))
    files.load(path)
    first = files.described(registry.tokens())
    assert fb.summary(result)["longest_wait"] == 540
    path.write_text(FILE.replace("longest_wait", "shortest_wait").replace("max", "min"))
    files.load(path)
    found = fb.summary(result)
    assert found["shortest_wait"] == 0
    assert "longest_wait" not in found
    assert files.described(registry.tokens()) != first


def test_a_file_may_take_metrics_of_another(tmp_path, result):
    (tmp_path / "waits_beside.py").write_text(FILE)
    (tmp_path / "mine.py").write_text("from waits_beside import longest_wait\nfrom forebay.metrics import makespan\n")
    files.load(tmp_path / "mine.py")
    assert _listing.own_among([fb.summary(result)]) == ["longest_wait"]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("gone.py", None, "gone.py: no such file; name a Python file of metrics"),
        ("mine.toml", "a = 1", r"mine.toml: is not a Python file \(\.py\)"),
        ("mine.py", "def f(result):\n    return 1\n", "mine.py: defines no metric; write @fb.metric"),
        ("mine.py", "from forebay.metrics import makespan\n", "mine.py: defines no metric"),
        ("mine.py", "1 / 0\n", "mine.py: cannot be imported: ZeroDivisionError: division by zero"),
        (
            "mine.py",
            FILE.replace("longest_wait", "makespan"),
            "mine.py: metric 'makespan' of makespan.. in mine.py exists",
        ),
        ("mine.py", FILE.replace('"s"', '"seconds"'), "mine.py: metric: unknown unit 'seconds'"),
    ],
)
def test_files_that_will_not_do(tmp_path, name, text, says):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=says):
        files.load(tmp_path / name)
