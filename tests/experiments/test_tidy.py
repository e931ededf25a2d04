"""Verdicts of a sweep, by hand: over seeds, against the reference of the same place."""

import pytest

from forebay.experiments import tidy
from forebay.experiments.grid import runs_of
from forebay.results import Record

pytestmark = pytest.mark.small


def finished(keys, waits):
    """Every run of a sweep, with a mean wait by its policy, models and seed."""
    found = []
    for run in runs_of(keys):
        wait = waits(run)
        numbers = {"mean_wait": wait, "p95_wait": 2 * wait, "mean_bounded_slowdown_10min": 1.0}
        summary = numbers | {"utilisation_nodes": 1 - wait / 1000}
        found.append((run, Record({"summary": summary, "facts": {"log_sha256": f"{wait}"}}, {})))
    return found


def test_changes_are_of_means_over_paired_seeds():
    keys = {"workloads": ["table1"], "policies": ["fcfs", "sjf-bb", "filler"], "seeds": 3}
    waits = {"fcfs": [100, 200, 300], "sjf-bb": [50, 101, 149], "filler": [100, 200, 300]}
    found = tidy.combinations(finished(keys, lambda run: waits[run.policy][run.seed]))
    fcfs, sjf, filler = (one.row() for one in found)
    assert (fcfs["verdict"], fcfs["change"]) == (None, None)
    assert (sjf["verdict"], sjf["change"], sjf["seeds"]) == ("better", -0.5, 3)
    assert sjf["low"] < -0.5 < sjf["high"] < 0
    assert (filler["verdict"], filler["change"]) == ("same", 0)
    by_use = found[1].verdict("utilisation_nodes")
    assert by_use.word == ("better" if by_use.low > 0 else "undecided")
    assert by_use.change > 0
    rows = tidy.verdict_rows(found)
    assert [(row["policy"], row["metric"]) for row in rows] == [
        (policy, metric) for policy in ("sjf-bb", "filler") for metric in tidy.JUDGED
    ]


def test_a_single_seed_decides_nothing():
    keys = {"workloads": ["table1"], "policies": ["fcfs", "sjf-bb"]}
    one = tidy.combinations(finished(keys, lambda run: 100 if run.policy == "fcfs" else 50))[1].row()
    assert (one["verdict"], one["change"], one["low"]) == ("undecided", -0.5, None)


def test_jobs_completed_otherwise_have_a_reference_of_their_own():
    """The parameter stands in a model alone: runs that differ in it differ in their jobs."""
    keys = {
        "workloads": ["default"],
        "policies": ["fcfs", "sjf-bb"],
        "models": ["burst-buffer:sigma={share}"],
        "parameters": {"share": [0.5, 1.0]},
    }
    waits = {("fcfs", 0.5): 100, ("fcfs", 1.0): 1000, ("sjf-bb", 0.5): 50, ("sjf-bb", 1.0): 900}
    found = tidy.combinations(finished(keys, lambda run: waits[run.policy, run.tags["share"]]))
    changes = {one.place["share"]: one.row()["change"] for one in found if one.place["policy"] == "sjf-bb"}
    assert changes == pytest.approx({0.5: -0.5, 1.0: -0.1})
