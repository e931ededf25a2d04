"""Operations on workloads: which jobs, when, with which ids, and with legs and phases that follow."""

import math
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from forebay import workload
from forebay.core.schemas import LEG_SCHEMA, PHASE_SCHEMA
from forebay.errors import InputError
from forebay.workload import operations as op
from forebay.workload.workload import Workload, job_table

small = pytest.mark.small


def make(submits=(0, 10, 20, 30), name="w", first_id=1, epoch=1000.0, **columns) -> Workload:
    n = len(submits)
    base = {
        "id": list(range(first_id, first_id + n)),
        "submit": [float(s) for s in submits],
        "walltime": [60.0] * n,
        "run_time": [float(k + 1) for k in range(n)],
        "nodes": [2**k for k in range(n)],
    }
    return Workload(name, job_table(base | columns), epoch=epoch, provenance=("made",), records=n)


def with_parts(w: Workload) -> Workload:
    """The same with one leg and one phase a job, each telling its job by its number of seconds."""
    ids = w.jobs["id"].to_list()
    legs = pl.DataFrame(
        [(job, 0, float(job), 1, "", job) for job in ids], LEG_SCHEMA | {"burst_buffer": pl.Int64}, orient="row"
    )
    phases = pl.DataFrame(
        [(job, 0, "compute", float(job), 0.0, 0.0, 0.0, None) for job in ids], PHASE_SCHEMA, orient="row"
    )
    return replace(w, legs=legs, phases=phases)


def ids(w: Workload) -> list[int]:
    return w.jobs["id"].to_list()


def submits(w: Workload) -> list[float]:
    return w.jobs["submit"].to_list()


@small
def test_a_slice_is_half_open_and_begins_at_0():
    w = with_parts(make())
    part = op.slice_time(w, 10, 30)
    assert (ids(part), submits(part), part.epoch) == ([2, 3], [0.0, 10.0], 1010.0)
    assert part.legs["job"].to_list() == [2, 3]
    assert part.phases["job"].to_list() == [2, 3]
    assert part.provenance == ("made", "submitted in [10, 30) s: 2 of 4 jobs")
    assert ids(w) == [1, 2, 3, 4]


@small
@pytest.mark.parametrize(
    ("start", "end", "why"), [(5, 5, "empty"), (9, 1, "empty"), (math.nan, 1, "empty"), (40, 50, "no job")]
)
def test_empty_slices_are_refused(start, end, why):
    with pytest.raises(InputError, match=f"w: .*{why}"):
        op.slice_time(make(), start, end)


@small
def test_first_keeps_at_most_n():
    assert ids(op.first(make(), 2)) == [1, 2]
    assert ids(op.first(make(), 9)) == [1, 2, 3, 4]
    with pytest.raises(InputError, match="first 0 jobs; give at least 1"):
        op.first(make(), 0)


@small
def test_parts_cover_equal_periods_and_the_last_includes_its_end():
    parts = op.split(with_parts(make([0, 9, 10, 19, 20, 30])), 3)
    assert [ids(part) for part in parts] == [[1, 2], [3, 4], [5, 6]]
    assert [submits(part) for part in parts] == [[0.0, 9.0], [0.0, 9.0], [0.0, 10.0]]
    assert [part.epoch for part in parts] == [1000.0, 1010.0, 1020.0]
    assert [part.name for part in parts] == ["w-part-0", "w-part-1", "w-part-2"]
    assert [part.phases["job"].to_list() for part in parts] == [[1, 2], [3, 4], [5, 6]]
    assert parts[1].provenance[-1] == "part 1 of 3, 10 s each: 2 of 6 jobs"


@small
def test_parts_without_jobs_are_refused_by_number():
    with pytest.raises(InputError, match="part 1 of 3 has no job"):
        op.split(make([0, 1, 30]), 3)
    with pytest.raises(InputError, match="part 0 of 2 has no job"):
        op.split(make([5, 5]), 2)
    with pytest.raises(InputError, match="into 0 parts"):
        op.split(make(), 0)
    assert ids(op.split(make([5, 5]), 1)[0]) == [1, 2]


