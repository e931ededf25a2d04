"""How often verdicts are right, on generated traces of which as many can be made as are needed.

Each trial is a trace of its own. A policy is compared with itself on other shaken copies (no verdict is right), with
itself when every wait is 20 % longer (worse is right), and with a policy whose true change is known from all trials
together (the interval should hold it 95 times in 100). Run: python benchmarks/calibration.py [TRIALS]
"""

import sys
import time

import numpy as np

import forebay as fb
from forebay.experiments.blocks import Blocks, judge
from forebay.experiments.replicas import measures_of, seed_of, shaken
from forebay.workload import models

TRACE = "lublin99:jobs=400,nodes=64,load=0.75,longest=8h"
MACHINE, REFERENCE, OTHER = "flat:nodes=64", "fcfs-easy", "sjf-easy"
COPIES = 10
FIRST = 1000  # the rule was chosen on traces 0 to 99: none of these
METRICS = {"mean_waiting_time": ("waiting_time", None), "p95_waiting_time": ("waiting_time", 0.95)}
METRICS["mean_bounded_slowdown_10min"] = ("bounded_slowdown_10min", None)


def runs(workload, policy, first):
    """Measures of all jobs: the trace as it is, or a copy in its place, and shaken copies from a number on."""
    rows = []
    for number in range(first, first + COPIES + 1):
        jobs = shaken(workload, 0, number) if number else workload
        result = fb.simulate(jobs, MACHINE, policy, seed_of(0, number), progress=False)
        rows.append(measures_of(result, workload.jobs["id"]))
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def trial(seed):
    """All that is measured of one trace: when jobs come, and the runs of three contenders."""
    workload = models.attach(models.generate(TRACE, seed), ("tsafrir05",), seed)
    submits = workload.jobs["submit"].to_numpy()
    return submits, runs(workload, REFERENCE, 0), runs(workload, REFERENCE, 1000), runs(workload, OTHER, 0)


def main(trials):
    """Trials, then shares of verdicts for no, some and many replicas."""
    begin = time.monotonic()
    made = [trial(seed) for seed in range(FIRST, FIRST + trials)]
    print(f"{trials} traces, {3 * (COPIES + 1) * trials} runs, {time.monotonic() - begin:.0f} s")
    print("replicas  metric                         same: undecided   20 % longer: worse   coverage   better")
    for copies in (0, 3, COPIES):
        n = copies + 1
        for metric, (measure, share) in METRICS.items():
            take = (lambda x: x.mean(axis=1)) if share is None else (lambda x, q=share: np.quantile(x, q, axis=1))
            truth = np.mean([take(one[3][measure]) for one in made]) / np.mean([take(one[1][measure]) for one in made])
            undecided = worse = held = better = 0
            for submits, ours, again, other in made:
                blocks = Blocks(submits, float(ours["waiting_time"][0].mean()))
                names = ("a", "b", metric)
                undecided += judge(names, blocks, again[measure][:n], ours[measure][:n], share).word == "undecided"
                worse += judge(names, blocks, 1.2 * again[measure][:n], ours[measure][:n], share).word == "worse"
                found = judge(names, blocks, other[measure][:n], ours[measure][:n], share)
                held += found.low is not None and found.low <= truth - 1 <= found.high
                better += found.word == "better"
            shares = [f"{100 * count / trials:5.0f} %" for count in (undecided, worse, held, better)]
            print(f"{copies:8d}  {metric:28s}  {shares[0]:>16s}  {shares[1]:>19s}  {shares[2]:>9s}  {shares[3]:>7s}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
