"""Jobs whose size changes, made by hand: loops of tasks, written down for each size."""

import math

import forebay as fb
from forebay.workload import applications
from forebay.workload.workload import job_table


class Jobs:
    """Jobs one by one; `workload` has them all."""

    def __init__(self):
        self.rows, self.tables = [], {name: [] for name in ("jobs", "sizes", "loops", "tasks", "amounts", "requests")}

    def add(self, kind, submit, sizes, *parts, nodes=None, walltime=math.inf):
        """A job of some kind. `parts` are loops and stages, in order; `nodes` is what it prefers (else: the most).

        Its walltime may be a function of its nodes.
        """
        job = len(self.rows)
        sizes = list(sizes)
        nodes = nodes or sizes[-1]
        self.rows.append(
            {
                "id": job,
                "submit": float(submit),
                "walltime": float(_of(walltime, nodes)),
                "run_time": 0.0,
                "nodes": nodes,
            }
        )
        self.tables["jobs"].append((job, kind))
        self.tables["sizes"] += [(job, n, float(_of(walltime, n))) for n in sizes]
        at, loop = 0, 0
        for part in parts:
            stage, tasks = part["stage"], part["tasks"]
            if stage == "run":
                self.tables["loops"].append((job, loop, part["rounds"], part["point"], part["barrier"]))
                for over, n, wants in part["requests"](sizes):
                    self.tables["requests"].append((job, loop, over, n, wants))
            added = range(1, sizes[-1] - sizes[0] + 1)
            for task in tasks:
                self.tables["tasks"].append(
                    (job, at, stage, loop if stage == "run" else -1, task["kind"], task["beside"], True)
                )
                for n in added if stage == "expansion" else sizes:
                    seconds, amount = task["amount"](n)
                    self.tables["amounts"].append((job, at, n, float(seconds), 0.0, 0.0, float(amount), n))
                at += 1
            loop += stage == "run"
        return job

    def workload(self):
        """All of them, in order of submission."""
        columns = {name: [row[name] for row in self.rows] for name in self.rows[0]}
        tables = {name: applications.table(name, rows) for name, rows in self.tables.items()}
        jobs = job_table(columns).sort("submit", "id")
        return fb.Workload("flexible", jobs, applications=applications.Applications(**tables))


def growing():
    """Job 1 has nodes 12 to 15 from 0 to 80, and 8 to 11 from 40 on; job 0 has 0 to 11 before, job 2 0 to 7 after.

    So it is on 16 nodes under fcfs-malleable.
    """
    jobs = Jobs()
    jobs.add("rigid", 0, [12], loop(1, compute(35)))
    for submit in (0, 3):
        jobs.add("malleable", submit, range(2, 9), loop(6, compute(lambda n: 80 / n)), nodes=6, walltime=500)
    return jobs.workload()


def loop(rounds, *tasks, point=True, barrier=True, requests=lambda sizes: []):
    """Tasks, so many times; `requests(sizes)` are rows of rounds over, nodes and what is wanted then."""
    return {
        "stage": "run", "rounds": rounds, "tasks": tasks, "point": point, "barrier": barrier, "requests": requests
    }  # fmt: skip


def stage(name, *tasks):
    """Tasks of another stage."""
    return {"stage": name, "tasks": tasks}


def compute(seconds):
    """Work that takes `seconds`: a number, or a function of the nodes."""
    return {"kind": "compute", "beside": False, "amount": lambda n: (_of(seconds, n), 0.0)}


def move(kind, amount, beside=False):
    """A transfer of so many bytes, all nodes together."""
    return {"kind": kind, "beside": beside, "amount": lambda n: (0.0, _of(amount, n))}


def _of(value, n):
    return value(n) if callable(value) else value
