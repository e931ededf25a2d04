"""What steering transfers costs: weighted transfers over one link, and I/O schedulers beside a policy.

    python benchmarks/steering.py [JOBS]

Processor seconds, in turns: what else runs on the machine slows all alike.
"""

import sys
import time
from collections.abc import Callable

import flexible
import numpy as np
from benchmark_kernels import churn

import forebay as fb
from forebay.core.limits import IO_SCHEDULERS
from forebay.engine.contention.tables import make_network

TOTAL, AT_A_TIME, TURNS = 1_000_000, 200, 5
WEIGHTS = 10.0 ** -np.arange(4)
"""Those of four sets of set-10."""


def in_turns(works: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The least processor time of each, one after the other in every turn."""
    least = dict.fromkeys(works, np.inf)
    for _ in range(TURNS):
        for name, work in works.items():
            begun = time.process_time()
            work()
            least[name] = min(least[name], time.process_time() - begun)
    return least


def one_link() -> None:
    """A million transfers, 200 at a time: without weights, with four, and with 997."""
    ended = np.zeros(AT_A_TIME, np.int64)
    routes = [(np.inf, {0: 1.0})]

    def usual() -> None:
        churn(make_network([5e9], routes, AT_A_TIME), TOTAL, AT_A_TIME, ended, np.zeros(0))

    def weighted(weights: np.ndarray, total: int) -> None:
        net = make_network([5e9, np.inf], routes, AT_A_TIME, AT_A_TIME + 1, AT_A_TIME + 1, steered=True)
        churn(net, total, AT_A_TIME, ended, weights)

    many = np.random.default_rng(1).uniform(0.1, 10.0, 997)
    weighted(WEIGHTS, AT_A_TIME), usual()  # compiles
    works = {"unweighted": usual, "four weights": lambda: weighted(WEIGHTS, TOTAL)}
    works["997 weights"] = lambda: weighted(many, TOTAL)
    least = in_turns(works)
    for name, seconds in least.items():
        print(f"{name}: {seconds:.3f} s", flush=True)
    print(f"four weights / unweighted: {least['four weights'] / least['unweighted']:.2f}")


def schedulers(n_jobs: int) -> None:
    """Jobs of 10 to 25 rounds of compute and write under each scheduler."""
    jobs = flexible.workload(n_jobs, 0.0, (10, 26), 40.0)
    specs = ["fcfs-easy", *(f"fcfs-easy+io:{name}" for name in IO_SCHEDULERS)]
    works = {spec: lambda spec=spec: fb.simulate(jobs, flexible.PLATFORM, spec) for spec in specs}
    for work in works.values():
        work()
    for name, seconds in in_turns(works).items():
        print(f"{name}: {seconds:.3f} s", flush=True)


if __name__ == "__main__":
    one_link()
    schedulers(int(sys.argv[1]) if len(sys.argv) > 1 else 4000)
