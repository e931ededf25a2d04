"""What a policy needs of a workload and a machine: refused where these cannot tell it, else made ready for a run."""

from functools import partial
from typing import Any

import numpy as np

from forebay.core.limits import Manner
from forebay.engine.build.tables import make_other_program
from forebay.engine.io_knowledge.build import knowledge_of
from forebay.engine.io_scheduling.build import known_with
from forebay.engine.policy_io.needs import Wishes, wishes_of
from forebay.errors import InputError
from forebay.policies import in_messages


def wishes_on(policy: Any, name: str, ground: Any, manner: Manner) -> Wishes:
    """What a policy, or what is around it, asks to see."""
    workload, platform, program, name = ground.workload, ground.platform, ground.program, in_messages(policy, name)
    made_of = partial(make_other_program, platform=platform, spec=ground.job_model)
    known = knowledge_of(known_with(manner, policy, name), name, workload, platform, program, made_of)
    return wishes_of(policy, name, workload, platform)._replace(known_io=known, manner=manner)


def check_needs(policy: Any, name: str, ground: Any) -> None:
    """Refuse a policy that needs what the workload or the machine cannot tell."""
    workload, platform, program, name = ground.workload, ground.platform, ground.program, in_messages(policy, name)
    if hasattr(policy, "check_on"):
        policy.check_on(platform.resources)
    if getattr(policy, "needs_files", False) and platform.fabric().read is None:
        raise InputError(
            f"policy {name!r} weighs what jobs read and write, and {platform.name} has no file system; add a tier of "
            "kind pfs (or pfs=5GB/s to flat)"
        )
    if not getattr(policy, "needs_times", False) or getattr(policy, "known", None) is not None:
        return
    known = np.zeros(len(workload), bool) if program.rounds is None else program.rounds.row >= 0
    if len(known) == 0 or not known.all():
        job = workload.jobs["id"][int(np.argmin(known)) if len(known) else 0]
        raise InputError(
            f"policy {name!r} needs to know how long jobs take alone on the machine, as applications tell; job {job} "
            f"of {workload.name} has none: attach them to all, run with --job-model application, or run another policy"
        )
