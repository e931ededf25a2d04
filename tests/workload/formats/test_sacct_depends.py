"""Whom jobs of a sacct listing wait for, and how many tasks of an array may run at a time."""

import pytest

from forebay.errors import InputError
from forebay.workload.formats import sacct

pytestmark = pytest.mark.small

HEAD = "JobID|JobIDRaw|Submit|Eligible|Start|ElapsedRaw|NNodes|State|Dependency|SubmitLine"


@pytest.fixture
def read(tmp_path):
    def from_rows(*rows):
        """Rows as (JobID, JobIDRaw, Dependency, SubmitLine); submitted at 1000, eligible and started at 1100."""
        path = tmp_path / "jobs.sacct"
        lines = [f"{name}|{raw}|1000|1100|1100|50|1|COMPLETED|{waits}|{line}" for name, raw, waits, line in rows]
        path.write_text("\n".join([HEAD, *lines]) + "\n")
        return sacct.read(path)

    return from_rows


def edges(workload):
    return [] if workload.dependencies is None else sorted(workload.dependencies.rows())


def test_whom_jobs_wait_for(read):
    found = read(
        ("100", "100", "", "sbatch a"),
        ("101", "101", "afterok:100(unfulfilled),after:102+2", ""),
        ("102", "102", "(null)", "sbatch --dependency=afterany:100 b"),
        ("103", "103", "afterany:100?afterok:102", ""),
        ("104", "104", "", "sbatch -d after:100:101 c"),
    )
    assert edges(found) == [
        (101, 100, "afterok", 0.0, False),
        (101, 102, "after", 120.0, False),
        (102, 100, "afterany", 0.0, False),
        (103, 100, "afterany", 0.0, True),
        (103, 102, "afterok", 0.0, True),
        (104, 100, "after", 0.0, False),
        (104, 101, "after", 0.0, False),
    ]
    # Who waits for others arrives when it was submitted: when it may start is for the run to say.
    assert found.jobs["submit"].to_list() == [0.0, 0.0, 0.0, 0.0, 100.0]
    assert found.jobs["id"].to_list() == [101, 102, 103, 104, 100]
    assert "4 jobs wait for others, 7 dependencies in all" in found.notes


def test_an_array_is_all_its_tasks(read):
    found = read(
        ("200_1", "201", "", "sbatch --array=1-3%2 x"),
        ("200_2", "202", "", "sbatch --array=1-3%2 x"),
        ("200_3", "200", "", "sbatch --array=1-3%2 x"),
        ("300", "300", "afterok:200", ""),
        ("301", "301", "afterok:200_2", ""),
        ("302", "302", "afterok:200_9", ""),
    )
    assert edges(found) == [
        (300, 200, "afterok", 0.0, False),
        (300, 201, "afterok", 0.0, False),
        (300, 202, "afterok", 0.0, False),
        (301, 202, "afterok", 0.0, False),
    ]
    assert dict(found.jobs.select("id", "array_limit").rows()) == {
        200: 2, 201: 2, 202: 2, 300: -1, 301: -1, 302: -1
    }  # fmt: skip
    assert "1 dependency is on a job that is left out: taken as met" in found.notes


def test_a_record_of_tasks_that_still_wait_tells_the_limit(tmp_path):
    path = tmp_path / "jobs.sacct"
    path.write_text(
        "JobID|Submit|Start|ElapsedRaw|NNodes|State\n"
        "400_1|1000|1000|50|1|COMPLETED\n"
        "400_[2-9%3]|1000|Unknown|0|1|PENDING\n"
    )
    assert sacct.read(path).jobs["array_limit"].to_list() == [3]


def test_a_task_waits_for_the_task_of_its_number(read):
    found = read(
        ("200_1", "201", "", ""),
        ("200_2", "200", "", ""),
        ("300_1", "301", "aftercorr:200", ""),
        ("300_2", "302", "aftercorr:200", ""),
        ("300_9", "300", "", "sbatch --dependency=aftercorr:200"),  # has none: as Slurm does, it takes them all
        ("400", "400", "aftercorr:201", ""),
    )
    assert edges(found) == [
        (300, 200, "afterok", 0.0, False),
        (300, 201, "afterok", 0.0, False),
        (301, 201, "afterok", 0.0, False),
        (302, 200, "afterok", 0.0, False),
        (400, 201, "afterok", 0.0, False),
    ]


def test_one_of_a_name_and_user_at_a_time(tmp_path):
    path = tmp_path / "jobs.sacct"
    rows = [
        ("1", "ann", "steps", ""),
        ("2", "ann", "steps", ""),
        ("3", "ann", "steps", "singleton"),
        ("4", "bob", "steps", "singleton(unfulfilled)"),
        ("5", "ann", "other", "singleton"),
        ("6", "ann", "steps", ""),
        ("7", "ann", "steps", "afterok:4,singleton"),
        ("8", "ann", "steps", "singleton"),
        ("9+0", "ann", "steps", "singleton"),
        ("9+1", "ann", "steps", "singleton"),
        ("12", "ann", "steps", "singleton"),
    ]
    head = "JobID|User|JobName|Dependency|Submit|Start|ElapsedRaw|NNodes|State"
    # In the file later jobs stand first: numbers tell who is earlier.
    lines = ["|".join(row) + "|1000|1100|50|1|COMPLETED" for row in reversed(rows)]
    path.write_text("\n".join([head, *lines]) + "\n")
    found = sacct.read(path)
    one, other = found.jobs.filter(found.jobs["het"] == 9).sort("het_offset")["id"]
    pairs = [(job, parent) for job, parent, kind, _, _ in edges(found) if kind == "afterany"]
    waits = {3: [1, 2], 7: [3, 6], 8: [7], one: [8], other: [8], 12: [8, one, other]}
    assert pairs == sorted((job, parent) for job, parents in waits.items() for parent in parents)
    assert [row for row in edges(found) if row[2] == "afterok"] == [(7, 4, "afterok", 0.0, False)]


def test_what_is_not_read_is_told(read):
    found = read(
        ("1", "1", "", ""),
        ("2", "2", "singleton", ""),
        ("3", "3", "afternotok:1", ""),
        ("4", "4", "afterburstbuffer:1", ""),
        ("5", "5", "afterany:1?singleton", ""),
    )
    assert edges(found) == [(3, 1, "afterany", 0.0, False)]
    assert any(note.startswith("2 dependencies of kind singleton: not read, for want of") for note in found.notes)
    assert "1 dependency of kind afterburstbuffer: not read" in found.notes
    assert any(note.startswith("1 dependency of kind afternotok: read as afterany") for note in found.notes)


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("later:1", "Dependency is 'later:1'; it must be such as"),
        ("afterok", "Dependency is 'afterok'; it must be such as"),
        ("afterok:x", "'x' names no job"),
        ("afterok:1,afterany:1?after:1", "',' or '\\?' between dependencies, not both"),
    ],
)
def test_words_that_cannot_be_read_are_refused(read, word, says):
    with pytest.raises(InputError, match=says):
        read(("1", "1", "", ""), ("2", "2", word, ""))


def test_a_circle_is_named_by_its_jobs(read):
    with pytest.raises(InputError, match=r"jobs\.sacct: jobs wait for one another in a circle of 2: 1 after 2 after 1"):
        read(("1", "1", "afterok:2", ""), ("2", "2", "afterok:1", ""))