@small
def test_load_grows_as_time_shrinks():
    w = op.scale_load(make(), 2)
    assert (submits(w), w.epoch) == ([0.0, 5.0, 10.0, 15.0], 1000.0)
    assert w.provenance[-1] == "load scaled by 2: submit times divided by it"
    for factor in (0, -1, math.nan, math.inf):
        with pytest.raises(InputError, match="give a number above 0"):
            op.scale_load(make(), factor)


@small
def test_filters_take_expressions_functions_and_command_line_conditions():
    w = with_parts(make(burst_buffer=[0, 5, 0, 7]))
    by_text = op.filter_jobs(w, op.parse_condition("burst_buffer>0", w.jobs.columns), "burst_buffer>0")
    assert (ids(by_text), submits(by_text), by_text.epoch) == ([2, 4], [0.0, 20.0], 1010.0)
    assert by_text.provenance[-1] == "burst_buffer>0: 2 of 4 jobs"
    assert by_text.legs["job"].to_list() == [2, 4]
    assert ids(op.filter_jobs(w, pl.col("nodes").is_between(2, 4))) == [2, 3]
    assert ids(op.filter_jobs(w, lambda jobs: jobs["run_time"] == 4)) == [4]
    with pytest.raises(InputError, match=r"no job is left \(none\)"):
        op.filter_jobs(w, pl.col("nodes") > 99, "none")
    with pytest.raises(InputError, match=r"cannot filter .*cpus.*its columns: id, submit"):
        op.filter_jobs(w, pl.col("cpus") > 1)


@small
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("nodes<4", [1, 2]),
        ("nodes<=4", [1, 2, 3]),
        (" nodes > 2 ", [3, 4]),
        ("nodes >=2", [2, 3, 4]),
        ("run_time==3", [3]),
        ("run_time!=3.0", [1, 2, 4]),
        ("walltime<inf", [1, 2, 3, 4]),
        ("submit>1e1", [3, 4]),
    ],
)
def test_conditions(text, kept):
    assert ids(op.filter_jobs(make(), op.parse_condition(text))) == kept


@small
def test_conditions_on_large_ids_are_exact():
    w = make(id=[2**60, 2**60 + 1, 2**60 + 2, 2**60 + 3])
    assert ids(op.filter_jobs(w, op.parse_condition(f"id<={2**60 + 1}"))) == [2**60, 2**60 + 1]


@small
@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("node<=4", "unknown column 'node'; did you mean 'nodes'"),
        ("burst_buffer>0", "unknown column 'burst_buffer'"),
        ("nodes=4", "is not a condition"),
        ("nodes", "is not a condition"),
        ("nodes<=many", "'many' is not a number"),
        ("nodes<=nan", "'nan' is not a number"),
    ],
)
def test_bad_conditions_say_how(text, part):
    with pytest.raises(InputError) as caught:
        op.parse_condition(text)
    assert part in str(caught.value)


@small
def test_perfect_estimates_take_flop_at_a_speed():
    w = make(flop=[0.0, 4e9, 0.0, 0.0], communication=[0.0, 1.0, 0.0, 0.0])
    fast = op.perfect_estimates(w, speed=2e9)
    assert op.perfect_estimates(w).jobs["walltime"].to_list() == [1.0, 6.0, 3.0, 4.0]
    assert fast.jobs["walltime"].to_list() == [1.0, 4.0, 3.0, 4.0]
    assert fast.provenance[-1] == "perfect estimates: walltime = run time, at 2e+09 flop/s"
    assert "leave out the time of communication" in fast.notes[-1]
    plain = op.perfect_estimates(make())
    assert (plain.provenance[-1], plain.notes) == ("perfect estimates: walltime = run time", ())
    with pytest.raises(InputError, match="0 flop/s is no speed"):
        op.perfect_estimates(w, speed=0)
    with pytest.raises(InputError, match="without legs"):
        op.perfect_estimates(with_parts(w))


