"""Who displaces whom on a real Slurm with PreemptType=preempt/qos, and in the policy slurm.

`python tests/real_slurm/preemption.py [CASE ...]` records cases anew in recorded/preemption.csv, one after another, in
ten minutes; it needs a database. QOS high displaces QOS low; jobs of normal neither displace nor are displaced.
"""

import csv
import re
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

import polars as pl

import forebay as fb
from forebay.workload.workload import job_table
from real_slurm import log
from real_slurm.record import RECORDED, write

INTERVAL = 5  # s
LINES = ("PreemptType=preempt/qos", "PreemptMode=REQUEUE", *log.LINES)
COLUMNS = ("case", "name", "nodes", "qos", "walltime", "seconds", "submit", "start", "displaced", "for")
QOS = ("normal", "low", "high")


class Case(NamedTuple):
    """Jobs as (name, seconds until the next one, nodes, QOS, limit in minutes); what is said of QOS low."""

    nodes: int
    jobs: tuple
    low: tuple = ()
    options: tuple = ()  # SchedulerParameters
    within: float = 3.0  # seconds that our times may differ


SMALL = (("A", 4, 2, "low", 10), ("B", 4, 1, "low", 10), ("C", 8, 1, "low", 10))
FOUR = (("N", 3, 1, "normal", 8), ("A", 3, 1, "low", 10), ("B", 3, 1, "low", 10), ("C", 8, 1, "low", 10))
FIVE = (("N", 3, 1, "normal", 8), ("A", 3, 2, "low", 10), ("B", 3, 1, "low", 10), ("C", 8, 1, "low", 10))
CASES = {
    "one": Case(4, (*SMALL, ("H", 8, 1, "high", 2))),
    "three": Case(4, (*SMALL, ("H", 8, 3, "high", 2))),
    "youngest": Case(4, (*SMALL, ("H", 8, 1, "high", 2)), options=("preempt_youngest_first",)),
    "cancel": Case(4, (*SMALL, ("H", 8, 1, "high", 2)), ("preemptmode=cancel",)),
    "exempt": Case(4, (*SMALL, ("H", 60, 1, "high", 2)), ("preemptexempttime=00:00:40",), within=60),
    "order": Case(
        4, (("A", 1, 2, "low", 10), ("B", 6, 2, "low", 10), ("L", 6, 4, "low", 10), ("H", 8, 1, "high", 2)), within=5
    ),
    "behind": Case(
        4, (*FOUR, ("H1", 8, 4, "high", 2), ("H2", 20, 1, "high", 2), ("H3", 20, 1, "high", 20)), within=INTERVAL + 3
    ),
    "few": Case(
        5, (*FIVE, ("H1", 8, 5, "high", 2), ("H2", 16, 1, "high", 2), ("H3", 16, 2, "high", 2)), within=INTERVAL + 3
    ),
    "grace": Case(4, (*SMALL, ("H", 50, 1, "high", 2)), ("gracetime=10",), within=32),
}
SAID = {
    "youngest": ",preempt_youngest_first=true",
    "cancel": ",PreemptMode=REQUEUE;low=CANCEL",
    "exempt": ",PreemptExemptTime=0;low=40",
    "grace": ",GraceTime=0;low=10",
}
LINE = re.compile(
    r"^\[(?P<time>[^\]]+)\] (?:debug: +)?(?:"
    r"_slurm_rpc_submit_batch_job: JobId=(?P<submit>\d+)"
    r"|sched/backfill: _start_job: Started JobId=(?P<filled>\d+) "
    r"|sched: Allocate JobId=(?P<started>\d+) "
    r"|setting \d+ sec preemption grace time for JobId=(?P<told>\d+) to reclaim resources for JobId=(?P<whom>\d+)"
    r"|preempted JobId=(?P<victim>\d+) has been \w+ to reclaim resources for JobId=(?P<other>\w+))",
    re.MULTILINE,
)


