"""Commands and functions give the same bytes for the same question, of whatever jobs."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import forebay as fb
from forebay._support.text import as_json

VOLATILE = ("folder", "seconds", "files")
"""Where results went and how fast they came is not what they are."""
MACHINE = "flat:nodes=8,burst_buffer=1TB"


def workload(seed, n=12):
    """Jobs that had to wait by the record too, of some users and queues."""
    rng = np.random.default_rng(seed)
    submit = np.sort(rng.integers(0, 600, n)).astype(float)
    run_time = rng.integers(1, 900, n).astype(float)
    columns = {"id": range(1, n + 1), "submit": submit, "run_time": run_time, "nodes": rng.integers(1, 9, n)}
    columns |= {"walltime": run_time * rng.integers(1, 4, n), "burst_buffer": rng.integers(0, 400, n) * 10**9}
    columns |= {"user": rng.integers(1, 4, n), "queue": rng.integers(1, 3, n)}
    columns |= {"recorded_start": submit + rng.integers(0, 900, n)}
    names = {"user": {1: "ann", 2: "b & co", 3: "<cem>"}}
    return fb.Workload("mine", fb.workload.job_table(columns), platform=MACHINE, names=names)


@pytest.fixture
def ask(forebay):
    """The command's answer as text."""

    def answer(*words, form="json"):
        code, out, err = forebay(*words, "--format", form, "-q")
        assert (code, err) == (0, "")
        return out

    return answer


def lasting(text):
    """A document without what may differ, in the same order."""

    def kept(value):
        if isinstance(value, dict):
            return {key: kept(one) for key, one in value.items() if key not in VOLATILE}
        return [kept(one) for one in value] if isinstance(value, list) else value

    return json.dumps(kept(json.loads(text)), indent=1)


def same(out, found):
    """Whether a command's JSON is the document of an answer."""
    assert lasting(out) == lasting(as_json(found.document()))
    assert len(lasting(out)) > 200


def same_files(folder, other, *names):
    for name in names:
        assert (folder / name).read_bytes() == (other / name).read_bytes(), name


def and_more(*seeds):
    """Of each, and in a full run of ten others."""
    return pytest.mark.parametrize(
        "seed", [*seeds, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(50, 60))]
    )


few = settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
seeds = st.integers(0, 10**6)


@few
@given(seed=seeds, policies=st.sampled_from([("fcfs-easy",), ("fcfs", "fcfs-bb:depth=2")]))
def test_bounds(ask, tmp_path_factory, seed, policies):
    path = tmp_path_factory.mktemp("jobs") / "mine.parquet.zip"
    fb.write(workload(seed), path)
    words = ("bounds", path, "--metric", "mean_wait", "--metric", "makespan", "--policies", ",".join(policies))
    found = fb.bounds(path, metric=["mean_wait", "makespan"])
    found = found.against({name: fb.simulate(path, policy=name) for name in policies})
    same(ask(*words), found)
    every, distances = found.tables()
    assert ask(*words, form="latex") == f"{every.to_latex(every.caption)}\n{distances.to_latex(distances.caption)}"


@few
@given(seed=seeds, policy=st.sampled_from(["fcfs", "fcfs-easy", "sjf-bb"]), cold=st.booleans())
def test_fidelity(ask, tmp_path_factory, seed, policy, cold):
    folder = tmp_path_factory.mktemp("replay")
    path = folder / "mine.parquet.zip"
    fb.write(workload(seed), path)
    out = ask(
        "fidelity", path, "--policy", policy, "--slice", "100:500", *(["--cold"] if cold else []), "-o", folder / "a"
    )
    found = fb.fidelity(path, policy=policy, period=(100, 500), warm=not cold)
    same(out, found)
    found.save(folder / "b")
    same_files(folder / "a", folder / "b", "groups.csv", "waits.csv", "fidelity.csv", "fidelity-moving.csv")


