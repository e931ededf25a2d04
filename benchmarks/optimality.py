"""How far from the best plan the searches of plan-based policies end: `python benchmarks/optimality.py --queues 1000`.

Queues of 6, 7 and 8 jobs in turn (of fewer, every order is tried anyway), of jobs of the embedded workload `default` on
96 nodes and 480 GB of pooled burst buffer. Each search is held against the best of all orders. No plan of any kind has
a lower score: lay its jobs out again in order of their starts, and none starts later. Of longer queues nobody knows the
best: there searches are held against annealing. About a minute.
"""

import argparse
import math
from typing import Any, NamedTuple

import numpy as np

import forebay as fb
from forebay._numba.pointer import pointer
from forebay.core.tables import STATE, Sizes, State, empty_state
from forebay.policies._families.plan import Objective, Planning
from forebay.policies._kernels.availability.placement import Have
from forebay.policies._kernels.availability.profile import availability
from forebay.policies._kernels.plan.evaluation import blank_board, evaluate, set_up
from forebay.policies._kernels.plan.plan import _search

CAPACITY = np.array([96, 480 * 10**9])
SIZES = (6, 7, 8)
LONG = (12, 16, 20, 40, 80)
SEEDS = 5  # of annealing, each counted as a queue of its own
BEST: dict[str, Any] = {"exhaustive": 8}
SEARCHES: dict[str, dict[str, Any]] = {
    "annealing": {"exhaustive": 0},
    "descent": {"exhaustive": 0, "search": "descent"},
    "best of nine orders": {"exhaustive": 0, "steps": 0},
    "arrival": {},  # nothing is searched
}
ALPHAS = (2.0, 1.75)
NOWHERE = np.empty(0, np.int64)  # places do not matter in pools
NO_MEMORY = (np.zeros((0, 0), np.int64), np.zeros((0, 0)))

Jobs = tuple[np.ndarray, np.ndarray, np.ndarray]


class Queue(NamedTuple):
    """A moment at which something could start: jobs that run, then those that wait, in order of arrival."""

    now: float
    submit: np.ndarray
    walltime: np.ndarray
    demand: np.ndarray  # int64[job, resource]
    end: np.ndarray  # of those that run, by walltime; so its length is how many


def jobs_of_default() -> Jobs:
    """Seconds since the job before, walltimes and demands, to draw from."""
    jobs = fb.read("default").jobs
    demand = jobs.select("nodes", "burst_buffer").to_numpy().astype(np.int64)
    return np.diff(jobs["submit"].to_numpy(), prepend=0.0).round(), jobs["walltime"].to_numpy(), demand


def draw(table: Jobs, n_jobs: int, rng: np.random.Generator) -> Queue:
    """Jobs at random: they run until one does not fit, which waits, and so do all after it.

    Time 0 is the last one's arrival. The others run for anything up to their walltime yet; while nobody who waits fits,
    the next of them ends.
    """
    rows = rng.integers(len(table[0]), size=1000)
    gap, walltime, demand = (column[rows] for column in table)
    n_running = int(np.argmax((demand.cumsum(axis=0) > CAPACITY).any(axis=1)))
    waiting = np.arange(n_running, n_running + n_jobs)
    end = np.ceil(walltime[:n_running] * rng.random(n_running))
    by_end, now = list(np.argsort(end, kind="stable")), 0.0
    while not (demand[waiting] <= CAPACITY - demand[by_end].sum(axis=0)).all(axis=1).any():
        now = float(end[by_end.pop(0)])
    by_end = [j for j in by_end if end[j] > now]  # whoever ends at the same time has ended too
    submit = np.concatenate([end[by_end] - walltime[by_end], gap[waiting].cumsum() - gap[waiting].sum()])
    rows = np.array([*by_end, *waiting])
    return Queue(now, submit, walltime[rows], demand[rows], end[by_end])


def state_of(queue: Queue) -> State:
    """The tables that a policy would be shown."""
    n, n_running = len(queue.submit), len(queue.end)
    state = empty_state(Sizes(jobs=n, legs=n, resources=len(CAPACITY), nodes=int(CAPACITY[0])))
    state.clock["now"] = queue.now
    state.counts["n_running"], state.counts["n_queued"] = n_running, n - n_running
    state.jobs["submit"], state.jobs["leg"], state.jobs["nodes"] = queue.submit, np.arange(n), queue.demand[:, 0]
    state.legs["walltime"] = queue.walltime
    state.demands[:] = state.releases[:] = queue.demand
    state.resources["capacity"] = CAPACITY
    state.resources["free"] = CAPACITY - queue.demand[:n_running].sum(axis=0)
    state.running["end"][:n_running] = queue.end
    state.running["job"][:n_running] = state.running["leg"][:n_running] = np.arange(n_running)
    return state