def record(case, folder):
    """Let a real Slurm do it; rows of COLUMNS. Times are seconds since the minute of the first submission."""
    from real_slurm.accounting import Accounted

    asked, sleeps = CASES[case], 300
    options = ",".join((f"bf_interval={INTERVAL}", f"bf_resolution={INTERVAL}", *asked.options))
    with Accounted(folder, asked.nodes, LINES, options) as cluster:
        cluster.manage("add", "qos", "low", "priority=10", *asked.low)
        cluster.manage("add", "qos", "high", "priority=100", "preempt=low")
        cluster.manage("modify", "user", "root", "set", f"qos={','.join(QOS)}")
        time.sleep(2)
        for name, pause, nodes, qos, limit in asked.jobs:
            script = ("-o", "/dev/null", "-D", "/tmp", "--wrap", f"sleep {sleeps}")
            answer = cluster._run("sbatch", "-J", name, "-N", str(nodes), "-t", str(limit), "--qos", qos, *script)
            if answer.returncode:
                raise RuntimeError(f"sbatch refused {name}: {answer.stderr}")
            time.sleep(pause)
    found, names = {}, [job[0] for job in asked.jobs]
    for line in LINE.finditer((Path(folder) / "slurmctld.log").read_text()):
        now = datetime.fromisoformat(line["time"]).timestamp()
        if line["submit"]:
            found[int(line["submit"])] = {"submit": now}
        elif line["filled"] or line["started"]:
            found[int(line["filled"] or line["started"])].setdefault("start", now)
        elif line["told"]:
            found[int(line["told"])]["for"] = names[int(line["whom"]) - 1]
        else:
            victim = found[int(line["victim"])]
            victim["displaced"] = now
            victim.setdefault("for", names[int(line["other"]) - 1] if line["other"].isdigit() else "")
    first = min(job["submit"] for job in found.values()) // 60 * 60
    rows = []
    for (name, _, nodes, qos, limit), job in zip(asked.jobs, (found[number] for number in sorted(found)), strict=True):
        times = [round(job[word] - first, 3) if word in job else "" for word in ("submit", "start", "displaced")]
        rows.append((case, name, nodes, qos, 60 * limit, sleeps, *times, job.get("for", "")))
    return rows


def simulated(table, case):
    """When each job starts at first under the policy slurm, and when it is displaced, by name; None = never."""
    jobs = job_table(
        {
            "id": range(1, len(table) + 1),
            "submit": table["submit"],
            "run_time": table["seconds"].cast(pl.Float64),
            "walltime": table["walltime"].cast(pl.Float64),
            "nodes": table["nodes"],
            "qos": [QOS.index(qos) for qos in table["qos"]],
        }
    )
    spec = f"slurm:bf_interval={INTERVAL},bf_resolution={INTERVAL},reservations=pinned,PreemptType=qos,Preempt=high=low"
    work = fb.Workload("recorded", jobs, names={"qos": dict(enumerate(QOS))})
    rows = fb.simulate(work, f"flat:nodes={CASES[case].nodes}", spec + ",qos=low=10;high=100" + SAID.get(case, "")).log
    starts = rows.filter(pl.col("kind") == "start").group_by("job").agg(pl.col("time").min())
    stops = rows.filter(pl.col("reason") == "interrupted").group_by("job").agg(pl.col("time").min())
    names = dict(enumerate(table["name"], 1))
    return [{names[job]: when for job, when in found.iter_rows()} for found in (starts, stops)]


if __name__ == "__main__":
    wanted = sys.argv[1:] or list(CASES)
    path = RECORDED / "preemption.csv"
    kept = [row for row in csv.reader(path.open()) if row[0] in CASES and row[0] not in wanted] if path.exists() else []
    for case in wanted:
        with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
            kept += record(case, folder)
    write(path, COLUMNS, sorted(kept, key=lambda row: list(CASES).index(row[0])))
