"""Windows of a site, as docs/reference/policies/limits.md has them; times are whole numbers."""

import math


def keeps_out(start, end, time, walltime, mine):
    """Whether a job that starts at a time may not have the nodes of a window."""
    ends_before, begins_after = time + walltime <= start, time >= end
    return not (ends_before or begins_after or (mine and time >= start))


def left_open(rows, atoms, mine, time, walltime):
    """Atoms that no window (start, end, atoms) keeps from a job; `mine` are the places of those that are for it."""
    kept = [some for p, (start, end, some) in enumerate(rows) if keeps_out(start, end, time, walltime, p in mine)]
    return atoms - set().union(*kept)


def next_edge(rows, passed):
    """The first begin or end behind a time."""
    return min((edge for start, end, _ in rows for edge in (start, end) if edge > passed), default=math.inf)
