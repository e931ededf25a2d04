"""How far promises slip on whole nodes of which a site reserves some: what `fcfs-easy` tells the first that waits.

Once as nodes that are whole, and once as nodes that could be shared, by jobs that have theirs alone.

    python benchmarks/slip_windows.py [JOBS [LOAD [SEEDS]]]

A quarter of 40 nodes is reserved for four hours, twelve times. A promise is worked out from the result alone: when a
job has all before it running or over, the first time from which enough nodes are free and not reserved until it would
end, if what runs takes as long as it may and nobody else starts. It is broken if the job starts later. A job that
reservations have left too few nodes since it came is told nothing until they do not.
"""

import sys

import numpy as np

import forebay as fb
from forebay.platforms import NodeClass, Reservation
from forebay.workload.workload import job_table

NODES, RESERVED, HOURS = 40, 10, 4.0


def workload(n_jobs: int, load: float, seed: int) -> fb.Workload:
    """Four of five jobs have up to 4 nodes, the others up to all; walltimes are up to three times the run times."""
    rng = np.random.default_rng(seed)
    nodes = np.where(rng.random(n_jobs) < 0.8, rng.integers(1, 5, n_jobs), rng.integers(5, NODES + 1, n_jobs))
    run_time = np.ceil(rng.lognormal(7.5, 1.2, n_jobs))
    walltime = np.ceil(run_time * rng.uniform(1, 3, n_jobs))
    gap = float((nodes * run_time).mean()) / (NODES * load)
    submit = np.floor(np.cumsum(rng.exponential(gap, n_jobs)))
    columns = {"id": np.arange(1, n_jobs + 1), "submit": submit - submit[0], "walltime": walltime}
    return fb.Workload("windows", job_table(columns | {"run_time": run_time, "nodes": nodes}))


def machine(span: float, sharing: bool) -> fb.Platform:
    """The last nodes are reserved now and then over so many seconds. Nodes that could be shared have a core each."""
    ids, starts = f"{NODES - RESERVED}-{NODES - 1}", [float(int((k + 0.5) * span / 12)) for k in range(12)]
    planned = [
        Reservation(name=f"m{k}", start=start, duration=3600 * HOURS, nodes=ids) for k, start in enumerate(starts)
    ]
    if sharing:
        one = NodeClass(name="one", nodes=NODES, cores=1)
        return fb.Platform(name="p", classes=(one,), sharing=True, reservations=tuple(planned))
    return fb.Platform(name="p", nodes=NODES, reservations=tuple(planned))


def promised(size: int, walltime: float, now: float, ends: np.ndarray, windows: np.ndarray) -> float:
    """When a job begins; `ends` has when each node is expected back, `windows` when reservations begin and end."""
    for time in np.unique(np.concatenate([[now], ends[ends > now], windows[windows > now]])):
        free = ends <= time
        if ((windows[:, 0] < time + walltime) & (time < windows[:, 1])).any():
            free[NODES - RESERVED :] = False
        if free.sum() >= size:
            return float(time)
    return float("inf")


def seen(size: int, walltime: float, submit: float, windows: np.ndarray) -> float:
    """When enough nodes for a job are first not reserved, idle or not."""
    for time in [submit, *windows[windows[:, 1] > submit, 1]]:
        if size <= NODES - RESERVED or not ((windows[:, 0] < time + walltime) & (time < windows[:, 1])).any():
            return float(time)
    return float("inf")


def slips(n_jobs: int, load: float, seed: int, sharing: bool) -> tuple[int, list[float]]:
    """How many were told a start, and by how much those who start later are late."""
    made = workload(n_jobs, load, seed)
    platform = machine(float(made.jobs["submit"].max()), sharing)
    jobs = fb.simulate(made, platform, "fcfs-easy", progress=False).jobs.sort("submission_time", "job_id")
    start, end, walltime, submit, size = (
        jobs[name].to_numpy()
        for name in (
            "starting_time", "finish_time", "requested_time", "submission_time", "requested_number_of_resources",
        )
    )  # fmt: skip
    held = [_ids(text) for text in jobs["allocated_resources"]]
    windows = np.array([(one.start, one.start + one.duration) for one in platform.reservations])
    told, late, turn = 0, list[float](), 0.0
    for k in range(n_jobs):
        turn = max(turn, float(submit[k]), float(start[k - 1]) if k else 0.0)
        asked = int(size[k]), float(walltime[k])
        now = max(turn, seen(*asked, float(submit[k]), windows))
        if start[k] < now:
            continue
        ends = np.zeros(NODES)
        for i in range(n_jobs):
            if end[i] > now and (start[i] < now or (start[i] == now and i < k)):
                ends[held[i]] = start[i] + walltime[i]
        told += 1
        if (slip := float(start[k]) - promised(*asked, now, ends, windows)) > 1e-3:
            late.append(slip)
    return told, late


def _ids(text: str) -> list[int]:
    pairs = [part.split("-") for part in text.split()]
    return [node for pair in pairs for node in range(int(pair[0]), int(pair[-1]) + 1)]


def main() -> None:
    """Print the share of promises that were broken, and by how much."""
    given = sys.argv[1:]
    n_jobs, load = int(given[0]) if given else 800, float(given[1]) if len(given) > 1 else 0.95
    for sharing in (False, True):
        told, late = 0, list[float]()
        for seed in range(int(given[2]) if len(given) > 2 else 10):
            some, mine = slips(n_jobs, load, seed, sharing)
            told, late = told + some, late + mine
        print(
            f"{'could be shared' if sharing else 'whole nodes'}: {told:,} promises, {len(late) / told:.1%} broken, "
            f"by {np.median(late or [0]):,.0f} s in the median, {np.max(late or [0]):,.0f} s at most"
        )


if __name__ == "__main__":
    main()
