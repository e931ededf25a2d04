"""What slurmctld.log tells to the millisecond: when jobs came, started and ended, and when Slurm's schedulers ran.

Slurm's accounts have whole seconds. Within one a job may end just before a cycle or just behind it, and whoever decides
on that job's nodes decides differently.
"""

import re
from datetime import datetime

LINE = re.compile(
    r"^\[(?P<time>[^\]]+)\] (?:debug: +)?(?:"
    r"_slurm_rpc_submit_batch_job: JobId=(?P<submit>\d+)"
    r"|sched/backfill: _start_job: Started JobId=(?P<backfilled>\d+) "
    r"|sched: Allocate JobId=(?P<started>\d+) "
    r"|_job_complete: JobId=(?P<end>\d+) done"
    r"|sched/backfill: _attempt_backfill: (?P<backfill>beginning)"
    r"|sched: Running job scheduler for (?P<main>default depth|full queue))",
    re.MULTILINE,
)
LINES = ("SlurmctldDebug=debug", "DebugFlags=Backfill", "LogTimeFormat=iso8601_ms")
"""Settings with which all this is in the log."""
MAIN, FULL, BACKFILL = "main", "full", "backfill"


def events(text):
    """Of each job by its number {"submit", "start", "end"}, and the runs of schedulers as (time, which).

    A job starts when the cycle begins that starts it: times are seconds since the epoch.
    """
    jobs, cycles = {}, []
    for found in LINE.finditer(text):
        now = datetime.fromisoformat(found["time"]).timestamp()
        if found["backfill"]:
            cycles.append((now, BACKFILL))
        elif found["main"]:
            cycles.append((now, FULL if found["main"] == "full queue" else MAIN))
        elif found["backfilled"] or found["started"]:
            kinds = (BACKFILL,) if found["backfilled"] else (MAIN, FULL)
            began = next((time for time, kind in reversed(cycles) if kind in kinds), now)
            jobs[int(found["backfilled"] or found["started"])]["start"] = began
        elif found["submit"]:
            jobs[int(found["submit"])] = {"submit": now}
        else:
            jobs[int(found["end"])]["end"] = now
    return jobs, cycles
