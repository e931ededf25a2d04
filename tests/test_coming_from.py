"""The policies on the page for who comes from other simulators are ones: they run, and keep the contract."""

import re
from pathlib import Path

import pytest

import forebay as fb
from forebay.testing import check_policy

PAGE = (Path(__file__).parents[1] / "docs" / "guides" / "coming-from.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.small
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: re.search(r"class (\w+)", block)[1])
def test_a_policy_of_the_page_keeps_the_contract(block):
    scope: dict = {"fb": fb}
    exec(block, scope)
    (policy,) = (value for name, value in scope.items() if name in re.findall(r"class (\w+)", block))
    report = check_policy(policy(), n_cases=6)
    assert report.passed, report.explanation
