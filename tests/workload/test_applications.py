"""Workloads with applications: what operations, anonymity and formats do with them, and which tables are refused."""

import dataclasses
import io
import json
import math
import zipfile

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import forebay as fb
from forebay.errors import InputError
from forebay.workload import applications, operations
from forebay.workload._checks.jobs import checked
from forebay.workload._checks.oddities import findings
from forebay.workload.anonymity import anonymise
from forebay.workload.applications import Applications
from forebay.workload.models import _checks
from forebay.workload.workload import Workload, job_table

pytestmark = pytest.mark.small

NAMES = [field.name for field in dataclasses.fields(Applications)]


def application(job, sizes, kind="evolving"):
    """Rows of a job that reads once, then works in three rounds, and asks for its smallest size."""
    added = range(1, max(sizes) - min(sizes) + 1)
    return {
        "jobs": [(job, kind)],
        "sizes": [(job, n, math.inf) for n in sizes],
        "loops": [(job, 0, 1, False, True), (job, 1, 3, True, False)],
        "tasks": [
            (job, 0, "run", 0, "read", False, False),
            (job, 1, "run", 1, "compute", False, True),
            (job, 2, "expansion", -1, "compute", False, False),
        ],
        "amounts": [
            *((job, 0, n, 0.0, 0.0, 0.0, 60.0 + job, n) for n in sizes),
            *((job, 1, n, 0.0, 60.0 / n, 1.0, 0.0, 0) for n in sizes),
            *((job, 2, n, 5.0, 0.0, 0.0, 0.0, 0) for n in added),
        ],
        "requests": [(job, 1, -1, n, min(sizes)) for n in sizes],
    }


def tables(**rows):
    return Applications(**{name: applications.table(name, rows[name]) for name in NAMES})


def workload(*jobs, **more):
    """Jobs (id, submit, sizes), the last of which they prefer; those without sizes have no application."""
    found = [application(job, sizes) for job, _, sizes in jobs if sizes]
    table = job_table(
        {
            "id": [job for job, _, _ in jobs],
            "submit": [submit for _, submit, _ in jobs],
            "walltime": [math.inf] * len(jobs),
            "run_time": [0 if sizes else 5 for *_, sizes in jobs],
            "nodes": [max(sizes, default=1) for *_, sizes in jobs],
        }
    )
    made = tables(**{name: [row for one in found for row in one[name]] for name in NAMES}) if found else None
    return Workload("mine", table, applications=made, **more)


def assert_same(one, other):
    assert (one is None) == (other is None)
    for name in NAMES if one is not None else []:
        assert_frame_equal(getattr(one, name), getattr(other, name))


def of(job, sizes):
    return tables(**application(job, sizes))


THREE = [(3, 0, [2, 3]), (5, 10, []), (8, 20, [1, 2, 4])]


def test_the_tables_of_the_tests_are_valid(tmp_path):
    # Sizes 1, 2 and 4 leave a hole: an expansion may be by 1, 2 or 3 nodes.
    assert checked(workload(*THREE), tmp_path) is not None


def test_parts_keep_the_applications_of_their_jobs():
    made = workload(*THREE)
    assert_same(operations.first(made, 1).applications, of(3, [2, 3]))
    late = operations.slice_time(made, 5, 100)
    assert late.jobs["submit"].to_list() == [0, 10]
    assert_same(late.applications, of(8, [1, 2, 4]))
    assert operations.filter_jobs(made, pl.col("id") == 5).applications is None
    assert_same(operations.scale_load(made, 2).applications, made.applications)
    assert [part.applications is None for part in operations.split(made, 3)] == [False, True, False]


def test_joined_workloads_keep_theirs_under_new_numbers():
    early, late = workload((3, 0, [2, 3]), (8, 20, [1, 2])), workload((3, 10, [4, 5]), epoch=0.0)
    joined = operations.join([early, late])
    assert joined.jobs.select("id", "submit").rows() == [(1, 0), (2, 10), (3, 20)]
    amounts = joined.applications.amounts.filter(task=0)
    assert amounts.select("job", "nodes", "bytes").rows() == [
        *[(1, 2, 63), (1, 3, 63)],
        *[(2, 4, 63), (2, 5, 63)],
        *[(3, 1, 68), (3, 2, 68)],
    ]
    assert checked(joined, "joined") is joined


def test_joined_workloads_of_which_one_has_none():
    joined = operations.join([workload((1, 0, [])), workload((2, 5, [2, 3]))])
    assert_same(joined.applications, of(2, [2, 3]))
    assert operations.join([workload((1, 0, [])), workload((2, 5, []))]).applications is None


def test_anonymous_workloads_keep_them_in_the_order_of_arrival():
    made = anonymise(workload((9, 0, [2, 3]), (4, 10, []), (1, 20, [1, 2])))
    assert made.jobs["id"].to_list() == [1, 2, 3]
    assert made.applications.jobs["job"].to_list() == [1, 3]
    assert made.applications.amounts.filter(task=0)["bytes"].to_list() == [69, 69, 61, 61]
    assert checked(made, "anonymous") is made


