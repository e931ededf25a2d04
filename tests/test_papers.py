"""docs/reference/papers.md: every name in its tables exists, and so do the page and the test beside it."""

import importlib
import re
from functools import reduce
from pathlib import Path

import pytest
import typer

from forebay import _plugins, policies
from forebay.cli.main import app
from forebay.errors import InputError

pytestmark = pytest.mark.small

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "papers.md"
GROUPS = ("workload.models", "workload.embedded", "platforms.presets", "platforms.topologies", "engine.jobmodels")
ROW = re.compile(r"^\| (?P<section>[^|]+) \| (?P<what>[^|]+) \| (?P<here>[^|]+) \|(?P<page>[^|]*)\|(?P<test>[^|]*)\|$")
ROWS = [row.groupdict() for line in PAGE.read_text().splitlines() if (row := ROW.match(line))]
ROWS = [row for row in ROWS if row["section"] != "section" and not row["section"].startswith("--")]
MISSING = "*not built*"


def is_policy(name):
    try:
        return policies.load(name) is not None
    except InputError:
        return False


def is_of_a_study(name):
    study, _, part = name.partition(":")
    if _plugins.find("studies", study) is None:
        return False
    folder = ROOT / "src" / "forebay" / "studies" / study.replace("-", "_")
    if part in importlib.import_module(f"forebay.studies.{folder.name}").SECTIONS:
        return True
    return any(f'"{part}"' in path.read_text() for path in [*folder.glob("*.py"), folder / "study.toml"])


def is_command(name):
    word, *words = name.split()
    commands = [typer.main.get_command(app)]
    for one in words:
        commands.append(getattr(commands[-1], "commands", {}).get(one))
    return word == "forebay" and commands[-1] is not None


def is_in_python(name):
    package, _, rest = name.partition(".")
    if package != "forebay" or not rest:
        return False
    module, *names = rest.split(".")
    try:
        return reduce(getattr, names, importlib.import_module(f"forebay.{module}")) is not None
    except (ImportError, AttributeError):
        return False


def exists(name):
    """Whether a name of the tables stands for something of forebay's."""
    if "/" in name and (ROOT / name).is_file():
        return True
    if any(_plugins.find(group, name.partition(":")[0]) for group in GROUPS):
        return True
    return is_policy(name) or is_of_a_study(name) or is_command(name) or is_in_python(name)


def test_the_tables_are_read():
    assert len(ROWS) > 90
    assert {"3.2, Alg. 1", "4.2.4, Alg. 3"} <= {row["section"] for row in ROWS}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['section']}: {row['what']}")
def test_what_is_named_exists(row):
    if row["here"].startswith(MISSING):
        assert not row["page"].strip()
        assert not row["test"].strip()
        return
    names = re.findall(r"`([^`]+)`", row["here"])
    assert names
    assert [name for name in names if not exists(name)] == []
    (page,) = re.findall(r"\]\(([^)#]+)", row["page"])
    assert (PAGE.parent / page).is_file()
    tests = re.findall(r"`([^`]+)`", row["test"])
    assert tests
    assert [name for name in tests if not (ROOT / "tests" / name).is_file()] == []


@pytest.mark.parametrize(
    "name", ["plan-zz", "kopanski2021:fig-99", "forebay workload fit", "forebay.adhoc.Nothing", "docs/no.md"]
)
def test_what_does_not_exist_is_found(name):
    assert not exists(name)


def test_every_study_is_there():
    text = PAGE.read_text()
    assert [name for name in _plugins.names("studies") if f"`{name}:" not in text] == []
