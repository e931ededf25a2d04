"""Small machines with slow and fast storage, and jobs for them, that can be solved by hand."""

import forebay as fb
from cases.tiered import machine, workload

# Slow storage moves 1 B/s, fast storage 4 B/s, staging 2 B/s; 10 B of it. With I bytes in, O out and D in between a job
# stays (I + O) / 2 - 3/4 (I + O + D) seconds longer on fast storage than its walltime.
SMALL = machine(2, 1, (10, 4, 2))


def job(number, walltime, nodes=1, submit=0, **more):
    return {"id": number, "submit": float(submit), "walltime": float(walltime), "nodes": nodes, "fast": 0, **more}


def steps(number, *, read=0, compute=0, checkpoint=0, write=0):
    """The phases of a job, in this order."""
    found = {"read": read, "compute": compute, "checkpoint": checkpoint, "write": write}
    return [(number, kind, size) for kind, size in found.items() if size > 0]


def run(jobs, phases=(), policy="sas", platform=SMALL, job_model="tiered"):
    return fb.simulate(workload(jobs, phases), platform, policy, job_model=job_model)


def outcome(result):
    """Tier, start and end by job."""
    return {row[0]: row[1:] for row in result.jobs.select("job_id", "tier", "starting_time", "finish_time").rows()}
