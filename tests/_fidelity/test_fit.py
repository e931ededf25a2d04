"""What a record leaves open: hidden in a trace that is made on purpose, and found again."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import forebay as fb
from forebay import platforms
from forebay._fidelity._use import Use, summed
from forebay._fidelity.fit import guesses
from forebay._fidelity.fit.record import MOMENTS, record
from forebay.errors import InputError

pytestmark = pytest.mark.small

N = 160
USERS, QUEUES = {k: f"u{k}" for k in range(1, 6)}, {0: "a", 1: "b"}


def jobs(nodes, seed=1):
    """Jobs of five users in two queues, without starts."""
    rng = np.random.default_rng(seed)
    run = rng.lognormal(7.6, 0.9, N).round() + 60
    columns = {"id": range(1, N + 1), "submit": np.sort(rng.uniform(0, N * 900, N)).round(), "run_time": run}
    columns |= {"walltime": 2 * run, "nodes": rng.integers(1, 4, N), "user": rng.integers(1, 6, N)}
    columns |= {"queue": rng.integers(0, 2, N)}
    names = {"user": USERS, "queue": QUEUES}
    return fb.Workload("made", fb.workload.job_table(columns), platform=f"flat:nodes={nodes}", names=names)


def recorded(w, held=(), **site):
    """The same with the starts that a site with more of it gives, some jobs being held for 20,000 s."""
    machine = platforms.load(w.platform)
    values = {field: getattr(machine, field) for field in type(machine).model_fields}
    later = pl.when(pl.col("id").is_in(list(held))).then(pl.col("submit") + 20000).otherwise("submit")
    late = replace(w, jobs=w.jobs.with_columns(submit=later).sort("submit", "id"))
    result = fb.simulate(late, type(machine).model_validate({**values, **site}), "fcfs-easy")
    starts = result.jobs.select(id="job_id", recorded_start="starting_time")
    return replace(w, jobs=w.jobs.join(starts, on="id", how="left", maintain_order="left"))


@pytest.mark.parametrize(
    "limit", [{"MaxJobsPerUser": 2}, {"partition": "a", "MaxTRESPerUser": "node=3"}, {"partition": "b", "GrpJobs": 1}]
)
def test_a_limit_is_found_again(limit, tmp_path):
    w = recorded(jobs(8), limits=(limit,))
    plain = fb.fidelity(w, policy="fcfs-easy")
    found = plain.fitted()
    assert plain.numbers["mean_absolute_error"] > 30
    assert found.numbers["mean_absolute_error"] == 0
    assert [one.rule for one in found.fit.kept] == [platforms.Rule.model_validate(limit)]
    assert found.fit.before[0] > found.fit.after[0] == found.fit.after[1] == 0
    # The lines that are written give the same machine.
    (tmp_path / "site.toml").write_text("nodes = 8\n" + found.fit.toml)
    again = fb.fidelity(w, tmp_path / "site.toml", "fcfs-easy")
    assert again.numbers["mean_absolute_error"] == 0


def test_jobs_that_were_held_are_found_and_do_not_count():
    held = [5, 20, 41, 77, 90, 120, 150]
    w = recorded(jobs(14), held)
    found = fb.fidelity(w, policy="fcfs-easy").fitted()
    assert set(held) <= set(found.fit.held)
    assert len(found.fit.held) <= len(held) + 2
    others = found.fit.trials[-1]
    assert others.kept
    assert found.numbers["n_jobs"] == N - len(found.fit.held)
    assert found.fit.after[0] <= found.fit.before[0]
    assert found.numbers["mean_absolute_error"] < 60


def test_nodes_out_of_service_are_found():
    w = recorded(
        jobs(9), reservations=({"name": "o", "start": 30000.0, "end": 100000.0, "nodes": 5, "flags": ["maint"]},)
    )
    found = fb.fidelity(w, policy="fcfs-easy").fitted()
    (kept,) = [one for one in found.fit.kept if one.outages]
    assert max(one.nodes for one in kept.outages) == 5
    # Windows of six hours: one of them begins before, and is half of the truth.
    assert all(24000 < one.start < one.end < 110000 for one in kept.outages)
    assert found.fit.after[1] < 0.7 * found.fit.trials[0].second


def test_nodes_that_were_never_there():
    w = replace(recorded(jobs(7)), platform="flat:nodes=9")
    found = fb.fidelity(w, policy="fcfs-easy").fitted()
    assert found.fit.platform.nodes == 7
    assert found.numbers["mean_absolute_error"] == 0
    assert found.fit.toml == "# nodes = 7\n"


def test_nothing_is_assumed_where_the_simulation_is_right():
    found = fb.fidelity(recorded(jobs(8)), policy="fcfs-easy").fitted()
    assert (list(found.fit.kept), list(found.fit.held)) == ([], [])
    assert not any(one.kept for one in found.fit.trials)
    assert found.numbers["mean_absolute_error"] == 0


def test_room_by_hand():
    """Four nodes, of which job 1 has three until 100; job 2 waits for one node from 10 to 110, job 3 for two."""
    columns = {"id": [1, 2, 3], "submit": [0, 10, 10], "run_time": [100, 50, 50], "walltime": [200] * 3}
    table = fb.workload.job_table(columns | {"nodes": [3, 1, 2], "user": [1, 1, 2]})
    table = table.with_columns(recorded_start=pl.Series([0.0, 110.0, 110.0]))
    edges, held = np.array([0.0, 100, 110, 110, 160, 160]), np.array([3.0, -3, 1, 2, -1, -2])
    use = Use(summed(edges, held), summed(edges, held), 4, "nodes", (0.0, 10.0))
    found = record(table, table["nodes"], use, {}, 1)
    assert found.room.sum(axis=1).tolist() == [MOMENTS, round(MOMENTS * 0.1)]
    limits = {one.text: one.explains for one in guesses._of_each(found, "", -1)}
    # User 1 has one job at a time: job 2 waits for that for 90 s of the 100, though there is a node for it.
    assert limits == {"MaxJobsPerUser=1": (2,), "MaxTRESPerUser=node=3": (2,)}
    assert guesses.begins(found, [], [2, 3]) == {}  # below ten minutes


def test_what_is_written_and_shown(tmp_path):
    found = fb.fidelity(recorded(jobs(8), limits=({"MaxJobsPerUser": 2},)), policy="fcfs-easy").fitted()
    found.save(tmp_path / "out")
    assert (tmp_path / "out/fitted.toml").read_text() == "[[limits]]\nMaxJobsPerUser = 2\n"
    kept = json.loads((tmp_path / "out/fidelity.json").read_text())["fit"]
    assert kept["assumed"] == ["MaxJobsPerUser=2"]
    assert kept["error_after"] == {"first_half": 0, "second_half": 0}
    assert "MaxJobsPerUser=2" in found.to_markdown("fit")
    with pytest.raises(InputError, match="is fitted already"):
        found.fitted()
    assert "MaxJobsPerUser=2" in (tmp_path / "out/report.html").read_text()
