"""Logs that contradict themselves never reach compiled code, which looks rows up by number."""

import dataclasses

import polars as pl
import pytest

import forebay as fb
from forebay.errors import InputError

pytestmark = pytest.mark.small


def test_what_ends_before_it_began_is_refused():
    # Job 1 holds nodes from 0 on. Here its end comes before its start.
    result = fb.simulate("table1", policy="fcfs")
    job = result.log.filter(kind="start")["job"][-1]
    late = pl.when((pl.col("job") == job) & (pl.col("kind") == "end")).then(-1e6).otherwise("time")
    log = result.log.with_columns(time=late)
    with pytest.raises(InputError, match="contradicts itself"):
        fb.explain.reasons(dataclasses.replace(result, log=log))


def test_times_that_are_none_are_refused():
    result = fb.simulate("table1", policy="fcfs")
    log = result.log.with_columns(time=pl.when(pl.col("kind") == "submit").then(float("nan")).otherwise("time"))
    with pytest.raises(InputError, match="contradicts itself"):
        fb.explain.reasons(dataclasses.replace(result, log=log))
