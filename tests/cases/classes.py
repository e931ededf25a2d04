"""Small random machines with classes and partitions, and jobs for them, each the same for ever by its seed."""

import random

from forebay.platforms import NodeClass, Partition, Platform
from forebay.workload.workload import Workload, job_table
from twins.classes import Inside, Job, Node, Whole

GB = 10**9
PLACEMENTS = ("best-fit", "lowest", "worst-fit")


def _classes(rng):
    found = []
    for k in range(rng.randint(1, 3)):
        gpus = rng.choice([0, 0, 2, 4])
        found.append(
            NodeClass(
                name=f"c{k}",
                nodes=rng.randint(1, 4),
                cores=rng.choice([2, 4, 8]),
                memory=rng.choice([8, 16, 32]) * GB,
                gpus=gpus,
                gpu=rng.choice(["a", "b"]) if gpus else "",
                features=tuple(rng.sample(["x", "y"], rng.randint(0, 2))),
            )
        )
    return found


def _partitions(rng, classes):
    total = sum(one.nodes for one in classes)
    found = [Partition(name="p0", nodes="all", default=True)] if rng.random() < 0.5 else []
    while len(found) < rng.randint(1, 3):
        name = f"p{len(found)}"
        if rng.random() < 0.5:
            some = rng.sample([one.name for one in classes], rng.randint(1, len(classes)))
            found.append(Partition(name=name, classes=tuple(some), default=not found))
        else:
            first = rng.randrange(total)
            found.append(Partition(name=name, nodes=f"{first}-{rng.randrange(first, total)}", default=not found))
    return found


def _atoms(classes, ids):
    """Nodes one by one: those of one class and in the same partitions, side by side, are one atom."""
    nodes, before, atom = [], None, -1
    for one in classes:
        for _ in range(one.nodes):
            here = one.name, frozenset(name for name, mine in ids.items() if len(nodes) in mine)
            atom += here != before
            before = here
            nodes.append((Node(atom, one.name, (one.cores, one.memory, one.gpus)), here[1]))
    return nodes


def _ids(partition, classes):
    if partition.nodes == "all":
        return set(range(sum(one.nodes for one in classes)))
    if partition.nodes:
        first, _, last = partition.nodes.partition("-")
        return set(range(int(first), int(last or first) + 1))
    first, mine = 0, set()
    for one in classes:
        mine |= set(range(first, first + one.nodes)) if one.name in partition.classes else set()
        first += one.nodes
    return mine


def _row(rng, number, classes, partitions, sharing):
    """What a job's user writes."""
    shape = rng.choice(["nodes", "nodes", "tasks"]) if sharing else "nodes"
    count = rng.randint(1, 3)
    each = rng.randint(1, 4), rng.choice([0, 0, 1, 4, 8]) * GB, rng.choice([0, 0, 0, 1, 2])
    exclusive = int(rng.random() < 0.2)
    return {
        "id": number,
        "submit": float(rng.randint(0, 40)),
        "walltime": (walltime := float(rng.randint(2, 30))),
        "run_time": min(walltime, float(rng.randint(1, 30))),
        "nodes": count if shape == "nodes" else 0,
        "tasks": count if shape == "tasks" else 0,
        "cores": each[0] * count,
        "memory": each[1] * count,
        "gpus": each[2] * count,
        "exclusive": exclusive,
        "gpu": rng.choice([-1, -1, 0, 1]) if each[2] else -1,
        "features": rng.choice([-1, -1, -1, 0, 1]),
        "queue": rng.randrange(len(partitions)) if rng.random() < 0.7 else len(partitions),
    }


def make(seed):
    """A workload, its platform, and the twin's machine and jobs. Who fits nowhere is left out."""
    rng = random.Random(f"site {seed}")
    classes, sharing, placement = _classes(rng), rng.random() < 0.7, rng.choice(PLACEMENTS)
    partitions = _partitions(rng, classes)
    ids = {one.name: _ids(one, classes) for one in partitions}
    nodes = _atoms(classes, ids)
    both = ",".join(rng.sample(sorted(ids), min(2, len(ids))))
    queues = {k: one.name for k, one in enumerate(partitions)} | {len(partitions): both}
    by_name = {one.name: one for one in classes}
    machine = Inside([node for node, _ in nodes], placement) if sharing else Whole([node for node, _ in nodes])
    rows, jobs = [], []
    for number in range(1, rng.randint(4, 25)):
        row = _row(rng, number, classes, partitions, sharing)
        wanted = set(queues[row["queue"]].split(","))
        parts = row["nodes"] or row["tasks"]
        part = tuple(row[name] // parts for name in ("cores", "memory", "gpus"))
        allowed = {
            node.atom
            for node, mine in nodes
            if mine & wanted
            and all(want <= have for want, have in zip(part, node.has, strict=True))
            and (row["gpu"] < 0 or by_name[node.cls].gpu == "ab"[row["gpu"]])
            and (row["features"] < 0 or "xy"[row["features"]] in by_name[node.cls].features)
        }
        alone = bool(row["exclusive"]) or not sharing
        job = Job(
            number, row["submit"], row["walltime"], row["run_time"], parts, row["nodes"] > 0, alone, part, allowed
        )
        job.within = {n for n, (_, mine) in enumerate(nodes) if mine & wanted}
        if allowed and machine.place(machine.all_free(), job) is not None:
            rows.append(row)
            jobs.append(job)
    rows.sort(key=lambda row: (row["submit"], row["id"]))
    platform = Platform(
        name="site",
        nodes=sum(one.nodes for one in classes),
        classes=tuple(classes),
        partitions=tuple(partitions),
        sharing=sharing,
        placement=placement,
    )
    if not rows:
        return None
    frame = job_table({key: [row[key] for row in rows] for key in rows[0]})
    names = {"queue": queues, "gpu": {0: "a", 1: "b"}, "features": {0: "x", 1: "y"}}
    return Workload("site", frame, names=names), platform, machine, jobs
