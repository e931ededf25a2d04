"""A Slurm that is two executables and some files: they print what the test last wrote, and count their calls."""

import json
import os
import random
from pathlib import Path

from forebay._live.commands import Slurm

CONFIG = """Configuration data as of 2027-01-15T08:00:00
ClusterName = {cluster}
SelectType = select/linear
Licenses = bb:10
SchedulerParameters = bf_interval=30,bf_licenses
PriorityType = priority/basic
"""
NODE = "NodeName=n{0} CPUTot=1 CPUEfctv=1 RealMemory=1000 State=IDLE Partitions=main\n"
PARTITION = "PartitionName=main Default=YES MaxTime=UNLIMITED Nodes=n[0-{0}] State=UP TotalCPUs={1} TotalNodes={1}\n"
START = 1_800_000_000.0
SCRIPT = """#!/bin/sh
echo "$0 $*" >> "{folder}/calls"
case "$*" in
  *config) cat "{folder}/config" ;;
  *node) cat "{folder}/node" ;;
  *partition) cat "{folder}/partition" ;;
  *reservation) cat "{folder}/reservation" ;;
  *--json*) cat "{folder}/queue" ;;
  *) exit 1 ;;
esac
"""


class Acted(Slurm):
    """Its clock is moved by hand, and by sleeping."""

    def __init__(self, folder, nodes=4, cluster="brook"):
        super().__init__(more={"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"})
        (folder / "bin").mkdir(parents=True)
        object.__setattr__(self, "folder", Path(folder))
        object.__setattr__(self, "clock", [START])
        for name in ("squeue", "scontrol"):
            program = folder / "bin" / name
            program.write_text(SCRIPT.format(folder=folder))
            program.chmod(0o755)
        files = {"config": CONFIG.format(cluster=cluster), "reservation": "No reservations in the system\n"}
        files |= {"node": "".join(map(NODE.format, range(nodes))), "partition": PARTITION.format(nodes - 1, nodes)}
        for name, text in files.items():
            (folder / name).write_text(text)
        self.show([])

    def now(self):
        return self.clock[0]

    def sleep(self, seconds):
        self.clock[0] += max(seconds, 0.0)

    def show(self, jobs):
        """What squeue prints from now on."""
        (self.folder / "queue").write_text(json.dumps({"jobs": jobs}))

    def calls(self):
        file = self.folder / "calls"
        return file.read_text().splitlines() if file.exists() else []


class Queue:
    """Jobs on a few nodes, first come first served: enough of a Slurm to be watched."""

    def __init__(self, nodes=4, seed=0, every=300.0, remembered=300.0):
        self._nodes, self._rng, self._every, self._remembered = nodes, random.Random(seed), every, remembered
        self.jobs, self._came, self._number, self._latest = [], START - 3600, 0, 0.0

    def at(self, now):
        """As squeue would print it."""
        while self._came <= now:
            self._number += 1
            limit = self._rng.choice((10, 20, 60))
            self.jobs.append({
                "job_id": self._number, "job_state": "PENDING", "name": f"job {self._number}", "user_name": "ann",
                "partition": "main", "node_count": self._rng.choice((1, 1, 2)), "cpus": 1, "time_limit": limit,
                "submit_time": int(self._came), "priority": 10**6 - self._number, "licenses": "bb:2",
                "took": 60 * limit * self._rng.uniform(0.2, 0.9),
            })  # fmt: skip
            self._came += self._rng.expovariate(1 / self._every)
        self._start(now)
        for job in self.jobs:
            if job["job_state"] == "RUNNING" and job["end"] <= now:
                job |= {"job_state": "COMPLETED", "end_time": int(job["end"])}
        self.jobs = [job for job in self.jobs if job.get("end_time", now) > now - self._remembered]
        return [{key: value for key, value in job.items() if key not in ("took", "end")} for job in self.jobs]

    def _start(self, now):
        """In order, each when nodes are free; ends that came since the last look make room when they were."""
        for job in self.jobs:
            if job["job_state"] != "PENDING":
                continue
            ends = sorted((one["end"], one["node_count"]) for one in self.jobs if "end" in one)
            moment = max(float(job["submit_time"]), self._latest)
            while self._free(moment) < job["node_count"]:
                moment = next(end for end, _ in ends if end > moment)
            if moment > now:
                return
            self._latest = moment
            job |= {"job_state": "RUNNING", "start_time": int(moment), "end": moment + job["took"]}

    def _free(self, moment):
        held = (one["node_count"] for one in self.jobs if "end" in one and one["start_time"] <= moment < one["end"])
        return self._nodes - sum(held)
