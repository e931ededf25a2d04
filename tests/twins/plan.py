"""What will be free when, for the slow twin of runs with I/O: node by node and server by server.

Amounts are one long row of numbers: nodes, each pool, bytes on each server, then a 1 for each node by its id.
"""

import math

import numpy as np

from twins.times import before


class Plan:
    """What is free now, what comes back when, and what is taken from when until when."""

    def __init__(self, now, free):
        self.now, self.free = now, np.array(free)
        self.returns = []  # (time, amounts)
        self.taken = []  # (from, until, amounts)
        self.closed = []  # (time, amounts): out of reach for who ends at that very time
        self.known = {}  # time -> what is free then, as long as nothing changes

    def take(self, amounts, start, duration, closed=None):
        """Take `amounts` away over [start, start + duration); those `closed`, from who ends at `start` as well."""
        self.known = {}
        if closed is not None:
            self.closed.append((start, np.array(closed)))
        if start < math.inf:
            self.taken.append((start, start + duration, np.array(amounts)))

    def at(self, time):
        """What is free at `time`, added up."""
        if time not in self.known:
            left = self.free.copy()
            for back, amounts in self.returns:
                if not before(time, back):
                    left += amounts
            for start, until, amounts in self.taken:
                if not before(time, start) and before(time, until):
                    left -= amounts
            self.known[time] = left
        return self.known[time]

    def changes(self):
        """Every time at which something comes back, is taken or ends."""
        return [time for time, _ in self.returns] + [time for *both, _ in self.taken for time in both]

    def least(self, start, duration):
        """The least that is free of everything at any time of [start, start + duration)."""
        end = start + duration
        inside = {time for time in self.changes() if before(start, time) and before(time, end)}
        least = np.min([self.at(time) for time in (start, *inside)], axis=0)
        for time, amounts in self.closed:
            if not before(time, end) and not before(end, time):
                least = np.where(amounts > 0, 0, least)
        return least.tolist()

    def just_before(self, time):
        """What is free in the stretch of time that ends at `time`; for now, what is free now."""
        earlier = [point for point in (self.now, *self.changes()) if before(point, time)]
        return self.at(max(earlier, default=time)).tolist()

    def candidates(self):
        """When a job could start that cannot now: when something comes back. And now."""
        times = [time for time, _ in self.returns] + [until for _, until, _ in self.taken]
        return sorted({self.now, *(time for time in times if self.now < time < math.inf)})


class Space:
    """How demands meet what is free: the rules of counting, of placing and of pinning."""

    def __init__(self, platform, network):
        self.network = network
        self.names = list(platform.resources)
        self.n_nodes, self.R = platform.nodes, len(self.names)
        self.tier = self.names.index(network.buffer.name) if network.chunked else None
        self.S = network.n_servers if network.chunked else 0
        self.empty = [*platform.capacities, *[network.server_size] * self.S, *[1] * self.n_nodes]
        self.locals = [(self.names.index(t.name), t.capacity) for t in platform.tiers if t.kind == "node_local"]
        if self.tier is not None:
            self.empty[self.tier] = 0  # its servers count, not their sum

    def row(self, job, ids, servers):
        """What a leg takes with these nodes and the servers of its chunks."""
        needs = job.needs()
        if self.tier is not None:
            needs[self.tier] = 0
        size = job.chunk_size(self.tier)
        return [
            *needs,
            *(size * servers.count(server) for server in range(self.S)),
            *(int(node in ids) for node in range(self.n_nodes)),
        ]

    def possible(self, job):
        """Whether every leg of a job could run on an empty machine."""
        for leg in job.legs:
            if any(need > have for r, (need, have) in enumerate(self.each(leg.demand)) if r != self.tier):
                return False
            if any(leg.demand[r] > job.n * most for r, most in self.locals):
                return False
            if self.tier is not None and leg.demand[self.tier]:
                size = -(-leg.demand[self.tier] // job.n)
                if self.S * (self.network.server_size // size) < job.n:
                    return False
        return True

    def each(self, demand):
        """Pairs of demand and capacity."""
        return list(zip(demand, self.empty[: self.R], strict=True))

    def free_ids(self, free):
        """The nodes that are free in a row."""
        return [node for node in range(self.n_nodes) if free[self.R + self.S + node]]

    def enough(self, row, free, last=None):
        """Whether there is as much of everything, up to column `last`."""
        return all(need <= have for need, have in zip(row[:last], free[:last], strict=True))

    def place(self, job, ids_from, room_from):
        """(ids, servers of the chunks): the lowest free nodes, then the nearest servers with room; None if too few."""
        ids = self.free_ids(ids_from)[: job.needs()[0]]
        if len(ids) < job.needs()[0]:
            return None
        servers, room = [], room_from[self.R : self.R + self.S]
        size = job.chunk_size(self.tier)
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
        servers, room = [], least[self.R : self.R + self.S]
        size = job.chunk_size(self.tier)
        for server in sorted(range(self.S), key=lambda server: (-room[server], server)) if size else ():
            servers += [server] * min(room[server] // size, job.n - len(servers))
        return servers if not size or len(servers) == job.n else None

    def start_now(self, job, free):
        """What an in-order start takes: (row, ids, servers), or None."""
        placed = self.place(job, free, free)
        if placed is None or not self.enough(self.row(job, *placed), free):
            return None
        return self.row(job, *placed), *placed

    def start_beside(self, job, free, plan, pinned, everything):
        """What a start beside the plan's reservations takes: (row, ids, servers), or None."""
        least = plan.least(plan.now, job.legs[job.leg].walltime)
        placed = self.place(job, least if pinned else free, least if everything else free)
        if placed is None:
            return None
        row = self.row(job, *placed)
        last = self.R + self.S if everything else 1
        if not self.enough(row, free) or not self.enough(row, least, last):
            return None
        return row, *placed

    def reserve(self, job, plan, pinned, everything):
        """(time, row, closed) of a job's reservation: the first time at which it fits; infinity if there is none.

        `closed` is what who ends at that very time may not have either: the pinned nodes, if all are idle before.
        """
        for time in plan.candidates():
            least = plan.least(time, job.legs[job.leg].walltime)
            room = least if everything else self.empty  # enough for every job that was not rejected
            idle = self.rested(job, plan, time, least) if pinned else None
            if pinned:
                placed = self.place(job, idle or least, room)
            else:
                servers = self.fullest_last(job, room)
                placed = None if servers is None else ([], servers)
            if placed is None:
                continue
            row = self.row(job, *placed)
            if not everything:
                row = [need if r == 0 or r >= self.R + self.S else 0 for r, need in enumerate(row)]
            if self.enough(row, least, self.R + self.S):
                return time, row, self.closed(row) if idle and before(plan.now, time) else None
        return math.inf, None, None
