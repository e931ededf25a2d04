"""How often verdicts are right, on generated traces of which as many can be made as are needed.

A policy is compared with itself on other shaken copies (no verdict is right), with itself when every wait is 20 %
longer (worse is right), and with a policy whose true change many traces tell (the interval should hold it 95 times in
100). Verdicts by blocks and replicas are reached on one trace each; those by seeds on ten of the many.
Run: python benchmarks/calibration.py [TRIALS [TRACES]]
"""

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

import forebay as fb
from forebay.experiments import verdicts
from forebay.experiments.comparison.blocks import Blocks, judge
from forebay.experiments.comparison.shaking import measures_of, seed_of, shaken
from forebay.workload import models

TRACE = "lublin99:jobs=400,nodes=64,load=0.75,longest=8h"
MACHINE, REFERENCE, OTHER = "flat:nodes=64", "fcfs-easy", "sjf-easy"
COPIES, SEEDS = 10, 10
FIRST, FIRST_OF_MANY = 1000, 10_000  # the rule was chosen on traces 0 to 99: none of these
METRICS = {
    "mean_wait": ("wait", None),
    "p95_wait": ("wait", 0.95),
    "mean_turnaround_time": ("turnaround_time", None),
    "mean_bounded_slowdown_10min": ("bounded_slowdown_10min", None),
}


def trace(seed):
    """The trace of this seed, with estimates as users make them."""
    return models.attach(models.generate(TRACE, seed), ("tsafrir05",), seed)


def measures(workload, policy, number):
    """Measures of all jobs on the trace as it is (0) or on a shaken copy."""
    jobs = shaken(workload, 0, number) if number else workload
    result = fb.simulate(jobs, MACHINE, policy, seed_of(0, number), progress=False)
    return measures_of(result, workload.jobs["id"])


def runs(workload, policy, first):
    """Measures of all jobs in a run and its replicas, from a number on."""
    rows = [measures(workload, policy, number) for number in range(first, first + COPIES + 1)]
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def taken(values, share):
    """The metric of each run: a mean, or a quantile."""
    return values.mean(axis=-1) if share is None else np.quantile(values, share, axis=-1)


def trial(seed):
    """All that is measured of one trace: when jobs come, and the runs of three contenders."""
    workload = trace(seed)
    submits = workload.jobs["submit"].to_numpy()
    return submits, runs(workload, REFERENCE, 0), runs(workload, REFERENCE, 1000), runs(workload, OTHER, 0)


def once(seed):
    """The metrics of one trace: the reference, the same on a shaken copy, and the other policy."""
    workload = trace(seed)
    contenders = ((REFERENCE, 0), (REFERENCE, 1000), (OTHER, 0))
    rows = [measures(workload, policy, number) for policy, number in contenders]
    return [[float(taken(row[measure], share)) for row in rows] for measure, share in METRICS.values()]


def tell(label, metric, counts, trials):
    shares = [f"{100 * count / trials:5.1f} %" for count in counts]
    print(f"{label:>12s}  {metric:28s}  {shares[0]:>16s}  {shares[1]:>19s}  {shares[2]:>9s}  {shares[3]:>7s}")


def by_blocks(made, copies, metric, truth):
    """How often verdicts on one trace each are right."""
    measure, share = METRICS[metric]
    n, names = copies + 1, ("a", "b", metric)
    undecided = worse = held = better = 0
    for submits, ours, again, other in made:
        blocks = Blocks(submits, float(ours["wait"][0].mean()))
        undecided += judge(names, blocks, again[measure][:n], ours[measure][:n], share).word == "undecided"
        worse += judge(names, blocks, 1.2 * again[measure][:n], ours[measure][:n], share).word == "worse"
        found = judge(names, blocks, other[measure][:n], ours[measure][:n], share)
        held += found.low is not None and found.low <= truth <= found.high
        better += found.word == "better"
    return undecided, worse, held, better


def by_seeds(many, metric, truth):
    """How often verdicts on ten traces each are right; and of how many."""
    undecided = worse = held = better = 0
    groups = np.array(many).reshape(-1, SEEDS, 3)
    for group in groups:
        ours, again, other = group.T
        undecided += verdicts.judge(again, ours, metric).word == "undecided"
        worse += verdicts.judge(1.2 * again, ours, metric).word == "worse"
        found = verdicts.judge(other, ours, metric)
        held += found.low is not None and found.low <= truth <= found.high
        better += found.word == "better"
    return (undecided, worse, held, better), len(groups)


def main(trials, traces):
    """Runs of all traces, then shares of verdicts that are right."""
    begin = time.monotonic()
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        many = list(pool.map(once, range(FIRST_OF_MANY, FIRST_OF_MANY + traces), chunksize=20))
        made = list(pool.map(trial, range(FIRST, FIRST + trials), chunksize=2))
    print(f"{3 * traces} and {3 * (COPIES + 1) * trials} runs, {time.monotonic() - begin:.0f} s")
    print("    verdict by  metric                         same: undecided   20 % longer: worse   coverage   better")
    for place, metric in enumerate(METRICS):
        values = np.array([one[place] for one in many])
        truth = values[:, 2].mean() / values[:, 0].mean() - 1
        error = np.std(values[:, 2] - (1 + truth) * values[:, 0]) / values[:, 0].mean() / np.sqrt(traces)
        print(f"{metric}: true change {100 * truth:+.2f} % (standard error {100 * error:.2f})")
        for copies in (0, 3, COPIES):
            tell(f"{copies} replicas", metric, by_blocks(made, copies, metric, truth), trials)
        tell(f"{SEEDS} seeds", metric, *by_seeds(values, metric, truth))


if __name__ == "__main__":
    main(*(int(text) for text in (sys.argv[1:] + ["200", "2000"][len(sys.argv) - 1 :])))
