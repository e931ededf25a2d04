"""The network said a second time, for the slow twin: links, routes, servers, and rates by textbook progressive filling.

Links are named by tuples: ("green", group, chassis, from, to), ("black", group, router, from, to), ("blue", from, to),
("in", server), ("out", server), ("pfs",) or ("pfs", "read") and ("pfs", "write").
"""

import math


def buffer_of(platform):
    """The tier that jobs stage into; None if there is none."""
    tiers = (tier for kind in ("shared_bb", "node_local") for tier in platform.tiers if tier.kind == kind)
    return next(tiers, None)


class Dragonfly:
    """Slots, routers and routes of a dragonfly, counted one by one."""

    def __init__(self, topology):
        self.simgrid, self.by_name = topology.routing == "simgrid", topology.far_order == "name"
        slots = [
            (group, chassis, router, router * topology.ports + port < topology.storage)
            for group in range(topology.groups)
            for chassis in range(topology.chassis)
            for router in range(topology.routers)
            for port in range(topology.ports)
        ]
        self.nodes = [tuple(place) for *place, storage in slots if not storage]
        self.servers = [tuple(place) for *place, storage in slots if storage]
        self.server_slots = [slot for slot, (*_, storage) in enumerate(slots) if storage]

    def route(self, a, b):
        """The links from router `a` to router `b`, each a (group, chassis, router)."""
        (g, c, r), (G, C, R) = a, b
        links = []
        if a == b:
            return links
        if g != G:
            if r != G:
                links.append(("green", g, c, r, G))
            if c != 0:
                links.append(("black", g, G, c, 0))
            links.append(("blue", g, G))
            c, r = 0, g
        if r != R:
            links.append(("green", G, c, r, R))
            if self.simgrid:
                c = 0
        if c != C:
            links.append(("black", G, R, c, C))
        return links

    def near(self, place, n_servers):
        """Servers from the nearest on: own chassis, own group, all others, these by number or by name of their slot."""
        own, group, far = [], [], []
        for server in range(n_servers):
            if self.servers[server][:2] == place[:2]:
                own.append(server)
            elif self.servers[server][0] == place[0]:
                group.append(server)
            else:
                far.append(server)
        if self.by_name:
            far.sort(key=lambda server: str(self.server_slots[server]))
        return own + group + far


class Crossbar:
    """One place for everything: no route has a link."""

    def __init__(self, n_nodes):
        self.nodes, self.servers = [(0, 0, 0)] * n_nodes, []

    def route(self, _a, _b):
        """Nothing is crossed."""
        return []

    def near(self, _place, n_servers):
        """All are as near."""
        return list(range(n_servers))


