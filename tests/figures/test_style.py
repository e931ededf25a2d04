"""What pictures have in common."""

import pytest

from forebay import policies
from forebay.figures._style import looks


@pytest.mark.small
@pytest.mark.parametrize("n", [1, 8, len(policies.names()), 28, 49])
def test_no_two_results_look_the_same(n):
    found = looks([str(i) for i in range(n)])
    assert len({(look["color"], str(look["linestyle"])) for look in found.values()}) == n
