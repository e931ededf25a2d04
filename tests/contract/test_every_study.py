"""Every study folder is whole: its files are there and parse, its policies exist, its numbers have sources."""

import tomllib
from pathlib import Path

import pytest

from forebay import policies, studies
from forebay.studies._expected import read_expected
from forebay.studies._toml import Settings

NAMES = studies.names()
each = pytest.mark.parametrize("name", NAMES)


def folder(name):
    return Path(studies.load(name).__file__).parent


def test_all_are_found():
    known = {"admire2023-io", "admire2023-mebf", "bbsched2019", "cerberus2016", "hercules2023", "kopanski2021"}
    known |= {"sas2019", "sfsj2022"}
    assert known <= set(NAMES)


@each
def test_it_says_what_it_is(name):
    study = studies.load(name)
    assert 20 < len(study.DESCRIPTION) < 110
    assert study.SECTIONS
    assert callable(study.plan)


@each
def test_its_files_are_there(name):
    assert {"__init__.py", "study.toml", "expected.csv", "README.md"} <= {path.name for path in folder(name).iterdir()}
    text = (folder(name) / "README.md").read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert "TODO" not in text


@each
def test_its_settings_name_what_exists(name):
    table = tomllib.loads((folder(name) / "study.toml").read_text(encoding="utf-8"))
    assert set(Settings.model_fields) <= {*table, "random"}
    assert set(table["sections"]) <= set(studies.load(name).SECTIONS)
    assert set(table.get("random", [])) <= set(policies.names())
    for policy in table["policies"]:
        policies.load(policy)


@each
@pytest.mark.parametrize("quick", [False, True])
def test_it_can_be_planned_without_data(name, quick, monkeypatch):
    monkeypatch.delenv("FOREBAY_DATA", raising=False)
    plan = studies.load(name).plan(studies.Options(quick=quick))
    assert plan.runs
    # Sections may share runs; within one, none is there twice.
    keys = {(run.tags["section"], run.key) for run in plan.runs}
    assert len(keys) == len({run.name for run in plan.runs}) == len(plan.runs)
    assert plan.notes  # that published numbers do not apply


@each
def test_its_published_numbers_belong_to_it(name):
    study, expected = studies.load(name), read_expected(folder(name) / "expected.csv")
    assert len(expected) > 0
    assert {key[0] for key in expected} <= set(study.SECTIONS)
