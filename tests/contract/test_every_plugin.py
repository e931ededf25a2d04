"""Every plug-in of every group can be found, described and used: a file dropped into a folder is all it takes."""

import pytest
from polars.testing import assert_frame_equal

import forebay as fb
from forebay import _plugins, policies
from forebay.errors import InputError
from forebay.policies._families.backfill import Backfill

pytestmark = pytest.mark.small


@pytest.mark.parametrize("name", policies.names())
def test_policies_describe_themselves(name):
    about = policies.describe(name)
    assert len(about["description"]) > 20
    assert about["description"].endswith(".")
    if isinstance(policies.load(name), Backfill):
        assert set(about["parameters"]) >= {"depth", "max_backfill", "reserve"}


@pytest.mark.parametrize("name", _plugins.names("workload.embedded"))
def test_embedded_workloads_run_on_their_own_machine(name):
    workload = fb.read(name)
    assert workload.platform is not None
    assert len(workload) > 0
    assert fb.platform(workload.platform).nodes > 0
    assert_frame_equal(workload.jobs, fb.read(name).jobs)


@pytest.mark.parametrize("name", _plugins.names("workload.formats"))
def test_formats_read_back_what_they_write(name, tmp_path):
    module = _plugins.load("workload.formats", name, "format")
    workload = fb.read("table1")
    for suffix in module.SUFFIXES:
        path = tmp_path / f"x{suffix}"
        if name == "slurm-events":  # what another program writes, and nothing but it reads
            with pytest.raises(fb.ForebayError, match="are read, not written"):
                fb.write(workload, path)
            assert not path.exists()
            continue
        notes = fb.write(workload, path)
        again = fb.read(path)
        common = [column for column in workload.jobs.columns if column in again.jobs.columns]
        assert {"id", "submit", "walltime", "run_time", "nodes"} <= set(common)
        numbers = ["id", "submit", "walltime", "run_time", "nodes"]
        assert_frame_equal(again.jobs.select(numbers), workload.jobs.select(numbers))
        lost = set(workload.jobs.columns) - set(common)
        assert bool(notes) or not lost, f"{name} loses {lost} without a word"


@pytest.mark.parametrize("group", ["platforms.presets", "platforms.tiers", "platforms.topologies", "engine.jobmodels"])
def test_other_plugins_say_what_they_are(group):
    for name in _plugins.names(group):
        module = _plugins.load(group, name, group)
        text = getattr(module, "DESCRIPTION", None) or (module.__doc__ or "").strip()
        assert len(text) > 20, name


def test_a_misspelt_policy_gets_its_neighbours():
    with pytest.raises(InputError, match="fcfs-easy"):
        policies.load("fcfs-esay")


def test_a_misspelt_parameter_gets_its_neighbours():
    with pytest.raises(InputError, match="max_backfill"):
        policies.load("fcfs-bb:max_backfil=3")


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("fcfs-bb:depth=two", "whole number or 'all'"),
        ("fcfs-bb:depth=-1", "from 0 up"),
        ("fcfs-bb:depth", "key=value"),
        ("fcfs-bb:depth=1,depth=2", "given twice"),
        ("priority:order=colour", "did you mean|known"),
        ("priority:descending=maybe", "true or false"),
        ("nowhere/mine.py:Mine", "no such file"),
    ],
)
def test_bad_policy_specs_are_refused(spec, says):
    with pytest.raises(InputError, match=says):
        policies.load(spec)


def test_a_policy_of_ones_own_needs_decide(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("class Mine:\n    pass\n")
    with pytest.raises(InputError, match="decide"):
        policies.load(f"{path}:Mine")
    with pytest.raises(InputError, match="did you mean 'Mine'"):
        policies.load(f"{path}:Mime")


def test_a_policy_of_ones_own_takes_parameters(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "class Mine:\n"
        "    def __init__(self, patience: int = 3, eager: bool = False):\n"
        "        self.patience, self.eager = patience, eager\n"
        "    def decide(self, view, act):\n"
        "        [act.start(job) for job in view.queue if act.fits(job)]\n"
    )
    mine = policies.load(f"{path}:Mine:patience=5,eager=true")
    assert (mine.patience, mine.eager) == (5, True)
    filler = fb.simulate(fb.read("table1"), policy="filler")
    assert_frame_equal(fb.simulate(fb.read("table1"), policy=mine).jobs, filler.jobs, check_exact=True)
