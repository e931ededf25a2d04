"""Objects as prompts and notebooks show them: a line, or a small table in which no name becomes markup."""

from dataclasses import replace
from html.parser import HTMLParser

import polars as pl
import pytest

import forebay as fb
from forebay._support.text import about

pytestmark = pytest.mark.small

BAD = "<script>alert('x')</script>&amp;"


@pytest.fixture(scope="module")
def result():
    return fb.simulate("table1")


def test_lines(result):
    assert repr(result) == "<Result of fcfs-bb: 8 jobs on 4 nodes, mean wait 2.38 min>"
    assert repr(fb.read("table1")) == "<Workload table1: 8 jobs submitted over 4 min for table1>"
    assert repr(fb.platform("table1")) == "<Platform table1: 4 nodes with burst_buffer>"
    assert repr(fb.platform("flat:nodes=1")) == "<Platform flat: 1 node>"


def test_jobs_that_did_not_end_well_are_counted(result):
    table = {"id": [1, 2, 3, 4], "submit": [0, 0, 1, 2], "walltime": [20, 50, 10, 10], "run_time": [30, 10, 5, 5]}
    jobs = fb.workload.job_table(table | {"nodes": [4, 1, 9, 1], "cancel": [90, 3, 90, 90]})
    run = fb.simulate(fb.Workload("w", jobs), "flat:nodes=4", "fcfs")
    assert "4 jobs (1 killed, 1 rejected, 1 cancelled) on 4 nodes, mean wait" in repr(run)
    assert "<td>4 jobs (1 killed, 1 rejected, 1 cancelled) on 4 nodes</td>" in run._repr_html_()
    failed = run.jobs.with_columns(final_state=pl.lit("COMPLETED_FAILED"))
    assert "4 jobs (4 failed) on" in repr(replace(run, jobs=failed))


def test_lines_of_nothing(result):
    assert repr(replace(result, jobs=result.jobs.clear(), facts={})) == (
        "<Result of a run: 0 jobs on 4 nodes, mean wait ->"
    )
    none = replace(fb.read("table1"), jobs=fb.read("table1").jobs.clear(), platform=None)
    assert repr(none) == "<Workload table1: 0 jobs submitted over ->"
    assert "<td>0, submitted over -</td>" in none._repr_html_()


def test_a_view(result):
    seen = []

    class Watch:
        def decide(self, view, act):
            seen.append((repr(view), view._repr_html_()))
            for job in view.queue:
                if act.fits(job):
                    act.start(job)

    fb.simulate("table1", policy=Watch)
    assert seen[0][0] == "<View at 0 s: 2 waiting, 0 running, 4 of 4 nodes idle>"
    assert seen[1][0].startswith("<View at 60 s: 1 waiting, 2 running, 2 of 4")
    assert "<th>burst_buffer free</th><td>10,000,000,000,000 of 10,000,000,000,000</td>" in seen[0][1]


def test_a_line_stays_a_line(result):
    name = "a\nb\x1b[31m" + 100 * "c"
    for one in (replace(fb.read("table1"), name=name), replace(result, facts={"policy": name})):
        assert repr(one).isprintable()
        assert len(repr(one)) < 150


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = set(), ""

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.text += data


def test_tables_have_no_markup_of_others(result):
    facts = {**result.facts, "policy": BAD, "workload": BAD}
    for one in (
        replace(result, facts=facts),
        replace(result, facts={"platform": {"text": BAD}}),
        replace(fb.read("table1"), name=BAD, platform=BAD, provenance=(BAD,), notes=(BAD,)),
        fb.platform("table1").model_copy(update={"name": BAD}),
    ):
        page = Tags()
        page.feed(one._repr_html_())
        assert page.tags == {"table", "caption", "tr", "th", "td"}
        assert BAD in page.text


def test_tables_say_what_matters(result):
    text = result._repr_html_()
    for words in ("fcfs-bb", "table1 (4 nodes", "alloc-only", "8 jobs on 4 nodes", "2.38 min", "9 min"):
        assert words in text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "-"), (0.0, "0 s"), (59.5, "59.5 s"), (143.0, "2.38 min"), (5400, "1.5 h"), (1e9, "11,574 d")],
)
def test_durations(seconds, text):
    assert about(seconds) == text
