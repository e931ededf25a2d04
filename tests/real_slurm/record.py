"""Random jobs on a real Slurm, and what it did with them, as a table.

`python tests/real_slurm/record.py SEED [SETTING]` writes recorded/SETTING-SEED.csv beside this file: 15 minutes, most
of them waiting, so that all seeds can be recorded side by side. Times are seconds of the real clock, since the minute
of the first submission: Slurm rounds to multiples of bf_resolution on that clock. SETTING-SEED-cycles.csv has when
Slurm's schedulers ran. What was recorded first, of seeds 1 to 5, is in whole seconds, and without these. Seeds 6 to 10
were run twice more, side by side on a machine with little other work: SETTING-SEED-a.csv and -b.csv.
"""

import csv
import random
import re
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from real_slurm import log
from real_slurm.cluster import Cluster

NODES, N_JOBS, LICENSES = 8, 100, 10
COLUMNS = ("id", "submit", "nodes", "walltime", "licenses", "start", "end", "state", "allocated")
SETTINGS = {
    "nodes": "bf_interval=5,bf_resolution=5",
    "often": "bf_interval=1,bf_resolution=1",
    "licenses": "bf_interval=5,bf_resolution=5,bf_licenses",
    "no_bf_licenses": "bf_interval=5,bf_resolution=5",
}
"""SchedulerParameters. Times are a tenth of usual ones, so are most intervals."""
RECORDED = Path(__file__).with_name("recorded")


def draw(seed, licensed, n_jobs=N_JOBS):
    """Jobs as (name, seconds until the next one, nodes, limit in minutes, seconds that it sleeps, licences)."""
    rng, jobs = random.Random(seed), []
    for i in range(n_jobs):
        nodes, limit = rng.choice((1, 1, 1, 2, 2, 3, 4, 6)), rng.choice((1, 1, 2, 3))
        seconds = rng.randint(4, min(45, limit * 40))
        jobs.append((f"j{i}", rng.expovariate(1 / 6), nodes, limit, seconds, rng.choice((0, 1, 2, 4, 6)) * licensed))
    return jobs


def record(seed, setting, folder, n_jobs=N_JOBS):
    """Run the jobs of a seed; returns rows of COLUMNS, and the runs of schedulers as (time, which)."""
    licensed = "licenses" in setting
    jobs = draw(seed, licensed, n_jobs)
    extra = [f"Licenses=bb:{LICENSES}"] if licensed else []
    with Cluster(folder, NODES, SETTINGS[setting], [*extra, *log.LINES]) as cluster:
        due = time.time()
        for name, pause, *asked in jobs:
            time.sleep(max(0.0, due - time.time()))
            cluster.submit(name, *asked)
            due += pause
        while len(cluster.completed()) < n_jobs:
            time.sleep(1)
    return table(jobs, cluster.completed(), (Path(folder) / "slurmctld.log").read_text())


def table(jobs, ended, text):
    """What became of jobs, as the log of the controller tells."""
    times, cycles = log.events(text)
    first = min(job["submit"] for job in times.values()) // 60 * 60
    rows = []
    for i, (name, _, nodes, limit, _, licenses) in enumerate(jobs):
        job, words = times[int(ended[name]["JobId"])], ended[name]
        submit, start, end = (round(job[word] - first, 3) for word in ("submit", "start", "end"))
        nodes_of = re.sub(r"n|\[|\]", "", words["NodeList"]).replace(",", " ")
        rows.append((i + 1, submit, nodes, 60 * limit, licenses, start, end, words["JobState"], nodes_of))
    return rows, [(round(when - first, 3), which) for when, which in cycles]


def write(path, columns, rows):
    """Write a table."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


if __name__ == "__main__":
    seed, setting = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "nodes"
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        rows, cycles = record(seed, setting, folder)
    RECORDED.mkdir(exist_ok=True)
    write(RECORDED / f"{setting}-{seed}.csv", COLUMNS, rows)
    write(RECORDED / f"{setting}-{seed}-cycles.csv", ("time", "scheduler"), cycles)
