"""Boxes of what nodes have free, as plain lists."""


def outline(free):
    """Of the nodes of one atom, those that no other one has as much as of everything; equal ones count once."""
    some = sorted({tuple(node) for node in free if node[0] > 0})
    return [a for a in some if not any(a != b and all(x <= y for x, y in zip(a, b, strict=True)) for b in some)]


def one_holds(boxes, ask):
    """Whether a box has as much as is asked for."""
    return any(all(a <= b for a, b in zip(ask, box, strict=True)) for box in boxes)


def tally(free, most):
    """How many nodes of one atom have 0, 1, ... `most` cores free, or more."""
    return [sum(node[0] >= cores for node in free) for cores in range(most + 1)]
