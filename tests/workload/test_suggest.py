"""What a trace had in use at once, and that the machine made of it runs all jobs."""

import json

import numpy as np
import pytest

import forebay as fb
from forebay.workload import _suggest
from forebay.workload.info import describe
from forebay.workload.workload import Workload, job_table

GB = 10**9
NAMES = {"gpu": {0: "a100", 1: "v100"}, "features": {0: "ib", 1: "ib&big"}}


def trace(rows, names=NAMES):
    """Jobs that start when they come; (submit, run time, nodes, cores, memory, gpus, gpu, features)."""
    columns = ("submit", "run_time", "nodes", "cores", "memory", "gpus", "gpu", "features")
    table = {name: list(values) for name, values in zip(columns, zip(*rows, strict=True), strict=True)}
    table |= {"id": range(1, len(rows) + 1), "walltime": table["run_time"], "recorded_start": table["submit"]}
    table |= {"submit": [float(one) for one in table["submit"]]}
    return Workload("made", job_table(table), names=names)


@pytest.mark.small
def test_peaks_by_hand():
    """Jobs 1 and 2 overlap, and 3 begins as 2 ends: 5 cores, 3 GPUs and 6 GB at most."""
    rows = [(0, 10.0, 1, 4, 2 * GB, 2, -1, -1), (5, 5.0, 1, 1, 4 * GB, 1, -1, -1), (10, 5.0, 2, 2, 3 * GB, 0, -1, -1)]
    w = trace(rows)
    assert describe(w)["peaks"] == {"nodes": 2, "cores": 5, "memory": 6 * GB, "gpus": 3}
    assert _suggest.peaks_text(_suggest.peaks(w)) == "2 nodes, 5 cores, 3 GPUs and 6 GB of memory"
    found = _suggest.suggestion(w)
    assert found.spec is None  # jobs with GPUs have nodes of their own
    assert [(one.name, one.nodes, one.cores, one.memory, one.gpus) for one in found.classes] == [
        ("node", 2, 1, 3 * GB // 2, 0),
        ("gpu", 2, 4, 4 * GB, 2),
    ]


@pytest.mark.small
def test_one_kind_is_a_spec():
    w = trace([(0, 10.0, 1, 4, 2 * GB, 2, -1, -1), (5, 10.0, 1, 1, 4 * GB, 1, -1, -1)])
    assert _suggest.suggestion(w).spec == "flat:nodes=2,cores=4,memory=4000000000B,gpus=2,sharing=true"
    result = fb.simulate(w, _suggest.suggestion(w).spec, "fcfs")
    assert not result.jobs["final_state"].is_in(["REJECTED"]).any()


@pytest.mark.small
def test_without_starts_or_cores_nothing_is_suggested():
    w = trace([(0, 10.0, 1, 4, 0, 0, -1, -1)])
    unknown = Workload("w", w.jobs.drop("recorded_start"))
    assert (describe(unknown)["peaks"], describe(unknown)["suggested_platform"]) == (None, None)
    assert describe(Workload("w", w.jobs.drop("cores")))["suggested_platform"] is None
    assert json.dumps(describe(w), allow_nan=False)


@pytest.mark.parametrize("seed", range(12))
def test_the_machine_runs_all_jobs(seed, tmp_path):
    """With GPUs of types and of any, features, memory, and jobs of several nodes: none is rejected."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(60):
        nodes = int(rng.integers(1, 5))
        gpus = int(rng.integers(1, 5)) * nodes if rng.random() < 0.4 else 0
        kind = int(rng.integers(-1, 2)) if gpus else -1
        features = int(rng.integers(-1, 2)) if rng.random() < 0.5 else -1
        memory = int(rng.integers(1, 200)) * GB if rng.random() < 0.7 else 0
        cores = nodes * int(rng.integers(1, 40))
        rows.append(
            (float(rng.integers(0, 500)), float(rng.integers(1, 90)), nodes, cores, memory, gpus, kind, features)
        )
    w = trace(sorted(rows))
    path = tmp_path / "machine.toml"
    path.write_text(_suggest.suggestion(w).toml(w.name))
    result = fb.simulate(w, path, "fcfs")
    assert result.jobs["final_state"].unique().to_list() == ["COMPLETED_SUCCESSFULLY"]


@pytest.mark.small
@pytest.mark.parametrize(
    ("cores", "nodes", "serial", "on_one"),
    [([1, 6, 8, 1], [1, 1, 1, 1], 0.5, 1.0), ([1, 6, 8, 2], [1, 1, 2, 2], 0.25, 0.5)],
)
def test_serial_is_one_core(cores, nodes, serial, on_one):
    rows = [(k, 10.0, n, c, 0, 0, -1, -1) for k, (c, n) in enumerate(zip(cores, nodes, strict=True))]
    facts = describe(trace(rows))
    assert (facts["serial_share"], facts["one_node_share"]) == (serial, on_one)