class Desk:
    """Where the plans of one queue are searched for and scored, by the compiled kernels."""

    def __init__(self, queue: Queue):
        self.state = state_of(queue)
        self.line = np.arange(len(queue.end), len(queue.submit))
        self.have = Have(self.state.resources["free"].copy(), NOWHERE, NOWHERE, self.state.inside.room)
        self.pointer = pointer(self.state, STATE)

    def order(self, policy: Planning, seed: int = 0) -> np.ndarray:
        """The order that a policy's search finds, as places in the queue."""
        R, rng = len(CAPACITY), np.random.default_rng(seed)
        params = policy.params()
        order: np.ndarray = _search(self.pointer, self.have, self.line, R, 0, 0, params, NO_MEMORY, rng)
        return order

    def score(self, order: np.ndarray, alpha: float) -> float:
        """The sum of waits to the power alpha, from a plan recomputed."""
        R, n_jobs = len(CAPACITY), len(order)
        times, ahead, n = availability(self.pointer, self.have, -1, R, 0, 0)
        tables, stride = blank_board(self.pointer, n_jobs, n, R, 0, 0)
        board = pointer(tables)
        set_up(board, self.pointer, self.line, times, ahead, n, R, alpha, Objective.WAIT)
        return float(evaluate(board, order, 0, n_jobs, math.inf, alpha, stride, (R, 0, 0)))


def found(desk: Desk, alpha: float) -> dict[str, list[float]]:
    """The scores that each search finds."""
    scores = {}
    for name, params in SEARCHES.items():
        seeds = range(SEEDS if name == "annealing" else 1)
        orders = [desk.order(Planning(alpha=alpha, **params), seed) for seed in seeds]
        if not params:
            orders = [np.arange(len(desk.line))]
        scores[name] = [desk.score(order, alpha) for order in orders]
    return scores


def best_of_all(desk: Desk, alpha: float) -> float:
    """The least score of all orders."""
    return desk.score(desk.order(Planning(alpha=alpha, **BEST)), alpha)


def row(gaps: np.ndarray) -> str:
    """Share of queues solved, and gaps in %: mean, median, 95th and 99th percentile, largest."""
    values = (gaps.mean(), *np.percentile(gaps, (50, 95, 99)), gaps.max())
    return f"{(gaps == 0).mean():.1%} | " + " | ".join(f"{100 * value:.2f}" for value in values)


def short(table: Jobs, n_queues: int, seed: int) -> None:
    """Against the best of all orders."""
    gaps: dict[tuple[str, float, int], list[float]] = {}
    without_wait = 0
    for i in range(n_queues):
        n_jobs = SIZES[i % len(SIZES)]
        desk = Desk(draw(table, n_jobs, np.random.default_rng([seed, i])))
        for alpha in ALPHAS:
            best = best_of_all(desk, alpha)
            if best == 0:
                without_wait += 1
                continue
            for name, values in found(desk, alpha).items():
                gaps.setdefault((name, alpha, n_jobs), []).extend(value / best - 1 for value in values)
    print(f"{n_queues:,} queues, seed {seed}; left out as nobody need wait: {without_wait // len(ALPHAS)}\n")
    print("| search | alpha | jobs | solved | mean gap, % | median | 95 % | 99 % | largest |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in SEARCHES:
        for alpha in ALPHAS:
            groups = {str(n): np.array(gaps.get((name, alpha, n), [])) for n in SIZES}
            for label, group in (groups | {"all": np.concatenate(list(groups.values()))}).items():
                if len(group):
                    print(f"| {name} | {alpha:g} | {label} | {row(group)} |")


def long(table: Jobs, n_queues: int, seed: int) -> None:
    """Against the mean of annealing over its seeds."""
    print(f"\n{n_queues:,} queues of each length: scores over those of annealing, mean in %\n")
    print("| jobs | alpha | descent | lower in | best of nine orders |\n|---|---|---|---|---|")
    for n_jobs in LONG:
        for alpha in ALPHAS:
            ratios: dict[str, list[float]] = {}
            for i in range(n_queues):
                desk = Desk(draw(table, n_jobs, np.random.default_rng([seed, i, n_jobs])))
                scores = found(desk, alpha)
                for name, values in scores.items():
                    ratios.setdefault(name, []).append(values[0] / float(np.mean(scores["annealing"])) - 1)
            descent, nine = np.array(ratios["descent"]), np.array(ratios["best of nine orders"])
            lower = f"{(descent < -1e-9).mean():.0%}"  # a mean of equal scores is off by a bit
            print(f"| {n_jobs} | {alpha:g} | {100 * descent.mean():+.1f} | {lower} | {100 * nine.mean():+.1f} |")


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queues", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    table = jobs_of_default()
    short(table, given.queues, given.seed)
    long(table, -(-given.queues // 10), given.seed)


if __name__ == "__main__":
    main()
