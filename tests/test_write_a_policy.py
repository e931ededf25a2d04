"""The guide to one's own policy holds: its policies keep the contract, and its numbers are those of real runs."""

import dataclasses
import importlib.util
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import forebay as fb
from cases import pooled
from forebay.testing import check_policy
from forebay.workload.embedded import default
from forebay.workload.workload import job_table

ROOT = Path(__file__).parents[1]
GUIDES = ROOT / "docs" / "guides"
PAGES = ("write-a-policy.md", "write-a-policy/more.md", "write-a-policy/check.md")
GUIDE = "\n".join((GUIDES / page).read_text(encoding="utf-8") for page in PAGES)
BLOCKS = re.findall(r"^```python\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
MEASURES = ("mean_waiting_time", "max_waiting_time", "mean_bounded_slowdown_10min")


def example():
    spec = importlib.util.spec_from_file_location("own_policy", ROOT / "examples" / "own_policy.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.small
def test_the_guide_shows_the_example():
    shown = next(block for block in BLOCKS if "class Patient" in block)
    assert shown.split("class Patient")[1].strip() in (ROOT / "examples" / "own_policy.py").read_text(encoding="utf-8")
    assert (ROOT / "examples" / "own_policy.out").read_text(encoding="utf-8") in GUIDE


@pytest.mark.small
def test_a_reservation_counts_what_the_same_decision_starts():
    """Four nodes, and nobody has patience. Job 1 takes three of them until 100 s; job 2, which wants all four, is next.

    Job 3 would take the fourth for 1,000 s. It has to wait, though job 1 starts in the very decision that reserves
    for job 2.
    """
    jobs = job_table(
        {"id": [1, 2, 3], "submit": [0.0] * 3, "nodes": [3, 4, 1]}
        | {name: [100.0, 50.0, 1000.0] for name in ("walltime", "run_time")}
    )
    workload = fb.Workload("three", jobs)
    result = fb.simulate(workload, "flat:nodes=4", example().Patient(patience=0))
    assert result.jobs["starting_time"].to_list() == [0, 100, 150]


FOLDER = ROOT / "examples" / "guide"


def load(file, name):
    spec = importlib.util.spec_from_file_location(f"guide_{file}", FOLDER / f"{file}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


@pytest.mark.small
def test_every_policy_of_the_guide_is_a_file():
    """As the guide shows it, and the guide shows no other."""
    files = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py")}
    shown = [block for block in BLOCKS if "class " in block and "class Patient" not in block and "# runs" not in block]
    assert len(shown) == len(files)
    for block in shown:
        code = block[block.index("class ") :].strip()
        assert any(code in text and text.endswith(code + "\n") for text in files.values()), code


@pytest.mark.parametrize(("file", "name"), [("light_first", "LightFirst"), ("one_writer", "OneWriter")])
def test_policies_that_know_and_steer_io_end_every_job(file, name):
    result = fb.simulate("default", policy=load(file, name)())
    assert result.jobs["final_state"].is_in(["COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED"]).all()


N_CASES = pytest.mark.parametrize("n_cases", [12, pytest.param(40, marks=pytest.mark.full)])


@N_CASES
@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("in_order", "InOrder"),
        ("shortest", "Shortest"),
        ("by_hand", "ByHand"),
        ("growing", "Growing"),
        ("preempting", "Preempting"),
    ],
)
def test_a_policy_of_the_guide_keeps_the_contract(file, name, n_cases):
    report = check_policy(load(file, name), n_cases=n_cases)
    assert report.passed, report.explanation


COMPILED = f"{FOLDER / 'compiled.py'}:Shortest"
"""By its file, so that it is imported and compiled once for all tests here."""


@N_CASES
def test_the_compiled_policy_keeps_the_contract(n_cases):
    """Honours buffers, too: cases have them, pooled and in chunks."""
    report = check_policy(COMPILED, n_cases=n_cases)
    assert report.passed, report.explanation


@pytest.mark.small
def test_the_compiled_policy_starts_what_the_other_does():
    both = load("shortest", "Shortest")(patience=0.005), f"{COMPILED}:patience=0.005"
    for seed in range(20):
        workload, machine = pooled.make(seed, legs=False)
        workload = dataclasses.replace(workload, jobs=workload.jobs.with_columns(id=pl.int_range(1, len(workload) + 1)))
        runs = [fb.simulate(workload, machine, one) for one in both]
        starts = [run.jobs["starting_time"].to_list() for run in runs]
        assert starts[0] == starts[1], seed


@N_CASES
def test_the_example_keeps_the_contract(n_cases):
    """And holds its reservation."""
    report = check_policy(example().Patient(), n_cases=5 * n_cases // 2)
    assert report.passed, report.explanation
    report = check_policy(example().Patient(patience=0.0), n_cases=n_cases, head_never_delayed=True)
    assert report.passed, report.explanation


@pytest.mark.full
def test_the_table_of_further_draws(monkeypatch):
    """Twenty other workloads of the same models: how often each patience beats fcfs-bb, and by which factor."""
    policies = {hours: example().Patient(hours) for hours in (1000, 96, 48, 36)}
    ratios = {hours: [] for hours in policies}
    for seed in range(100, 120):
        monkeypatch.setattr(default, "SEED", seed)
        workload = default.make()

        def measured(policy, workload=workload):
            summary = fb.summary(fb.simulate(workload, policy=policy))
            return np.array([summary[name] for name in MEASURES])

        base = measured("fcfs-bb")
        for hours, policy in policies.items():
            ratios[hours].append(measured(policy) / base)
    rows = []
    for hours in policies:
        wins = (np.array(ratios[hours]) < 1).sum(axis=0)
        means = np.exp(np.log(ratios[hours]).mean(axis=0))
        rows.append(
            f"| {hours} h | " + " | ".join([*(f"{n} of 20" for n in wins), *(f"x {mean:.2f}" for mean in means)]) + " |"
        )
    table = "\n".join(rows)
    assert table in GUIDE, table


@pytest.mark.small
def test_preemption():
    """Job 2 of higher priority comes at 10 and takes the place of job 1, which starts again at 30: 20 + 30 = 50."""
    preempting = load("preempting", "Preempting")
    columns = {"id": [1, 2], "submit": [0.0, 10.0], "walltime": [20.0, 20.0], "run_time": [20.0, 20.0], "nodes": [3, 2]}
    jobs = {name: np.array(values) for name, values in columns.items()} | {"priority": np.array([0.0, 1.0])}
    result = fb.simulate(fb.Workload("two", job_table(jobs)), "flat:nodes=4", preempting())
    assert result.jobs["finish_time"].to_list() == [50, 30]
    assert fb.summary(result)["n_steals"] == 1
