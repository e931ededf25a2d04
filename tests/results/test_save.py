"""A saved run comes back as it was, whatever it holds; an older one beside it gives way whole or not at all."""

import json
from dataclasses import dataclass, fields, replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import forebay as fb
from forebay.errors import InputError
from forebay.metrics import window
from forebay.results import JOBS_CSV, Result, document, files, saving
from forebay.results import _format as form

WORDS = ("workload_name", "profile", "final_state", "allocated_resources", "metadata")
INT64 = st.integers(-(2**63), 2**63 - 1)
A_FLOAT = st.floats(allow_nan=False)
ANY_FLOAT = st.none() | st.floats()
OF_BEGUN = ("starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time", "stretch")
TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
"""What JSON can hold."""


def assert_same(found, wanted):
    """Every field of two results, bit by bit."""
    assert [one.name for one in fields(found)] == [one.name for one in fields(wanted)]
    for name in (one.name for one in fields(wanted)):
        mine, theirs = getattr(found, name), getattr(wanted, name)
        if isinstance(theirs, pl.DataFrame):
            assert_frame_equal(mine, theirs, check_exact=True)
        else:
            assert mine == theirs
            assert list(mine) == list(theirs) or name == "facts"


@st.composite
def results(draw):
    """Runs of any content, not only of what the engine makes, with a value wherever every run has one."""
    n, m = draw(st.integers(0, 4)), draw(st.integers(0, 6))

    def column(rows, values, dtype):
        return pl.Series(draw(st.lists(values, min_size=rows, max_size=rows)), dtype=dtype)

    states = pl.Enum(["REJECTED", "COMPLETED_SUCCESSFULLY"])
    numbers = {name: ANY_FLOAT if name in OF_BEGUN else A_FLOAT for name in JOBS_CSV}
    jobs = {name: column(n, *((TEXT, pl.String) if name in WORDS else (numbers[name], float))) for name in JOBS_CSV}
    whole = ("job_id", "requested_number_of_resources", "success")
    jobs |= {name: column(n, INT64, pl.Int64) for name in whole}
    jobs["burst buffer, fast"] = column(n, st.none() | INT64, pl.Int64)
    jobs["final_state"] = column(n, st.sampled_from(states.categories.to_list()), states)
    log = {name: column(m, INT64, pl.Int64) for name in ("job", "leg", "amount")} | {"time": column(m, A_FLOAT, float)}
    kinds = pl.Enum(["start", "end"])
    log |= {name: column(m, st.sampled_from(["start", "end"]), kinds) for name in ("kind", "reason")}
    log["resource"] = column(m, st.none() | TEXT, pl.String)
    k = draw(st.integers(0, 3))
    name = st.from_regex(r"[\w ,.\"'<>-]{1,9}", fullmatch=True)
    links = {"link": column(k, name, pl.String)} | {
        one: column(k, st.floats(0, allow_nan=False, allow_infinity=False), float) for one in ("capacity", "bytes")
    }
    capacities = draw(st.dictionaries(TEXT, st.integers(0, 2**63 - 1), max_size=3))
    facts = draw(st.dictionaries(TEXT | st.sampled_from(["window", "tables", "facts", "seed"]), PLAIN, max_size=5))
    return Result(pl.DataFrame(jobs), pl.DataFrame(log), capacities, facts, pl.DataFrame(links))


@given(results())
def test_whatever_is_saved_comes_back(tmp_path_factory, result):
    folder = tmp_path_factory.mktemp("run")
    written = result.save(folder)
    assert sorted(written) == sorted(folder.iterdir())
    assert_same(fb.load(folder), result)


@pytest.mark.parametrize("policy", ["fcfs-bb", "filler"])
@pytest.mark.parametrize("workload", ["table1", "default"])
def test_runs_come_back_with_all_their_numbers(workload, policy, tmp_path):
    result = fb.simulate(fb.read(workload), policy=policy)
    result.save(tmp_path / "a" / "b")
    again = fb.load(tmp_path / "a" / "b")
    assert_same(again, result)
    assert fb.summary(again) == fb.summary(result)


