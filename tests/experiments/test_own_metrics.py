"""Metrics of one's own in comparisons, sweeps and searches: those of a file, and those that only this process has."""

import sys
from importlib.util import find_spec

import matplotlib as mpl
import pytest

import forebay as fb
from forebay.errors import InputError, MetricWarning
from forebay.experiments.execution import cluster
from forebay.experiments.execution.executor import in_processes
from forebay.experiments.grid import runs_of
from forebay.experiments.runs import files_of
from forebay.metrics._own import files, registry

mpl.use("agg")

FILE = """
import os
import forebay as fb
from beside_metrics import SECONDS

@fb.metric(unit="s")
def longest_wait(result):
    return result.jobs["waiting_time"].max() + SECONDS

@fb.metric(better="higher")
def contentment(result):
    return 1 / (1 + result.jobs["waiting_time"].mean())

@fb.metric()
def process(result):
    return os.getpid()
"""
SPEC = 'workloads = ["table1"]\npolicies = ["fcfs", "fcfs-bb"]\nseeds = 2\nmetrics = ["mine.py"]\n'
OWN = ["longest_wait", "contentment"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])  # a folder whose file was read stays there
    (tmp_path / "beside_metrics.py").write_text("SECONDS = 0\n")
    (tmp_path / "mine.py").write_text(FILE)
    (tmp_path / "s.toml").write_text(SPEC)
    yield tmp_path
    sys.modules.pop("beside_metrics", None)


def of_runs(*policies):
    """What the metrics are, each run by itself."""
    return {name: tuple(fb.summary(fb.simulate("table1", policy=name))[one] for one in OWN) for name in policies}


def test_a_sweep_has_them_in_processes_and_on_a_second_call_from_the_folder(folder):
    found = fb.sweep(folder / "s.toml", output=folder / "out", jobs=2)
    assert files.described(registry.tokens())[0][0] == "mine.py"
    wanted = of_runs("fcfs", "fcfs-bb")
    for policy, longest, contentment, process in found.select("policy", *OWN, "process").rows():
        assert (longest, contentment) == wanted[policy]
        assert process not in (None, fb.summary(fb.simulate("table1"))["process"])
    again = fb.sweep(folder / "s.toml", output=folder / "out", jobs=2)
    assert again.table.equals(found.table)
    (folder / "beside_metrics.py").write_text("SECONDS = 1\n")
    other = fb.sweep(folder / "s.toml", output=folder / "out", jobs=1)
    assert other["longest_wait"].to_list() == [one + 1 for one in found["longest_wait"]]


def test_a_sweep_of_what_only_this_process_has():
    @fb.metric(unit="s")
    def longest_wait(result):
        return result.jobs["waiting_time"].max()

    @fb.metric()
    def broken(result):
        return result.jobs["watts"].sum()

    keys = {"workloads": ["table1"], "policies": ["fcfs", "fcfs-bb"]}
    with pytest.warns(MetricWarning, match=r"^metric broken is left empty: broken\(\) in test_own_metrics\.py raised"):
        found = fb.sweep(**keys, jobs=2)
    assert found["longest_wait"].to_list() == [720, 540]
    assert found["broken"].to_list() == [None, None]
    with pytest.raises(InputError, match=r"longest_wait\(\) in test_own_metrics\.py: workers cannot have a metric"):
        fb.sweep(**keys, dask="tcp://127.0.0.1:9")


