"""Random jobs on a real Slurm with shared nodes, in two partitions that overlap, with features.

`python tests/real_slurm/site.py SEED [SETTING]` writes recorded/SETTING-SEED.csv and -cycles.csv, as record.py does:
six nodes, of which two are in both partitions; jobs of some cores of a node, of whole nodes, and of two nodes.
"""

import random
import re
import socket
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from real_slurm import log
from real_slurm.cluster import Cluster
from real_slurm.record import RECORDED, write

NODES = (("x", 16, 3), ("y", 8, 3))
"""Feature, cores and number of nodes, in order."""
PARTITIONS = {"pa": (0, 3), "pb": (2, 5)}
"""First and last node."""
COLUMNS = (
    "id", "queue", "nodes", "cores", "exclusive", "feature", "walltime", "submit", "start", "end", "state", "allocated",
)  # fmt: skip
SETTINGS = {"site": "bf_interval=5,bf_resolution=5", "site-often": "bf_interval=1,bf_resolution=1"}
N_JOBS = 110


def draw(seed, n_jobs=N_JOBS):
    """Jobs as (seconds until the next one, partition, nodes, cores of each, exclusive, feature, minutes, seconds)."""
    rng, jobs = random.Random(seed), []
    for _ in range(n_jobs):
        kind, limit = rng.random(), rng.choice((1, 1, 2, 3))
        nodes = 2 if rng.random() < 0.15 else 1
        cores = rng.choice((1, 2, 3, 4, 6, 8))
        feature = rng.choice(("x", "y")) if nodes == 1 and rng.random() < 0.25 else ""
        seconds = rng.randint(5, min(45, limit * 40))
        partition = rng.choice(("pa", "pb"))
        jobs.append((rng.expovariate(1 / 3), partition, nodes, cores, int(kind < 0.2), feature, limit, seconds))
    return jobs


class Site(Cluster):
    """The machine above."""

    def __init__(self, folder, scheduler):
        super().__init__(folder, sum(count for _, _, count in NODES), scheduler, log.LINES)

    def _conf(self, ports):
        text = super()._conf(ports).replace("SelectTypeParameters=CR_CPU", "SelectTypeParameters=CR_Core")
        lines = [line for line in text.splitlines() if not line.startswith(("NodeName", "PartitionName"))]
        host, n = socket.gethostname().split(".")[0], 0
        for feature, cores, count in NODES:
            for _ in range(count):
                lines.append(
                    f"NodeName=n{n} NodeAddr=127.0.0.1 NodeHostname={host} Port={ports[1 + n]} CPUs={cores} Sockets=1 "
                    f"CoresPerSocket={cores} ThreadsPerCore=1 RealMemory=1000 Features={feature}"
                )
                n += 1
        for name, (first, last) in PARTITIONS.items():
            default = " Default=YES" if name == "pa" else ""
            lines.append(f"PartitionName={name} Nodes=n[{first}-{last}]{default} MaxTime=INFINITE State=UP")
        return "\n".join([*lines, "SlurmdParameters=config_overrides"]) + "\n"

    def ask(self, name, partition, nodes, cores, exclusive, feature, minutes, seconds):
        """Submit a job that sleeps."""
        asked = ["--exclusive"] if exclusive else [f"--ntasks-per-node={cores}"]
        asked += ["-C", feature] if feature else []
        command = ["sbatch", "-J", name, "-p", partition, "-N", str(nodes), "-t", str(minutes), "-o", "/dev/null"]
        answer = self._run(*command, "-D", "/tmp", *asked, "--wrap", f"sleep {seconds}")
        if answer.returncode:
            raise RuntimeError(f"sbatch refused {name}: {answer.stderr}")


def record(seed, setting, folder, n_jobs=N_JOBS):
    """Run the jobs of a seed; returns rows of COLUMNS, and the runs of schedulers as (time, which)."""
    jobs = draw(seed, n_jobs)
    with Site(folder, SETTINGS[setting]) as cluster:
        due = time.time()
        for i, (pause, *asked) in enumerate(jobs):
            time.sleep(max(0.0, due - time.time()))
            cluster.ask(f"j{i}", *asked)
            due += pause
        while len(cluster.completed()) < n_jobs:
            time.sleep(1)
    return _table(jobs, cluster.completed(), (Path(folder) / "slurmctld.log").read_text())


def _table(jobs, ended, text):
    times, cycles = log.events(text)
    first = min(job["submit"] for job in times.values()) // 60 * 60
    rows = []
    for i, (_, partition, nodes, cores, exclusive, feature, limit, _) in enumerate(jobs):
        words = ended[f"j{i}"]
        job = times[int(words["JobId"])]
        submit, start, end = (round(job[word] - first, 3) for word in ("submit", "start", "end"))
        where = re.sub(r"n|\[|\]", "", words["NodeList"]).replace(",", " ")
        asked = (partition, nodes, 0 if exclusive else cores * nodes, exclusive, feature, 60 * limit)
        rows.append((i + 1, *asked, submit, start, end, words["JobState"], where))
    return rows, [(round(when - first, 3), which) for when, which in cycles]


def machine():
    """The same machine, for simulations."""
    import forebay as fb
    from forebay.platforms import NodeClass, Partition

    classes = (NodeClass(name=feature, nodes=count, cores=cores) for feature, cores, count in NODES)
    partitions = (
        Partition(name=name, nodes=f"{first}-{last}", default=name == "pa")
        for name, (first, last) in PARTITIONS.items()
    )
    return fb.Platform(name="site", sharing=True, classes=tuple(classes), partitions=tuple(partitions))


def read(name):
    """What was recorded under a setting and seed, such as site-1."""
    times = dict.fromkeys(("submit", "start", "end"), pl.Float64)
    return pl.read_csv(RECORDED / f"{name}.csv", schema_overrides={"allocated": pl.String} | times)


if __name__ == "__main__":
    seed, setting = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "site"
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        rows, cycles = record(seed, setting, folder)
    write(RECORDED / f"{setting}-{seed}.csv", COLUMNS, rows)
    write(RECORDED / f"{setting}-{seed}-cycles.csv", ("time", "scheduler"), cycles)
