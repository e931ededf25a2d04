"""`forebay.capacity`: the same answer as the command's."""

import json
from pathlib import Path

import matplotlib as mpl
import pytest
from typer.testing import CliRunner

import forebay as fb
from forebay._support.text import as_json
from forebay.cli.main import app
from forebay.errors import InputError

mpl.use("agg")

GIVEN = {"target": "mean_wait <= 4min", "range": "4TB:20TB", "replicas": 2, "precision": "20%", "jobs": 1}
WORDS = ["--target", "mean_wait <= 4min", "--range", "4TB:20TB", "--replicas", "2", "--precision", "20%", "--jobs", "1"]


def test_function_and_command_give_the_same_bytes(tmp_path):
    words = ["capacity", "table1", *WORDS, "--policies", "fcfs-bb,filler", "-o", str(tmp_path / "a"), "--no-plots"]
    answer = CliRunner().invoke(app, [*words, "--format", "json"])
    assert answer.exit_code == 0, answer.output
    found = fb.capacity("table1", **GIVEN, policies=["fcfs-bb", "filler"], output=tmp_path / "b")
    assert (tmp_path / "b" / "capacity.csv").read_bytes() == (tmp_path / "a" / "capacity.csv").read_bytes()
    theirs, mine = json.loads(answer.stdout), json.loads(as_json(found.document()))
    for one in (theirs, mine):
        one.pop("files")
    assert mine == theirs
    assert found.answers["text"].to_list() == [one["text"] for one in theirs["answers"]] == str(found).splitlines()
    assert found.table.height == sum(len(one["points"]) for one in theirs["answers"])


def test_a_workload_of_ones_own_and_what_the_answer_draws(tmp_path):
    found = fb.capacity(fb.read("table1"), **GIVEN)
    assert found.answers["capacity"].to_list() == fb.capacity("table1", **GIVEN).answers["capacity"].to_list()
    assert found.plot().get_xlabel() == "burst buffer (TB)"
    picture, data = found.draw(tmp_path / "how-much.pdf", "acm-column")
    assert picture.read_bytes().startswith(b"%PDF")
    assert len(data.read_text().splitlines()) == 1 + found.table.height
    assert found.report(tmp_path / "page.html").stat().st_size > 10_000
    assert "burst buffer &gt;=" in found._repr_html_()
    assert repr(found).startswith("<Capacity: burst buffer >= ")


def test_a_target_that_no_capacity_reaches():
    found = fb.capacity("table1", **(GIVEN | {"target": "mean_wait <= 1s"}))
    assert found.answers.select("reached", "capacity", "low", "high").row(0) == (False, None, None, None)
    assert str(found).startswith("not reached: ")


def test_a_metric_that_raises_is_no_word_on_jobs():
    @fb.metric(unit="s")
    def broken(result):
        raise OSError

    found = fb.capacity("table1", **(GIVEN | {"target": "broken <= 1s"}))
    assert str(found).endswith("runs have no such number at every size")


def test_its_folder_goes_with_it():
    found = fb.capacity("table1", **GIVEN)
    folder = Path(found.folder)
    assert folder.is_dir()
    del found
    assert not folder.exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"target": ""}, "--target is missing"),
        ({"target": "mean_wiat <= 3min"}, "did you mean 'mean_wait'"),
        ({"vary": ["nodes", "pfs"]}, "only prices can weigh"),
        ({"policies": ["fcfs-eesy"]}, "did you mean 'fcfs-easy'"),
        ({"policies": [object()]}, "the policy is .*, of type object; give a spec"),
        ({"policies": object}, "the policy is .*; give a spec"),
        ({"workload": ["table1"]}, "the workload is .*, of type list; give a Workload"),
        ({"precision": "five"}, "is not a share"),
        ({"range": "20TB:8TB"}, "is empty"),
    ],
)
def test_what_cannot_be_asked(given, message):
    with pytest.raises(InputError, match=message):
        fb.capacity(**({"workload": "table1"} | GIVEN | given))
