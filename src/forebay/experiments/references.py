"""The default reference of comparisons: the site's own policy; else EASY that reserves all that jobs ask for."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forebay.errors import ForebayError
from forebay.experiments.objects import marks
from forebay.experiments.runs import Jobs, workload_of

if TYPE_CHECKING:
    from forebay.platforms.platform import Platform
    from forebay.workload import Workload

OF_NODES, OF_ALL = "fcfs-easy", "fcfs-bb"
"""Backfilling that reserves nodes alone is a weak opponent where jobs wait for burst buffer, too."""


def usual_reference(policies: Sequence[str], workload: "Workload", platform: "Platform", own: str | None = None) -> str:
    """The reference among the policies; `own` is that of the site. Where none is usual, the first of them."""
    return _first((own, OF_ALL if _ask_for_more(workload, platform) else None, OF_NODES), policies)


def reference_of(jobs: Jobs, platform: str, policies: Sequence[str]) -> tuple[str | None, str]:
    """The policy of the site that jobs of a sweep run on, and the reference there, which may be that one.

    Jobs are read only where they decide: they may name the machine, or ask for more than nodes.
    """
    from forebay import platforms
    from forebay._run.simulate import machine_of
    from forebay._run.site_policy import site_policy

    machine, named, more = platforms.load(marks.of(platform)) if platform else None, platform, False
    if machine is None or OF_ALL in policies:
        try:
            workload = workload_of(jobs)
            if machine is None:
                machine, named = machine_of(workload), str(workload.platform)
            more = _ask_for_more(workload, machine)
        except ForebayError:
            pass  # the runs of these jobs tell what is wrong, and others go on
    own = None if machine is None else site_policy(machine, named)
    return own, own or _first((OF_ALL if more else None, OF_NODES), policies)


def _ask_for_more(workload: "Workload", platform: "Platform") -> bool:
    """Whether a job asks for anything of the machine besides nodes."""
    names = [name for name in platform.resources[1:] if name in workload.jobs.columns]
    return any((workload.jobs[name] > 0).any() for name in names)


def _first(best: Sequence[str | None], policies: Sequence[str]) -> str:
    return next((policy for policy in best if policy is not None and policy in policies), policies[0])
