"""What a sweep costs beside its simulations: `python benchmarks/sweeping.py`. Processor time, a run.

Not the time of a clock, so that other work on the machine counts little. It has two parts: what the process that hands
out the work does for a run, and what the one that carries it out does beside the simulation and its summary.
"""

import tempfile
import time
from itertools import pairwise
from pathlib import Path

import forebay as fb
from forebay.experiments import statistics
from forebay.experiments.grid import runs_of
from forebay.experiments.runs import perform, workload_of

OWN = """
import forebay as fb
def make(seed, jobs: int = 5):
    return fb.workload.models.generate(f"lublin99:jobs={jobs},nodes=256,load=0.9", seed)
class InOrder:
    def decide(self, view, act):
        for job in view.queue:
            if not act.fits(job):
                return
            act.start(job)
"""
MODEL = "lublin99:jobs={jobs},nodes=256,load=0.9"
SHORT, LONG = 20, 80


def parent_seconds(keys: dict, seeds: int) -> float:
    """Of the process that hands out the work, for a sweep on two cores with its table."""
    begun = time.process_time()
    fb.sweep(**keys, seeds=seeds, jobs=2)
    return time.process_time() - begun


def worker_seconds(keys: dict, seeds: int) -> tuple[float, float]:
    """Medians over runs: of the simulation and its summary, and of all that is done for the run beside them."""
    plain, extra = [], []
    for run in runs_of(keys | {"seeds": seeds}):
        jobs = workload_of(run.jobs)
        times = [time.process_time()]
        fb.summary(fb.simulate(jobs, run.platform, run.policy, run.seed, progress=False))
        times.append(time.process_time())
        perform(run)
        times.append(time.process_time())
        once, again = (later - earlier for earlier, later in pairwise(times))
        plain.append(once)
        extra.append(again - once)
    return statistics.median(plain), max(0.0, statistics.median(extra))


def main() -> None:
    """A line for policies and models of forebay, and one for a user's own."""
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / "own.py"
        own.write_text(OWN)
        time.sleep(1.5)  # a file that has just changed is read again by each run
        for title, source, policy in (
            ("of forebay", MODEL.format(jobs=4000), "conservative-bb"),
            ("of one's own", f"{own}:make:jobs=1500", f"{own}:InOrder"),
        ):
            keys = {"generators": [source], "platforms": ["flat:nodes=256"], "policies": [policy]}
            parent_seconds(keys, 1)  # loads what is compiled
            parent = (parent_seconds(keys, LONG) - parent_seconds(keys, SHORT)) / (LONG - SHORT)
            run, worker = worker_seconds(keys, SHORT)
            parts = f"{1e3 * parent:.1f} ms to hand out and keep, {1e3 * worker:.1f} ms to describe"
            print(f"{title:12}  a run {1e3 * run:5.0f} ms; {parts}; {100 * (parent + worker) / run:.1f} %")


if __name__ == "__main__":
    main()
