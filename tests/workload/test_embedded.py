"""Embedded workloads: the paper's table as printed, and a made-up trace that stays as it is and is as it says."""

import hashlib

import numpy as np
import pytest

from forebay.platforms import load
from forebay.workload import models
from forebay.workload.embedded import default, table1
from forebay.workload.info import describe

pytestmark = pytest.mark.small


def test_table1_is_the_papers_table():
    printed = [  # job, submit [min], run time [min], CPU, BB [TB]
        (1, 0, 10, 1, 4),
        (2, 0, 4, 1, 2),
        (3, 1, 1, 3, 8),
        (4, 2, 3, 2, 4),
        (5, 3, 1, 3, 4),
        (6, 3, 1, 2, 2),
        (7, 4, 5, 1, 2),
        (8, 4, 3, 2, 4),
    ]
    w = table1.make()
    rows = w.jobs.select("id", "submit", "run_time", "nodes", "burst_buffer").rows()
    assert rows == [(job, 60.0 * s, 60.0 * r, n, bb * 10**12) for job, s, r, n, bb in printed]
    assert w.jobs["walltime"].to_list() == w.jobs["run_time"].to_list()
    assert (w.name, w.platform, w.resources, w.records) == ("table1", "table1", ("burst_buffer",), 8)


def test_default_stays_as_it_is():
    """Results that people compare hang on these jobs: a change here changes every number made from them."""
    columns = default.make().jobs.get_columns()
    bytes_of = b"".join(column.name.encode() + column.to_numpy().astype("<f8").tobytes() for column in columns)
    assert hashlib.sha256(bytes_of).hexdigest() == "b4a67326710e0f0287a981e91e11f2dff0b7d4a151c2cf61fb95bcb4b1ec76d4"


def test_default_is_as_its_description_says():
    w = default.make()
    facts = describe(w, 96)
    assert (facts["jobs"], facts["users"], w.platform) == (3000, 60, "dragonfly-96")
    asked = load("dragonfly-96")
    assert (asked.nodes, dict(zip(asked.resources, asked.capacities, strict=True))["burst_buffer"]) == (96, 480 * 10**9)
    # lublin99 sets the load before I/O is taken off the run times (kappa = 40).
    assert 0.77 < facts["offered_load"] < 0.8
    assert facts["findings"] == []
    assert facts["nodes"]["max"] <= 96
    assert facts["estimates"]["jobs_past_walltime"] == 0
    assert w.jobs["submit"].is_sorted()
    assert w.jobs["submit"][0] == 0


def test_default_is_made_by_the_models_of_that_name():
    """The three models again, by their own names; rounding, which makes it the same on every machine, aside."""
    spec = f"lublin99:jobs={default.N_JOBS},nodes={default.N_NODES},load={default.LOAD},longest=24h"
    made = models.attach(
        models.generate(spec, default.SEED), ("tsafrir05", "burst-buffer", "io-phases"), default.SEED
    ).jobs
    jobs = default.make().jobs
    for column in ("id", "submit", "walltime", "nodes"):
        assert jobs[column].to_list() == made[column].to_list()
    for column, close in (("run_time", 0.0005), ("burst_buffer", 1000), ("communication", 0.5)):
        assert np.abs(jobs[column].to_numpy() - made[column].to_numpy()).max() <= close


def test_default_has_busy_users_and_idle_ones():
    counts = default.make().jobs["user"].value_counts(sort=True)["count"].to_list()
    assert counts[0] > 3 * counts[5]  # Zipf: six times, on average
    assert len(counts) == default.N_USERS
