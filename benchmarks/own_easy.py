"""What a real EASY in plain Python costs a decision: by `act.backfill`, by hand, and built in.

Run it by `python benchmarks/own_easy.py`; it needs FOREBAY_DATA, the folder with the KTH log. Times are processor time
of the whole run, divided by its decisions: others on the machine do not count.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import forebay as fb


class Verb(fb.Policy):
    """One line."""

    def decide(self, view: fb.View, act: fb.Actions) -> None:
        """Leave it to the kernel."""
        act.backfill(view.queue)


class ByHand(fb.Policy):
    """The same on a machine whose resources are pools: a reservation in plain Python."""

    def decide(self, view: fb.View, act: fb.Actions) -> None:
        """Start in order, reserve for the head, let others pass."""
        line, ends = view.queue.tolist(), [(end, leg) for end, _, leg in view.running.tolist()]
        while line and act.fits(line[0]):
            job = line.pop(0)
            act.start(job, fb.LogReason.IN_ORDER)
            ends.append((view.now + view.walltime(job), view.leg_of(job, 0)))
        if not line:
            return
        head, free, shadow = view.demand(line[0]), np.array(act.free), np.inf
        for end, leg in sorted((end if end > view.now else view.now + 1.0, leg) for end, leg in ends):
            if end > shadow:
                break
            free = free + view.releases[leg]
            if (free >= head).all():
                shadow = end
        spare = free - head
        for job in line[1:]:
            needs = view.demand(job) * (view.now + view.walltime(job) > shadow)
            if act.fits(job) and (needs <= spare).all():
                act.start(job, fb.LogReason.BACKFILLED)
                spare = spare - needs


def measured(workload: fb.Workload, policy: Any) -> tuple[float, int, str]:
    """Processor seconds of a run, its decisions and the hash of its log."""
    begun = time.process_time()
    result = fb.simulate(workload, None, policy, progress=False)
    return time.process_time() - begun, int(result.facts["decisions"]), str(result.facts["log_sha256"])


def main() -> None:
    """Print a row for each."""
    folder = os.environ.get("FOREBAY_DATA")
    if not folder:
        sys.exit("own_easy: set FOREBAY_DATA to the folder with the reference data")
    workload = fb.read(Path(folder) / "swf" / "KTH-SP2-1996-2.1-cln.swf.gz")
    for name, policy in (("act.backfill", Verb()), ("by hand", ByHand()), ("built in: fcfs-bb", "fcfs-bb")):
        fb.simulate("table1", policy=policy)  # what is compiled is compiled now
        seconds, decisions, sha = min(measured(workload, policy) for _ in range(3))
        print(f"| {name} | {seconds / decisions * 1e6:.1f} us a decision | log {sha[:12]} |", flush=True)


if __name__ == "__main__":
    main()
