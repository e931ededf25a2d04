"""Figures that processes draw: what goes wrong there is told here, with its exit code."""

import pytest

from forebay.errors import ForebayError
from forebay.experiments.comparison.figures import Drawing, under_way


def test_a_run_that_is_gone_is_told_by_whoever_waits(tmp_path):
    drawing = Drawing({"fcfs": tmp_path / "gone"}, "fcfs", None, tmp_path)

    def read(policy):
        raise AssertionError("a long trace is drawn elsewhere")

    with under_way(drawing, 50_000, 2, read) as drawn, pytest.raises(ForebayError, match="gone") as told:
        drawn()
    assert told.value.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_no_figures(tmp_path):
    with under_way(None, 50_000, 2, lambda policy: None) as drawn:
        assert drawn() == []
