"""How far promises slip on shared nodes: conservative backfilling in plain Python that keeps what it promised.

    python benchmarks/slip.py [JOBS [LOAD [SEEDS [HOURS]]]]

A promise is the start reserved for a job when it comes. It is broken if the job starts later than that. Once with
reservations that count total cores and memory, while starts need room on particular nodes; and once with reservations
of particular nodes, as `conservative` has them. With HOURS a quarter of the nodes is kept empty for that many hours in
every 18.
"""

import sys

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


class Amounts(fb.Policy):
    """Conservative backfilling by amounts, with the first promise to each job."""

    def __init__(self, windows: list[Window]) -> None:
        self.promised, self.windows = dict[int, float](), windows

    def decide(self, view, act):  # type: ignore[no-untyped-def]
        """Start the jobs that the plan starts now; reserve for all others in line."""
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
        machine = Machine(view, self.windows)
        for job in view.queue.tolist():
            demand, walltime = view.demand(job), view.walltime(job)
            nodes = machine.place(machine.room, job, view.now)
            at = self._earliest(times, free, demand, walltime, 0 if nodes else 1)
            if at == 0:
                act.start(job, nodes=nodes)
                machine.take(job, nodes)
            self.promised.setdefault(int(view.jobs["id"][job]), times[at])
            _take(times, free, times[at], times[at] + walltime, demand)

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


def _take(times, free, begin, end, taken):  # type: ignore[no-untyped-def]
    """Take amounts away between two times, of which the first is one of `times`."""
    at, last = int(np.searchsorted(times, begin)), int(np.searchsorted(times, end))
    if last == len(times) or times[last] > end:
        times.insert(last, end)
        free.insert(last, free[last - 1].copy())
    for i in range(at, last):
        free[i] = free[i] - taken


class Nodes(fb.Policy):
    """The same by particular nodes. A job that was seen once keeps its place in line."""

    def __init__(self, windows: list[Window]) -> None:
        self.promised, self.windows, self.known = dict[int, float](), windows, dict[int, None]()

    def decide(self, view, act):  # type: ignore[no-untyped-def]
        """Start the jobs that the plan starts now; reserve for all others in line."""
        machine, seen = Machine(view, self.windows), set(view.queue.tolist())
        times, free = [view.now], [machine.room.copy()]
        for end, nodes, each in machine.ends:
            if end > times[-1]:
                times.append(end)
                free.append(free[-1].copy())
            free[-1][nodes] += each
        for edge in sorted(edge for window in self.windows for edge in window if edge > view.now):
            at = int(np.searchsorted(times, edge))
            if at == len(times) or times[at] > edge:
                times.insert(at, edge)
                free.insert(at, free[at - 1].copy())
        self.known.update(dict.fromkeys(sorted(seen)))
        for job in list(self.known):
            begin, nodes = self._earliest(machine, times, free, job)
            if begin == view.now and job in seen:
                act.start(job, nodes=nodes)
                del self.known[job]
            self.promised.setdefault(int(view.jobs["id"][job]), begin)
            taken = np.zeros_like(machine.room)
            taken[nodes] = machine.each(job)
            _take(times, free, begin, begin + view.walltime(job), taken)

    @staticmethod
    def _earliest(machine, times, free, job):  # type: ignore[no-untyped-def]
        for at, begin in enumerate(times):
            last = int(np.searchsorted(times, begin + machine.view.walltime(job)))
            nodes = machine.place(np.min(free[at : max(last, at + 1)], axis=0), job, begin)
            if nodes:
                return begin, nodes
        raise AssertionError(job)


def _machine(windows: list[Window]) -> fb.Platform:
    last = f"{NODES - RESERVED}-{NODES - 1}"
    planned = [Reservation(name=f"r{start:.0f}", start=start, end=stop, nodes=last) for start, stop in windows]
    return sharing.machine(NODES).model_copy(update={"reservations": tuple(planned)})


def _measure(policy_of: type[Amounts] | type[Nodes], n_jobs: int, load: float, seeds: int, hours: float) -> None:
    windows = [(3600.0 * (12 + 18 * k), 3600.0 * (12 + 18 * k + hours)) for k in range(20 if hours else 0)]
    waits, slips = list[float](), list[float]()
    for seed in range(seeds):
        policy = policy_of(windows)
        jobs = sharing.workload(n_jobs, NODES, load, seed)
        result = fb.simulate(jobs, _machine(windows), policy, progress=False)
        ran = result.jobs.filter(result.jobs["starting_time"].is_not_null())
        waits += ran["waiting_time"].to_list()
        slips += [start - policy.promised[job] for job, start in ran.select("job_id", "starting_time").iter_rows()]
    late = [slip for slip in slips if slip > 1e-3]
    print(
        f"{policy_of.__name__.lower()}: jobs wait {np.mean(waits):,.0f} s on average; of {len(slips):,} promises "
        f"{len(late) / len(slips):.1%} broken, by {np.median(late or [0]):,.0f} s in the median, "
        f"{np.max(late or [0]):,.0f} s at most"
    )


def main() -> None:
    """Print the share of promises that were broken, and by how much."""
    given = sys.argv[1:]
    n_jobs, load = int(given[0]) if given else 1000, float(given[1]) if len(given) > 1 else 0.95
    seeds, hours = int(given[2]) if len(given) > 2 else 3, float(given[3]) if len(given) > 3 else 0.0
    for policy_of in (Amounts, Nodes):
        _measure(policy_of, n_jobs, load, seeds, hours)


if __name__ == "__main__":
    main()
