"""How soon a run ends after SIGTERM and SIGINT: `python benchmarks/signals.py [FAMILY ...]`.

Runs that would take minutes or hours, mostly in single decisions, or in one job. Each is stopped at several moments,
from its beginning on; what counts is the time from the signal until the process is gone. The worst stands in the table,
and in brackets the processor time that it took, which other work on the machine does not change.
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

import forebay as fb
from forebay.workload import models

MOMENTS = (0.2, 1.0, 3.0)
"""Seconds after the run has begun."""
CODES = {signal.SIGTERM: 143, signal.SIGINT: 130}
BUFFER = "flat:nodes=128,burst_buffer=500GB"

XML = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
 <zone id="World" routing="Full">
  <cluster id="C" prefix="n_" radical="0-15" suffix="" speed="100Gf" bw="100Gbps" lat="0"/>
 </zone>
</platform>
"""
SPINNING = """class Mine:
    def decide(self, view, act):
        for job in view.queue:
            if act.fits(job):
                act.start(job)
"""


@dataclass(frozen=True)
class Case:
    """A family of policies, and a run of one of them: what makes its files, and gives the words of its command."""

    family: str
    what: str
    make: Callable[[Path], list[str]]


def at_once(folder: Path, n_jobs: int, policy: str, model: str = "") -> list[str]:
    """Jobs all submitted at 0, under a policy."""
    drawn = models.generate(model.format(n_jobs) or f"lublin99:jobs={n_jobs},nodes=128", 1)
    if not model:
        drawn = models.attach(drawn, ["burst-buffer", "users"], 1)
    jobs = fb.Workload(
        drawn.name, drawn.jobs.with_columns(submit=pl.lit(0.0)), applications=drawn.applications, legs=drawn.legs,
        phases=drawn.phases, platform=drawn.platform,
    )  # fmt: skip
    fb.write(jobs, folder / "jobs.json")
    machine = () if model else ("--platform", BUFFER)
    return ["run", str(folder / "jobs.json"), *machine, "--policy", policy]


def iterating(folder: Path, rounds: int, policy: str, kind: str = "rigid") -> list[str]:
    """One job of ElastiSim's that goes round and round."""
    task = {"type": "cpu", "flops": 1e9, "computation_pattern": "all_ranks"}
    model = {"phases": [{"tasks": [task], "iterations": rounds, "scheduling_point": kind != "rigid"}]}
    sizes = {"num_nodes": 4} if kind == "rigid" else {"num_nodes_min": 2, "num_nodes_max": 5}
    job = {"type": kind, "submit_time": 0, "application_model": "model.json"} | sizes
    configuration = {
        "jobs_file": "jobs.json",
        "platform_file": "platform.xml",
        "schedule_on_job_submit": True,
        "schedule_on_job_finalize": True,
    }
    for name, content in (("model", model), ("jobs", {"jobs": [job]}), ("configuration", configuration)):
        (folder / f"{name}.json").write_text(json.dumps(content))
    (folder / "platform.xml").write_text(XML)
    return ["elastisim", str(folder / "configuration.json"), "--policy", policy]


def in_python(folder: Path, n_jobs: int) -> list[str]:
    """A policy in plain Python that reads a long queue."""
    (folder / "mine.py").write_text(SPINNING)
    return at_once(folder, n_jobs, f"{folder / 'mine.py'}:Mine")


def _crowd(n_jobs: int, policy: str, **more: str) -> Callable[[Path], list[str]]:
    return partial(at_once, n_jobs=n_jobs, policy=policy, **more)


