"""What 1,000 changes of priority cost a real Slurm: `python tests/real_slurm/writing.py [JOBS]` prints seconds.

Of the clock, and of the processors that slurmctld and all commands took, which other work changes less.
"""

import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from forebay._live.agent.orders import changes, write
from forebay._live.commands import Slurm
from forebay._live.jobs import queue
from real_slurm.cluster import Cluster

TICKS = os.sysconf("SC_CLK_TCK")


def controller(cluster):
    """Seconds of the processor that slurmctld has had."""
    process = next(process for name, process in cluster._started if name == "slurmctld")
    words = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / TICKS


def timed(cluster, what, work):
    """Do it, and print what it took."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    clock, before = time.perf_counter(), controller(cluster)
    found = work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - children.ru_utime - children.ru_stime
    load = os.getloadavg()[0]
    took = time.perf_counter() - clock
    print(
        f"{what}: {took:.2f} s; slurmctld {controller(cluster) - before:.2f}, commands {used:.2f}; load {load:.0f}",
        flush=True,
    )
    return found


def main(count):
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder, Cluster(folder, 2, "bf_interval=600") as cluster:
        cluster.submit("first", 2, 60, 3000)
        script = f"for i in $(seq {count}); do sbatch -N 1 -t 10 -o /dev/null --wrap 'sleep 1'; done"
        subprocess.run(["sh", "-c", script], env=cluster._environment(), stdout=subprocess.DEVNULL, check=True)
        slurm = Slurm(limit=120, more={"SLURM_CONF": f"{folder}/slurm.conf"})
        jobs = {job.id: job for job in timed(cluster, "read", lambda: queue(slurm)[0]) if job.waits}
        order = random.Random(1).sample(sorted(jobs), len(jobs))
        first = {one.job: one.after for one in changes(order, jobs, "priority", {})}
        timed(cluster, f"{len(first):,} priorities, 250 a scontrol", lambda: write(slurm, first, "priority"))
        lines = [f"update jobid={job} priority={value - 1}\n" for job, value in first.items()]
        timed(cluster, "the same, one scontrol", lambda: slurm.tried(["scontrol", "-Q"], "".join(lines)))
        first = {job: value - 1 for job, value in first.items()}
        for many in (2, 4):
            parts = ["".join(lines[k::many]).encode() for k in range(many)]
            timed(cluster, f"the same, {many} at a time", lambda parts=parts: _together(slurm, parts))
        jobs = {job.id: job for job in queue(slurm)[0] if job.waits}
        one, two = 400, 700
        order[one], order[two] = order[two], order[one]
        second = changes(order[1:], jobs, "priority", first)
        values = {one.job: one.after for one in second}
        timed(cluster, f"{len(second)} priorities of the next plan", lambda: write(slurm, values, "priority"))


def _together(slurm, parts):
    some = [
        subprocess.Popen(["scontrol", "-Q"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=slurm.environment())
        for _ in parts
    ]
    for process, part in zip(some, parts, strict=True):
        process.stdin.write(part)
        process.stdin.close()
    for process in some:
        process.wait()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
