"""A sweep as it is written, and the runs that it stands for; what is wrong is told by file and key."""

from dataclasses import replace
from pathlib import Path

import pytest

from forebay.errors import InputError
from forebay.experiments.grid import read, runs_of
from forebay.experiments.runs import Jobs, workload_of
from forebay.workload import write

pytestmark = pytest.mark.small

GENERATOR = """
import forebay as fb
def make(seed, jobs: int = 5, **more):
    assert more.get("load", 0.5) == 0.5, more
    return fb.workload.models.generate(f"lublin99:jobs={jobs},nodes=8", seed)
def nothing():
    return 1
def wrong(seed):
    return seed
"""


def test_every_combination_is_there_once():
    keys = {"workloads": ["table1", "default"], "policies": ["fcfs", "filler", "fcfs"], "seeds": [3, 5]}
    runs = runs_of(keys | {"platforms": ["flat:nodes=64,burst_buffer=20TB", "table1"]})
    found = {(run.jobs.source, run.platform, run.policy, run.seed) for run in runs}
    assert len(runs) == len(found) == 2 * 2 * 2 * 2
    assert {run.seed for run in runs} == {3, 5}
    assert len({run.name for run in runs}) == len(runs)


def test_a_parameter_stands_for_each_of_its_values_where_it_is_named():
    """depth multiplies one policy alone; nodes is the same in jobs and machine."""
    keys = {
        "generators": ["lublin99:jobs=9,nodes={nodes}"],
        "platforms": ["flat:nodes={nodes}"],
        "policies": ["fcfs-bb:depth={depth}", "fcfs"],
        "parameters": {"depth": [1, 2, 3], "nodes": [8, 16]},
    }
    found = {(run.jobs.source, run.platform, run.policy) for run in runs_of(keys)}
    policies = ("fcfs-bb:depth=1", "fcfs-bb:depth=2", "fcfs-bb:depth=3", "fcfs")
    assert found == {
        (f"lublin99:jobs=9,nodes={nodes}", f"flat:nodes={nodes}", policy) for nodes in (8, 16) for policy in policies
    }
    tags = [run.tags for run in runs_of(keys)]
    assert {tag["depth"] for tag in tags if tag["policy"] == "fcfs"} == {None}
    assert {tag["nodes"] for tag in tags} == {8, 16}


def test_seeds_draw_jobs_where_they_are_made_or_completed():
    keys = {"workloads": ["table1"], "generators": [{"spec": "lublin99:jobs=9", "models": []}], "policies": ["fcfs"]}
    runs = runs_of(keys | {"seeds": 2, "platforms": ["flat:nodes=256"]})
    assert [(run.jobs.made, run.jobs.draw, run.seed) for run in runs] == [
        (False, 0, 0),
        (False, 0, 1),
        (True, 0, 0),
        (True, 1, 1),
    ]
    completed = runs_of(keys | {"seeds": 2, "models": ["burst-buffer"], "platforms": ["flat:nodes=256"]})
    assert [(run.jobs.draw, run.jobs.models) for run in completed[:2]] == [
        (0, ("burst-buffer",)),
        (1, ("burst-buffer",)),
    ]
    assert completed[2].jobs.models == ()


