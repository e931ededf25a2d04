"""Cleaning: each kind of oddity by hand, that nothing of it is left, and that what may be true stays."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import forebay as fb
from forebay.core.schemas import PHASE_SCHEMA
from forebay.errors import InputError
from forebay.workload._checks.oddities import findings
from forebay.workload.cleaning import clean
from forebay.workload.workload import Workload, job_table

small = pytest.mark.small

HOUR, DAY = 3600.0, 86400.0
CLEANED = ("wider", "without any work", "not above 0", "flurr")


def workload(n=6, **columns):
    """An hourly job, by users in turn."""
    jobs = {"id": np.arange(1, n + 1), "submit": np.arange(n) * HOUR, "walltime": np.full(n, 100.0)}
    jobs |= {"run_time": np.full(n, 60.0), "nodes": np.ones(n, int), "user": np.arange(n) % 5}
    return Workload("w", job_table(jobs | columns).sort("submit", "id"), epoch=1000.0, provenance=("made",))


def left(w, n_nodes=4):
    """What is still found of the kinds that cleaning is for."""
    return [text for text in findings(w, n_nodes) if any(word in text for word in CLEANED)]


@small
def test_a_sound_workload_is_left_alone_and_that_is_said():
    w = workload(240)
    assert_frame_equal(clean(w, 4).jobs, w.jobs)
    assert clean(w, 4).provenance == ("made", "cleaned: nothing to do")


@small
def test_jobs_that_cannot_run_go_and_the_rest_begins_at_0():
    w = workload(nodes=[9, 1, 5, 4, 1, 1], run_time=[60.0, 60.0, 60.0, 60.0, 0.0, -5.0])
    cleaned = clean(w, 4)
    assert cleaned.jobs.select("id", "submit").rows() == [(2, 0.0), (4, 2 * HOUR)]
    assert cleaned.epoch == 1000 + HOUR
    assert cleaned.provenance == (
        "made",
        "cleaned: dropped 2 jobs wider than the machine's 4 nodes",
        "cleaned: dropped 2 jobs without work",
    )
    assert left(cleaned) == []


@small
def test_walltimes_of_nothing_become_the_run_time_or_no_limit():
    w = workload(walltime=[0.0, -1.0, 100.0, 0.0, 0.0, 5.0], flop=[0.0, 0.0, 0.0, 1e9, 0.0, 0.0])
    phases = pl.DataFrame([(5, 0, "compute", 60.0, 0.0, 0.0, 0.0, None)], PHASE_SCHEMA, orient="row")
    cleaned = clean(replace(w, phases=phases), 4)
    assert cleaned.jobs["walltime"].to_list() == [60, 60, 100, math.inf, math.inf, 5]
    assert cleaned.provenance[1:] == (
        "cleaned: 4 walltimes not above 0 taken as the run time, or as no limit where that is not in seconds",
    )


def flurried(days):
    """60 jobs by five users, evenly; user 7 submits 900 jobs in 2 h 30 min of the first day, user 8 150 of the last."""
    quiet = np.linspace(0, days * DAY - 1, 60)
    submit = np.concatenate([quiet, 3 * HOUR + np.arange(900) * 10.0, (days - 1) * DAY + np.arange(150) * 9.0])
    user = np.concatenate([np.arange(60) % 5, np.full(900, 7), np.full(150, 8)])
    return workload(len(submit), submit=submit, user=user)


@small
def test_flurries_go_until_none_is_left():
    """In two days: against 960 jobs of others the 150 of user 8 are few, against 60 they are a flurry."""
    w = flurried(2)
    assert len(left(w)) == 1
    cleaned = clean(w, 4)
    assert cleaned.provenance[1:] == (
        "cleaned: dropped 900 jobs of 1 flurry; the largest is 900 jobs of user 7 (81 % of all), nine tenths of them "
        "within 2 h 15 min, from 3 h after the first job on",
        "cleaned: dropped 150 jobs of 1 flurry; the largest is 150 jobs of user 8 (71 % of all), nine tenths of them "
        "within 20 min 6 s, from 1 d after the first job on",
    )
    assert len(cleaned) == 60
    assert left(cleaned) == []


@small
def test_several_flurries_of_one_pass_are_one_line():
    cleaned = clean(flurried(60), 4)
    [line] = cleaned.provenance[1:]
    assert line.startswith("cleaned: dropped 1,050 jobs of 2 flurries; the largest is 900 jobs of user 7 (81 % of all)")


@small
def test_steps_of_dropped_jobs_go_with_them():
    phases = pl.DataFrame(
        [(job, 0, "compute", 60.0, 0.0, 0.0, 0.0, None) for job in range(1, 7)], PHASE_SCHEMA, orient="row"
    )
    w = replace(workload(nodes=[1, 9, 1, 1, 9, 1]), phases=phases)
    assert clean(w, 4).phases["job"].to_list() == [1, 3, 4, 6]


@small
def test_without_a_machine_no_job_is_too_wide_and_that_is_noted():
    cleaned = clean(workload(nodes=[1, 10**6, 1, 1, 1, 1]))
    assert len(cleaned) == 6
    assert cleaned.notes == ("the machine's size is not known: wide jobs are not looked for",)
    assert cleaned.provenance[-1] == "cleaned: nothing to do"


@small
def test_nothing_left_is_refused():
    with pytest.raises(InputError, match=r"w: cleaning leaves no job \(all 6 wider than the machine's 4 nodes\)"):
        clean(workload(nodes=[9] * 6), 4)


@small
def test_what_may_be_true_stays():
    submit = np.arange(240) * HOUR + np.where(np.arange(240) < 120, 0, 30 * DAY)
    w = workload(240, submit=submit, run_time=np.full(240, 9000.0), walltime=np.full(240, 9000.0))
    w = replace(w, jobs=w.jobs.with_columns(walltime=pl.when(pl.col("id") < 9).then(100.0).otherwise("walltime")))
    assert len(findings(w, 4)) == 3  # a gap, overruns, perfect estimates
    assert_frame_equal(clean(w, 4).jobs, w.jobs)


@small
@settings(derandomize=True, deadline=None, max_examples=30)
@given(st.integers(0, 10**6))
def test_nothing_that_cleaning_is_for_is_found_afterwards(seed):
    rng = np.random.default_rng(seed)
    days = rng.choice(60, 900, p=rng.dirichlet(np.full(60, 0.02)))
    columns = {
        "submit": days * DAY + rng.integers(0, 86400, 900),
        "user": rng.choice(6, 900, p=rng.dirichlet(np.full(6, 0.3))) - 1,
        "nodes": rng.integers(1, 6, 900),
        "run_time": rng.integers(-1, 40, 900).astype(float),
        "walltime": rng.integers(-1, 40, 900).astype(float),
    }
    try:
        cleaned = clean(workload(900, **columns), 4)
    except InputError:  # all jobs are of flurries; the tests above have that
        reject()
    assert left(cleaned) == []
    assert cleaned.jobs["submit"][0] == 0
    assert clean(cleaned, 4).provenance[-1] == "cleaned: nothing to do"


def test_real_traces_that_were_cleaned_by_their_archive_stay_as_they_are(data):
    w = fb.read(data / "swf" / "KTH-SP2-1996-2.1-cln.swf.gz")
    assert clean(w, 100).provenance[-1] == "cleaned: nothing to do"
    assert clean(w, 64).provenance[-1].startswith("cleaned: dropped 3")