@few
@given(seed=seeds, policy=st.sampled_from(["fcfs", "fcfs-easy", "conservative-bb"]), jobs=st.sampled_from([(), (3, 7)]))
def test_explain(ask, tmp_path_factory, seed, policy, jobs):
    folder = tmp_path_factory.mktemp("run")
    path, kept = folder / "mine.parquet.zip", folder / "run"
    fb.write(workload(seed), path)
    ask("run", path, "--policy", policy, "-o", kept)
    out = ask("explain", kept, *jobs)
    result = fb.simulate(path, policy=policy)
    assert json.loads(out).pop("run") == str(kept)
    text = json.dumps({key: value for key, value in json.loads(out).items() if key != "run"})
    same(text, result.explain(*jobs))
    assert ask("explain", kept, *jobs, form="markdown").endswith(result.explain(*jobs).to_markdown())
    assert as_json(fb.load(kept).explain(*jobs).document()) == as_json(result.explain(*jobs).document())


@and_more(1, 2)
def test_compare(ask, tmp_path, seed):
    path = tmp_path / "mine.parquet.zip"
    fb.write(workload(seed), path)
    words = ("compare", path, "--policies", "fcfs,fcfs-easy,fcfs-bb:depth=2", "--replicas", "2", "--seed", seed)
    out = ask(*words, "-o", tmp_path / "a", "--no-plots", "--no-report", "--jobs", "1")
    asked = {"policies": ["fcfs", "fcfs-easy", "fcfs-bb:depth=2"], "replicas": 2, "seed": seed, "jobs": 1}
    found = fb.compare(path, **asked, output=tmp_path / "b")
    same(out, found)
    same_files(tmp_path / "a", tmp_path / "b", "compare.csv", "ranking.csv", "verdicts.csv", "groups.csv", "bounds.csv")
    assert ask(*words, "-o", tmp_path / "a", "--no-plots", form="latex") == found.to_latex(found.caption)
    # A workload in memory is the same question, too.
    same(out, fb.compare(fb.read(path), **asked))


@and_more(3)
def test_capacity(ask, tmp_path, seed):
    path = tmp_path / "mine.parquet.zip"
    fb.write(workload(seed), path)
    words = ("--target", "mean_wait <= 30min", "--range", "400GB:2TB", "--replicas", "2", "--precision", "20%")
    out = ask("capacity", path, *words, "--jobs", "1", "-o", tmp_path / "a", "--no-plots", "--no-report")
    asked = {"target": "mean_wait <= 30min", "range": "400GB:2TB", "replicas": 2, "precision": "20%", "jobs": 1}
    found = fb.capacity(path, **asked, output=tmp_path / "b", page=False)
    same(out, found)
    same_files(tmp_path / "a", tmp_path / "b", "capacity.csv")


@pytest.mark.usefixtures("runs_here")
@and_more(4)
def test_sweep(ask, tmp_path, seed):
    path, spec = tmp_path / "mine.parquet.zip", tmp_path / "depths.toml"
    fb.write(workload(seed), path)
    spec.write_text(
        f'workloads = ["{path}"]\npolicies = ["fcfs", "fcfs-bb:depth={{depth}}"]\nseeds = [0, 1]\n'
        "[parameters]\ndepth = [1, 3]\n"
    )
    out = ask("sweep", spec, "-o", tmp_path / "a", "--jobs", "1", "--no-report")
    keys = {"workloads": [str(path)], "policies": ["fcfs", "fcfs-bb:depth={depth}"], "seeds": [0, 1]}
    by_file = fb.sweep(spec, output=tmp_path / "b", jobs=1)
    by_keys = fb.sweep(**keys, parameters={"depth": [1, 3]}, output=tmp_path / "c", jobs=1)
    for found, folder in ((by_file, tmp_path / "b"), (by_keys, tmp_path / "c")):
        same(out, found)
        same_files(tmp_path / "a", folder, "sweep.csv", "verdicts.csv")
    assert ask("sweep", spec, "-o", tmp_path / "a", form="markdown").endswith(by_file.to_markdown())
    runs = json.loads(out)["runs"]
    assert (runs["found"], runs["made"]) == (0, runs["total"])
    assert fb.sweep(spec, output=tmp_path / "b", jobs=1).document()["runs"] == runs | {"found": runs["made"], "made": 0}
