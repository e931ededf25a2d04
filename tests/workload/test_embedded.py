"""Embedded workloads: the paper's table as printed, and a made-up trace that stays as it is and is as it says."""

import hashlib

import numpy as np
import pytest

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
    assert hashlib.sha256(bytes_of).hexdigest() == ("929bdc105c2ceeb17b3006dafdd19be83403dbb705a040a53a2714cb6599c34f")


def test_default_is_as_its_description_says():
    w = default.make()
    facts = describe(w)
    assert (facts["jobs"], facts["users"], facts["machine_nodes"]) == (3000, 60, 96)
    assert w.platform == "flat:nodes=96,burst_buffer=480GB"
    assert facts["offered_load"] == pytest.approx(0.88, abs=1e-3)
    assert facts["serial_share"] == pytest.approx(0.24, abs=0.02)
    assert facts["power_of_two_share"] > 0.75
    assert facts["nodes"]["max"] <= 96
    assert (facts["run_time"]["min"], facts["run_time"]["max"]) == (10, 86400)
    assert facts["run_time"]["mean"] > 4 * facts["run_time"]["median"]  # a long tail
    assert 0.02 < facts["estimates"]["jobs_past_walltime"] / 3000 < 0.05
    assert w.jobs["walltime"].max() == 86400
    assert w.jobs["submit"].is_sorted()
    assert w.jobs["submit"][0] == 0


def test_default_follows_the_day_its_users_and_its_fit():
    jobs = default.make().jobs
    hour = (jobs["submit"].to_numpy() // 3600) % 24
    assert (np.isin(hour, range(9, 17))).mean() > 2 * (np.isin(hour, range(0, 8))).mean()
    counts = jobs["user"].value_counts(sort=True)["count"].to_list()
    assert counts[0] > 3 * counts[5]  # Zipf: six times, on average
    assert np.corrcoef(np.log(jobs["nodes"]), np.log(jobs["run_time"]))[0, 1] == pytest.approx(0.15, abs=0.1)
    per_node = (jobs["burst_buffer"] / jobs["nodes"]).to_numpy()
    tests = jobs["walltime"].to_numpy() <= 120
    assert tests.sum() > 10
    assert (per_node[tests] == 10e6).all()
    assert per_node[~tests].min() >= 100e6
    assert jobs["burst_buffer"].max() == 480 * 10**9
    # the median of loc + scale * lognormal is loc + scale
    assert np.median(per_node[~tests]) == pytest.approx(1024 * (2714115.57 - 150361.60), rel=0.05)
