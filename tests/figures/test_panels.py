"""Figures of plain numbers, which studies draw: a picture and its data, the same bytes each time."""

import pkgutil
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import forebay as fb
from forebay import figures
from forebay.figures import _header, _plan, _style, letter_values, panels
from forebay.figures.panels import against, bars, boxes, changes, density, means, spreads, stacks, tails
from forebay.figures.panels.timelines import admissions, over_time, schedules
from forebay.figures.panels.times import against as against_record
from forebay.figures.panels.times import gaps, moving
from forebay.workload.workload import Workload, job_table

pytestmark = pytest.mark.small


def log_x(axis, least, largest):
    _style.log_axis(axis, "x", least, largest)


def some_means(path, values=(5.0, 8.0, 4000.0)):
    rows = [means.Mean(f"p{k}", value, value / 5 if k else None, 4.0 if k else None) for k, value in enumerate(values)]
    return means.draw(rows, path, "wait (h)", 1.0, "mean of 3 draws")


def some_tails(path):
    return tails.draw({"a": np.arange(1.0, 50.0), "b": np.array([7.0])}, path, "the longest", log_x, 10)


def some_boxes(path):
    table = pl.DataFrame({"policy": ["a"] * 5 + ["b"], "part": range(6), "ratio": [0.5, 0.6, 0.7, 0.8, 3.0, 1.0]})
    return boxes.draw(table, path, "ratio", {"a": 0.65})


def some_against(path):
    columns = {"job_model": ["x", "x", "y"], "policy": ["a", "b", "a"], "part": [3, 3, 5]}
    table = pl.DataFrame(columns | {"as_given": [True, False, True], "ratio": [1.0, 2.5, 0.9]})
    return against.draw(table, path, "ours / published")


def some_choices(path):
    columns = {"job_model": ["x"] * 3, "policy": ["a"] * 3, "choice": ["counted", "pooled", "counted"]}
    table = pl.DataFrame(columns | {"as_given": [True, True, False], "ratio": [1.0, 0.6, 0.9]})
    return against.draw(table, path, "divided by pinned", "choice")


def some_bars(path):
    pairs = [(jobs, policy) for jobs in ("100", "200") for policy in ("a", "b")]
    found = [bars.Bar("x", jobs, policy, 5.0, 9.0 if policy == "a" else None, 4.0) for jobs, policy in pairs]
    return bars.draw(found, path, "time (min)", "jobs")


def some_steps(path):
    lines = {"CPU": (np.arange(5.0), np.linspace(0, 1, 5)), "file system": (np.arange(5.0), np.ones(5))}
    return over_time.draw({f"p{k}": lines for k in range(4)}, path, "in use")


def some_admissions(path):
    table = pl.DataFrame({"job": [1, 2], "submit": [0.0, 0.0], "start": [0.0, 60.0], "end": [60.0, 90.0]})
    return admissions.draw({"a": table, "b": table}, path)


def some_spreads(path):
    values = {"a": np.arange(20.0), "b": np.append(np.arange(20.0), 500.0)}
    return spreads.draw({"turnaround": values, "queue": values}, path, "hours")


def some_density(path):
    table = pl.DataFrame({"job": range(50), "x": np.linspace(0, 9, 50), "y": np.linspace(3, 5, 50)})
    return density.draw(table, path, {"x": "computing", "y": "writing", "job": "job"})


def some_changes(path):
    pairs = [(panel, row) for panel in ("flow", "use") for row in ("1 h", "2 h")]
    found = [
        changes.Change(panel, row, name, 3.0, 1.0 if row == "1 h" else None) for panel, row in pairs for name in "ab"
    ]
    return changes.draw(found, path, "mean time between failures")


def some_stacks(path):
    parts = {"useful": 60.0, "lost": 15.0, "idle": 25.0}
    found = [stacks.Stack(panel, "1 h", policy, parts) for panel in "xy" for policy in ("a", "b")]
    return stacks.draw(found, path, "node-time (%)", "mean time between failures")


def letters(path):
    return letter_values.draw_values({"a": np.geomspace(1, 1e4, 500)}, path, "slowdown", log_x)


def job_by_job(path):
    waits = np.array([0.0, 0.0, 60.0, 7200.0, 9e5])
    return _plan.save(against_record.plan(waits, waits[::-1]), path)


def waits_over_time(path):
    table = {"time": [0.0, 60.0], "jobs": [3, 2], "recorded": [500.0, 4000.0], "simulated": [0.0, 900.0]}
    return _plan.save(moving.plan(pl.DataFrame(table), 240.0, None), path)


