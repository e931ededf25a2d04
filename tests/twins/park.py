"""Nodes that are not all alike, for slow twins: node by node, what it has and where it belongs."""

import math


class Park:
    """The nodes of a machine in runs that are the same to every job, in order, and the resource that counts each."""

    def __init__(self, platform):
        classes = [one for one in platform.classes for _ in range(one.nodes)] or [None] * platform.nodes
        small = math.inf if platform.kinds is None else platform.nodes - platform.kinds.large_nodes
        self.has = [
            (classes[k], self.partitions(platform, k, classes[k]), k >= small, self.reserved(platform, k))
            for k in range(platform.nodes)
        ]
        self.runs = []
        for k, what in enumerate(self.has):
            if k == 0 or what != self.has[k - 1]:
                self.runs.append([])
            self.runs[-1].append(k)
        some = len({what[3] for what in self.has}) > 1
        self.divided = bool(platform.classes or platform.partitions or some) and len(self.runs) > 1
        R = len(platform.resources)
        if self.divided:
            self.columns = list(range(R - len(self.runs), R))
        else:
            self.columns = [None, R - 1] if len(self.runs) > 1 else [None]
        self.platform = platform

    @staticmethod
    def partitions(platform, node, cls):
        """Names of the partitions that a node is in."""
        found = set()
        for one in platform.partitions:
            ranges = [part.split("-") for part in one.nodes.split(",") if part and part != "all"]
            inside = any(int(ends[0]) <= node <= int(ends[-1]) for ends in ranges) or one.nodes == "all"
            if inside or (cls is not None and cls.name in one.classes):
                found.add(one.name)
        return found

    @staticmethod
    def reserved(platform, node):
        """Names of the reservations that a node is in, which name nodes by their ids or all."""
        ends = {one.name: [part.split("-") for part in one.nodes.split(",") if part] for one in platform.reservations}
        return frozenset(
            name for name, some in ends.items() if not some or any(int(e[0]) <= node <= int(e[-1]) for e in some)
        )

    def may_have(self, node, row, names):
        """Whether a job may run on a node, by its row of the job table and what its numbers are called."""
        cls, partitions, *_ = self.has[node]
        if self.platform.partitions:
            queue = names.get("queue", {}).get(row["queue"])
            default = [one.name for one in self.platform.partitions if one.default]
            if not partitions & set(queue.split(",") if queue else default):
                return False
        if cls is None:
            return True
        n = max(row["nodes"], 1)
        wanted = names.get("features", {}).get(row.get("features", -1))
        if wanted and not set(wanted.split("&")) <= {cls.name, *cls.features}:
            return False
        memory, gpus = (-(-(row.get(name) or 0) // n) for name in ("memory", "gpus"))
        return (cls.memory is None or memory <= cls.memory) and gpus <= cls.gpus

    def counts(self, nodes):
        """How many of some nodes each column counts."""
        return {
            c: sum(k in nodes for k in run) for c, run in zip(self.columns, self.runs, strict=True) if c is not None
        }

    def free(self, row, a):
        """How many nodes of a run are free in a row of counts."""
        if self.columns[a] is not None:
            return row[self.columns[a]]
        return row[0] - sum(row[c] for c in self.columns if c is not None)
