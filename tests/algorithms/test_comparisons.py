"""No kernel without a twin."""

import importlib
import pkgutil

import pytest

from forebay import algorithms
from twins import comparisons as naive

pytestmark = pytest.mark.small


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(algorithms.__path__)])
def test_every_kernel_has_a_twin(name):
    module = importlib.import_module(f"forebay.algorithms.{name}")
    own = [
        thing
        for word, thing in vars(module).items()
        if callable(thing) and not word.startswith("_") and getattr(thing, "__module__", "") == module.__name__
    ]
    assert own
    assert [kernel.__name__ for kernel in own if kernel not in naive.COMPARISONS] == []