def above_bounds(path):
    columns = {"metric": ["mean_wait", "mean_wait", "makespan"], "row": ["a", "b", "a"]}
    table = pl.DataFrame(columns | {"ratio": [2.5, None, 1.0], "best": [1.2, None, None]})
    return _plan.save(gaps.plan(table, "times the bound"), path)


EVERY = [
    job_by_job,
    waits_over_time,
    above_bounds,
    some_means,
    some_tails,
    some_boxes,
    some_against,
    some_choices,
    some_bars,
    some_steps,
    some_admissions,
    some_spreads,
    some_density,
    some_changes,
    some_stacks,
    letters,
]


def test_panels_are_no_figures_of_runs():
    assert "panels" not in figures.names()
    for module in pkgutil.walk_packages(panels.__path__, "forebay.figures.panels."):
        assert module.ispkg or any(hasattr(import_module(module.name), name) for name in ("draw", "plan"))


@pytest.mark.parametrize("draw", EVERY)
def test_a_picture_and_its_data(draw, tmp_path):
    files = draw(tmp_path / "a.svg")
    assert sorted(files) == sorted(tmp_path.iterdir())
    assert "</svg>" in files[0].read_text(encoding="utf-8")
    assert len(pl.read_csv(files[1]).columns) > 2
    first = [file.read_bytes() for file in files]
    assert [file.read_bytes() for file in draw(tmp_path / "a.svg")] == first


DRAW = r"_style\.write\(figure, path, .*, _header\.caption\)"


@pytest.mark.parametrize("draw", EVERY)
def test_the_line_of_the_block_stands_above(draw, tmp_path):
    with _header.telling(["kth", "cluster, 4 nodes", ""]):
        assert ">kth · cluster, 4 nodes<" in draw(tmp_path / "a.svg")[0].read_text(encoding="utf-8")
    assert "cluster" not in draw(tmp_path / "a.svg")[0].read_text(encoding="utf-8")


def test_every_panel_has_it():
    for path in Path(panels.__file__).parent.rglob("[!_]*.py"):
        text = path.read_text(encoding="utf-8")
        assert re.search(DRAW, text) or "def plan(" in text, path  # a plan is drawn by `_plan.save`, with the line


def test_bars_are_stacked_one_upon_the_other(tmp_path):
    table = pl.read_csv(some_stacks(tmp_path / "a.svg")[1])
    assert table.filter(panel="x", policy="b")["value"].to_list() == [60, 15, 25]


def test_several_schedules_have_one_clock(tmp_path):
    """The first ends at 10 s, the second at 20 s, and both have a tick there."""
    nodes, time = np.array([1, 1]), np.array([10.0, 10.0])
    table = {"id": np.array([1, 2]), "submit": np.zeros(2), "walltime": time, "run_time": time, "nodes": nodes}
    jobs = Workload("by hand", job_table(table))
    results = {f"{n} nodes": fb.simulate(jobs, f"flat:nodes={n}", "fcfs") for n in (2, 1)}
    files = schedules.draw(results, tmp_path / "a.svg")
    assert [file.name for file in files] == ["a.svg", "a-1.csv", "a-1-lanes.csv", "a-2.csv", "a-2-lanes.csv"]
    text = files[0].read_text(encoding="utf-8")
    assert all(f">{name}<" in text for name in results)
    assert text.count(">20<") == 2


def test_the_largest_come_first(tmp_path):
    table = pl.read_csv(some_tails(tmp_path / "a.svg")[1])
    assert table.filter(pl.col("policy") == "a")["value"].to_list() == [float(value) for value in range(49, 39, -1)]
    assert table["rank"].to_list() == [*range(1, 11), 1]


def test_means_near_to_one_another_start_at_zero(tmp_path):
    linear, logarithmic = some_means(tmp_path / "a.svg", (5.0, 8.0))[0], some_means(tmp_path / "b.svg")[0]
    assert ">0<" in linear.read_text()
    assert ">1,000<" in logarithmic.read_text()


def test_a_box_ends_where_its_whiskers_do(tmp_path):
    """Quartiles of 0 to 19 and one far out, which lies beyond 1.5 boxes, and counts for the mean alone."""
    row = pl.read_csv(some_spreads(tmp_path / "a.svg")[1]).filter(policy="b", what="queue").row(0, named=True)
    assert (row["quartile_1"], row["median"], row["quartile_3"], row["largest"]) == (5, 10, 15, 19)
    assert row["mean"] == pytest.approx((190 + 500) / 21, abs=1e-5)