def test_keys_of_runs_change_with_the_metrics(folder):
    keys = {"workloads": ["table1"], "policies": ["fcfs"]}
    [plain] = runs_of(keys)
    assert "metrics" not in plain.plain()
    [first] = runs_of(keys | {"metrics": [str(folder / "mine.py")]})
    assert first.key != plain.key
    assert files_of(first) == {folder / "mine.py", folder / "beside_metrics.py"}
    (folder / "mine.py").write_text(FILE.replace("1 /", "2 /"))
    [second] = runs_of(keys | {"metrics": [str(folder / "mine.py")]})
    assert len({plain.key, first.key, second.key}) == 3


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"metrics": ["gone.py"]}, "sweep: metrics: gone.py: no such file"),
        ({"metrics": "mine.py"}, r"metrics: 'mine\.py' will not do: write a list of texts"),
        (
            {"metrics": ["mine.py"], "parameters": {"longest_wait": [1]}},
            "longest_wait: is the name of a column",
        ),
    ],
)
def test_keys_that_will_not_do(folder, monkeypatch, keys, says):
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match=says):
        runs_of({"workloads": ["table1"], "policies": ["fcfs:depth={longest_wait}"]} | keys)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_comparison_judges_by_them(folder, jobs, monkeypatch):
    from forebay.experiments.execution import parallel

    if jobs == 2:
        monkeypatch.setattr(parallel, "HERE", 0.0)  # or all of it is over before a process is there
    files.load(folder / "mine.py")
    found = fb.compare("table1", ["fcfs", "fcfs-bb"], replicas=3, jobs=jobs)
    assert {tuple(row[1:]) for row in found.summaries.select("policy", *OWN).rows() if row[0] == "fcfs"} == {
        of_runs("fcfs")["fcfs"]
    }
    words = {(one["policy"], one["metric"]): one for one in found.verdicts.iter_rows(named=True)}
    assert words["fcfs", "longest_wait"]["verdict"] == "worse"
    less = words["fcfs", "contentment"]
    assert (less["verdict"], less["change"] < 0, less["n"], less["over"]) == ("worse", True, 4, "replicas")
    assert set(OWN) <= set(found.table.columns)
    assert "longest wait" in found.to_markdown(caption="").splitlines()[0]
    assert found.plot(metric="longest_wait").get_xlabel() == "longest_wait, times that of fcfs-bb"
    page = found.report(folder / "page.html").read_text(encoding="utf-8")
    assert page.count("longest wait") >= 3


def test_a_comparison_of_what_only_this_process_has():
    seen = []

    @fb.metric(better="higher")
    def contentment(result):
        seen.append(result.facts["policy"])
        return 1 / (1 + result.jobs["waiting_time"].mean())

    @fb.metric()
    def broken(result):
        return "much"

    found = fb.compare("table1", ["fcfs", "fcfs-bb", "fcfs-bb:depth=2"], replicas=2, jobs=2)
    assert len(seen) >= 9, "all runs were made here"
    assert [note for note in found.notes if "broken" in note] == [
        "metric broken is left empty: broken() in test_own_metrics.py gave 'much', of type str; give a finite number, "
        "or None if there is none"
    ]
    words = {one["policy"]: one["verdict"] for one in found.verdicts.iter_rows(named=True) if one["metric"] == "broken"}
    assert words == {"fcfs": "undecided", "fcfs-bb:depth=2": "undecided"}


def test_the_same_schedule_has_the_same_word():
    @fb.metric()
    def mine(result):
        return result.jobs["waiting_time"].max()

    found = fb.compare("table1", {"one": "fcfs-bb", "other": "fcfs-bb", "fcfs": "fcfs"}, reference="one", replicas=0)
    words = {one["policy"]: one["verdict"] for one in found.verdicts.iter_rows(named=True) if one["metric"] == "mine"}
    assert words == {"other": "same", "fcfs": "undecided"}


@pytest.mark.parametrize("of_file", [True, False])
def test_a_search_has_them_as_target(folder, of_file):
    if of_file:
        files.load(folder / "mine.py")
    else:

        @fb.metric(unit="s")
        def longest_wait(result):
            return result.jobs["waiting_time"].max()

        @fb.metric()
        def broken(result):
            raise OSError

    given = {"range": "8TB:20TB", "replicas": 2, "precision": "20%", "jobs": 2}
    found = fb.capacity("table1", "longest_wait <= 6min", **given)
    assert found.answers["capacity"].item() == pytest.approx(12.18e12, rel=0.1)
    broken = [] if of_file else ["metric broken is left empty: broken() in test_own_metrics.py raised OSError"]
    assert [note for note in found.notes if "broken" in note] == broken


@pytest.mark.skipif(find_spec("distributed") is None, reason="distributed is not installed")
@pytest.mark.filterwarnings("ignore")  # of distributed
def test_files_of_metrics_travel_to_a_cluster(folder):
    import distributed

    runs = runs_of({"workloads": ["table1"], "policies": ["fcfs"], "metrics": [str(folder / "mine.py")]})
    outcomes = []
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=None, local_directory=str(folder / "dask")
        ) as local,
        cluster.executing(runs, None, local.scheduler_address) as executor,
    ):
        executor(runs, lambda run, outcome: outcomes.append(outcome))
    in_processes(1)(runs, lambda run, outcome: outcomes.append(outcome))
    there, here = (dict(one.document, seconds=0) for one in outcomes)
    for one in (there, here):
        assert one["summary"].pop("process") is not None
    assert there == here
