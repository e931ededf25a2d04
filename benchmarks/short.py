"""Runs of eight jobs, where all that is not the run counts: `python benchmarks/short.py`.

Milliseconds, with the KTH log beside them as the yardstick: a machine has its moments. Five rounds.
"""

import time
from collections.abc import Callable

import bench

import forebay as fb

TABLES = ("jobs", "log", "placements", "chunks", "said", "held", "links")


def each(work: Callable[[], object], times: int) -> float:
    """Milliseconds a call, after one to warm up."""
    work()
    begun = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - begun) / times * 1e3


def main() -> None:
    """A line a round."""
    workload, log = fb.read("table1"), bench.kth()
    machine = fb.platform(str(workload.platform))

    def run() -> fb.Result:
        return fb.simulate(workload, machine, "fcfs-easy")

    def tables() -> list[object]:
        result = run()
        return [getattr(result, name) for name in TABLES]

    def steps() -> None:
        with fb.open(workload, machine, "fcfs-easy") as sim:
            while sim.step():
                pass

    for _ in range(5):
        found = {"simulate": each(run, 100), "with all tables": each(tables, 40)}
        found |= {"open": each(lambda: fb.open(workload, machine, "fcfs-easy"), 30), "stepped": each(steps, 20)}
        if log is not None:
            found["KTH, fcfs-easy"] = each(lambda: fb.simulate(log, policy="fcfs-easy"), 2)
        print(", ".join(f"{what} {milliseconds:.2f} ms" for what, milliseconds in found.items()), flush=True)


if __name__ == "__main__":
    main()
