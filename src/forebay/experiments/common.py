"""What the runs of a command have in common: the capabilities that any of them uses, for which it compiles once."""

from collections.abc import Iterable
from contextlib import suppress
from itertools import product
from typing import Any

from forebay._run import compilation
from forebay._run.case import case_of
from forebay.engine.variants import CAPABILITIES, uses
from forebay.errors import ForebayError
from forebay.experiments.runs import Run, given_to

_MOST = 4
"""Workloads of which a command makes the tables to see what they use. With more it compiles all: that is used soon."""


def common_uses(policies: Iterable[Any], *runs: tuple[Any, ...]) -> frozenset[str]:
    """The capabilities that runs of these policies use, on each workload and machine: what a command compiles.

    A run is what `case_of` takes, without the policy. One that cannot be made is reported where it is carried out.
    """
    every = list(policies)
    if compilation.all_stored(every):
        return frozenset(CAPABILITIES)  # nothing is compiled, and nothing has to be looked at
    found: frozenset[str] = frozenset()
    for (workload, platform, *more), policy in product(runs, every):
        with suppress(ForebayError):
            found |= uses(*case_of(workload, platform, policy, *more).built()[:2])
    return found


def uses_of_runs(policies: Iterable[Any], runs: Iterable[Run]) -> frozenset[str]:
    """The same of runs as plain data, each on its own workload."""
    every = list(policies)
    kinds = {(run.jobs, run.platform, run.job_model, run.failures): run for run in runs}
    if len(kinds) > _MOST or compilation.all_stored(every):
        return frozenset(CAPABILITIES)
    found: frozenset[str] = frozenset()
    for run in kinds.values():
        with suppress(ForebayError):
            found |= common_uses(every, given_to(run))
    return found
