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


def test_what_is_not_read_is_told(read):
    found = read(("1", "1", "", ""), ("2", "2", "singleton", ""), ("3", "3", "afternotok:1", ""))
    assert edges(found) == [(3, 1, "afterany", 0.0, False)]
    assert "1 dependency of kind singleton: not read" in found.notes
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
