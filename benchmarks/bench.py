"""Speed, measured: `make bench`. Each line is the best of several warm runs on one core; the load is printed with them.

The numbers go into RESULTS.md by hand, with the date: a benchmark nobody looked at proves nothing.
"""

import dataclasses
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import failing
import flexible
import numpy as np
import polars as pl
import serving

import forebay as fb
from forebay.core.schemas import PHASE_SCHEMA
from forebay.workload import models
from forebay.workload.workload import job_table

DATA = os.environ.get("FOREBAY_DATA")


def synthetic(n_jobs: int, n_nodes: int, load: float = 0.9, seed: int = 1) -> fb.Workload:
    """Jobs of a twentieth of the machine at most, exponential run times, estimates up to three times too long.

    Sizes are drawn as shares of the machine, so that machines of any size see the same jobs in proportion.
    """
    rng = np.random.default_rng(seed)
    nodes = np.maximum(1, (n_nodes * rng.random(n_jobs) ** 3 / 20).astype(np.int64))
    run_time = np.ceil(rng.exponential(3600, n_jobs))
    gap = float((nodes * run_time).mean()) / (n_nodes * load)
    submit = np.floor(np.cumsum(rng.exponential(gap, n_jobs)))
    columns = {
        "id": np.arange(1, n_jobs + 1),
        "submit": submit - submit[0],
        "walltime": np.ceil(run_time * rng.uniform(1, 3, n_jobs)),
        "run_time": run_time,
        "nodes": nodes,
    }
    return fb.Workload(f"synthetic-{n_jobs}", job_table(columns), platform=f"flat:nodes={n_nodes}")


def at_once(n_jobs: int) -> fb.Workload:
    """The same jobs, all submitted at 0."""
    workload = synthetic(n_jobs, 10_000)
    return fb.Workload(workload.name, workload.jobs.with_columns(submit=pl.lit(0.0)), platform=workload.platform)


def kth(buffer: bool = False) -> fb.Workload | None:
    """The KTH log, with a pooled burst-buffer request drawn for each job if asked (log-normal, 4.9 GB a node)."""
    if not DATA:
        return None
    workload = fb.read(Path(DATA) / "swf" / "KTH-SP2-1996-2.1-cln.swf.gz")
    if not buffer:
        return workload
    rng = np.random.default_rng(1)
    each = np.clip(rng.lognormal(np.log(2.78e9), 1.097, len(workload)), 1e8, 4e10)
    total = np.minimum((each * workload.jobs["nodes"].to_numpy()).astype(np.int64), 492 * 10**9)
    jobs = workload.jobs.with_columns(burst_buffer=pl.Series(total))
    return fb.Workload("kth-bb", jobs, platform="flat:nodes=100,burst_buffer=492GB")


