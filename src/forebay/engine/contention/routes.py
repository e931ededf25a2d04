"""Which route each kind of phase takes on a machine, worked out before a run."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from forebay.engine.contention.tables import Loads, Network, make_network
from forebay.platforms.fabric import Fabric
from forebay.platforms.wires import Wire

READ, WRITE, STAGE_IN, STAGE_OUT, CHECKPOINT = range(5)
"""Rows of `Paths.routes`; from CHECKPOINT on one row a site, and behind them as many for fetching."""

FILES, STAGING, INSIDE = range(3)
"""Rows of `Paths.whole`: between file system and nodes, file system and store, store and nodes."""


class Paths(NamedTuple):
    """Routes by phase, and links between sites."""

    port: np.ndarray  # float64[2]: bandwidth of a node's own port, and the latency between two nodes
    column: np.ndarray  # int64[way]: where in `routes` the store of a way to run begins; the buffer of all others at 0
    routes: np.ndarray  # int64[4 + 2 * site, place]: a column for each server of a chunked store, one for others
    whole: np.ndarray  # bool[3, place]: whether a job is one stream, however many nodes it has
    first: np.ndarray  # int64: links from site a to b are links[first[a * n_sites + b]:first[a * n_sites + b + 1]]
    links: np.ndarray  # int64
    device: np.ndarray  # int64[1]: first link of nodes' own devices, two a node: all that it does, and the slower way;
    # -1 = devices are not shared
    by_site: np.ndarray  # int64[2, site] scratch: a job's nodes
    by_server: np.ndarray  # int64[server] scratch: a job's streams
    by_link: np.ndarray  # float64[link] scratch: load
    touched: np.ndarray  # int64[link] scratch


def no_paths() -> Paths:
    """For runs in which nothing is moved."""
    none = np.zeros(0, np.int64)
    return Paths(
        port=np.array([np.inf, 0.0]),
        column=none,
        routes=np.zeros((0, 0), np.int64),
        whole=np.zeros((3, 0), np.bool_),
        first=np.zeros(2, np.int64),
        links=none.copy(),
        device=np.full(1, -1, np.int64),
        by_site=np.zeros((2, 1), np.int64),
        by_server=none.copy(),
        by_link=np.zeros(0),
        touched=none.copy(),
    )


class _Routes:
    """Routes known before the run; those over the same links under the same cap are one."""

    def __init__(self, fabric: Fabric) -> None:
        self.made: dict[tuple[float, float, tuple[tuple[int, float], ...]], int] = {}
        self.index = {name: k for k, name in enumerate(fabric.names)}

    def add(self, wire: Wire) -> int:
        links = tuple(sorted((self.index[name], load) for name, load in wire.links.items()))
        return self.made.setdefault((wire.delay, wire.cap, links), len(self.made))

    def list(self) -> tuple[list[tuple[float, Loads]], list[float]]:
        """Each with its cap and links, and their delays."""
        return [(cap, dict(loads)) for _, cap, loads in self.made], [delay for delay, *_ in self.made]


def make_paths(
    fabric: Fabric,
    n_transfers: int,
    communicate: bool,
    share_devices: bool = False,
    pauses: bool = False,
    steered: bool = False,
) -> tuple[Paths, Network]:
    """The routes of a machine and its idle network. Nodes that `communicate` need routes made on the way, too.

    So do transfers of one job that `share_devices` of its nodes: all reads at once have their bandwidth, all writes
    theirs, and both together the larger of these. Phases with `pauses` take some time whatever they move.
    Where transfers are `steered`, any may take a route of its own; behind all other links is one without end.
    """
    column, routes, whole, (made, delays) = _routes(fabric)
    capacity, n_links = fabric.capacity.tolist(), len(fabric.capacity)
    spare_routes, spare_entries = _spare(fabric) if communicate else (0, 0)
    if share_devices:
        store = fabric.stores[0]
        ways = (store.checkpoint[0][0].cap, store.fetch[0][0].cap)
        capacity += [max(ways), min(ways)] * len(fabric.site)
        spare_routes, spare_entries = spare_routes + n_transfers, spare_entries + 2 * n_transfers
    if steered:
        longest, capacity = max((len(loads) for _, loads in made), default=0), [*capacity, np.inf]
        own = n_transfers + 1  # one more: a transfer joins its next route before it leaves the last
        spare_routes, spare_entries = spare_routes + own, spare_entries + own * max(longest, 1)
    network = make_network(capacity, made, n_transfers, spare_routes, spare_entries, delays, pauses, steered)
    paths = Paths(
        port=np.array([fabric.port, fabric.latency]),
        column=column,
        routes=routes,
        whole=whole,
        first=np.ascontiguousarray(fabric.first, np.int64),
        links=np.ascontiguousarray(fabric.links, np.int64),
        device=np.full(1, n_links if share_devices else -1, np.int64),
        by_site=np.zeros((2, fabric.n_sites), np.int64),
        by_server=np.zeros(routes.shape[1], np.int64),
        by_link=np.zeros(n_links),
        touched=np.zeros(n_links, np.int64),
    )
    return paths, network


@lru_cache(maxsize=16)
def _routes(
    fabric: Fabric,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[list[tuple[float, Loads]], list[float]]]:
    """`Paths.column`, `.routes` and `.whole`, and all routes that are known before a run. Kernels only read them."""
    made = _Routes(fabric)
    first = np.concatenate([[0], np.cumsum([len(store.stage_in) for store in fabric.stores], dtype=np.int64)])
    routes = np.full((CHECKPOINT + 2 * fabric.n_sites, max(int(first[-1]), 1)), -1, np.int64)
    whole = np.zeros((3, routes.shape[1]), np.bool_)
    # What ends in the same instant is seen in the order of its routes: the file system's, then those of each store.
    for row, wire in ((READ, fabric.read), (WRITE, fabric.write)):
        if wire is not None:
            routes[row], whole[FILES] = made.add(wire), wire.whole
    for store, begin in zip(fabric.stores, first, strict=False):
        for at, inwards, outwards, *staging in zip(range(begin, begin + len(store.fetch)), *store, strict=True):
            for site in range(fabric.n_sites):
                routes[CHECKPOINT + site, at] = made.add(inwards[site])
                routes[CHECKPOINT + fabric.n_sites + site, at] = made.add(outwards[site])
            routes[[STAGE_IN, STAGE_OUT], at] = [made.add(wire) for wire in staging]
            whole[INSIDE, at], whole[STAGING, at] = inwards[0].whole, staging[0].whole
    # Without a choice all run in way 0, which then means the buffer; with one it means none, and needs no column.
    column = np.array([0, *(first[way.store] for way in fabric.ways[1:])], np.int64)
    return column, routes, whole, made.list()


def _spare(fabric: Fabric) -> tuple[int, int]:
    """Room for the routes of compute phases: most routes at a time, most links of all of them together.

    A job of m nodes crosses at most all links between sites, and at most those of its m (m - 1) pairs.
    """
    longest = int(np.diff(fabric.first).max(initial=0))
    n_links = len(np.unique(fabric.links))
    n_nodes = len(fabric.site)
    if longest == 0:
        return 0, 0
    m = np.arange(2, n_nodes + 1)
    per_node = np.minimum(n_links, longest * m * (m - 1.0)) / m
    return n_nodes // 2, int(np.ceil(per_node.max(initial=0) * n_nodes)) + 1
