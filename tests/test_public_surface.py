"""What `import forebay` promises: a change here is a change for users, so it is made on purpose."""

import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import forebay as fb

pytestmark = pytest.mark.small

SURFACE = [
    "Actions",
    "ForebayError",
    "LogReason",
    "Platform",
    "Policy",
    "Result",
    "Trigger",
    "View",
    "Workload",
    "load",
    "platform",
    "policy_kernel",
    "read",
    "simulate",
    "summary",
    "write",
]


def test_the_surface_is_pinned():
    assert sorted(fb.__all__) == SURFACE == dir(fb)


@pytest.mark.parametrize("name", SURFACE)
def test_every_name_resolves_to_what_it_says(name):
    assert getattr(fb, name) is not None
    assert type(getattr(fb, name)).__name__ != "module", "a submodule must not shadow a function of the front door"


def test_the_version_is_that_of_the_package():
    assert fb.__version__ == version("forebay")


def test_the_version_to_cite_is_that_of_the_sources():
    root = Path(__file__).parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"\nversion: {project['version']}\n" in (root / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nrepository-code: {project['urls']['Homepage']}\n" in (root / "CITATION.cff").read_text(encoding="utf-8")


def test_unknown_names_raise():
    with pytest.raises(AttributeError, match="no attribute 'simulation'"):
        fb.simulation  # noqa: B018


def test_importing_forebay_loads_no_compiler():
    code = "import forebay, sys; print([m for m in ('numba', 'numpy', 'polars') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