class Network:
    """What a platform is made of: what a transfer crosses, and how much of it per byte."""

    def __init__(self, platform):
        topology = platform.topology
        kinds = [tier.kind for tier in platform.tiers]
        self.shape = Crossbar(platform.nodes) if topology.kind == "flat" else Dragonfly(topology)
        self.port = topology.bandwidth or math.inf
        # Of every green, black and blue link and of a server's port; a crossbar has neither.
        self.rate = topology.bandwidth if topology.kind != "flat" else None
        self.capacity = {}  # of every other link
        self.buffer = buffer_of(platform)
        self.shared = "shared_bb" in kinds
        self.local = (self.buffer.bandwidth or math.inf) if self.buffer and not self.shared else math.inf
        self.chunked = self.shared and self.buffer.placement == "chunked"
        self.n_servers = (self.buffer.servers or len(self.shape.servers) or 1) if self.shared else 0
        self.server_place = self.shape.servers[: self.n_servers] or [(0, 0, 0)] * self.n_servers
        self.server_size = self.buffer.capacity // self.n_servers if self.shared else 0
        if self.shared:
            share = self.buffer.bandwidth / self.n_servers if self.buffer.bandwidth else math.inf
            for server in range(self.n_servers):
                self.capacity["in", server] = self.capacity["out", server] = min(share, self.rate or math.inf)
        pfs = next((tier for tier in platform.tiers if tier.kind == "pfs"), None)
        self.pfs = {"read": None, "write": None}
        self.pfs_lane = (pfs.per_job if pfs else None) or math.inf
        self.buffer_lane = (self.buffer.per_job if self.shared else None) or math.inf
        self.through_ports = pfs is None or pfs.through_ports
        if pfs is not None and pfs.bandwidth:
            self.pfs = {"read": ("pfs",), "write": ("pfs",)}
            self.capacity["pfs",] = pfs.bandwidth
        elif pfs is not None and pfs.read:
            self.pfs = {way: ("pfs", way) for way in ("read", "write")}
            self.capacity["pfs", "read"], self.capacity["pfs", "write"] = pfs.read, pfs.write

    def limits(self, links):
        """Only the links that can run full."""
        return {link: load for link, load in links.items() if self.of(link) < math.inf}

    def of(self, link):
        """Capacity of a link."""
        return self.capacity.get(link, self.rate)

    def near(self, node):
        """The servers as a node looks for room."""
        return self.shape.near(self.shape.nodes[node], self.n_servers)

    def streams(self, kind, total, nodes, n, chunks):
        """One (bytes, cap, {link: load}) a stream of a phase that moves `total` bytes; with lanes, one in all.

        `nodes` are those that the job holds now, `n` the most that any leg of it holds, `chunks` the server of each of
        its n chunks where the buffer is chunked.
        """
        lane = self.lane(kind)
        if lane < math.inf:
            n, nodes = 1, nodes[:1]
        made = self.parts(kind, total, sorted(nodes) or [0] * n, n, chunks)
        return [(amount, min(cap, lane), links) for amount, cap, links in made]

    def lane(self, kind):
        """What a whole job gets at most in a phase of that kind."""
        if kind in ("read", "write"):
            return self.pfs_lane
        return self.buffer_lane if kind in ("checkpoint", "fetch") else min(self.pfs_lane, self.buffer_lane)

    def parts(self, kind, total, nodes, n, chunks):
        """The streams of `nodes`, or, where the file system meets the buffer, of `n` chunks; nobody has a lane."""
        if kind in ("stage_in", "stage_out", "drain"):
            way, port = ("read", "in") if kind == "stage_in" else ("write", "out")
            return [(total / n, *self.staging(way, port, self.servers_of(chunks, i))) for i in range(n)]
        if kind in ("read", "write"):
            links = {self.pfs[kind]: 1.0} if self.pfs[kind] else {}
            return [(total / len(nodes), self.port if self.through_ports else math.inf, links) for _ in nodes]
        made = []
        for i, node in enumerate(nodes):
            servers, links = self.servers_of(chunks, i), {}
            for server in servers:
                ends = self.shape.nodes[node], self.server_place[server]
                there, back = (
                    [*self.shape.route(*ends), ("in", server)],
                    [("out", server), *self.shape.route(*ends[::-1])],
                )
                for link in there if kind == "checkpoint" else back:
                    links[link] = links.get(link, 0.0) + 1 / len(servers)
            cap = self.port if self.shared else self.local
            made.append((total / len(nodes), cap, self.limits(links)))
        return made

    def servers_of(self, chunks, i):
        """The servers that hold what the i-th node of a job has in the buffer."""
        if self.chunked:
            return chunks[i : i + 1]
        return list(range(self.n_servers))

    def staging(self, way, port, servers):
        """Cap and links of a stream between file system and buffer."""
        links = {self.pfs[way]: 1.0} if self.pfs[way] else {}
        if self.shared:
            for server in servers if self.through_ports else ():
                links[port, server] = 1 / len(servers)
            return math.inf, self.limits(links)
        return min(self.local, self.port if self.through_ports else math.inf), links

    def talk(self, each, nodes, seconds):
        """The one (bytes, cap, {link: load}) of computing while every node sends `each` bytes to every other."""
        links = {}
        for a in nodes:
            for b in nodes:
                if a != b:
                    for link in self.shape.route(self.shape.nodes[a], self.shape.nodes[b]):
                        links[link] = links.get(link, 0.0) + each
        own = each * (len(nodes) - 1)
        most = max([own, *links.values()])
        cap = min(most / seconds if seconds > 0 else math.inf, self.port * most / own)
        return most, cap, {link: load / most for link, load in links.items()}


def fill(capacity, activities):
    """The rate of each (cap, {link: load}): all rise together, and stop at their cap or where a link is full.

    `capacity` is a function of the link.
    """
    crossing = {}
    for i, (_, links) in enumerate(activities):
        for link, load in links.items():
            crossing.setdefault(link, []).append((i, load))
    rates, rising = [0.0] * len(activities), set(range(len(activities)))
    while rising:
        full = {}  # link -> the level at which it is
        for link, users in crossing.items():
            wanted = sum(load for i, load in users if i in rising)
            if wanted > 0:
                taken = sum(load * rates[i] for i, load in users if i not in rising)
                full[link] = max(0.0, capacity(link) - taken) / wanted
        level = min([*full.values(), *(activities[i][0] for i in rising)])
        stops = {i for i in rising if activities[i][0] <= level}
        stops |= {i for link in full if full[link] <= level for i, _ in crossing[link] if i in rising}
        for i in stops:
            rates[i] = level
        rising -= stops
    return rates