def kth_io() -> fb.Workload | None:
    """The KTH log with requests and communication drawn as Kopański & Rządca (2021) describe, for dragonfly-96."""
    workload = kth()
    if workload is None:
        return None
    rng = np.random.default_rng(1)
    jobs = workload.jobs.filter(pl.col("nodes") <= 96)
    nodes, run_time, n = jobs["nodes"].to_numpy(), jobs["run_time"].to_numpy(), len(jobs)
    each = np.clip(1024 * (rng.lognormal(np.log(2714115.57), 1.09725, n) - 150361.6), 1e8, 4e10)
    each = np.where(nodes > 12 * (4e10 // each), 4e10 // np.ceil(nodes / 12), each)  # the whole job must fit
    each = np.where(jobs["walltime"].to_numpy() <= 120, 1e7, each).astype(np.int64)
    columns = {
        "run_time": np.maximum(run_time - 40 * each / 1.25e9, 0.05 * run_time),
        "communication": np.where(nodes > 1, rng.normal(1e8, 2e7, n), 0.0),
        "burst_buffer": each * nodes,
    }
    return fb.Workload("kth-io", jobs.with_columns(**columns), platform="dragonfly-96")


def iterations(n_jobs: int = 4000, n_nodes: int = 500) -> tuple[fb.Workload, fb.Platform]:
    """Jobs of 10 to 25 times compute and write, all on one file system of 48 GB/s behind ports of 12.5 GB/s."""
    rng = np.random.default_rng(1)
    nodes, repeats = rng.integers(1, 33, n_jobs), rng.integers(10, 26, n_jobs)
    job = np.repeat(np.arange(n_jobs), 2 * repeats)
    compute = np.arange(len(job)) % 2 == 0
    seconds = np.where(compute, rng.uniform(20, 200, n_jobs)[job], 0.0)
    size = np.where(compute, 0.0, (nodes * rng.uniform(1e9, 2e10, n_jobs))[job])
    run_time = np.bincount(job, seconds)
    columns = {
        "id": np.arange(n_jobs),
        "submit": np.sort(rng.uniform(0, (nodes * run_time).sum() / (0.8 * n_nodes), n_jobs)),
        "walltime": 20 * run_time,
        "run_time": run_time,
        "nodes": nodes,
    }
    phases = {
        "job": job,
        "leg": np.zeros(len(job), np.int64),
        "kind": np.where(compute, "compute", "write"),
        "seconds": seconds,
        "flop": np.zeros(len(job)),
        "communication": np.zeros(len(job)),
        "bytes": size,
        "release": pl.Series([None] * len(job), dtype=pl.String),
    }
    table = pl.DataFrame(phases, schema=PHASE_SCHEMA)
    return fb.Workload("iterations", job_table(columns), phases=table), fb.platform(
        f"flat:nodes={n_nodes},port=12.5GB/s,pfs=48GB/s"
    )


def best(work: Callable[[], object], repeats: int = 5) -> float:
    """Seconds of the fastest run, after one to warm up."""
    work()
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def say(what: str, seconds: float, note: str = "") -> None:
    """A line of the table."""
    print(f"| {what} | {seconds:.3f} s | {note} |", flush=True)


def timed(workload: fb.Workload, policy: str, repeats: int = 5) -> float:
    """Seconds of a whole simulate(): build, run, result."""
    return best(lambda: fb.simulate(workload, policy=policy), repeats)


class Fcfs:
    """First come, first served, in plain Python."""

    def decide(self, view: fb.View, act: fb.Actions) -> None:
        """Start from the head until one does not fit."""
        for job in view.queue:
            if not act.fits(job):
                break
            act.start(job)


class Idle:
    """Looks at what there is to see and lets everything start at once: the cost of being asked."""

    def decide(self, view: fb.View, act: fb.Actions) -> None:
        """Start whoever is there; there is always room."""
        for job in view.queue:
            act.start(job)


def logs() -> None:
    """The KTH log."""
    workload, with_buffer = kth(), kth(buffer=True)
    if workload is None or with_buffer is None:
        print("| KTH | skipped: set FOREBAY_DATA to the reference data | |")
        return
    for policy in ("fcfs-easy", "sjf-easy", "conservative"):
        say(f"KTH, {len(workload):,} jobs, 100 nodes, {policy}", timed(workload, policy))
    for policy in ("fcfs-bb", "sjf-bb", "conservative-bb"):
        say(f"KTH with a pooled burst buffer, {policy}", timed(with_buffer, policy))
    drawn = dataclasses.replace(
        models.attach(workload, ["burst-buffer"], 1), platform="flat:nodes=100,burst_buffer=492GB"
    )
    for policy in ("plan-2", "plan-best", "plan-predict"):
        say(f"KTH with requests of the model burst-buffer, pooled, {policy}", timed(drawn, policy, 1))


def growth() -> None:
    """With jobs, with nodes, with the queue."""
    for n in (10_000, 100_000):
        say(f"{n:,} jobs, 10,000 nodes, fcfs-easy", timed(synthetic(n, 10_000), "fcfs-easy", 3))
    for nodes in (100, 10_000, 1_000_000):
        say(f"100,000 jobs, {nodes:,} nodes, fcfs-easy", timed(synthetic(100_000, nodes), "fcfs-easy", 3))
    for n in (10_000, 30_000, 100_000):
        seconds = timed(at_once(n), "fcfs-easy:max_backfill=1000", 1)
        say(f"{n:,} jobs at once, 10,000 nodes, fcfs-easy:max_backfill=1000", seconds)


def million() -> None:
    """A million jobs, in a process of its own so that its memory can be measured."""
    code = (
        "import sys, time, resource; sys.path.insert(0, sys.argv[1]); import bench, forebay as fb\n"
        "fb.simulate(bench.synthetic(1000, 100), policy='fcfs-easy'); w = bench.synthetic(1_000_000, 10_000)\n"
        "t = time.perf_counter(); r = fb.simulate(w, policy='fcfs-easy'); t = time.perf_counter() - t\n"
        "print(t, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, r.jobs['waiting_time'].mean())"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)], capture_output=True, text=True, check=True
    )
    seconds, gigabytes, wait = map(float, out.stdout.split())
    say(
        "1,000,000 jobs, 10,000 nodes, fcfs-easy",
        seconds,
        f"{gigabytes:.2f} GB resident at most; mean wait {wait:.0f} s",
    )


