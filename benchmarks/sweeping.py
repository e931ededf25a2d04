"""What a sweep costs beside its simulations: `python benchmarks/sweeping.py`. Processor time, a run.

Not the time of a clock, so that other work on the machine counts little. It has two parts: what the process that hands
out the work does for a run, and what the one that carries it out does beside the simulation and its summary. Each part
is timed by itself: a difference of two long times would be mostly noise.
"""

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import forebay as fb
from forebay.experiments import statistics
from forebay.experiments.grid import runs_of
from forebay.experiments.runs import Run, perform, workload_of
from forebay.experiments.store import Store
from forebay.experiments.sweep import carry_out, records
from forebay.experiments.tidy import frame

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
SEEDS = 20


def seconds(work: Callable[[], object]) -> float:
    """Processor time of a call, in this process."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def parent_seconds(keys: dict) -> float:
    """A run: laying it out, its key, its claim, keeping it, its row; with outcomes that are there at once."""
    outcomes = {run.key: perform(run) for run in runs_of(keys | {"seeds": SEEDS})}

    def hand_out() -> None:
        runs = runs_of(keys | {"seeds": SEEDS})
        with tempfile.TemporaryDirectory() as folder:
            store = Store(Path(folder))

            def execute(tasks, done) -> None:
                for run in tasks:
                    done(run, outcomes[run.key])

            carry_out(runs, store, execute)
            frame(records(runs, store))

    return statistics.median([seconds(hand_out) for _ in range(5)]) / SEEDS


def worker_seconds(keys: dict) -> tuple[float, float]:
    """Medians over runs: of the simulation and its summary, and of what describes a run that is over."""
    plain, extra = [], []
    for run in runs_of(keys | {"seeds": SEEDS}):
        jobs = workload_of(run.jobs)
        plain.append(seconds(lambda: fb.summary(simulated(run, jobs))))  # noqa: B023
        extra.append(seconds(lambda: (replace(run).key, run.plain())))  # noqa: B023
    return statistics.median(plain), statistics.median(extra)


def simulated(run: Run, jobs: fb.Workload) -> fb.Result:
    """The run without all that a sweep keeps of it."""
    return fb.simulate(jobs, run.platform, run.policy, run.seed, progress=False)


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
            parent = parent_seconds(keys)
            run, worker = worker_seconds(keys)
            parts = f"{1e3 * parent:.1f} ms to hand out and keep, {1e3 * worker:.1f} ms to describe"
            print(f"{title:12}  a run {1e3 * run:5.0f} ms; {parts}; {100 * (parent + worker) / run:.1f} %")


if __name__ == "__main__":
    main()
