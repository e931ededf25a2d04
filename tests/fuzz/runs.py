"""Whole runs on degenerate inputs, each the same for ever by its seed, and what must hold of every one of them.

Times from far below an instant to three centuries, ties, 0, 1 and 2^60 bytes, jobs as large as the machine and larger,
walltimes below and far above run times, cancelled jobs, limits; every policy and job model on every kind of machine.
"""

import math
import random
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import polars as pl

import forebay as fb
from cases import specs
from forebay.core.schemas import PHASE_SCHEMA
from forebay.errors import InputError
from forebay.platforms import load as load_platform
from forebay.workload.workload import Workload, job_table

TIMES = (0.0, 1e-12, 1e-9, 3e-7, 1e-6, 1e-3, 0.1, 1.0, 1.0, 10.0, 60.0, 3600.0, 1e5, 1e7, 1e10)
BYTES = (0, 0, 1, 2, 1000, 10**9, 2**40, 10**13, 2**60)
MACHINES = (
    "table1",
    "dragonfly-96",
    "dragonfly-96-nic",
    "sas2019",
    "theta-ssd",
    "trinity",
    "trinity-io",
    "flat:nodes=1",
    "flat:nodes=1,burst_buffer=1B",
    "flat:nodes=3,burst_buffer=10GB,pfs=1GB/s",
    "flat:nodes=16,burst_buffer=1000PB",
    "flat:nodes=1000000,burst_buffer=1PB,pfs=5GB/s",
)
MODELS = {
    "alloc-only": ("compute", "stage_in", "stage_out", "write"),
    "io-aware": ("compute", "stage_in", "stage_out", "write", "read", "checkpoint", "drain"),
    "three-legs": ("compute", "read", "write", "checkpoint"),
    "tiered": ("compute", "read", "write", "checkpoint", "fetch"),
}


_platform = cache(load_platform)


@dataclass(frozen=True)
class Case:
    """A run to be tried; `text` says it all."""

    machine: str
    policy: str
    job_model: str
    jobs: tuple[dict, ...]
    phases: tuple[dict, ...] = ()

    def workload(self):
        """The jobs as a run takes them."""
        frame = job_table({key: [row[key] for row in self.jobs] for key in self.jobs[0]}).sort("submit", "id")
        ids = set(frame["id"])
        phases = [row for row in self.phases if row["job"] in ids]
        table = pl.DataFrame(phases, schema=PHASE_SCHEMA) if phases else None
        return Workload("fuzz", frame, phases=table)

    def text(self):
        """What a failing test prints: enough to write the case down as a test of its own."""
        rows = "\n".join(map(str, [*self.jobs, *self.phases]))
        return f"{self.policy} on {self.machine} under {self.job_model}\n{rows}"


def draw(seed):
    """A case by its number."""
    rng = random.Random(f"run {seed}")
    machine = rng.choice(MACHINES)
    platform = _platform(machine)
    name = rng.choice(specs.WITHOUT_TIMES)
    limits = rng.choice(("", "", "", "+limits:user_jobs=1", "+limits:user_nodes=4,run_time=1h,over=reject"))
    model = rng.choice([model for model in MODELS if model != "tiered" or platform.by_choice])
    n_jobs = rng.choice((1, 2, 2, 3, 5, 8, 13, 40))
    times = rng.sample(TIMES, rng.randint(1, 4))
    submit, jobs, phases = rng.choice((0.0, 0.0, 1e7 + 0.6, 1e10)), [], []
    for number in rng.sample(range(1, 3 * n_jobs + 1), n_jobs):
        job = _job(rng, platform, times) | {"id": number, "submit": submit}
        jobs.append(job)
        if rng.random() < 0.4:
            phases += _phases(rng, number, MODELS[model], times)
        if rng.random() < 0.6:
            submit += rng.choice(times)
    return Case(machine, name + limits, model, tuple(jobs), tuple(phases))


