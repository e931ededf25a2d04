"""The verbs that a policy in plain Python has, and no more: what the engine alone calls is private."""

import inspect
import pydoc

import pytest

import forebay as fb

pytestmark = pytest.mark.small

VERBS = {"backfill", "interrupt", "kill", "preempt", "reject", "resize", "say", "start", "wake"}
VERBS |= {"io_cap", "io_hold", "io_release", "io_weight"}
LOOKS = {"fits", "free", "idle_nodes"}


def test_the_verbs():
    assert {name for name in dir(fb.Actions) if not name.startswith("_")} == VERBS | LOOKS


@pytest.mark.parametrize("name", sorted(VERBS | LOOKS))
def test_help_explains_each(name):
    text = inspect.getdoc(getattr(fb.Actions, name))
    assert text.partition("\n")[0].endswith(".")
    assert name in pydoc.render_doc(fb.Actions, renderer=pydoc.plaintext)
