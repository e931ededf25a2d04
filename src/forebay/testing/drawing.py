"""Random cases: a few jobs and a machine, and what the kinds of cases add to them.

One more kind is one more class in `KINDS`, at the end, with what it needs as fields of `Case` or `Job`. Each kind draws
from a stream of its own, so that a new kind does not change the others.
"""

from collections.abc import Sequence

import numpy as np

from forebay.testing.case import Case, Job, Leg
from forebay.testing.kinds import (
    Chunked,
    Dependent,
    Divided,
    Failing,
    Kind,
    Ranked,
    Sizes,
    Staged,
    TwoSizes,
    Withdrawn,
    times,
)
from forebay.testing.machines import Files, Reserved, Shared, Tiered
from forebay.testing.scale import Scale

KINDS: tuple[Kind, ...] = (
    Staged(),
    Withdrawn(),
    Chunked(),
    TwoSizes(),
    Sizes(),
    Failing(),
    Divided(),
    Dependent(),
    Ranked(),
    Files(),
    Tiered(),
    Shared(),
    Reserved(),
)
"""All of them; a case may be of several."""


def random_case(rng: np.random.Generator, kinds: Sequence[Kind] = KINDS, scale: Scale | None = None) -> Case:
    """A few jobs with many ties, on a machine where they collide; some too large or past their walltime.

    Parameters
    ----------
    rng
        Draws it.
    kinds
        What it may have beyond jobs of one leg on nodes that are all alike.
    scale
        Around which number nodes, bytes or times are; None = they are small.

    Examples
    --------
    >>> import numpy as np
    >>> len(fb.testing.random_case(np.random.default_rng(0)).jobs) > 0
    True
    """
    streams = dict(zip(map(type, KINDS), rng.spawn(len(KINDS)), strict=True))
    nodes, buffer, n = int(rng.integers(1, 9)), int(rng.integers(0, 11)), int(rng.integers(1, 16))
    submits = np.sort(rng.integers(0, max(2, 3 * n), n))
    jobs = []
    for submit in submits:
        too_large = rng.random() < 0.05
        own, bytes_ = int(rng.integers(1, nodes + 1)) + nodes * too_large, int(rng.integers(0, buffer + 1))
        jobs.append(Job(float(submit), (Leg(*times(rng), own, bytes_),)))
    case = Case(nodes, buffer, tuple(jobs))
    if scale is not None:
        case = scale.apply(rng, case)
    for kind in kinds:
        case = kind.add(streams[type(kind)], case)
    return case
