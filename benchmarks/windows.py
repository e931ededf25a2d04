"""How long one choice in a window takes: `python benchmarks/windows.py`. Exact fronts and genetic ones.

Windows are jobs that follow one another in a log like Theta's, with requests as in S1 to S4, and room as a machine in
use leaves it: 10 to 100 % of each resource.
"""

import os
import time

import numpy as np

from forebay.algorithms.search.genetic import evolve
from forebay.algorithms.search.pareto import front, front_with_waste
from forebay.core.stopping import NO_CLOCK
from forebay.workload import models

CAPACITY = np.array([4360, 300 * 10**12, 100 * 10**12, 5000])
LIMIT, N = 1_000_000, 400


def windows(w: int, R: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Demands and room of N windows."""
    rng = np.random.default_rng(1)
    jobs = models.generate("lublin99:jobs=4000,nodes=2048,load=0.76,longest=24h", 1)
    found = []
    for _ in range(N):
        share, least = rng.choice([0.5, 0.75]), rng.choice([5, 20])
        asked = models.attach(jobs, [f"fan2019:share={share},least={least}TB"], int(rng.integers(1 << 30)))
        demand = np.column_stack(
            [
                np.maximum(asked.jobs["nodes"].to_numpy(), 128) // 64 * 64,
                asked.jobs["burst_buffer"].to_numpy(),
                rng.integers(0, 20_000, len(asked)) * 10**9,
                rng.integers(0, 600, len(asked)),
            ]
        )
        first = int(rng.integers(0, len(asked) - w))
        room = (CAPACITY * rng.uniform(0.1, 1.0, 4)).astype(np.int64)
        found.append((np.ascontiguousarray(demand[first : first + w, :R]), room[:R].copy()))
    return found


def timed(solve, cases) -> tuple[np.ndarray, list[int]]:
    """Milliseconds and answers, each the best of three."""
    seconds, answers = [], []
    for case in cases:
        best = np.inf
        for _ in range(3):
            begun = time.perf_counter()
            n = solve(*case)
            best = min(best, time.perf_counter() - begun)
        seconds.append(1e3 * best)
        answers.append(n)
    return np.array(seconds), answers


def windows_of_kinds(w: int) -> list[tuple[np.ndarray, ...]]:
    """The same on nodes with SSDs, half of 128 and half of 256 GB; half of the jobs need the larger ones."""
    rng, small, large = np.random.default_rng(1), 128 * 10**9, 256 * 10**9
    jobs = models.generate("lublin99:jobs=4000,nodes=2048,load=0.76,longest=24h", 1)
    found = []
    for _ in range(N):
        asked = models.attach(jobs, ["fan2019:share=0.75", "fan2019-ssd:large=0.5"], int(rng.integers(1 << 30))).jobs
        nodes = np.maximum(asked["nodes"].to_numpy(), 128) // 64 * 64
        each = asked["ssd"].to_numpy() // asked["nodes"].to_numpy()
        needs = each > small
        demand = np.column_stack([nodes, asked["burst_buffer"].to_numpy(), each * nodes, nodes * needs])
        waste, either = nodes * (np.where(needs, large, small) - each), nodes * ~needs
        first = int(rng.integers(0, len(asked) - w))
        free = (2196 * rng.uniform(0.1, 1.0, 2)).astype(np.int64)  # of each kind
        room = np.array([free.sum(), int(300e12 * rng.uniform(0.1, 1.0)), free @ [small, large], free[1]])
        some = slice(first, first + w)
        found.append((np.ascontiguousarray(demand[some]), room, waste[some].copy(), either[some].copy(), int(free[0])))
    return found


def report_kinds(w: int, settings: np.ndarray) -> None:
    """A row for windows of four objectives: nodes, buffer, SSD in use, SSD wasted."""
    loads, sets, rng = np.empty((4096, 4), np.int64), np.empty(4096, np.int64), np.random.default_rng(1)
    cases = windows_of_kinds(w)
    exact = lambda *case: front_with_waste(*case, 128 * 10**9, LIMIT, loads, sets, NO_CLOCK)  # noqa: E731
    guess = lambda *case: evolve(*case, 128 * 10**9, settings, rng, loads, sets, NO_CLOCK)  # noqa: E731
    report(f"{w} | 4, of two kinds", exact, guess, cases)


def report(name, exact, guess, cases) -> None:
    """A row of the table."""
    exact(*cases[0])
    guess(*cases[0])
    ms, answers = timed(exact, cases)
    ga, _ = timed(guess, cases)
    points = np.mean([n for n in answers if n > 0])
    gone = sum(n < 0 for n in answers) / len(answers)
    print(
        f"| {name} | {np.median(ms):.3f} ms | {np.quantile(ms, 0.99):.2f} ms | {100 * gone:.1f} % "
        f"| {points:.1f} | {np.median(ga):.2f} ms | {np.quantile(ga, 0.99):.2f} ms |",
        flush=True,
    )


def main() -> None:
    """The table."""
    print(f"load {os.getloadavg()[0]:.2f}; {N} windows each; exact up to {LIMIT:,} steps")
    print("| jobs | resources | exact: median | p99 | given up | points, mean | genetic: median | p99 |")
    print("|---|---|---|---|---|---|---|---|")
    settings = np.array([500.0, 20.0, 1.0, 0.0005, 0.0, 0.0, 0.0])
    nothing, rng = np.empty(0, np.int64), np.random.default_rng(1)
    for w, R in ((20, 2), (30, 2), (20, 4)):
        loads, sets = np.empty((4096, R), np.int64), np.empty(4096, np.int64)
        cases = windows(w, R)
        exact = lambda demand, room, loads=loads, sets=sets: front(demand, room, LIMIT, loads, sets, NO_CLOCK)  # noqa: E731
        guess = lambda demand, room, loads=loads, sets=sets: evolve(  # noqa: E731
            demand, room, nothing, nothing, 0, 0, settings, rng, loads, sets, NO_CLOCK
        )
        report(f"{w} | {R}", exact, guess, cases)
    report_kinds(20, settings)


if __name__ == "__main__":
    main()
