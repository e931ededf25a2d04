"""How far promises slip on shared nodes: conservative backfilling in plain Python that keeps what it promised.

    python benchmarks/slip.py [JOBS [LOAD [SEEDS]]]

Reservations count cores and memory in all; who starts has room on particular nodes. A promise is the start that a job
is told when it comes. It is broken if the job starts later than that. Once without more, and once with the first job
that waits guarded, as `conservative` does: nobody starts who delays it on the nodes that it will have. It is promised
that start too, when it comes to be the first.
"""

import sys
from collections.abc import Callable

import numpy as np
import sharing

import forebay as fb


class Machine:
    """What is free in nodes now, and who gives what back when."""

    def __init__(self, view):  # type: ignore[no-untyped-def]
        self.view, self.room = view, view.inside[:, :2].astype(float)
        rows = view.running.tolist()
        self.ends = [(max(end, view.now + 1e-6), view.nodes_of(job), self.each(job, leg)) for end, job, leg in rows]

    def each(self, job: int, leg: int | None = None) -> np.ndarray:
        """Cores and memory of a part of a job."""
        total = self.view.demand(job) if leg is None else self.view.releases[leg]
        return np.asarray(total[:2] / self.view.jobs["nodes"][job], float)

    def place(self, room: np.ndarray, job: int) -> list[int]:
        """The nodes for a part each, fewest free cores first; none if not all find room."""
        found = np.flatnonzero((room >= self.each(job)).all(axis=1))
        parts = int(self.view.jobs["nodes"][job])
        return sorted(found[np.argsort(room[found, 0], kind="stable")][:parts].tolist()) if len(found) >= parts else []

    def take(self, job: int, nodes: list[int]) -> None:
        """The job starts."""
        self.room[nodes] -= self.each(job)
        self.ends.append((self.view.now + self.view.walltime(job), nodes, self.each(job)))


class Guard:
    """When the first job that waits has room, and what is spare beside it then."""

    def __init__(self, machine: Machine, job: int):
        self.machine, self.spare, self.shadow = machine, machine.room.copy(), machine.view.now
        for end, nodes, each in sorted(machine.ends, key=lambda row: row[0]):
            if end > self.shadow and machine.place(self.spare, job):
                break
            self.shadow = end
            self.spare[nodes] += each
        self.spare[machine.place(self.spare, job)] -= machine.each(job)

    def outlasts(self, job: int) -> bool:
        """Whether a job that starts now does not end by the shadow."""
        return bool(self.machine.view.now + self.machine.view.walltime(job) > self.shadow)


class Promises(fb.Policy):
    """Conservative backfilling, with the first promise to each job."""

    def __init__(self, guards: bool) -> None:
        self.guards, self.promised, self.told_first = guards, dict[int, float](), dict[int, float]()

    def decide(self, view, act):  # type: ignore[no-untyped-def]
        """Start whom the plan lets start now; lay all others in line."""
        times, free = [view.now], [view.free.astype(float)]
        for row in view.running:
            end = max(float(row["end"]), view.now + 1e-6)
            if end > times[-1]:
                times.append(end)
                free.append(free[-1].copy())
            free[-1] += view.releases[row["leg"]]
        machine, guard = Machine(view), None
        for job in view.queue.tolist():
            demand, walltime, beside = view.demand(job), view.walltime(job), guard is not None and guard.outlasts(job)
            nodes = machine.place(np.minimum(machine.room, guard.spare) if beside else machine.room, job)
            at = self._earliest(times, free, demand, walltime, 0 if nodes else 1)
            begin = times[at]
            if at == 0:
                act.start(job, nodes=nodes)
                machine.take(job, nodes)
                if beside:
                    guard.spare[nodes] -= machine.each(job)
            elif guard is None and self.guards:
                guard = Guard(machine, job)
                self.told_first.setdefault(int(view.jobs["id"][job]), guard.shadow)
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


def _measure(guards: bool, n_jobs: int, load: float, seeds: int) -> None:
    waits: list[float] = []
    told: dict[str, Callable[[Promises], dict[int, float]]] = {
        "when a job comes": lambda policy: policy.promised,
        "when it is the first": lambda policy: policy.told_first,
    }
    late, count = {name: list[float]() for name in told}, dict.fromkeys(told, 0)
    for seed in range(seeds):
        policy = Promises(guards)
        result = fb.simulate(sharing.workload(n_jobs, 40, load, seed), sharing.machine(40), policy, progress=False)
        jobs = result.jobs.filter(result.jobs["starting_time"].is_not_null())
        starts = dict(jobs.select("job_id", "starting_time").iter_rows())
        waits += jobs["waiting_time"].to_list()
        for name, promises in told.items():
            known = {job: start - promises(policy)[job] for job, start in starts.items() if job in promises(policy)}
            late[name] += [slip for slip in known.values() if slip > 1e-3]
            count[name] += len(known)
    print(f"{'first job guarded' if guards else 'amounts alone'}: jobs wait {np.mean(waits):,.0f} s on average")
    for name, slips in late.items():
        if count[name]:
            print(
                f"  promises {name}: {count[name]:,}, {len(slips) / count[name]:.1%} broken, "
                f"by {np.median(slips or [0]):,.0f} s in the median, {np.max(slips or [0]):,.0f} s at most"
            )


def main() -> None:
    """Print the share of promises that were broken, and by how much."""
    given = sys.argv[1:]
    n_jobs, load = int(given[0]) if given else 1000, float(given[1]) if len(given) > 1 else 0.95
    for guards in (False, True):
        _measure(guards, n_jobs, load, int(given[2]) if len(given) > 2 else 3)


if __name__ == "__main__":
    main()
