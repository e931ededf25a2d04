"""`forebay warmup`: compile everything now, so that no run waits for it."""

import time
from typing import TYPE_CHECKING

from forebay.cli._input import options
from forebay.cli._input.options import Format
from forebay.cli._render.printing import answer, is_quiet, say

if TYPE_CHECKING:
    from forebay.core.actions import Actions
    from forebay.core.view import View

EXAMPLES = options.examples("forebay warmup")
OTHERWISE = (
    "bbsched:order=multifactor",
    "cerberus-throughput:run_value=by-prediction",
    "plan-predict:estimator=recent",
    "slurm:PreemptType=qos",
)
"""Policies that these parameters lead to another kernel than their names do."""


class InOrder:
    """First come, first served, in plain Python: the smallest policy there is."""

    def decide(self, view: "View", act: "Actions") -> None:
        """Start from the head of the queue, as long as it fits."""
        for job in view.queue:
            if not act.fits(job):
                return
            act.start(job)


def command(form: options.FormatOption = Format.text, quiet: options.QuietOption = False) -> None:
    """Compile everything now, so that no run waits for it.

    Worth it in a container image, on a shared file system, or before many runs start at once. FOREBAY_CACHE_DIR names
    the folder; by default it is forebay in the user's cache folder.
    """
    begun = time.perf_counter()
    from forebay import policies
    from forebay._numba.folder import cache_folder
    from forebay._run.block_parts import BLOCKS
    from forebay._run.compilation import WAITING, needed, prepare_parts
    from forebay._run.simulate import simulate
    from forebay.errors import InputError
    from forebay.workload import read

    if cache_folder() is None:
        what = "there is no folder for compiled code to which you alone can write"
        raise InputError(f"{what}: name another in FOREBAY_CACHE_DIR")
    every = [*map(policies.load, (*policies.names(), *OTHERWISE)), InOrder()]
    prepare_parts([*needed(every), WAITING, *BLOCKS.values()], is_quiet())
    for policy in ("fcfs-bb", "plan-2", InOrder()):
        simulate(read("table1"), policy=policy)
    seconds = time.perf_counter() - begun
    if form is Format.json:
        answer({"seconds": seconds, "cache": str(cache_folder())})
    else:
        say(f"ready after {seconds:.1f} s; compiled code is in {cache_folder()}")