def test_files_lie_beside_the_spec_and_count_by_what_is_in_them(tmp_path):
    def written(folder):
        folder.mkdir()
        (folder / "mygen.py").write_text(GENERATOR)
        (folder / "mine.py").write_text("class Mine:\n    def decide(self, view, act): pass\n")
        (folder / "machine.toml").write_text('nodes = 8\n[failures]\ntrace = "down.csv"\n')
        (folder / "down.csv").write_text("node,down,up\n0,1,2\n")
        (folder / "s.toml").write_text(
            'generators = ["mygen.py:make:jobs=7,load=0.5"]\npolicies = ["mine.py:Mine"]\n'
            'platforms = ["machine.toml"]\nfailures = ["down.csv,known=no"]\n'
        )
        return read(folder / "s.toml")[0]

    one, two = written(tmp_path / "one"), written(tmp_path / "two")
    assert one.policy != two.policy
    assert one.key == two.key
    assert one.tags == two.tags
    assert one.tags["policy"] == "mine.py:Mine"
    assert len(workload_of(one.jobs)) == 7
    assert "mygen.py:make:jobs=7" in workload_of(one.jobs).provenance[-1]
    (tmp_path / "two" / "mygen.py").write_text(GENERATOR + "# changed\n")
    assert read(tmp_path / "two" / "s.toml")[0].key != one.key
    with pytest.raises(InputError, match="has changed"):
        workload_of(two.jobs)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('policies = ["fcfs"]', "the grid is empty: name workloads"),
        ('workloads = ["table1"]', "policies: missing"),
        ('workloads = ["table1"]\npolicies = []', "policies: is empty"),
        ('workloads = ["table1"]\npolices = ["fcfs"]', "polices: unknown key; did you mean 'policies'"),
        ('policies = ["fcfs"]\n[[generators]]\nspce = "lublin99"', "spce: unknown key; did you mean 'spec'"),
        ('workloads = ["tabel1"]\npolicies = ["fcfs"]', "workloads: .*did you mean 'table1'"),
        ('workloads = ["table1"]\npolicies = ["fcsf"]', "policies: unknown policy 'fcsf'"),
        ('workloads = ["table1"]\npolicies = ["fcfs"]\nplatforms = ["flta"]', "platforms: unknown platform"),
        ('workloads = ["table1"]\npolicies = ["fcfs"]\njob_models = ["x"]', "job_models: unknown job model"),
        ('workloads = ["table1"]\npolicies = ["fcfs"]\nfailures = ["mtfb=1h"]', "failures: .*did you mean 'mtbf'"),
        ('workloads = ["table1"]\npolicies = ["fcfs"]\nmodels = ["lublin99"]', "does not attach"),
        ('generators = ["burst-buffer"]\npolicies = ["fcfs"]', "generators: .*does not generate"),
        ('generators = ["none.py:make"]\npolicies = ["fcfs"]', "generators: .*no such file"),
        ('generators = ["mygen.py:mkae"]\npolicies = ["fcfs"]', "no function 'mkae': did you mean 'make'"),
        ('generators = ["mygen.py:nothing"]\npolicies = ["fcfs"]', "takes no seed"),
        ('generators = ["mygen.py:make:jobs=x"]\npolicies = ["fcfs"]', "is not a whole number"),
        ('workloads = ["table1"]\npolicies = ["fcfs"]\nseeds = 0', "seeds: 0 will not do"),
        ('workloads = ["table1"]\npolicies = ["fcfs"]\nseeds = [1, 1]', "seeds: "),
        ('workloads = ["table1"]\npolicies = ["fcfs"]\nseeds = "x"', "seeds: 'x' will not do: write how many"),
        ('workloads = ["table1"]\npolicies = ["fcfs"]\nwindow = "8d:1d"', "window '8d:1d' is empty"),
        ('workloads = ["table1"]\npolicies = ["fcfs"]\nreference = "filler"', "reference: .*none of the policies"),
        ('workloads = ["table1"]\npolicies = ["fcfs-bb:depth={d}"]', "{d} stands for no parameter"),
        ('workloads = ["table1"]\npolicies = ["fcfs"]\n[parameters]\nd = [1]', "parameters.d: is used nowhere"),
        ('workloads = ["table1"]\npolicies = ["fcfs-bb:depth={d}"]\n[parameters]\nd = []', "parameters.d: is empty"),
        ('workloads = ["{seed}"]\npolicies = ["fcfs"]\n[parameters]\nseed = [1]', "is the name of a column"),
        ('workloads = ["{change}"]\npolicies = ["fcfs"]\n[parameters]\nchange = [1]', "is the name of a column"),
        (
            'workloads = ["{mean_waiting_time}"]\npolicies = ["fcfs"]\n[parameters]\nmean_waiting_time = [1]',
            "is the name of a column",
        ),
        ('workloads = ["table1"]\npolicies = ["fcfs"]\nseeds = 10000000000000', "is the most"),
        ("workloads = [", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_told_by_file_and_key(tmp_path, text, says):
    (tmp_path / "mygen.py").write_text(GENERATOR)
    path = tmp_path / "s.toml"
    path.write_text(text + "\n")
    with pytest.raises(InputError, match=says) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))


def test_what_a_generator_returns_must_be_a_workload(tmp_path):
    (tmp_path / "mygen.py").write_text(GENERATOR)
    (run,) = runs_of({"generators": ["mygen.py:wrong"], "policies": ["fcfs"]}, folder=tmp_path)
    with pytest.raises(InputError, match=r"returns int; return a forebay\.Workload"):
        workload_of(run.jobs)


def test_the_size_of_a_grid_counts_parameters_where_they_are_named():
    """101 x 100 x 100 values in one policy, once for the other: 1,010,001 runs are too many."""
    keys = {"workloads": ["table1"], "policies": ["fcfs-bb:depth={a},max_backfill={b},x={c}", "fcfs"]}
    values = {"a": list(range(101)), "b": list(range(100)), "c": list(range(100))}
    with pytest.raises(InputError, match="asks for 1,010,001 runs"):
        runs_of(keys | {"parameters": values})


@pytest.mark.parametrize(
    ("more", "policies"),
    [
        ({}, {"fcfs-easy"}),
        ({"reference": "fcfs"}, {"fcfs"}),
        ({"reference": "fcfs-bb:depth={depth}"}, {"fcfs-bb:depth=1", "fcfs-bb:depth=2"}),
        ({"reference": "fcfs-bb:depth=2"}, {"fcfs-bb:depth=2"}),
    ],
)
def test_the_reference_is_named_or_easy(more, policies):
    keys = {"workloads": ["table1"], "policies": ["fcfs", "fcfs-bb:depth={depth}", "fcfs-easy"]}
    runs = runs_of(keys | {"parameters": {"depth": [1, 2]}} | more)
    assert {run.policy for run in runs if run.tags["reference"]} == policies


