"""Figures of machines with shared nodes say cores."""

import pytest

import forebay as fb
from cases.shared import jobs, machine

pytestmark = pytest.mark.small


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
