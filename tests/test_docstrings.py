"""Docstrings of the public names: every parameter is told, and every example gives what it shows.

Examples assume `import forebay as fb`. What is said of `result` in the docstring of forebay.metrics holds for all its
functions.
"""

import doctest
import enum
import inspect
import re
from importlib import import_module

import matplotlib as mpl
import pytest

import forebay as fb

pytestmark = pytest.mark.small

PACKAGES = (
    "",
    "workload",
    "platforms",
    "policies",
    "results",
    "metrics",
    "figures",
    "report",
    "testing",
    "experiments",
    "adhoc",
)
IN_CORE = {"<lambda>", "Limits"}  # policy_kernel and Limits: told in the guide, and beside each field
MADE_BY_THE_ENGINE = {"View", "Profile", "Actions", "Simulation", "Snapshot"}  # users do not call these classes


def _public():
    for name in PACKAGES:
        module = import_module(f"forebay.{name}".rstrip("."))
        for word in getattr(module, "__all__", ()):
            yield pytest.param(name, getattr(module, word), id=f"{name or 'forebay'}.{word}")


PUBLIC = [one for one in _public() if callable(one.values[1])]


def _section(text, title):
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[^\n]*\n---|\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def _documented(thing):
    return re.findall(r"^\*{0,2}(\w+)(?: :.*)?$", _section(inspect.getdoc(thing) or "", "Parameters"), re.MULTILINE)


def test_there_are_some():
    assert len(PUBLIC) > 60
    assert _documented(fb.metrics) == ["result"]


@pytest.mark.parametrize(("package", "thing"), PUBLIC)
def test_every_parameter_is_documented(package, thing):
    name = thing.__name__
    if name in IN_CORE | MADE_BY_THE_ENGINE or (inspect.isclass(thing) and issubclass(thing, enum.Enum | Exception)):
        return
    if hasattr(thing, "model_rebuild"):  # its checks, and so its signature, are built when first used
        thing.model_rebuild()
    wanted = [key for key in inspect.signature(thing).parameters if not key.startswith("_")]
    if package == "metrics" and wanted[0] == "result":
        del wanted[0]
    documented = _documented(thing)
    assert [key for key in documented if key != "result"] == [key for key in wanted if key != "result"]
    assert inspect.getdoc(thing).partition("\n")[0].endswith((".", ":"))


@pytest.mark.parametrize(("package", "thing"), PUBLIC)
def test_examples_give_what_they_show(package, thing, tmp_path, monkeypatch):
    mpl.use("agg")
    monkeypatch.chdir(tmp_path)
    _run(inspect.getdoc(thing) or "", thing.__name__)


@pytest.mark.parametrize("module", [fb, fb.metrics, fb.adhoc])
def test_examples_of_packages(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert _run(module.__doc__, module.__name__) > 1


def _run(text, name):
    test = doctest.DocTestParser().get_doctest(text, {"fb": fb}, name, None, None)
    complaints = []
    failed, tried = doctest.DocTestRunner().run(test, out=complaints.append, clear_globs=True)
    assert not failed, "".join(complaints)
    return tried


def test_most_have_examples():
    without = {
        one.id
        for one in PUBLIC
        if ">>>" not in (inspect.getdoc(one.values[1]) or "") and not inspect.isclass(one.values[1])
    }
    assert {name.partition(".")[2] for name in without if not name.startswith("metrics.")} == {
        "policy_kernel",
        "save_record",
        "saving",
    }
