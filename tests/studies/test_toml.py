"""study.toml is read strictly: a slip is named, with the nearest key."""

import pytest
from pydantic import Field

from forebay.errors import InputError
from forebay.studies._toml import Settings, Strict, read_settings

pytestmark = pytest.mark.small


class Inner(Strict):
    parts: list[int]
    seeds: int = Field(ge=1)


class Mine(Settings):
    inner: Inner = Field(alias="in-ner")


GOOD = """
title = "a"
paper = "b"
sections = ["in-ner"]
policies = ["fcfs"]
[in-ner]
parts = [1, 2]
seeds = 5
[quick]
policies = ["filler"]
[quick.in-ner]
seeds = 1
"""


@pytest.fixture
def study(tmp_path):
    def read(text, quick=False):
        (tmp_path / "study.toml").write_text(text)
        return read_settings(tmp_path / "study.toml", Mine, quick)

    return read


def test_quick_lies_over_the_rest(study):
    full, quick = study(GOOD), study(GOOD, quick=True)
    assert (full.policies, full.inner.seeds, full.inner.parts) == (["fcfs"], 5, [1, 2])
    assert (quick.policies, quick.inner.seeds, quick.inner.parts) == (["filler"], 1, [1, 2])
    assert full.random == []


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('title = "a"', "", "title: missing"),
        ('paper = "b"', 'papper = "b"', "papper: unknown key; did you mean 'paper'"),
        ("seeds = 5", "seed = 5", "in-ner.seed: unknown key; did you mean 'seeds'"),
        ("seeds = 5", "seeds = 0", "in-ner.seeds: 0 will not do"),
        ("seeds = 5", 'seeds = "5"', "in-ner.seeds: '5' will not do"),
        ("parts = [1, 2]", "parts = [1, 2.5]", r"in-ner.parts.1: 2.5 will not do"),
        ('policies = ["fcfs"]', "policies = []", r"policies: \[\] will not do"),
        ("[quick]", "quick = 3\n[other]", "quick: must be a table"),
        ("seeds = 5", "seeds = = 5", "not valid TOML"),
        ('title = "a"\npaper = "b"', "", "2 problems"),
    ],
)
def test_slips_are_named(study, old, new, says):
    text = GOOD.replace(old, new)
    if "quick = 3" in new:
        text = "quick = 3\n" + GOOD.split("[quick]", maxsplit=1)[0]
    with pytest.raises(InputError, match=says):
        study(text)


def test_a_slip_in_quick_says_so(study):
    text = GOOD.replace("seeds = 1", "sedes = 1")
    study(text)
    with pytest.raises(InputError, match=r"quick\.in-ner\.sedes: unknown key; did you mean 'seeds'"):
        study(text, quick=True)


def test_a_study_without_the_file(tmp_path):
    with pytest.raises(InputError, match="every study has this file"):
        read_settings(tmp_path / "study.toml", Mine)
