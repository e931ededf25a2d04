"""No policy can look ahead: what a view shows is the same whatever jobs will do, up to the moment in which they do it.

Two workloads say the same and do the same until a moment; from then on their jobs run longer or shorter, and move other
data. Other futures are beside: of failures, legs, dependencies and shared nodes in `test_no_leak_futures`, of sizes in
`test_no_leak_sizes`.
"""

import inspect

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import forebay as fb
from cases.looking import ARGUMENTS, Spy, hold_the_same
from forebay.core.schemas import PHASE_SCHEMA
from forebay.core.view import View

pytestmark = pytest.mark.small

GB = 10**9
MACHINE = "flat:nodes=6,pfs=2GB/s,burst_buffer=40GB"
KINDS = ("compute", "read", "write", "stage_in", "stage_out", "checkpoint", "drain")

amounts = st.integers(1, 40)
phase = st.tuples(st.sampled_from(KINDS), amounts)
job = st.tuples(st.integers(0, 10), st.integers(1, 6), st.integers(0, 12), st.lists(phase, min_size=1, max_size=4))
workloads = st.lists(job, min_size=1, max_size=5)
futures = st.lists(st.tuples(amounts, st.lists(phase, max_size=3)), min_size=5, max_size=5)


def build(jobs, phases):
    submit = np.cumsum([gap for gap, *_ in jobs]).astype(float)
    columns = {
        "id": range(1, len(jobs) + 1),
        "submit": submit - submit[0],
        "walltime": [300.0] * len(jobs),
        "run_time": [1.0] * len(jobs),
        "nodes": [nodes for _, nodes, *_ in jobs],
        "burst_buffer": [buffer * GB for _, _, buffer, _ in jobs],
        "user": [k % 2 for k in range(len(jobs))],
    }
    table = fb.workload.job_table(columns).with_columns(
        deadline=pl.Series(submit + 400.0), application=pl.Series([f"code {k % 3}" for k in range(len(jobs))])
    )
    rows = [
        (k + 1, 0, kind, float(amount) if kind == "compute" else 0.0, 0.0, 0.0, moved(kind, amount), None)
        for k, mine in enumerate(phases)
        for kind, amount in mine
    ]
    return fb.Workload("two futures", table, phases=pl.DataFrame(rows, PHASE_SCHEMA, orient="row"))


def moved(kind, amount):
    return 0.0 if kind == "compute" else amount * GB / 4


def begun_by(result, moment):
    """Of each job that runs at a moment: how many of its phases have begun, and when; of others that are over, None.

    Drains begin beside the phase before them. A job without any phase in the log has computed since it started.
    """
    found = {}
    jobs = result.jobs.select("job_id", "starting_time", "finish_time")
    for job, start, finish in jobs.iter_rows():
        if start < moment:
            found[job] = None if finish < moment else [start]
    rows = result.log.filter(pl.col("kind").is_in(["begin_phase", "end_phase"]) & (pl.col("time") < moment))
    begun, ended = {}, {}
    for time, job, kind, reason in rows.select("time", "job", "kind", "reason").iter_rows():
        if kind == "begin_phase":
            begun.setdefault(job, []).append(time)
        elif reason != "drain":
            ended[job] = ended.get(job, 0) + 1
    drains = rows.filter((pl.col("kind") == "begin_phase") & (pl.col("reason") == "drain"))["job"].to_list()
    for job, times in begun.items():
        over = ended.get(job, 0) + drains.count(job) == len(times)  # only drains are left, which nothing may follow
        found[job] = None if found[job] is None or over else times
    return found


def other_future(phases, begun, moment, future):
    """The same phases up to those that have begun by a moment; a compute phase under way ends at another time."""
    changed = []
    for k, (mine, (longer, tail)) in enumerate(zip(phases, future, strict=False), 1):
        times = begun.get(k, [])
        if times is None:
            changed.append(mine)
            continue
        kept = list(mine[: len(times)])
        if kept and kept[-1][0] == "compute":
            kept[-1] = ("compute", moment - times[-1] + longer)
        changed.append([*kept, *tail] or [("compute", longer)])
    return changed


@given(workloads, futures, st.integers(1, 60))
def test_nothing_shows_before_it_happens(jobs, future, moment):
    phases = [mine for *_, mine in jobs]
    spies = Spy(float(moment)), Spy(float(moment))
    result = fb.simulate(build(jobs, phases), MACHINE, spies[0], job_model="io-aware")
    phases = other_future(phases, begun_by(result, float(moment)), float(moment), future)
    fb.simulate(build(jobs, phases), MACHINE, spies[1], job_model="io-aware")
    hold_the_same(*spies)


def test_every_method_of_a_view_is_looked_at():
    for name, method in inspect.getmembers(View, inspect.isfunction):
        if not name.startswith("_"):
            wanted = [p for p in inspect.signature(method).parameters.values() if p.name != "self"]
            missing = [p.name for p in wanted if p.default is p.empty and p.name not in (*ARGUMENTS, "name")]
            assert not missing, f"say in ARGUMENTS what View.{name} is to be called with for {missing}"


def test_a_leak_is_found(monkeypatch):
    """The test of the test: a view that shows when a job really ends is caught."""
    monkeypatch.setattr(View, "really", property(lambda view: FUTURE[0]), raising=False)
    monkeypatch.setattr(View, "really_of", lambda view, job: FUTURE[0] + job, raising=False)
    seen = []
    for seconds in (5, 7):
        FUTURE[0] = seconds
        spy = Spy(3.0)
        fb.simulate(build([(0, 1, 0, [])], [[("compute", seconds)]]), MACHINE, spy, job_model="io-aware")
        seen.append(spy.seen[0][1])
    assert {name for name in seen[0] if seen[0][name] != seen[1][name]} == {"really", "really_of(0,)"}


FUTURE = [0]
