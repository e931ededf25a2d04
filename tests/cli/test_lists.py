"""The commands that tell what there is."""

import json
import re

import pytest

from forebay.policies import names

LISTS = {
    "policies": "fcfs-bb",
    "platforms": "flat",
    "job-models": "alloc-only",
    "formats": "swf",
    "workload list": "table1",
    "workload models": "lublin99",
}


@pytest.mark.parametrize("command", LISTS)
def test_each_has_names_with_descriptions(forebay, command):
    found = json.loads(forebay(*command.split(), "--format", "json").out)
    assert LISTS[command] in [one["name"] for one in found]
    assert all(one["description"] for one in found)
    text = forebay(*command.split()).out
    assert all(one["name"] in text for one in found)


def test_every_policy_tells_its_parameters(forebay):
    for name in names():
        one = json.loads(forebay("policies", name, "--format", "json").out)
        code, out, _ = forebay("policies", name)
        assert code == 0
        assert one["parameters"]
        assert all(key in out for key in one["parameters"])


def test_the_example_that_a_policy_shows_works(forebay):
    line = forebay("policies", "fcfs-bb").out.splitlines()[-1]
    assert forebay("run", "table1", "--policy", line.split("--policy ")[1]).code == 0


def test_unknown_policy(forebay):
    code, _, err = forebay("policies", "filer")
    assert code == 2
    assert "did you mean 'filler'?" in err


def test_platforms_show_parameters_machines_and_files(forebay, tmp_path):
    assert "must be given" in forebay("platforms", "flat").out
    assert re.search(r"bound +false", forebay("platforms", "admire2023").out)
    assert "3 nodes" in forebay("platforms", "flat:nodes=3").out
    assert json.loads(forebay("platforms", "table1", "--format", "json").out)["nodes"] == 4
    assert forebay("platforms", "flat:nods=3").code == 2
    (tmp_path / "mine.toml").write_text('name = "mine"\nnodes = 7\n')
    assert "mine (7 nodes" in forebay("platforms", tmp_path / "mine.toml").out
