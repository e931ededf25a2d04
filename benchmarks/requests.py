"""What-ifs of requests against the truth: jobs of a trace resubmitted with another request, in the same world.

    python benchmarks/requests.py TRACE [POLICY [JOBS [FUTURES]]]

Each job had to wait. Its walltime is halved, or doubled, or its nodes are halved, in turn; it is predicted at its
submission both ways, without a look ahead, and the whole trace is simulated with the changed request. Counted is how
often the predicted change of its wait has the sign of the true one, where that is at least ten minutes.
"""

import sys
from dataclasses import replace

import numpy as np
import polars as pl

import forebay as fb
from forebay._predict._asking import ask, rng_of
from forebay._predict._futures import present
from forebay._predict._given import manner, world_of
from forebay._predict._scoring import moments_of
from forebay._predict._world import Learned

LEAST = 600.0
CHANGES = ("walltime / 2", "walltime * 2", "nodes / 2")


def request(world, j, change):  # type: ignore[no-untyped-def]
    """What the job asks for then, in columns of the job table."""
    row = world.workload.jobs.row(j, named=True)
    name, sign, by = change.split()
    factor = float(by) if sign == "*" else 1 / float(by)
    value = row[name] * factor
    return {name: max(int(value), 1) if name == "nodes" else value}


def truth(world, j, made):  # type: ignore[no-untyped-def]
    """When it starts in the same world: it runs as long as it did, as far as its walltime lets it."""
    w, site = world.workload, world.site
    here = pl.int_range(pl.len()) == j
    jobs = w.jobs.with_columns(
        pl.when(here).then(pl.lit(value)).otherwise(name).alias(name) for name, value in made.items()
    )
    result = fb.simulate(replace(w, jobs=jobs.select(w.jobs.columns)), site.platform, site.policy, progress=False)
    return float(result.jobs["starting_time"][j])


def main(trace: str, policy: str = "fcfs-easy", number: int = 500, futures: int = 30) -> None:
    """Print the share of right signs, by change and in all."""
    world = world_of(fb.read(trace), None, policy, manner({}, futures), None)
    last = float(world.submit[-1])
    learned, right = Learned(world, "survival"), {change: [] for change in CHANGES}
    for place, j in enumerate(moments_of(world, number, 0.1 * last, last, 3)):
        change = CHANGES[place % len(CHANGES)]
        time, job = float(world.submit[j]), np.array([world.workload.jobs["id"][int(j)]])
        made = request(world, int(j), change)
        now = present(learned, time)
        if made == {name: now.table.filter(pl.col("id") == job[0])[name][0] for name in made}:
            continue
        starts = [
            ask(one, learned, world.site, rng_of(0, int(j)), futures).starts(job)[0]
            for one in (now, now.with_request(int(job[0]), made))
        ]
        came = truth(world, int(j), made) - world.start[j]
        if abs(came) >= LEAST:
            said = float(np.mean(starts[1] - starts[0]))
            right[change].append(np.sign(said) == np.sign(came))
    every = [one for some in right.values() for one in some]
    for name, some in (*right.items(), ("all", every)):
        print(f"{name:14} {len(some):4} changes of ten minutes or more, right sign {100 * np.mean(some or [0]):5.1f} %")


if __name__ == "__main__":
    main(sys.argv[1], *sys.argv[2:3], *map(int, sys.argv[3:5]))