def python_policy() -> None:
    """What a policy in plain Python costs over the engine's own work."""
    workload = synthetic(20_000, 1000, load=0.6)
    decisions = int(fb.simulate(workload, policy="fcfs").facts["decisions"])
    compiled, plain = timed(workload, "fcfs"), best(lambda: fb.simulate(workload, policy=Fcfs()), 3)
    say(
        f"fcfs in plain Python, {decisions:,} decisions",
        plain,
        f"{(plain - compiled) / decisions * 1e6:.1f} us a decision over the kernel",
    )
    roomy = synthetic(20_000, 1000, load=0.05)
    decisions = int(fb.simulate(roomy, policy="fcfs").facts["decisions"])
    compiled, plain = timed(roomy, "fcfs"), best(lambda: fb.simulate(roomy, policy=Idle()), 3)
    say(
        f"start-all in plain Python, {decisions:,} decisions",
        plain,
        f"{(plain - compiled) / decisions * 1e6:.1f} us a decision over the kernel",
    )


def data() -> None:
    """Whole runs in which jobs move data."""
    workload = kth_io()
    if workload is not None:
        for policy in ("fcfs-bb:reservations=pinned", "fcfs-bb"):
            say(f"KTH, {len(workload):,} jobs, io-aware on dragonfly-96, {policy}", timed(workload, policy, 3))
    jobs, machine = iterations()
    what = f"{len(jobs):,} jobs x 10-25 compute + write on one file system, {machine.nodes} nodes, fcfs-easy"
    say(what, best(lambda: fb.simulate(jobs, machine, "fcfs-easy"), 3))


def transfers() -> None:
    """A million transfers of 1 MB to 1 GB in 1 to 8 streams over one link; whoever ends is replaced at once."""
    from benchmark_kernels import churn

    from forebay.engine.contention.tables import make_network

    for at_a_time in (200, 2000):
        ended = np.zeros(at_a_time, np.int64)

        def work(at_a_time: int = at_a_time, ended: np.ndarray = ended) -> None:
            churn(make_network([5e9], [(np.inf, {0: 1.0})], at_a_time), 1_000_000, at_a_time, ended, np.zeros(0))

        say(f"1,000,000 transfers over one link, {at_a_time:,} at a time", best(work, 3))


def plans() -> None:
    """What laying a job into a plan takes: 2,000 plans of a queue of 40, less the run around them."""
    from benchmark_kernels import lay_out

    from forebay import policies

    class LayOut:
        """fcfs, and plans of 40 jobs."""

        def __init__(self, times: int, pinned: bool):
            self.row = np.append([40.0, times, pinned], policies.load("fcfs").params())

        def params(self) -> np.ndarray:
            """How many jobs, how often, and whether pinned."""
            return self.row

        def memory(self, n_jobs: int, n_resources: int) -> tuple[tuple[int, int], tuple[int, int]]:
            """Whether it is done."""
            return (1, 1), (0, 0)

        def kernel(self) -> Any:
            """Compiled."""
            return lay_out

    workload, n_plans = fb.read("default"), 2000
    for words, machine, pinned in (
        ("pooled, counted", "flat:nodes=96,burst_buffer=480GB", False),
        ("12 servers, pinned", "dragonfly-96", True),
    ):
        both = [LayOut(times, pinned) for times in (0, n_plans)]
        runs = [best(partial(fb.simulate, workload, machine, policy, 0, "alloc-only"), 3) for policy in both]
        seconds = (runs[1] - runs[0]) / n_plans
        print(f"| a plan of 40 jobs, {words} | {1 / seconds:,.0f} a second | {seconds / 40 * 1e9:.0f} ns a job |")


def first_decision(forebay: str, environment: dict[str, str], folder: str) -> float:
    """Seconds from the start of the process until a policy is asked for the first time."""
    path = Path(folder) / "stopwatch.py"
    path.write_text(
        "import sys, time\n"
        "class Stopwatch:\n"
        "    def setup(self, view):\n"
        "        self.asked = False\n"
        "    def decide(self, view, act):\n"
        "        if not self.asked:\n"
        "            print(time.time(), file=sys.stderr)\n"
        "        self.asked = True\n"
        "        for job in view.queue:\n"
        "            if act.fits(job):\n"
        "                act.start(job)\n"
    )
    subprocess.run([forebay, "warmup"], env=environment, check=True, capture_output=True)
    begun = time.time()
    words = [forebay, "run", "table1", "--policy", f"{path}:Stopwatch"]
    done = subprocess.run(words, env=environment, check=True, capture_output=True, text=True)
    return float(done.stderr.split()[-1]) - begun


