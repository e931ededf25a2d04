"""How far counted promises slip on shared nodes: conservative backfilling in plain Python that keeps what it promised.

    python benchmarks/slip.py [JOBS [LOAD [SEEDS]]]

Reservations count cores, memory and GPUs in all, as `conservative` does; who starts has room on particular nodes. A
promise is the start that a job is told when it comes. It is broken if the job starts later than that.
"""

import sys

import numpy as np
import sharing

import forebay as fb


class Promises(fb.Policy):
    """Conservative backfilling, with the first promise to each job."""

    def __init__(self) -> None:
        self.promised: dict[int, float] = {}

    def decide(self, view, act):  # type: ignore[no-untyped-def]
        """Start whom the plan lets start now; lay all others in line."""
        times, free = [view.now], [view.free.astype(float)]
        for row in view.running:
            end = max(float(row["end"]), view.now + 1e-6)
            if end > times[-1]:
                times.append(end)
                free.append(free[-1].copy())
            free[-1] += view.releases[row["leg"]]
        for job in view.queue.tolist():
            demand, walltime = view.demand(job), view.walltime(job)
            at = self._earliest(times, free, demand, walltime, 0 if act.fits(job) else 1)
            begin = times[at]
            if at == 0:
                act.start(job)
            self.promised.setdefault(int(view.jobs["id"][job]), begin)
            last = next((i for i in range(at, len(times)) if times[i] >= begin + walltime), len(times))
            if last == len(times) or times[last] > begin + walltime:
                times.insert(last, begin + walltime)
                free.insert(last, free[last - 1].copy())
            for i in range(at, last):
                free[i] = free[i] - demand

    @staticmethod
    def _earliest(times, free, demand, walltime, first):  # type: ignore[no-untyped-def]
        for at in range(first, len(times)):
            end, i = times[at] + walltime, at
            while i < len(times) and times[i] < end and (free[i] >= demand).all():
                i += 1
            if i == len(times) or times[i] >= end:
                return at
        return len(times) - 1


def main() -> None:
    """Print the share of promises that were broken, and by how much."""
    given = sys.argv[1:]
    n_jobs, load = int(given[0]) if given else 1000, float(given[1]) if len(given) > 1 else 0.95
    late, waits, n = [], [], 0
    for seed in range(int(given[2]) if len(given) > 2 else 3):
        policy = Promises()
        result = fb.simulate(sharing.workload(n_jobs, 40, load, seed), sharing.machine(40), policy, progress=False)
        jobs = result.jobs.filter(result.jobs["starting_time"].is_not_null())
        starts = dict(jobs.select("job_id", "starting_time").iter_rows())
        late += [start - policy.promised[job] for job, start in starts.items() if start > policy.promised[job] + 1e-3]
        waits += jobs["waiting_time"].to_list()
        n += len(starts)
    print(f"{n:,} promises at load {load:g}: {len(late) / n:.1%} broken; jobs wait {np.mean(waits):,.0f} s on average")
    print(f"late by {np.median(late or [0]):,.0f} s in the median, {np.max(late or [0]):,.0f} s at most")


if __name__ == "__main__":
    main()
