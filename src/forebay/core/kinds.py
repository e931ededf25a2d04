"""The name of the one resource that nobody asks for by name: nodes of the larger of two kinds.

Where the nodes of a machine have local devices of two sizes, what a job asks of the tier a node tells which nodes it
can run on. So the large ones are counted in a resource of their own, the last of all, named after the tier.
"""

from collections.abc import Sequence

LARGE = "_large"
WASTE = "_waste"


def large_of(resources: Sequence[str]) -> int:
    """The resource that counts nodes of the larger kind, by its place among all; -1 where nodes are of one kind."""
    last = len(resources) - 1
    stem = resources[last].removesuffix(LARGE)
    return last if stem != resources[last] and stem in resources else -1


def waste_of(resources: Sequence[str]) -> str | None:
    """What the unused part of the devices in nodes is called among objectives; None where nodes are of one kind."""
    large = large_of(resources)
    return None if large < 0 else resources[large].removesuffix(LARGE) + WASTE
