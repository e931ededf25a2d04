"""What `import forebay` promises: a change here is a change for users, so it is made on purpose."""

import pydoc
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
    "Capacity",
    "Comparison",
    "Flexibility",
    "ForebayError",
    "JobState",
    "LogReason",
    "PhaseKind",
    "Platform",
    "Policy",
    "Profile",
    "Result",
    "Simulation",
    "Snapshot",
    "Sweep",
    "Topology",
    "Trigger",
    "Urgency",
    "View",
    "Workload",
    "bounds",
    "capacity",
    "compare",
    "diverge",
    "fidelity",
    "load",
    "metric",
    "open",
    "platform",
    "policy_kernel",
    "predict",
    "read",
    "reliability",
    "simulate",
    "summary",
    "sweep",
    "write",
]

ROOMS = [
    "adhoc",
    "errors",
    "experiments",
    "explain",
    "figures",
    "kernels",
    "learn",
    "metrics",
    "platforms",
    "policies",
    "report",
    "results",
    "testing",
    "workload",
]


def test_the_surface_is_pinned():
    assert sorted(fb.__all__) == SURFACE


def test_what_tab_completion_offers():
    assert [name for name in dir(fb) if not name.startswith("_")] == sorted(SURFACE + ROOMS)


def test_packages_are_there_without_an_import_of_their_own():
    code = f"import forebay as fb; [getattr(fb, name) for name in {ROOMS}]; print(fb.figures.names())"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "gantt" in out.stdout


def test_help_begins_with_what_there_is():
    text = pydoc.render_doc(fb, renderer=pydoc.plaintext).partition("PACKAGE CONTENTS")[0]
    for name in ("read", "platform", "simulate", "load", "summary", "forebay.metrics", "forebay.figures", "View"):
        assert f"`{name}`" in text


@pytest.mark.parametrize("name", SURFACE)
def test_every_name_resolves_to_what_it_says(name):
    assert getattr(fb, name) is not None
    assert type(getattr(fb, name)).__name__ != "module", "a submodule must not shadow a function of the front door"


def test_workloads_are_made_and_changed_by_public_names():
    code = (
        "import forebay as fb; w = fb.workload\n"
        "print(list(w.JOB_SCHEMA)[:2], list(w.LEG_SCHEMA)[:2], list(w.PHASE_SCHEMA)[:2], w.job_table.__name__)\n"
        "print(len(w.operations.first(fb.read('table1'), 3)), w.models.names()[0], w.info.__name__)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == (
        "['id', 'submit'] ['job', 'leg'] ['job', 'leg'] job_table\n3 admire-io forebay.workload.info\n"
    )
    with pytest.raises(AttributeError, match=r"no attribute 'operation': did you mean 'operations'"):
        fb.workload.operation  # noqa: B018


def test_the_version_is_that_of_the_package():
    assert fb.__version__ == version("forebay")


def test_the_version_to_cite_is_that_of_the_sources():
    root = Path(__file__).parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"\nversion: {project['version']}\n" in (root / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nrepository-code: {project['urls']['Homepage']}\n" in (root / "CITATION.cff").read_text(encoding="utf-8")


def test_unknown_names_raise():
    with pytest.raises(AttributeError, match=r"no attribute 'simulte': did you mean 'simulate'"):
        fb.simulte  # noqa: B018
    with pytest.raises(AttributeError, match=r"'warmup': `forebay warmup` is a command"):
        fb.warmup  # noqa: B018
    with pytest.raises(AttributeError, match=r"it is forebay.testing.check_policy"):
        fb.check_policy  # noqa: B018


def test_importing_forebay_loads_no_compiler():
    code = "import forebay, sys; print([m for m in ('numba', 'numpy', 'polars') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
