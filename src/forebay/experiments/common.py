"""What the runs of a command have in common: the capabilities that any of them uses, for which it compiles once."""

from collections.abc import Iterable
from contextlib import suppress
from itertools import product
from typing import Any

from forebay import _compile
from forebay._case import case_of
from forebay.engine.variants import CAPABILITIES, uses
from forebay.errors import ForebayError


def common_uses(policies: Iterable[Any], *runs: tuple[Any, ...]) -> frozenset[str]:
    """The capabilities that runs of these policies use, on each workload and machine: what a command compiles.

    A run is what `case_of` takes, without the policy. One that cannot be made is reported where it is carried out.
    """
    every = list(policies)
    if _compile.all_stored(every):
        return frozenset(CAPABILITIES)  # nothing is compiled, and nothing has to be looked at
    found: frozenset[str] = frozenset()
    for (workload, platform, *more), policy in product(runs, every):
        with suppress(ForebayError):
            found |= uses(*case_of(workload, platform, policy, *more).built()[:2])
    return found
