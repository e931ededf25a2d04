"""Train a small policy by evolution strategies, in plain NumPy, and hold it against others on jobs it has not seen.

Covers: forebay.gym, seeds, action masks, verdicts.
Scenario: a linear score of each waiting job (its demands, walltime, age, whether it fits) picks who goes next, with
backfilling around the first that does not fit. Training and test workloads are drawn from the same model with seeds
apart.

Usage: python train.py [rounds] [test workloads]
"""

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import numpy as np

import forebay as fb
from forebay.experiments.verdicts import judge
from forebay.gym import SchedulingEnv
from forebay.workload import models

MODEL, JOBS, MACHINE = "lublin99:load=1.1,nodes=64", 150, "flat:nodes=64,burst_buffer=64TB"
WINDOW, PAIRS, STEP, NOISE = 24, 4, 0.15, 0.3
TEST = 10_000  # seeds from here on are for the test
OTHERS = ("fcfs-bb", "sjf-bb", "plan-best")


def made(seed: int) -> fb.Workload:
    """A workload whose jobs ask for 0 to 3 TB of burst buffer a node, mostly little."""
    drawn = models.generate(MODEL, seed, jobs=JOBS)
    rng = np.random.default_rng(seed)
    nodes = drawn.jobs["nodes"].to_numpy()
    asked = (rng.exponential(0.7e12, len(nodes)).clip(0, 3e12) * nodes).clip(0, 60e12).astype(np.int64)
    return fb.Workload(f"drawn-{seed}", drawn.jobs.with_columns(burst_buffer=asked))


def scores(weights: np.ndarray, observed: dict[str, np.ndarray]) -> np.ndarray:
    """A number for each job in the window: linear in what it is like, and in that times how full the machine is."""
    jobs, free = observed["jobs"], observed["machine"][0]
    return np.asarray(jobs @ weights[: jobs.shape[1]] + free * (jobs @ weights[jobs.shape[1] :]))


def play(weights: np.ndarray, seed: int) -> float:
    """Minus the mean waiting time, in hours, of one episode."""
    env = SchedulingEnv(made(seed), MACHINE, window=WINDOW, backfill=True)
    observed, info = env.reset()
    total, over = 0.0, False
    while not over:
        best = np.where(info["action_mask"] > 0, scores(weights, observed), -np.inf).argmax()
        observed, reward, over, _, info = env.step(int(best))
        total += reward
    return total / 3600


def trained(rounds: int, pool: ProcessPoolExecutor, rng: np.random.Generator) -> np.ndarray:
    """Weights after so many rounds: mirrored draws around them, weighed by how much better one side was."""
    weights = np.zeros(2 * (4 + 2))
    for done in range(rounds):
        draws = rng.normal(size=(PAIRS, len(weights)))
        seeds = rng.integers(TEST, size=PAIRS)
        tried = [weights + sign * NOISE * draw for draw in draws for sign in (1, -1)]
        found = np.array(list(pool.map(play, tried, np.repeat(seeds, 2)))).reshape(PAIRS, 2)
        gain = found[:, 0] - found[:, 1]
        weights = weights + STEP * (gain / (np.abs(gain).max() + 1e-9)) @ draws / PAIRS
        if done % 20 == 0:
            print(f"round {done}: mean wait {-found.mean():.3f} h", flush=True)
    return weights


def wait_under(policy: str, seed: int) -> float:
    """The mean waiting time in hours."""
    return float(fb.summary(fb.simulate(made(seed), MACHINE, policy, progress=False))["mean_wait"]) / 3600


def main(rounds: int = 60, n_tests: int = 40) -> None:
    """Train, then compare in pairs: every policy has the same test workloads."""
    seeds, begun = range(TEST, TEST + n_tests), time.perf_counter()
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        weights = trained(rounds, pool, np.random.default_rng(1))
        took = time.perf_counter() - begun
        learned = -np.array(list(pool.map(partial(play, weights), seeds)))
        untrained = -np.array(list(pool.map(partial(play, np.zeros_like(weights)), seeds)))
        others = {name: np.array(list(pool.map(partial(wait_under, name), seeds))) for name in OTHERS}
    print(f"{rounds} rounds in {took / 60:.1f} min; weights {np.round(weights, 2).tolist()}")
    print(f"learned: mean wait {learned.mean():.3f} h over {n_tests} workloads")
    for name, waits in {"untrained": untrained, **others}.items():
        told = judge(learned.tolist(), waits.tolist(), policy="learned", reference=name)
        interval = "" if told.low is None else f" ({told.low:+.1%} to {told.high:+.1%})"
        print(f"against {name} ({waits.mean():.3f} h): {told.change:+.1%}{interval}, {told.word}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
