"""The names that nodes of two kinds bring along."""

import pytest

from forebay.core.kinds import large_of, waste_of

pytestmark = pytest.mark.small


@pytest.mark.parametrize(
    ("resources", "large", "waste"),
    [
        (("nodes",), -1, None),
        (("nodes", "ssd"), -1, None),
        (("nodes", "ssd", "ssd_large"), 2, "ssd_waste"),
        (("nodes", "nvme", "licences", "nvme_large"), 3, "nvme_waste"),
        (("nodes", "very_large"), -1, None),  # a pool of its own
    ],
)
def test_names(resources, large, waste):
    assert large_of(resources) == large
    assert waste_of(resources) == waste
