"""Random jobs on a real Slurm, and what it did with them, as a table.

`python tests/real_slurm/record.py SEED [SETTING]` writes recorded/SETTING-SEED.csv beside this file: 15 minutes, most
of them waiting, so that all seeds can be recorded side by side. Times are seconds of the real clock, since the minute
of the first submission: Slurm rounds to multiples of bf_resolution on that clock.
"""

import csv
import random
import re
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

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
    """Run the jobs of a seed; returns rows of COLUMNS."""
    licensed = "licenses" in setting
    jobs = draw(seed, licensed, n_jobs)
    extra = [f"Licenses=bb:{LICENSES}"] if licensed else []
    with Cluster(folder, NODES, SETTINGS[setting], extra) as cluster:
        due = time.time()
        for name, pause, *asked in jobs:
            time.sleep(max(0.0, due - time.time()))
            cluster.submit(name, *asked)
            due += pause
        while len(cluster.completed()) < n_jobs:
            time.sleep(1)
        ended = cluster.completed()

    def seconds(job, word):
        return int(time.mktime(time.strptime(ended[job][word], "%Y-%m-%dT%H:%M:%S")))

    first = seconds(jobs[0][0], "SubmitTime") // 60 * 60
    return [
        (
            i + 1,
            seconds(name, "SubmitTime") - first,
            nodes,
            60 * limit,
            licenses,
            seconds(name, "StartTime") - first,
            seconds(name, "EndTime") - first,
            ended[name]["JobState"],
            re.sub(r"n|\[|\]", "", ended[name]["NodeList"]).replace(",", " "),
        )
        for i, (name, _, nodes, limit, _, licenses) in enumerate(jobs)
    ]


if __name__ == "__main__":
    seed, setting = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "nodes"
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        rows = record(seed, setting, folder)
    RECORDED.mkdir(exist_ok=True)
    with open(RECORDED / f"{setting}-{seed}.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)
