"""A search for a capacity from Python: what the command does, without a terminal."""

import json

import forebay as fb
from forebay.experiments.capacity import find
from forebay.experiments.capacity.question import Asked, read
from forebay.experiments.targets import parse_target
from forebay.platforms.variation import varied


def test_an_answer_is_an_object(tmp_path, capfd):
    """It meets the target, nothing smaller that was tried does, and nothing is said."""
    asked = Asked("table1", None, (), None, 0, None, None, None, 1, "0s")
    question = read(asked, ["nodes"], ["4:16"], parse_target("mean_wait <= 400s"), ["fcfs"], 0.05, None)
    sized = find(question, tmp_path, figures=False, page=False)
    [found] = sized.found
    machine = varied(question.machine, {"nodes": 5})
    assert found.answer.capacity == 5
    assert all(point.mean > 400 for point in found.answer.points if point.capacity < found.answer.capacity)
    assert fb.summary(fb.simulate("table1", machine, "fcfs"))["mean_wait"] <= 400
    assert sized.runs["total"] == sized.runs["made"] == len(list((tmp_path / "runs").glob("*.json")))
    assert json.loads((tmp_path / "capacity.json").read_text())["answers"] == sized.document()["answers"]
    assert capfd.readouterr() == ("", "")