@small
def test_joins_merge_by_absolute_time():
    a = replace(make([0, 100], "a", 1, 1000.0), dropped={"x": 1}, notes=("same",), platform="flat:nodes=9")
    b = replace(make([0, 50], "b", 11, 1020.0), dropped={"x": 2, "y": 3}, notes=("same",), platform="flat:nodes=9")
    w = op.join([b, a])
    assert (ids(w), submits(w), w.epoch) == ([1, 11, 12, 2], [0.0, 20.0, 70.0, 100.0], 1000.0)
    assert (w.name, w.records, w.dropped, w.notes) == ("b+a", 4, {"x": 3, "y": 3}, ("same",))
    assert w.platform == "flat:nodes=9"
    assert w.provenance == ("b: made", "a: made", "joined 2 workloads")


@small
def test_clashing_ids_are_numbered_anew_wherever_they_occur():
    a, b = with_parts(make([0, 100], "a", 1)), with_parts(make([0, 50], "b", 1))
    w = op.join([a, b])
    # a's 1 and b's 1 arrive together (a comes first), then b's 2, then a's 2
    assert (ids(w), submits(w)) == ([1, 2, 3, 4], [0.0, 0.0, 50.0, 100.0])
    assert w.jobs["run_time"].to_list() == [1.0, 1.0, 2.0, 2.0]
    assert w.legs.select("job", "walltime").rows() == [(1, 1.0), (4, 2.0), (2, 1.0), (3, 2.0)]
    assert w.phases.select("job", "seconds").rows() == [(1, 1.0), (4, 2.0), (2, 1.0), (3, 2.0)]
    assert "renumbered" in w.notes[0]


@small
def test_joined_resources_and_machines_that_differ():
    a = replace(make([0], "a", 1, burst_buffer=[5]), platform="flat:nodes=9")
    b = with_parts(make([1], "b", 2, gpus=[7]))
    w = op.join([a, b])
    assert w.jobs.select("burst_buffer", "gpus").rows() == [(5, 0), (0, 7)]
    assert w.legs["job"].to_list() == [2]
    assert w.phases["release"].to_list() == [None]
    assert w.platform is None
    assert "different machines" in w.notes[-1]
    assert w.sha256 == ""
    with pytest.raises(InputError, match="nothing to join"):
        op.join([])


times = st.lists(st.integers(0, 10**6), min_size=1, max_size=30)


@small
@settings(derandomize=True, deadline=None, max_examples=50)
@given(times, st.integers(1, 4))
def test_joining_the_parts_gives_back_the_whole(seconds, n):
    seconds = sorted(seconds)
    w = make([s - seconds[0] for s in seconds], nodes=[1] * len(seconds))
    try:
        parts = op.split(w, n)
    except InputError:  # an empty period; the tests above have those
        reject()
    assert sum(len(part) for part in parts) == len(w)
    assert all(part.jobs["submit"][0] == 0 for part in parts)
    whole = op.join(parts)
    assert_frame_equal(whole.jobs, w.jobs)
    assert whole.epoch == w.epoch


def test_a_real_log_in_parts(data):
    """KTH in 16 parts of some three weeks, as Kopański & Rządca (2021) cut it, and whole again."""
    w = workload.read(data / "swf" / "KTH-SP2-1996-2.1-cln.swf.gz")
    parts = op.split(w, 16)
    assert sum(len(part) for part in parts) == 28467
    assert {round((part.jobs["submit"][-1]) / 86400) for part in parts} <= {20, 21}
    whole = op.join(parts)
    assert_frame_equal(whole.jobs, w.jobs)
    assert (whole.records, whole.dropped, whole.sha256) == (w.records, w.dropped, w.sha256)
