"""Names as people write them."""

import pytest

from forebay import _plugins, figures, platforms, policies, studies
from forebay.errors import InputError
from forebay.workload import models, read

pytestmark = pytest.mark.small


@pytest.mark.parametrize("name", ["FCFS-EASY", "fcfs_easy", "Fcfs_Easy", "fcfs-easy"])
def test_case_does_not_count_and_underscores_are_hyphens(name):
    assert type(policies.load(name)) is type(policies.load("fcfs-easy"))
    assert policies.describe(name)["name"] == "fcfs-easy"
    assert _plugins.find("policies", name) == "fcfs-easy"


def test_so_for_all_that_has_a_name():
    assert platforms.load("TABLE1") == platforms.load("table1")
    assert platforms.load("Dragonfly_96:burst_buffer=1TB") == platforms.load("dragonfly-96:burst_buffer=1TB")
    assert len(read("Table1")) == len(read("table1"))
    assert _plugins.load("engine.jobmodels", "IO_Aware", "job model").program
    assert studies.load("Kopanski2021") is studies.load("kopanski2021")
    assert figures.proper("Letter_Values") == "letter-values"


def test_a_models_draws_do_not_depend_on_how_it_is_written():
    one, other = (models.generate(f"{name}:jobs=20,nodes=64", seed=3) for name in ("lublin99", "LUBLIN99"))
    assert one.jobs.equals(other.jobs)
    one, other = (models.attach(one, [name], seed=3) for name in ("burst-buffer", "Burst_Buffer"))
    assert one.jobs.equals(other.jobs)


@pytest.mark.parametrize("name", ["FCFS_EASI", "fcfs_easi"])
def test_near_names_are_still_suggested(name):
    with pytest.raises(InputError, match=f"unknown policy '{name}': did you mean 'fcfs-easy'"):
        policies.load(name)


def test_figures_that_only_studies_draw_have_no_name():
    with pytest.raises(InputError, match="unknown figure 'Panels'"):
        figures.proper("Panels")


def test_a_spec_with_characters_that_cannot_be_seen():
    with pytest.raises(InputError, match=r"'fcfs\\x1b\[31m' has characters that cannot be seen"):
        policies.load("fcfs\x1b[31m")
