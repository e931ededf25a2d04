"""How demands meet what is free: the rules of counting, of placing and of pinning, for the slow twin of a run.

Amounts are one long row of numbers: nodes, each pool, bytes on each server, then a 1 for each node by its id. Where
nodes are not all alike, the last of the counts are those of each run of nodes, or of the large ones of two kinds.
"""

import math
from typing import NamedTuple

from twins.park import Park
from twins.times import before


class Place(NamedTuple):
    """What a start takes."""

    row: list[int]
    nodes: list[int]
    servers: list[int]  # of the chunk of each node


class Space:
    """The machine."""

    def __init__(self, platform, network):
        self.network, self.kinds = network, platform.kinds
        self.names = list(platform.resources)
        self.n_nodes, self.R = platform.nodes, len(self.names)
        self.park = Park(platform)
        self.tier = self.names.index(network.buffer.name) if network.chunked else None
        self.S = network.n_servers if network.chunked else 0
        apart = (self.tier, *self.park.columns)
        self.pooled = [r for r in range(1, self.R) if r not in apart]  # resources that are mere amounts
        self.locals = [
            (self.names.index(tier.name), tier.capacity if self.kinds is None else self.kinds.large)
            for tier in platform.tiers
            if tier.kind == "node_local"
        ]
        self.empty = self.amounts(range(self.n_nodes), list(platform.capacities)[1:], [network.server_size] * self.S)

    def amounts(self, nodes, pools, servers):
        """Nodes, amounts of the other resources and bytes on servers, as one row."""
        counts = [len(nodes), *pools]
        for column, some in self.park.counts(nodes).items():
            counts[column] = some
        return [*self.counts(counts), *servers, *(int(node in nodes) for node in range(self.n_nodes))]

    def counts(self, amounts):
        """Amounts of each resource as they stand in a row: of a chunked tier its servers count, not their sum."""
        return [0 if r == self.tier else amount for r, amount in enumerate(amounts)]

    def chunk_size(self, job):
        """Bytes of each chunk that the current leg has to get."""
        return 0 if self.tier is None else -(-job.needs()[self.tier] // job.n)

    def needs(self, job, rows):
        """What a leg takes if `rows` are free while it runs: nodes of the first run that it can have, then the next.

        What is lacking in all, it lacks in the last.
        """
        needs, left = job.needs(), job.needs()[0]
        where = self.where(job)
        for a, column in enumerate(self.park.columns):
            last = not any(where[a + 1 :])
            some = max(0, min(self.park.free(row, a) for row in rows))
            some = 0 if not where[a] else left if last else min(some, left)
            left -= some
            if column is not None:
                needs[column] = some
        return needs

    def where(self, job):
        """By run of nodes, whether the current leg may have them: where they are large, if it needs such."""
        if self.kinds is None:
            return job.where
        needs, r = job.needs(), self.names.index(self.kinds.name)
        large = -(-needs[r] // max(needs[0], 1)) > self.kinds.capacity
        first = self.n_nodes - self.kinds.large_nodes
        return [may and (run[0] >= first or not large) for may, run in zip(job.where, self.park.runs, strict=True)]

    def row(self, job, needs, ids, servers):
        """What a leg takes with these nodes and the servers of its chunks."""
        size = self.chunk_size(job)
        return [
            *self.counts(needs),
            *(size * servers.count(server) for server in range(self.S)),
            *(int(node in ids) for node in range(self.n_nodes)),
        ]

    def possible(self, job):
        """Whether every leg of a job could run on an empty machine."""
        room = sum(len(run) for may, run in zip(job.where, self.park.runs, strict=True) if may)
        for leg in job.legs:
            if room == 0 or leg.demand[0] > room:
                return False
            if any(leg.demand[r] > self.empty[r] for r in range(self.R) if r != self.tier):
                return False
            if any(leg.demand[r] > job.n * most for r, most in self.locals):
                return False
            if self.tier is not None and leg.demand[self.tier]:
                size = -(-leg.demand[self.tier] // job.n)
                if self.S * (self.network.server_size // size) < job.n:
                    return False
        return True

    def free_ids(self, free):
        """The nodes that are free in a row."""
        return [node for node in range(self.n_nodes) if free[self.R + self.S + node]]

    def enough(self, row, free, last=None):
        """Whether there is as much of everything, up to column `last`."""
        return all(need <= have for need, have in zip(row[:last], free[:last], strict=True))

    def place(self, job, needs, ids_from, room_from):
        """(ids, servers of the chunks): the lowest free nodes, then the nearest servers with room; None if too few."""
        free, ids = self.free_ids(ids_from), []
        others = sum(needs[column] for column in self.park.columns if column is not None)
        for column, run in zip(self.park.columns, self.park.runs, strict=True):
            some = needs[0] - others if column is None else needs[column]
            ids += [node for node in free if node in run][:some]
        if len(ids) < needs[0]:
            return None
        servers, room, size = [], list(room_from[self.R : self.R + self.S]), self.chunk_size(job)
        seats = sorted([*job.nodes, *ids])
        for i in range(job.n if size else 0):
            order = self.network.near(seats[i] if i < len(seats) else 0)
            server = next((server for server in order if room[server] >= size), None)
            if server is None:
                return None
            room[server] -= size
            servers.append(server)
        return ids, servers

    def rested(self, job, plan, time, least):
        """The row whose nodes a pinned reservation picks from: those free already before `time`; None if too few."""
        idle = [min(pair) for pair in zip(least, plan.just_before(time), strict=True)]
        return idle if len(self.free_ids(idle)) >= job.needs()[0] else None

    def closed(self, row):
        """Of what a reservation takes, the nodes."""
        return [need if r >= self.R + self.S else 0 for r, need in enumerate(row)]

    def fullest_last(self, job, least):
        """Servers that a counted reservation charges: the one with the most room first; None if too few."""
        servers, room, size = [], least[self.R : self.R + self.S], self.chunk_size(job)
        for server in sorted(range(self.S), key=lambda server: (-room[server], server)) if size else ():
            servers += [server] * min(room[server] // size, job.n - len(servers))
        return servers if not size or len(servers) == job.n else None

    def start_now(self, job, free):
        """The Place of an in-order start, or None."""
        needs = self.needs(job, [free])
        placed = self.place(job, needs, free, free)
        if placed is None or not self.enough(row := self.row(job, needs, *placed), free):
            return None
        return Place(row, *placed)

    def start_beside(self, job, free, plan, pinned, everything):
        """The Place of a start beside the plan's reservations, or None."""
        least = plan.least(plan.now, job.walltime)
        counted = everything or self.park.divided
        needs = self.needs(job, plan.during(plan.now, job.walltime) if counted else [free])
        placed = self.place(job, needs, least if pinned else free, least if everything else free)
        if placed is None:
            return None
        row = self.row(job, needs, *placed)
        there = self.enough(row, free) and self.enough(*(self.reserved(some, everything) for some in (row, least)))
        return Place(row, *placed) if there else None

    def reserved(self, row, everything):
        """Of a row what a reservation counts: all but nodes by their ids; or nodes alone, and those set apart."""
        if everything:
            return row[: self.R + self.S]
        return [row[0], *(row[column] for column in self.park.columns if self.park.divided)]

    def reserve(self, job, plan, pinned, everything, times=None):
        """(time, row, closed) of a job's reservation: the first time at which it fits; infinity if there is none.

        `closed` is what who ends at that very time may not have either: the pinned nodes, if all are idle before.
        """
        for time in times or plan.candidates():
            now = self.counts(self.needs(job, [plan.at(time)]))
            if not self.enough(*(self.reserved(some, everything) for some in (now, plan.at(time)[: len(now)]))):
                continue  # the rest would find the same, ten times slower
            least = plan.least(time, job.walltime)
            room = least if everything else self.empty  # enough for every job that was not rejected
            needs = self.needs(job, plan.during(time, job.walltime))
            idle = self.rested(job, plan, time, least) if pinned else None
            if pinned:
                placed = self.place(job, needs, idle or least, room)
            else:
                servers = self.fullest_last(job, room)
                placed = None if servers is None else ([], servers)
            if placed is None:
                continue
            row = self.row(job, needs, *placed)
            if not everything:
                kept = (0, *self.park.columns) if self.park.divided else (0,)
                row = [need if r in kept or r >= self.R + self.S else 0 for r, need in enumerate(row)]
            if self.enough(row, least, self.R + self.S):
                return time, row, self.closed(row) if idle and before(plan.now, time) else None
        return math.inf, None, None
