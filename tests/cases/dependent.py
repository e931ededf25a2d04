"""Random workloads in which jobs wait for others, each the same for ever by its seed."""

import dataclasses
import random

from cases import pooled
from forebay.workload import dependency_table

KINDS = ("after", "afterany", "afterok", "afterok", "afternotok", "think")


def with_dependencies(workload, seed, kinds=KINDS, share=0.6):
    """Up to three parents for some of the jobs: in a random order of all, so that a parent may come after its child."""
    rng = random.Random(f"dependencies {seed}")
    ids = workload.jobs["id"].to_list()
    if rng.random() < 0.5:
        rng.shuffle(ids)
    rows = []
    for place, job in enumerate(ids):
        if not place or rng.random() > share:
            continue
        either, delays = rng.random() < 0.25, rng.choice([(0,), (0, 0, 1, 5), (0.1, 0.2, 3)])
        for parent in rng.sample(ids[:place], min(place, rng.randint(1, 3))):
            rows.append((job, parent, rng.choice(kinds), float(rng.choice(delays)), either))
    if not rows:
        rows = [(ids[-1], ids[0], "afterany", 0.0, False)]
    columns = zip(*rows, strict=True)
    table = dependency_table(dict(zip(("job", "parent", "kind", "delay", "any"), columns, strict=True)))
    return dataclasses.replace(workload, dependencies=table)


def make(seed):
    """A workload with dependencies and jobs that are withdrawn, and its machine."""
    workload, platform = pooled.make(seed)
    if seed % 3 == 0:
        workload = pooled.with_cancels(workload, seed)
    return with_dependencies(workload, seed), platform