def _job(rng, platform, times):
    nodes = platform.nodes
    run_time = rng.choice(times) * rng.choice((1.0, 1.0, rng.random()))
    walltime = rng.choice((run_time, run_time * 0.5, run_time * 1e6, run_time + 60.0, 1e-12, 1e10, math.inf))
    row = {
        "run_time": run_time,
        "walltime": walltime if walltime > 0 else 1e-12,
        "nodes": max(1, rng.choice((1, 1, 2, nodes // 2, nodes - 1, nodes, nodes, nodes + 1, rng.randint(1, nodes)))),
        "user": rng.choice((-1, 0, 0, 1)),
        "priority": rng.choice((0.0, 0.0, 1.0, 1e300)),
        "cancel": rng.choice((math.inf, math.inf, math.inf, *times)) or math.inf,
    }
    for name, capacity in zip(platform.resources[1:], platform.capacities[1:], strict=True):
        if not name.startswith("large_"):
            most = int(capacity)
            row[name] = rng.choice((*BYTES, most, max(most - 1, 0), most // 2, most // max(nodes, 1), most + 1))
    return row


def _phases(rng, job, kinds, times):
    plain = {"flop": 0.0, "communication": 0.0, "bytes": 0.0, "seconds": 0.0, "release": None}
    for _ in range(rng.randint(1, 4)):
        kind = rng.choice(kinds)
        amount = {"seconds": rng.choice(times)} if kind == "compute" else {"bytes": float(rng.choice(BYTES))}
        yield plain | amount | {"job": job, "leg": 0, "kind": kind}


def breach(case):
    """What is wrong with the outcome of a case, or None. A machine or a model may refuse its jobs, with a message."""
    workload = case.workload()
    try:
        result = fb.simulate(workload, _platform(case.machine), case.policy, job_model=case.job_model)
    except InputError:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return _of_jobs(workload, result) or _of_log(result)


def _of_jobs(workload, result):
    jobs = result.jobs
    if len(jobs) != len(workload):
        return f"{len(jobs)} jobs in the result of {len(workload)}"
    for job in jobs.iter_rows(named=True):
        begun = job["starting_time"] is not None
        if job["final_state"] not in ENDED:
            return f"job {job['job_id']} is {job['final_state']}"
        if begun and not job["submission_time"] <= job["starting_time"] <= job["finish_time"]:
            return f"job {job['job_id']} is submitted, begins and ends out of order"
        if not begun and job["final_state"] not in ("REJECTED", "CANCELLED"):
            return f"job {job['job_id']} is {job['final_state']} without having begun"
    return None


ENDED = (
    *("COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED", "REJECTED", "CANCELLED"),
    "COMPLETED_FAILED",
)


def _of_log(result):
    """Nothing oversubscribed at any moment, everything given back; the log goes forward, from instant to instant."""
    log = result.log
    if (np.diff(log["time"].to_numpy()) < -2e-6).any():
        return "the log goes back in time"
    kinds, resources = log["kind"].cast(pl.String).to_numpy(), log["resource"].cast(pl.String).to_numpy()
    amounts = np.where(kinds == "acquire", 1, np.where(kinds == "release", -1, 0)) * log["amount"].to_numpy()
    for name, capacity in result.resources.items():
        held = np.cumsum(amounts[resources == name])
        if len(held) and (held.max() > capacity or held.min() < 0):
            return f"{held.max():,} of {name} are held, {held.min():,} at least, of {capacity:,}"
        if len(held) and held[-1] != 0:
            return f"{held[-1]:,} of {name} are never given back"
    return None


def shrunk(case):
    """The fewest jobs and phases, and the plainest policy, that show a breach."""
    found = True
    while found:
        found = False
        smaller = [replace(case, jobs=case.jobs[:i] + case.jobs[i + 1 :]) for i in range(len(case.jobs))]
        smaller += [replace(case, phases=case.phases[:i] + case.phases[i + 1 :]) for i in range(len(case.phases))]
        for other in smaller:
            if other.jobs and breach(other):
                case, found = other, True
                break
    return case