def test_our_own_format_loses_nothing(tmp_path):
    made = workload(*THREE)
    path = tmp_path / "mine.parquet.zip"
    assert fb.write(made, path) == []
    back = fb.read(path)
    assert_same(back.applications, made.applications)
    assert_frame_equal(back.jobs, made.jobs)
    with zipfile.ZipFile(path) as file:
        assert json.loads(file.read("workload.json"))["version"] == 2  # others would run such jobs without their tasks
    plain = workload((1, 0, []))
    fb.write(plain, path)
    assert fb.read(path).applications is None
    with zipfile.ZipFile(path) as file:
        assert json.loads(file.read("workload.json"))["version"] == 1


@pytest.mark.parametrize("name", ["mine.swf", "mine.json", "mine.sacct"])
def test_other_formats_say_that_they_cannot_hold_them(tmp_path, name):
    lost = "applications are not written: of their loops and sizes, jobs keep their work at the preferred size"
    made = workload(*THREE)
    made = dataclasses.replace(made, jobs=made.jobs.with_columns(run_time=pl.lit(5.0)))
    assert lost in fb.write(made, tmp_path / name)
    assert lost not in fb.write(workload((1, 0, [])), tmp_path / name)


def test_jobs_that_only_read_and_write_are_not_idle():
    assert not any(
        "nothing to do" in str(finding) or "idle" in str(finding) for finding in findings(workload(*THREE), 4)
    )


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (operations.perfect_estimates, "perfect estimates are for jobs of one size"),
        (
            lambda w: operations.attach_table(w, pl.DataFrame({"id": [3], "nodes": [9]})),
            "which a table for jobs cannot",
        ),
        (lambda w: _checks.whole_jobs("tsafrir05", w), "is for jobs of one size"),
    ],
)
def test_what_would_contradict_them_is_refused(change, complaint):
    with pytest.raises(InputError, match=complaint):
        change(workload(*THREE))


def rewritten(path, name, change):
    """The file at `path` with one of its tables changed, or left out."""
    with zipfile.ZipFile(path) as file:
        parts = {member: file.read(member) for member in file.namelist()}
    member = f"applications/{name}.parquet"
    table = change(pl.read_parquet(io.BytesIO(parts.pop(member))))
    if table is not None:
        data = io.BytesIO()
        table.write_parquet(data)
        parts[member] = data.getvalue()
    with zipfile.ZipFile(path, "w") as file:
        for member, data in parts.items():
            file.writestr(member, data)


def at(row, **values):
    """The table with other values in one row."""

    def change(table):
        rows = table.rows(named=True)
        rows[row] |= values
        return pl.DataFrame(rows, table.schema)

    return change


@pytest.mark.parametrize(
    ("name", "change", "complaint"),
    [
        ("loops", lambda table: None, "holds tables of applications, but no applications/loops.parquet"),
        ("loops", lambda table: table.drop("rounds"), "the table of loops must have rounds as Int64"),
        ("jobs", at(1, job=77), "application of job 77: job is 77; it must be the id of a job"),
        ("jobs", at(0, type="elastic"), "type is 'elastic'; it must be one of rigid, moldable"),
        ("jobs", lambda table: table.reverse(), "rows of jobs must be in the order of job"),
        ("sizes", at(0, nodes=3), "rows of sizes must be in the order of job, nodes, and differ there"),
        ("sizes", at(0, nodes=0), "nodes is 0; it must be from 1 to"),
        ("sizes", at(0, walltime=0.0), "walltime is 0.0"),
        ("sizes", at(1, nodes=4), "job 3: it prefers a size that it does not have, nodes 3"),
        ("loops", at(1, loop=2), "loop is 2; it must be 0, 1, 2, ... for each job"),
        ("loops", at(1, rounds=0), "rounds is 0; it must be from 1 to"),
        ("loops", lambda table: table.filter(pl.col("job") != 3), "job 3: tasks in a loop that it does not have"),
        ("tasks", at(0, kind="think"), "kind is 'think'; it must be one of compute"),
        ("tasks", at(0, stage="later"), "stage is 'later'"),
        ("tasks", at(0, loop=-1), "loop is -1; it must be -1 in stages other than run, and only there"),
        ("tasks", at(1, loop=0), "tasks for a loop that it does not have, loop 1"),
        ("amounts", at(0, bytes=-1.0), "bytes is -1.0; it must be a finite number from 0 up"),
        ("amounts", at(2, flop=math.nan), "flop is nan"),
        ("amounts", at(0, streams=9), "streams is 9; it must be from 0 to its nodes or, striped, a multiple of them"),
        ("amounts", lambda table: table.slice(1), "job 3: it needs amounts for a number of nodes .*, nodes 2"),
        ("amounts", lambda table: table.head(-1), "job 8: it needs amounts for a number of nodes .*, nodes 3"),
        ("amounts", at(4, nodes=9), "job 3: it needs amounts for a number of nodes .*, nodes 1"),
        ("requests", at(0, wants=7), "requests for a size that it does not have, wants 7"),
        ("requests", at(0, loop=0, nodes=1), "requests at a size that it does not have, nodes 1"),
        ("requests", at(0, round=-2), "round is -2"),
    ],
)
def test_tables_that_make_no_sense(tmp_path, name, change, complaint):
    path = tmp_path / "mine.parquet.zip"
    fb.write(workload(*THREE), path)
    rewritten(path, name, change)
    with pytest.raises(InputError, match=complaint):
        fb.read(path)