def start_up() -> None:
    """Cold, warm, and the help."""
    forebay = str(Path(sys.executable).parent / "forebay")
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"FOREBAY_CACHE_DIR": cache}

        def call(*words: str) -> float:
            begun = time.perf_counter()
            subprocess.run([forebay, *words], env=environment, check=True, capture_output=True)
            return time.perf_counter() - begun

        say("cold first use: run table1, empty cache", call("run", "table1", "--policy", "fcfs-easy"))
        say(
            "warm start: run table1, whole process",
            min(call("run", "table1", "--policy", "fcfs-easy") for _ in range(5)),
        )
        say("warm start to the first decision", min(first_decision(forebay, environment, cache) for _ in range(5)))
        say("forebay --help", min(call("--help") for _ in range(5)))


def knapsacks() -> None:
    """One decision of Cerberus's size, and a larger one: whichever way is quicker, and the paper's table."""
    from forebay.algorithms.search.knapsack import choose, choose_by_table

    rng = np.random.default_rng(1)
    cases = {
        "10 jobs, 1,171 x 4,000 units": (10, (256 * 1171, 4 * 10**15), (256, 10**12), (60_000, 10**15)),
        "200 jobs, 100 x 100 units": (200, (100, 100), (1, 1), (12, 12)),
    }
    for name, (n, capacity, units, most) in cases.items():
        demand = np.column_stack(
            [unit * rng.integers(1, top // unit, n) for unit, top in zip(units, most, strict=True)]
        )
        value = (demand[:, 0] / units[0]) * (demand[:, 1] / units[1])
        room, grain, chosen = np.array(capacity), np.array(units), np.zeros(n, np.int8)
        assert (demand.sum(axis=0) > room).all()  # both dimensions bind
        quick = best(partial(choose, demand, value, room, grain, 1e7, chosen), 50)
        table = best(partial(choose_by_table, demand, value, room, grain, chosen), 20)
        say(f"knapsack, {name}", quick, f"{1e3 * quick:.3f} ms; by table {1e3 * table:.2f} ms")
    if DATA:
        log = fb.read(Path(DATA) / "swf" / "ANL-Intrepid-2009-1_first1185.swf.gz")
        jobs = models.attach(log, ["three-phase:version=april"], 1)
        for policy in ("cerberus-fcfs", "cerberus-throughput"):
            note = f"{len(jobs):,} jobs of three legs on trinity"
            say(f"April, {policy}", best(partial(fb.simulate, jobs, None, policy, 0, "io-aware:kill=false")), note)


def tiers() -> None:
    """Jobs that wait for fast storage or run on slow storage."""
    jobs = models.generate("sas2019", 0)
    for policy in ("sas", "sas-contention", "sas-plan", "tier-random:p=0.5"):
        note = f"{len(jobs):,} jobs, {len(jobs.phases):,} phases"
        say(f"sas2019, {policy}", best(partial(fb.simulate, jobs, None, policy)), note)


def sizes() -> None:
    """Jobs that change their size."""
    for what, case in flexible.CASES.items():
        for policy in flexible.POLICIES:
            sized(what, flexible.workload(*case), flexible.PLATFORM, policy, "application")
    for spec, policies in flexible.MODELS.items():
        for policy in policies:
            sized(spec, models.generate(spec, 1), None, policy, "application:kill=false")


def sized(what: str, jobs: fb.Workload, machine: str | None, policy: str, job_model: str) -> None:
    """A run of such jobs."""
    run = partial(fb.simulate, jobs, machine, policy, job_model=job_model)
    rounds, changes = int(jobs.applications.loops["rounds"].sum()), (run().log["reason"] == "resized").sum()
    say(f"{what}, {policy}", best(run, 3), f"{rounds:,} rounds, {changes:,} changes of size")


def main() -> None:
    """The whole table."""
    machine = f"{platform.machine()}, Python {platform.python_version()}, {os.cpu_count()} cores"
    print(f"{machine}, load {os.getloadavg()[0]:.2f}\n| work | measured | note |\n|---|---|---|")
    for part in (logs, growth, million, data, transfers, plans, knapsacks, tiers, sizes, python_policy, start_up):
        part()
    for others in (failing, serving):
        others.measure(best, say)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"load at the end {os.getloadavg()[0]:.2f}, {memory:.2f} GB resident")


if __name__ == "__main__":
    main()
