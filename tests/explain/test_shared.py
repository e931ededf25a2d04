"""Why jobs wait where nodes are shared, by hand; and figures that say cores."""

import pytest

import forebay as fb
from cases.shared import jobs, machine
from forebay import explain

pytestmark = pytest.mark.small


def test_cores_are_busy_and_cores_that_lie_apart():
    """Jobs 1 and 2 have 3 of 4 cores on each node: job 3 lacks cores, and job 4 has 2 that are not on one node."""
    rows = ({"cores": 3}, {"cores": 3}, {"cores": 4}, {"cores": 2})
    result = fb.simulate(jobs(*rows), machine({"nodes": 2, "cores": 4}), "filler")
    told = explain.reasons(result).select("job_id", "reason", "detail").rows()
    assert told == [
        (3, "nodes", "cores: 2 of 4 are free; job 1 holds 3 until 10 s"),
        (4, "order", "enough is free in all, but job 3 goes first"),
    ]


def test_figures_count_cores(tmp_path):
    platform = machine({"nodes": 2, "cores": 4, "memory": "8 GB", "gpus": 1, "gpu": "a"})
    result = fb.simulate(jobs({"cores": 3, "gpus": 1}, {"cores": 3, "memory": 10**9}), platform, "filler")
    assert repr(result) == "<Result of filler: 2 jobs on 8 cores, mean wait 0 s>"
    assert fb.summary(result)["utilisation_cores"] == 0.75
    for figure in ("gantt", "usage"):
        assert fb.figures.draw(figure, {"run": result}, tmp_path / f"{figure}.svg")
    text = (tmp_path / "gantt.svg").read_text()
    assert "core" in text
    for many in (1, 12):  # one panel, and one for each
        fb.figures.draw("wait-by-size", dict.fromkeys(map(str, range(many)), result), tmp_path / "sizes.svg")
        text = (tmp_path / "sizes.svg").read_text()
        assert "cores of a job" in text
        assert "nodes of a job" not in text
