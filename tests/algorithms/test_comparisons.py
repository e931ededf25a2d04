"""No kernel without a twin."""

import importlib
import pkgutil

import pytest

from forebay import algorithms
from twins import comparisons as naive

pytestmark = pytest.mark.small


MODULES = [one.name for one in pkgutil.walk_packages(algorithms.__path__, "forebay.algorithms.") if not one.ispkg]


@pytest.mark.parametrize("name", MODULES, ids=lambda name: name.rpartition(".")[2])
def test_every_kernel_has_a_twin(name):
    module = importlib.import_module(name)
    own = [
        thing
        for word, thing in vars(module).items()
        if callable(thing) and not word.startswith("_") and getattr(thing, "__module__", "") == module.__name__
    ]
    assert own
    assert [kernel.__name__ for kernel in own if kernel not in naive.COMPARISONS] == []
