"""Units of users' metrics, of a folder alone: the process that makes its page does not know the metrics."""

import json

import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.experiments.verdicts import higher_is_better
from forebay.metrics._numbers import shown
from forebay.metrics._own import files, kept, registry
from forebay.report import write

MINE = """
import forebay as fb

@fb.metric("p90_wait_wide", "work_of_wide", unit=lambda name: "s" if "wait" in name else "node-hours", better="higher")
def of_wide(result):
    return {"p90_wait_wide": 5400.0, "work_of_wide": 1234.5}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    files.load(tmp_path / "mine.py")
    fb.compare("table1", ["fcfs", "fcfs-bb"], replicas=0, output=tmp_path / "out")
    registry.forget()
    return tmp_path / "out"


def test_a_page_of_a_folder_has_units_of_metrics_that_only_its_maker_knew(folder, tmp_path):
    noted = json.loads((folder / "fcfs" / "run.json").read_text())["own_metrics"]
    assert noted["p90_wait_wide"] == {"unit": "s", "better": "higher"}
    page = write(folder, tmp_path / "page.html").read_text()
    assert "1 h 30 min" in page
    assert "1,234 node-hours" in page
    assert "p90_wait_wide" not in fb.summary(fb.simulate("table1")), "it is known, not computed"


def test_so_has_one_of_a_sweep(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    files.load(tmp_path / "mine.py")
    found = fb.sweep(workloads=["table1"], policies=["fcfs"])
    document = {"own_metrics": found._metrics["own_metrics"]}
    assert found._metrics["metrics"][-2:] == ["p90_wait_wide", "work_of_wide"]
    registry.forget()
    assert higher_is_better("p90_wait_wide") is False
    kept.recall(document, tmp_path / "sweep.json")
    assert higher_is_better("p90_wait_wide")
    assert shown("work_of_wide", 1234.5) == "1,234 node-hours"


def test_without_metrics_of_a_users_own_nothing_is_kept(tmp_path):
    fb.compare("table1", ["fcfs"], replicas=0, output=tmp_path / "out")
    assert "own_metrics" not in json.loads((tmp_path / "out" / "fcfs" / "run.json").read_text())


@pytest.mark.parametrize(
    "noted", [[], {"p90_wait_wide": "s"}, {"p90_wait_wide": {"unit": "furlong", "better": "lower"}}]
)
def test_a_folder_that_was_changed_is_refused(folder, noted, tmp_path):
    place = folder / "fcfs" / "run.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | {"own_metrics": noted}))
    with pytest.raises(InputError, match="own_metrics"):
        write(folder, tmp_path / "page.html")
