"""`forebay warmup`: compile everything now, so that no run waits for it."""

import subprocess
import sys
import time
from typing import TYPE_CHECKING

from forebay.cli import _options as options
from forebay.cli._options import Format
from forebay.cli._print import answer, message, say
from forebay.errors import ForebayError

if TYPE_CHECKING:
    from forebay.core.view import Actions, View

EXAMPLES = options.examples("forebay warmup")

_HALVES = (
    "forebay.engine.loop, forebay.engine.bridge, forebay.policies._window",
    "forebay.policies._predicted, forebay.policies._cerberus, forebay.policies._tier_plan",
)
"""Compiled side by side, each in a process of its own. The last of the first half needs what the second begins with,
and by then finds it in the cache."""


class InOrder:
    """First come, first served, in plain Python: the smallest policy there is."""

    def decide(self, view: "View", act: "Actions") -> None:
        """Start from the head of the queue, as long as it fits."""
        for job in view.queue:
            if not act.fits(job):
                return
            act.start(job)


def command(form: options.FormatOption = Format.text) -> None:
    """Compile everything now, so that no run waits for it.

    Worth it in a container image, on a shared file system, or before many runs start at once. FOREBAY_CACHE_DIR names
    the folder; by default it is forebay in the user's cache folder.
    """
    message("Compiling the engine and the policies in two processes (a minute and a half the first time) ...")
    begun = time.perf_counter()
    _compile_halves()
    from forebay._jit import cache_folder
    from forebay._simulate import simulate
    from forebay.workload import read

    for policy in ("fcfs-bb", "plan-2", InOrder()):
        simulate(read("table1"), policy=policy)
    seconds = time.perf_counter() - begun
    if form is Format.json:
        answer({"seconds": seconds, "cache": str(cache_folder())})
    else:
        say(f"ready after {seconds:.1f} s; compiled code is in {cache_folder()}")


def _compile_halves() -> None:
    both = [
        subprocess.Popen([sys.executable, "-c", f"import {modules}"], stderr=subprocess.PIPE, text=True)
        for modules in _HALVES
    ]
    try:
        for modules, process in zip(_HALVES, both, strict=True):
            _, errors = process.communicate()
            if process.returncode:
                raise ForebayError(f"{modules} could not be compiled:\n{errors.rstrip()}")
    finally:
        for process in both:
            if process.poll() is None:
                process.terminate()
            process.wait()
