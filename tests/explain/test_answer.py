"""`forebay.explain(result, job)` and `result.explain(job)`: the answer of the command, in Python."""

import pytest

import forebay as fb
from forebay.errors import InputError


@pytest.fixture(scope="module")
def result():
    return fb.simulate("table1", policy="fcfs-easy")


def test_a_row_a_job(result):
    found = fb.explain(result, 4, 1, 4)
    assert found.jobs == (4, 1)
    assert found.worst == []
    assert found.table.rows() == [
        (4, 540.0, None, "reserved", 7 / 9, "Priority", None, found.run.in_words(4)),
        (1, 0.0, None, None, None, None, None, ""),
    ]
    assert str(found).splitlines() == [
        "job 4 waited for job 3's node reservation; job 3 waited for burst buffer held by job 1",
        "job 1 did not wait",
    ]
    assert found.pieces["seconds"].sum() == 540.0
    assert repr(found) == "<Explanation of 2 waits under fcfs-easy>"
    assert "burst buffer" in found._repr_html_()


def test_without_a_job_one_for_each_cause(result):
    found = result.explain()
    assert found.table.select("job_id", "alike", "reason").rows() == [(5, 3, "reserved"), (3, 0, "burst_buffer")]
    assert fb.explain(result, worst=1).table["job_id"].to_list() == [5]
    assert fb.explain(result, 3, worst=1).table["job_id"].to_list() == [3, 5]


def test_nobody_waited():
    found = fb.explain(fb.simulate("table1", "flat:nodes=100,burst_buffer=100TB"))
    assert str(found) == "no job waited"
    assert found.table.is_empty()
    assert found.document()["jobs"] == []


def test_wrong_questions(result):
    with pytest.raises(InputError, match="job 99 is not in the run"):
        fb.explain(result, 99)
    with pytest.raises(InputError, match="the job is '4', of type str; give its number"):
        fb.explain(result, "4")
    with pytest.raises(InputError, match="the figure is 3, of type int; give its name"):
        result.plot(3)
    with pytest.raises(InputError, match="worst is 0; give a count from 1 up"):
        result.explain(worst=0)
    with pytest.raises(InputError, match=r"the run .*a Result"):
        fb.explain("out", 3)


def test_a_result_sums_itself_up_and_draws_itself(result):
    assert result.summary == fb.summary(result)
    assert result.plot("letter-values").get_xlabel() == fb.figures.plot("letter-values", result).get_xlabel()
