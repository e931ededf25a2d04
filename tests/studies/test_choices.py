"""Other reservations and buffers than the authors': which runs, ratios by hand, and a smoke of one part."""

from types import SimpleNamespace

import polars as pl
import pytest

from forebay.studies import Options, load
from forebay.studies._expected import Expected, Published
from forebay.studies._frame import Report
from forebay.studies.kopanski2021 import _choices

METRICS = ("mean_waiting_time", "mean_bounded_slowdown_10min")
KINDS = [(kind, lie) for kind in ("pinned", "counted") for lie in ("chunked", "pooled")]


@pytest.mark.small
def test_the_authors_choices_are_the_runs_of_the_section_parts(no_data):
    plan = load("kopanski2021").plan(Options(policies=("sjf-bb", "plan-2"), sections=("parts", "choices"), parts=(3,)))
    parts = {run.key for run in plan.runs if run.tags["section"] == "parts"}
    choices = {}
    for run in plan.runs:
        if run.tags["section"] == "choices":
            choices.setdefault((run.tags["reservations"], run.tags["buffers"]), set()).add(run.key)
    assert list(choices) == KINDS
    assert choices["pinned", "chunked"] == parts
    # sjf-bb as it is and 20 replicas, plan-2 under five seeds and 20 replicas: nothing is shared with the others.
    assert len(set().union(*choices.values())) == 4 * len(parts) == 4 * 2 * (21 + 25)


@pytest.mark.small
def test_a_policy_without_reservations_of_either_kind_is_run_once_a_buffer(no_data):
    plan = load("kopanski2021").plan(Options(policies=("cerberus-fcfs",), sections=("choices",), parts=(3,), seeds=1))
    assert len({run.key for run in plan.runs}) == len(plan.runs) / 2


def rows(waits, policy="sjf-bb"):
    """Rows of two parts; `waits` are the waits in part 0 and 1 as given and in a replica, by choice."""
    return [
        {"job_model": "io-aware", "policy": policy, "reservations": kind, "buffers": lie, "part": part}
        | {"replica": replica, "seed": 0, **dict.fromkeys(METRICS, float(wait))}
        for (kind, lie), cases in waits.items()
        for replica, pair in enumerate(cases)
        for part, wait in enumerate(pair)
    ]


def scope(parts=(0, 1)):
    chosen = SimpleNamespace(reservations=["pinned", "counted"], buffers={"chunked": "", "pooled": ""})
    return SimpleNamespace(settings=SimpleNamespace(choices=chosen), parts=parts)


@pytest.mark.small
def test_ratios_by_hand():
    """Ratios are of means over the parts, run by run, to the first kind of everything."""
    waits = [((100, 300), (100, 100)), ((50, 150), (80, 80)), ((100, 280), (100, 120)), ((40, 40), (10, 10))]
    published = {
        ("parts", str(part), "io-aware", "sjf-bb", metric): Published(value, None, "Fig. 1")
        for part, value in enumerate((120.0, 180.0))
        for metric in METRICS
    }
    made = Report()
    order = ("pinned", "chunked"), ("pinned", "pooled"), ("counted", "chunked"), ("counted", "pooled")
    _choices.tell(scope(), rows(dict(zip(order, waits, strict=True))), Expected(published), made)
    frame = made.frames["choices"].filter(pl.col("metric") == METRICS[0])
    told = {(row["reservations"], row["buffers"]): row for row in frame.to_dicts()}
    assert told["pinned", "chunked"]["ratio"] == 1
    assert told["pinned", "chunked"]["mean"] == (200 + 100) / 2
    assert told["pinned", "chunked"]["as_given"] == 200
    assert told["pinned", "pooled"]["ratio"] == pytest.approx((100 / 200 + 80 / 100) / 2)
    # Two values, 0.5 and 0.8: the interval is 12.7 standard errors of 0.15.
    assert told["pinned", "pooled"]["ratio_half_95"] == pytest.approx(12.7062 * 0.15, rel=1e-4)
    assert told["counted", "chunked"]["ratio"] == pytest.approx((190 / 200 + 110 / 100) / 2)
    [first, _] = made.shown
    assert first.columns[2:] == ("pinned, chunked", "published", *(", ".join(kind) for kind in order[1:]))
    assert first.rows[0][:4] == ("io-aware", "sjf-bb", "150", "1.000")
    assert set(made.figures) == {"choices-mean-waiting-time", "choices-mean-bounded-slowdown-10min"}


@pytest.mark.small
def test_fcfs_easy_has_pictures_of_its_own():
    waits = {kind: [(10, 10)] for kind in KINDS}
    _choices.tell(scope(), [*rows(waits), *rows(waits, "fcfs-easy")], Expected({}), made := Report())
    assert [name for name in made.figures if "wait" in name] == [
        "choices-mean-waiting-time",
        "choices-fcfs-easy-mean-waiting-time",
    ]


@pytest.mark.small
def test_one_run_has_no_interval_and_no_wait_has_no_ratio():
    waits = {kind: [(10, 10)] for kind in KINDS}
    made = Report()
    _choices.tell(scope(), rows(waits), Expected({}), made)
    assert made.shown[0].rows == [("io-aware", "sjf-bb", "10", "1.000", "1.000", "1.000")]
    _choices.tell(scope(), rows({kind: [(0, 0)] for kind in KINDS}), Expected({}), made := Report())
    assert made.shown[0].rows == [("io-aware", "sjf-bb", "0", "-", "-", "-")]
    assert made.figures == {}


def test_smoke(data, carried_out):
    """One part: in a pooled buffer no job waits for a server; to what reserves nothing, counting is all the same."""
    wanted = Options(policies=("filler",), parts=(13,), sections=("choices",), quick=True)
    report, files = carried_out("kopanski2021", wanted)
    table = report.frames["choices"]
    assert len(table) == 2 * 2 * 4
    assert table["n_runs"].to_list() == [3] * len(table)
    keys = ("reservations", "buffers", "job_model", "metric")
    ratio = {tuple(row[key] for key in keys): row["ratio"] for row in table.to_dicts()}
    for model in ("io-aware", "alloc-only"):
        assert ratio["counted", "chunked", model, METRICS[0]] == 1
        assert ratio["counted", "pooled", model, METRICS[0]] == ratio["pinned", "pooled", model, METRICS[0]] < 0.95
    names = {file.name for file in files}
    assert names >= {
        "choices.csv",
        "choices-ratios.csv",
        "choices-mean-waiting-time.svg",
        "choices-mean-waiting-time.csv",
    }
    assert report.notes == []


@pytest.mark.full
def test_chunks_cost_more_than_places(data, carried_out):
    """All parts and replicas: what reserves the buffer waits less where it is pooled, by more than counting saves."""
    report, _ = carried_out("kopanski2021", Options(policies=("fcfs-bb", "sjf-bb"), sections=("choices",)))
    table = report.frames["choices"].filter((pl.col("metric") == METRICS[0]) & (pl.col("job_model") == "io-aware"))
    ratio = {(row["policy"], row["reservations"], row["buffers"]): row["ratio"] for row in table.to_dicts()}
    for policy in ("fcfs-bb", "sjf-bb"):
        assert ratio[policy, "pinned", "pooled"] < ratio[policy, "counted", "chunked"] < 1