def _references(keys, folder=Path()):
    """The reference of each place, by its workload and platform."""
    runs = runs_of(keys, folder=folder)
    return {(run.tags["workload"], run.tags["platform"]): run.policy for run in runs if run.tags["reference"]}


def test_a_reference_that_nobody_names_counts_what_jobs_ask_for():
    """Jobs of table1 ask for burst buffer; on a machine without any, and those of a model, they ask for nodes alone."""
    keys = {"workloads": ["table1"], "generators": ["lublin99:jobs=9,nodes=4"], "platforms": ["table1", "flat:nodes=4"]}
    made, both = keys["generators"][0], ["fcfs", "fcfs-easy", "fcfs-bb"]
    assert _references(keys | {"policies": both}) == {
        ("table1", "table1"): "fcfs-bb",
        ("table1", "flat:nodes=4"): "fcfs-easy",
        (made, "table1"): "fcfs-easy",
        (made, "flat:nodes=4"): "fcfs-easy",
    }
    assert set(_references(keys | {"policies": both, "reference": "fcfs"}).values()) == {"fcfs"}
    assert set(_references(keys | {"policies": ["sjf-bb", "fcfs"]}).values()) == {"sjf-bb"}


def test_the_policy_of_a_site_is_the_reference_there_and_joins_the_others(tmp_path):
    machines = tmp_path / "machines"
    machines.mkdir()
    (machines / "site.toml").write_text('policy = "sjf-bb"\nnodes = 4\n')
    (machines / "own.toml").write_text('policy = "mine.py:Mine"\nnodes = 4\n')
    (machines / "mine.py").write_text("class Mine:\n    def decide(self, view, act): pass\n")
    keys = {"workloads": ["table1"], "policies": ["fcfs", "fcfs-easy"], "seeds": 2}
    keys |= {
        "platforms": ["machines/site.toml", "machines/own.toml", "flat:nodes={nodes}"],
        "parameters": {"nodes": [4]},
    }
    own = f"{machines / 'mine.py'}:Mine"
    assert _references(keys, tmp_path) == {
        ("table1", "machines/site.toml"): "sjf-bb",
        ("table1", "machines/own.toml"): own,
        ("table1", "flat:nodes=4"): "fcfs-easy",
    }
    runs = runs_of(keys, folder=tmp_path)
    assert len(runs) == 2 * (3 + 3 + 2)
    there = [run for run in runs if run.seed == 0 and run.tags["platform"] == "machines/site.toml"]
    assert [run.policy for run in there] == ["fcfs", "fcfs-easy", "sjf-bb"]
    assert [run.tags["policy"] for run in there] == ["fcfs", "fcfs-easy", "site"]
    named = runs_of(keys | {"reference": "fcfs"}, folder=tmp_path)
    assert {run.policy for run in named} == {"fcfs", "fcfs-easy"}
    among = runs_of(
        keys | {"policies": ["fcfs", "sjf-bb"], "platforms": ["machines/site.toml"], "parameters": {}}, folder=tmp_path
    )
    assert [(run.policy, run.tags["reference"]) for run in among if run.seed == 0] == [
        ("fcfs", False),
        ("sjf-bb", True),
    ]


def test_labels_are_what_tables_show():
    keys = {"workloads": ["table1"], "policies": ["fcfs", "wide=fcfs-bb:depth={d}"], "parameters": {"d": [3]}}
    runs = runs_of(keys | {"reference": "fcfs"})
    assert [(run.tags["policy"], run.policy) for run in runs] == [("fcfs", "fcfs"), ("wide", "fcfs-bb:depth=3")]
    with pytest.raises(InputError, match="joins the others by itself"):
        runs_of(keys | {"policies": ["site:depth={d}"]})


def test_a_workload_brings_the_policy_of_its_machine(tmp_path):
    site = tmp_path / "site.toml"
    site.write_text('policy = "sjf-bb"\nnodes = 4\n')
    write(replace(workload_of(Jobs("table1")), platform=str(site)), tmp_path / "jobs.parquet.zip")
    runs = runs_of({"workloads": ["jobs.parquet.zip"], "policies": ["fcfs", "fcfs-easy"]}, folder=tmp_path)
    assert [(run.policy, run.tags["reference"]) for run in runs] == [
        ("fcfs", False),
        ("fcfs-easy", False),
        ("sjf-bb", True),
    ]


def test_a_wrong_policy_of_a_site_is_told_with_its_file(tmp_path):
    (tmp_path / "site.toml").write_text('policy = "sjf-b"\nnodes = 4\n')
    keys = {"workloads": ["table1"], "policies": ["fcfs"], "platforms": ["site.toml"], "reference": "fcfs"}
    with pytest.raises(InputError, match=r"platforms: .*site\.toml: policy: unknown policy 'sjf-b'"):
        runs_of(keys, folder=tmp_path)
