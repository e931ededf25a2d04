"""Small projects of ElastiSim: four nodes, a file system of 2 GB/s each way, jobs that wait and then write."""

import gc
import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import forebay as fb
from forebay.elastisim import project
from forebay.elastisim.algorithm import Algorithm

XML = """<?xml version='1.0'?>
<platform version="4.1">
 <zone id="World" routing="Full">
  <cluster id="C" prefix="n_" radical="0-3" suffix="" speed="1Gf" bw="100Gbps" lat="50us"/>
  <zone id="files" routing="Full"><host id="PFS" speed="0Gf"><prop id="pfs_host" value="true"/></host></zone>
  <link id="in" bandwidth="2GBps" latency="500us"/>
  <link id="out" bandwidth="2GBps" latency="500us"/>
  <zoneRoute src="files" dst="C" symmetrical="NO"><link_ctn id="in"/></zoneRoute>
  <zoneRoute src="C" dst="files" symmetrical="NO"><link_ctn id="out"/></zoneRoute>
 </zone>
</platform>
"""
MODEL = {
    "phases": [
        {
            "iterations": "rounds",
            "tasks": [
                {"type": "busy_wait", "delay": "seconds", "pattern": "uniform"},
                {"type": "pfs_write", "bytes": "amount", "pattern": "all_ranks"},
            ],
        }
    ]
}
CONFIGURATION = {
    "jobs_file": "jobs.json",
    "platform_file": "platform.xml",
    "zmq_url": "ipc://here",
    "schedule_on_job_submit": True,
    "schedule_on_job_finalize": True,
    "schedule_on_scheduling_point": True,
    "job_statistics": "job_statistics.csv",
}
IN_ORDER = """
import sys
from elastisim_python import JobState, NodeState, pass_algorithm

def schedule(jobs, nodes, system):
    free = [node for node in nodes if node.state == NodeState.FREE]
    for job in jobs:
        if job.state == JobState.PENDING:
            needs = job.num_nodes or job.num_nodes_min
            if needs > len(free):
                return
            job.assign(free[:needs])
            del free[:needs]

if __name__ == "__main__":
    pass_algorithm(schedule, sys.argv[1])
"""


def rigid(submit=0, nodes=2, seconds=10, amount=0, rounds=1, **more):
    """A job of one size."""
    arguments = {"seconds": seconds, "amount": amount, "rounds": rounds}
    told = {"type": "rigid", "num_nodes": nodes, "submit_time": submit, "application_model": "model.json"}
    return told | {"arguments": arguments} | more


def malleable(submit=0, least=1, most=4, **more):
    """One that may change."""
    told = rigid(submit, **more) | {"type": "malleable", "num_nodes_min": least, "num_nodes_max": most}
    del told["num_nodes"]
    return told


def write(folder: Path, *jobs, algorithm=IN_ORDER, model=MODEL, **configuration) -> Path:
    """A project in a folder; returns its configuration."""
    folder.mkdir(exist_ok=True)
    (folder / "platform.xml").write_text(XML)
    (folder / "model.json").write_text(json.dumps(model))
    (folder / "jobs.json").write_text(json.dumps({"jobs": list(jobs)}))
    if algorithm is not None:
        (folder / "algorithm.py").write_text(algorithm)
    (folder / "configuration.json").write_text(json.dumps(CONFIGURATION | configuration))
    return folder / "configuration.json"


def run(made, schedule, senses=False):
    """The result under a scheduling function, and the policy that asked it."""
    policy = Algorithm(schedule, made, senses)
    grace = made.configuration.grace
    result = fb.simulate(made.workload, made.machine.platform, policy, job_model=f"application:grace={grace}")
    return result, policy


def read_project(folder: Path, *jobs, **more):
    """The project of these jobs."""
    return project.read(write(folder, *jobs, **more))


@contextmanager
def leaving_files_open() -> Iterator[None]:
    """Scripts leave files to the end of their process; here they are closed at the end of the block, without a word."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()