SAS, MEBF, MALLEABLE = "sas2019:jobs={}", "admire-mebf:jobs={}", "malleable"
CASES = (
    Case("easy", "fcfs-easy, 100,000 jobs", _crowd(100_000, "fcfs-easy:max_backfill=1000000")),
    Case("easy", "sjf-bb, 100,000 jobs", _crowd(100_000, "sjf-bb")),
    Case("easy", "sjf-predict, 50,000 jobs", _crowd(50_000, "sjf-predict")),
    Case("conservative", "conservative-bb, 20,000 jobs", _crowd(20_000, "conservative-bb")),
    Case("slurm", "slurm, 50,000 jobs", _crowd(50_000, "slurm:bf_max_job_test=1000000")),
    Case("slurm", "multifactor, 50,000 jobs", _crowd(50_000, "multifactor")),
    Case("plan", "plan-best, 1,500 jobs planned", _crowd(1_500, "plan-best:planned=all")),
    Case("plan", "plan-best, 10,000 jobs planned", _crowd(10_000, "plan-best:planned=all")),
    Case("plan", "plan-2, 5,000 jobs planned", _crowd(5_000, "plan-2:planned=all")),
    Case("window", "bbsched, 10^6 generations", _crowd(20_000, "bbsched:generations=1000000")),
    Case("window", "bbsched-exact, windows of 60", _crowd(20_000, "bbsched-exact:window=60")),
    Case("cerberus", "cerberus-throughput, 20,000 jobs", _crowd(20_000, "cerberus-throughput")),
    Case("tiers", "sas-contention, 20,000 jobs", _crowd(20_000, "sas-contention", model=SAS)),
    Case("tiers", "sas-plan, 3,000 jobs planned", _crowd(3_000, "sas-plan:planned=all", model=SAS)),
    Case("malleable", "mebf, 20,000 jobs", _crowd(20_000, "mebf", model=MEBF)),
    Case("malleable", "a rigid job of 10^9 iterations", partial(iterating, rounds=10**9, policy="fcfs")),
    Case(
        "malleable", "one of 10^9 points", partial(iterating, rounds=10**9, policy="fcfs-malleable", kind="malleable")
    ),
    Case("Python policy", "a loop over 20,000 jobs", partial(in_python, n_jobs=20_000)),
)


def _cpu_so_far(process: int) -> float:
    """Seconds of processors that a process has taken; it has no children that have ended."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def latency(words: list[str], number: signal.Signals, moment: float, output: Path) -> tuple[float, float] | None:
    """Seconds from the signal until the process is gone, on the clock and of processors; None if it was over before."""
    earlier = _cpu_of_children()
    command = [str(Path(sys.executable).with_name("forebay")), *words, "-q", "-o", str(output)]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while not output.exists() and running.poll() is None:
        time.sleep(0.005)
    time.sleep(moment)
    sent, used = time.perf_counter(), _cpu_so_far(running.pid)
    running.send_signal(number)
    try:
        _, printed = running.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        running.kill()
        running.communicate()
        shutil.rmtree(output, ignore_errors=True)
        return float("inf"), float("inf")
    took = time.perf_counter() - sent, _cpu_of_children() - earlier - used
    if running.returncode == 0:
        shutil.rmtree(output)
        return None
    if running.returncode != CODES[number] or "Traceback" in printed or output.exists():
        print(f"bad: {' '.join(words)}: left with {running.returncode}, {printed}")
    return took


def main() -> None:
    """A line a case."""
    print("| family | run | SIGTERM | SIGINT |\n|---|---|---|---|")
    for case in CASES:
        if sys.argv[1:] and not any(word in (case.family, *case.what.split(",")) for word in sys.argv[1:]):
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            words = case.make(folder)
            worst = []
            for number in CODES:
                found = [latency(words, number, moment, folder / "out") for moment in MOMENTS]
                there = [seconds for seconds in found if seconds is not None]
                clock, processors = map(max, zip(*there, strict=True)) if there else (0.0, 0.0)
                worst.append(f"{clock:.2f} s ({processors:.2f})" if there else "over before")
            print(f"| {case.family} | {case.what} | {worst[0]} | {worst[1]} |", flush=True)


if __name__ == "__main__":
    main()
