"""Who waits for whom stays right when a workload is cut, joined, renumbered, written and read."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import forebay as fb
from forebay.errors import InputError
from forebay.workload import closed_loop, dependency_table, job_table
from forebay.workload.anonymity import anonymise
from forebay.workload.dependencies import longest_chain
from forebay.workload.info import describe
from forebay.workload.operations import filter_jobs, first, join, slice_time

pytestmark = pytest.mark.small


def chain(ids=(1, 2, 3, 4), kind="afterok", **more):
    """Jobs ten seconds apart, each of which waits for the one before."""
    n = len(ids)
    columns = {"id": ids, "submit": [10.0 * k for k in range(n)], "walltime": [60.0] * n, "run_time": [5.0] * n}
    waits = dependency_table({"job": ids[1:], "parent": ids[:-1], "kind": [kind] * (n - 1)})
    return fb.Workload("chain", job_table(columns | {"nodes": [1] * n} | more), dependencies=waits)


def pairs(workload):
    return [] if workload.dependencies is None else workload.dependencies.select("job", "parent").rows()


def test_a_parent_that_is_left_out_is_taken_as_met():
    whole = chain()
    assert pairs(slice_time(whole, 10, 30)) == [(3, 2)]
    assert pairs(first(whole, 2)) == [(2, 1)]
    part = filter_jobs(whole, pl.col("id") != 2)
    assert pairs(part) == [(4, 3)]
    assert part.notes == ("1 dependency is on a job that is left out: taken as met",)
    assert first(whole, 4).notes == ()
    assert pairs(filter_jobs(whole, pl.col("id").is_in([1, 3]))) == []


def test_of_any_parents_one_that_is_left_out_frees_the_job():
    whole = chain()
    waits = dependency_table({"job": [4, 4, 3], "parent": [1, 2, 2], "any": [True, True, False]})
    part = filter_jobs(fb.Workload("any", whole.jobs, dependencies=waits), pl.col("id") != 1)
    assert pairs(part) == [(3, 2)]


def test_joined_and_renumbered_jobs_keep_their_parents():
    whole = join([chain(), chain()])
    assert sorted(pairs(whole)) == [(3, 1), (4, 2), (5, 3), (6, 4), (7, 5), (8, 6)]
    apart = join([chain(), chain(ids=(11, 12))])
    assert sorted(pairs(apart)) == [(2, 1), (3, 2), (4, 3), (12, 11)]
    assert sorted(pairs(anonymise(chain(ids=(40, 30, 20))))) == [(2, 1), (3, 2)]


def test_files_keep_them_or_say_what_they_lose(tmp_path):
    whole = chain(kind="afterany")
    for name in ("w.parquet.zip", "w.swf", "w.sacct"):
        notes = fb.write(whole, tmp_path / name)
        assert_frame_equal(fb.read(tmp_path / name).dependencies, whole.dependencies)
        assert not [note for note in notes if "depend" in note]
    assert "3 dependencies are not written: Batsim has none" in fb.write(whole, tmp_path / "w.json")
    lost = "3 dependencies are not written: SWF has one preceding job, whose end is waited for"
    assert lost in fb.write(chain(), tmp_path / "w.swf")
    thinks = fb.write(chain(kind="think"), tmp_path / "w.sacct")
    assert "3 dependencies are not written: Slurm has no think times, and delays in minutes alone" in thinks


def test_a_description_counts_them():
    found = describe(chain())["dependencies"]
    assert found == {"count": 3, "jobs": 3, "kinds": {"afterok": 3}, "longest_chain": 4}
    assert describe(fb.read("table1"))["dependencies"] is None
    waits = dependency_table({"job": [1, 2, 3, 4], "parent": [2, 3, 4, 3]})
    round_about = fb.Workload("x", chain().jobs, dependencies=waits.head(2))
    assert longest_chain(round_about) == 3


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"job": [1]}, "lacks parent"),
        ({"job": [1], "parent": [2.5]}, "row 0 of parent is 2.5"),
        ({"job": [1], "parent": ["x"]}, "row 0 of parent is 'x'"),
        ({"job": [1], "parent": [2], "colour": ["red"]}, "has a column 'colour'; known: job, parent"),
        ({"job": [1, 2], "parent": [2]}, "is no table"),
    ],
)
def test_tables_that_cannot_be_used_are_refused(columns, says):
    with pytest.raises(InputError, match=says):
        dependency_table(columns)


def test_a_closed_loop_repeats_what_was_recorded():
    # Job 2 came 10 s after job 1 ended, 3 while 2 ran (10 s after 1), 4 after both; 5 is another user's.
    jobs = job_table(
        {
            "id": [1, 2, 3, 4, 5], "submit": [0.0, 40, 40, 100, 100], "walltime": [90.0] * 5,
            "run_time": [30.0, 20, 50, 10, 10], "nodes": [1] * 5, "user": [7, 7, 7, 7, 8],
            "recorded_start": [0.0, 40, 45, 100, 100],
        }
    )  # fmt: skip
    loop = closed_loop(fb.Workload("recorded", jobs))
    found = loop.dependencies.select("job", "parent", "kind", "delay").rows()
    assert found == [(2, 1, "think", 10.0), (3, 1, "think", 10.0), (4, 3, "think", 5.0)]
    assert "recorded_start" not in loop.jobs.columns
    # On one node: 2 runs from 40 to 60, 3 from 60 to 110, and so 4 is submitted at 115.
    result = fb.simulate(loop, "flat:nodes=1", "fcfs")
    assert result.jobs["submission_time"].to_list() == [0.0, 40.0, 40.0, 115.0, 100.0]
    assert result.jobs["starting_time"].to_list() == [0.0, 40.0, 60.0, 120.0, 110.0]
    assert any(line.startswith("closed loop: 3 of 5 jobs") for line in result.facts["provenance"])
    # Run as recorded, the submissions are those of the trace.
    again = fb.simulate(loop, "flat:nodes=9", "fcfs")
    assert again.jobs["submission_time"].to_list() == [0.0, 40.0, 40.0, 95.0, 100.0]
    assert len(closed_loop(fb.Workload("recorded", jobs), longest=5.0).dependencies) == 1


def test_a_closed_loop_takes_preceding_jobs():
    loop = closed_loop(chain(kind="afterany"))
    assert loop.dependencies["kind"].to_list() == ["think"] * 3
    with pytest.raises(InputError, match="nothing tells after which job another was submitted"):
        closed_loop(chain(kind="afterok"))
