"""Every recipe of the cookbook gives the starts of an implementation of its own, which shares no code with forebay."""

import importlib.util
import random
import re
from pathlib import Path

import numpy as np
import pytest

import forebay as fb
from cases.chunks import chunks
from forebay.testing import check_policy
from forebay.workload.workload import job_table
from twins import cookbook

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples" / "cookbook"
PAGE = (ROOT / "docs" / "guides" / "cookbook.md").read_text(encoding="utf-8")
RECIPES = {
    "Easy": ("easy", {}),
    "Conservative": ("conservative", {}),
    "SmallestArea": ("smallest_area", {}),
    "ExpansionFactor": ("expansion_factor", {}),
    "Wfp3": ("wfp3", {}),
    "Unicef": ("wfp3", {}),
    "Learned": ("learned", {"function": 1}),
    "Learned 2": ("learned", {"function": 2}),
    "Learned 3": ("learned", {"function": 3}),
    "Learned 4": ("learned", {"function": 4}),
    "EasyPlusPlus": ("easy_plus_plus", {}),
    "Selective": ("selective", {}),
    "Relaxed": ("relaxed", {"slack": 0.5}),
    "Lookahead": ("lookahead", {}),
    "SlackBased": ("slack_based", {"slack": 0.5, "least": 20.0}),
    "Heft": ("heft", {}),
}
ONLY_NODES = {"Lookahead"}
"""What it chooses by its nodes alone: with buffers its knapsack would have a side more."""


def load(name):
    file, options = RECIPES[name]
    spec = importlib.util.spec_from_file_location(f"cookbook_{file}", FOLDER / f"{file}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name.partition(" ")[0])(**options)


def make(seed, buffers):
    """Some dozen jobs of whole seconds, on a machine that is mostly too small for them."""
    rng = random.Random(f"recipe {seed}")
    capacity = rng.randint(3, 10), rng.randint(4, 12) if buffers else 0
    jobs, time = [], 0
    for number in range(1, rng.randint(6, 22)):
        time += rng.choice((0, 0, 1, 3, 8, 40))
        walltime = rng.choice((rng.randint(1, 30), rng.randint(30, 400)))
        run_time = rng.randint(1, walltime)
        demand = rng.randint(1, capacity[0]), rng.choice((0, rng.randint(0, capacity[1])))
        jobs.append(cookbook.Job(number, float(time), float(walltime), float(run_time), demand, rng.randint(0, 2)))
    return jobs, capacity


def simulated(jobs, capacity, policy):
    table = job_table(
        {
            "id": np.array([job.id for job in jobs]),
            "submit": np.array([job.submit for job in jobs]),
            "walltime": np.array([job.walltime for job in jobs]),
            "run_time": np.array([job.run_time for job in jobs]),
            "nodes": np.array([job.demand[0] for job in jobs]),
            "burst_buffer": np.array([job.demand[1] for job in jobs]),
            "user": np.array([job.user for job in jobs]),
        }
    )
    buffer = f",burst_buffer={capacity[1]}B" if capacity[1] else ""
    result = fb.simulate(fb.Workload("recipe", table), f"flat:nodes={capacity[0]}{buffer}", policy)
    return dict(result.jobs.select("job_id", "starting_time").iter_rows())


@pytest.mark.small
@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("chunk", chunks(1, 4))
def test_a_recipe_starts_jobs_as_its_twin_does(name, chunk):
    for seed in range(25 * chunk, 25 * chunk + 25):
        jobs, capacity = make(seed, buffers=name not in ONLY_NODES and seed % 2 == 0)
        mine = simulated(jobs, capacity, load(name))
        twin = getattr(cookbook, name.partition(" ")[0])(jobs, capacity, **RECIPES[name][1])
        assert mine == twin.run(), seed


@pytest.mark.parametrize("n_cases", [8, pytest.param(25, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_keeps_the_contract(name, n_cases):
    report = check_policy(load(name), n_cases=n_cases)
    assert report.passed, report.explanation


@pytest.mark.small
def test_the_page_names_every_recipe_and_each_is_short():
    for path in FOLDER.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) < 40, path.name
        assert f"../../examples/cookbook/{path.name}" in PAGE, path.name
        assert re.search(r"\b(19|20)\d\d\b", text.split('"""')[1]), f"{path.name}: of which year?"
    assert {file for file, _ in RECIPES.values()} == {path.stem for path in FOLDER.glob("*.py")}
