"""How far promises slip on shared nodes: conservative backfilling in plain Python that keeps what it promised.

    python benchmarks/slip.py [JOBS [LOAD [SEEDS [HOURS]]]]

Reservations count cores and memory in all; who starts has room on particular nodes. A promise is the start that a job
is told when it comes. It is broken if the job starts later than that. Once without more, and once with the first job
that waits guarded, as `conservative` does: nobody starts who delays it on the nodes that it will have. It is promised
that start too, when it comes to be the first. With HOURS a quarter of the nodes is reserved in every 18 hours for so
many, for nobody.
"""

import sys
from collections.abc import Callable

import numpy as np
import sharing

import forebay as fb
from forebay.platforms import Reservation

NODES, RESERVED = 40, 10
Window = tuple[float, float]


class Machine:
    """What is free in nodes now, who gives what back when, and when the last nodes are reserved."""

    def __init__(self, view, windows: list[Window]):  # type: ignore[no-untyped-def]
        self.view, self.room, self.windows = view, view.inside[:, :2].astype(float), windows
        rows = view.running.tolist()
        self.ends = [(max(end, view.now + 1e-6), view.nodes_of(job), self.each(job, leg)) for end, job, leg in rows]

    def each(self, job: int, leg: int | None = None) -> np.ndarray:
        """Cores and memory of a part of a job."""
        total = self.view.demand(job) if leg is None else self.view.releases[leg]
        return np.asarray(total[:2] / self.view.jobs["nodes"][job], float)

    def open(self, job: int, time: float) -> int:
        """How many nodes, from the first on, are not kept from a job that starts then."""
        end = time + self.view.walltime(job)
        return NODES - RESERVED * any(end > start and time < stop for start, stop in self.windows)

    def place(self, room: np.ndarray, job: int, time: float) -> list[int]:
        """The nodes for a part each, fewest free cores first; none if not all find room."""
        found = np.flatnonzero((room[: self.open(job, time)] >= self.each(job)).all(axis=1))
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
        opens = [(stop, list[int](), np.zeros(2)) for _, stop in machine.windows if stop > self.shadow]
        for end, nodes, each in sorted(machine.ends + opens, key=lambda row: row[0]):
            if end > self.shadow and machine.place(self.spare, job, self.shadow):
                break
            self.shadow = end
            self.spare[nodes] += each
        self.spare[machine.place(self.spare, job, self.shadow)] -= machine.each(job)

    def outlasts(self, job: int) -> bool:
        """Whether a job that starts now does not end by the shadow."""
        return bool(self.machine.view.now + self.machine.view.walltime(job) > self.shadow)


class Promises(fb.Policy):
    """Conservative backfilling, with the first promise to each job."""

    def __init__(self, guards: bool, windows: list[Window]) -> None:
        self.guards, self.promised, self.told_first = guards, dict[int, float](), dict[int, float]()
        self.windows = windows

    def decide(self, view, act):  # type: ignore[no-untyped-def]
        """Start whom the plan lets start now; lay all others in line."""
        times, free = [view.now], [view.free.astype(float)]
        for row in view.running:
            end = max(float(row["end"]), view.now + 1e-6)
            if end > times[-1]:
                times.append(end)
                free.append(free[-1].copy())
            free[-1] += view.releases[row["leg"]]
        for start, stop in self.windows:
            if start > view.now:  # those that last are out of sight of who would be in their way
                self._close(times, free, start, stop)
        machine, guard = Machine(view, self.windows), None
        for job in view.queue.tolist():
            demand, walltime, beside = view.demand(job), view.walltime(job), guard is not None and guard.outlasts(job)
            nodes = machine.place(np.minimum(machine.room, guard.spare) if beside else machine.room, job, view.now)
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
    def _close(times, free, start, stop):  # type: ignore[no-untyped-def]
        for edge in (start, stop):
            at = int(np.searchsorted(times, edge))
            if at == len(times) or times[at] > edge:
                times.insert(at, edge)
                free.insert(at, free[at - 1].copy())
        full = RESERVED * np.array([sharing.CORES, sharing.MEMORY])
        for i, time in enumerate(times):
            if start <= time < stop:
                free[i] = np.maximum(free[i] - full, 0)

    @staticmethod
    def _earliest(times, free, demand, walltime, first):  # type: ignore[no-untyped-def]
        for at in range(first, len(times)):
            end, i = times[at] + walltime, at
            while i < len(times) and times[i] < end and (free[i] >= demand).all():
                i += 1
            if i == len(times) or times[i] >= end:
                return at
        return len(times) - 1


def _machine(windows: list[Window]) -> fb.Platform:
    last = f"{NODES - RESERVED}-{NODES - 1}"
    planned = [Reservation(name=f"r{start:.0f}", start=start, end=stop, nodes=last) for start, stop in windows]
    return sharing.machine(NODES).model_copy(update={"reservations": tuple(planned)})


def _measure(guards: bool, n_jobs: int, load: float, seeds: int, hours: float) -> None:
    windows = [(3600.0 * (12 + 18 * k), 3600.0 * (12 + 18 * k + hours)) for k in range(20 if hours else 0)]
    waits: list[float] = []
    told: dict[str, Callable[[Promises], dict[int, float]]] = {
        "when a job comes": lambda policy: policy.promised,
        "when it is the first": lambda policy: policy.told_first,
    }
    late, count = {name: list[float]() for name in told}, dict.fromkeys(told, 0)
    for seed in range(seeds):
        policy = Promises(guards, windows)
        jobs = sharing.workload(n_jobs, NODES, load, seed)
        result = fb.simulate(jobs, _machine(windows), policy, progress=False)
        ran = result.jobs.filter(result.jobs["starting_time"].is_not_null())
        starts = dict(ran.select("job_id", "starting_time").iter_rows())
        waits += ran["waiting_time"].to_list()
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
    seeds, hours = int(given[2]) if len(given) > 2 else 3, float(given[3]) if len(given) > 3 else 0.0
    for guards in (False, True):
        _measure(guards, n_jobs, load, seeds, hours)


if __name__ == "__main__":
    main()