def test_a_part_of_a_run_comes_back_as_that_part(tmp_path):
    part = window(fb.simulate(fb.read("table1")), 0, 180)
    part.save(tmp_path)
    again = fb.load(tmp_path)
    assert_same(again, part)
    assert fb.summary(again) == fb.summary(part)


@pytest.fixture
def run():
    return fb.simulate(fb.read("table1"))


def test_what_the_command_line_adds_is_no_fact(run, tmp_path):
    told = document(run, window=[0.0, 9.0], summary={"n_jobs": 8})
    with saving(tmp_path, run, told) as names:
        assert all(path.name.startswith(".") for path in tmp_path.iterdir())
    assert sorted(names) == sorted(path.name for path in tmp_path.iterdir())
    assert json.loads((tmp_path / "run.json").read_text())["summary"] == {"n_jobs": 8}
    assert_same(fb.load(tmp_path), run)


def test_an_older_run_gives_way_whole(run, tmp_path):
    staged = fb.simulate(fb.read("default"), policy="filler")
    staged.save(tmp_path)
    assert "links.csv" in files(staged)
    run.save(tmp_path)
    assert sorted(files(run)) == sorted(path.name for path in tmp_path.iterdir())
    assert_same(fb.load(tmp_path), run)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, OSError("disk full")])
def test_an_older_run_stays_where_the_new_one_fails(run, tmp_path, error):
    run.save(tmp_path)
    other = replace(run, jobs=run.jobs.head(3))
    with pytest.raises((KeyboardInterrupt, RuntimeError, InputError)), saving(tmp_path, other):
        raise error
    assert sorted(files(run)) == sorted(path.name for path in tmp_path.iterdir())
    assert_same(fb.load(tmp_path), run)


def test_no_mix_of_two_runs_is_ever_loaded(run, tmp_path, monkeypatch):
    """Stopped between any two renames, the folder is the old run, the new one, or refused."""
    new = replace(run, facts={**run.facts, "seed": 7}, log=run.log.with_columns(time=pl.col("time") + 1))
    rename = type(tmp_path).replace
    for stop in range(len(files(run))):
        run.save(tmp_path)
        renames = iter(range(99))

        def stopped(path, target, renames=renames, stop=stop):
            if next(renames) == stop:
                raise KeyboardInterrupt
            return rename(path, target)

        monkeypatch.setattr(type(tmp_path), "replace", stopped)
        with pytest.raises(KeyboardInterrupt):
            new.save(tmp_path)
        monkeypatch.undo()
        with pytest.raises(InputError, match=r"run\.json missing; write the run again"):
            fb.load(tmp_path)
    new.save(tmp_path)
    assert_same(fb.load(tmp_path), new)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda run: {"jobs": run.jobs.drop("stretch")}, "table jobs: has no column stretch"),
        (lambda run: {"log": run.log.with_columns(kind=1)}, "table log: its column kind does not hold words"),
        (lambda run: {"links": pl.DataFrame({"link": ["a"]})}, "table links: has no column capacity"),
        (lambda run: {"facts": {"policy": object()}}, "facts cannot be written as JSON"),
    ],
)
def test_what_could_not_be_loaded_is_not_saved(run, tmp_path, change, says):
    with pytest.raises(InputError, match=says):
        replace(run, **change(run)).save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written(run, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot write there"):
        run.save(tmp_path / "file" / "run")


def test_a_further_table_is_a_line(run, tmp_path, monkeypatch):
    @dataclass(frozen=True)
    class Wider(Result):
        moves: pl.DataFrame = form.optional_table("moves.parquet", row=pl.Int64, why=pl.String)

    monkeypatch.setattr("forebay.results._load.Result", Wider)
    old = {one.name: getattr(run, one.name) for one in fields(run)}
    run.save(tmp_path / "old")
    assert_same(fb.load(tmp_path / "old"), Wider(**old))
    new = Wider(**old, moves=pl.DataFrame({"row": [3], "why": ["because"]}))
    assert "moves.parquet" in [path.name for path in new.save(tmp_path / "new")]
    assert_same(fb.load(tmp_path / "new"), new)
    Wider(**old).save(tmp_path / "new")
    assert not (tmp_path / "new" / "moves.parquet").exists()
