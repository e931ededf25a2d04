"""Links, the routes over them, and the transfers under way: the tables that `engine.contention.kernels` works on."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from forebay.algorithms.queues.heap import TIMER
from forebay.algorithms.queues.pairing import MEMBER

LINK = np.dtype(
    [
        ("capacity", "f8"),  # bytes per second
        ("bytes", "f8"),  # all that has crossed it
        ("entry", "i8"),  # of the first active route over it; -1 = idle
        ("slot", "i8"),  # among the links being shared out; -1 = not among them
        ("tight", "i1"),  # whether the routes over it, at their caps, would overfill it
        ("changed", "i1"),
    ],
    align=True,
)
ROUTE = np.dtype(
    [
        ("clock", "f8"),  # progress per unit of weight, at time `at`
        ("at", "f8"),
        ("rate", "f8"),  # of the clock
        ("cap", "f8"),  # the fastest it may run
        ("scale", "f8"),  # what a stream counts as: 1, unless it is steered; units of its entries have it in them
        ("delay", "f8"),  # seconds before the first byte of a transfer
        ("streams", "i8"),  # of all its transfers
        ("weight", "f8"),  # what these count as
        ("rest", "f8"),  # what rounding has left of that
        ("root", "i8"),  # the transfer that ends first, see algorithms.queues.pairing; -1 = idle
        ("entry", "i8"),  # the first of its links; unused routes are chained here
        ("slot", "i8"),  # among the routes being shared out; -1 = not among them
        ("like", "i8"),  # the route of which it is a copy with another scale, for all that want this; -1 = of none
        ("changed", "i1"),
    ],
    align=True,
)
ENTRY = np.dtype(
    [
        ("unit", "f8"),  # load that a unit of weight puts on the link; 1 on the route's most loaded
        ("route", "i8"),
        ("link", "i8"),
        ("next", "i8"),  # of the same route
        ("after", "i8"),  # of the same link, among active routes
        ("before", "i8"),
    ],
    align=True,
)
TRANSFER = np.dtype(
    [
        *((name, MEMBER[name]) for name in MEMBER.names or ()),
        ("amount", "f8"),  # bytes on the most loaded link
        ("end", "f8"),
        ("weight", "i8"),
        ("share", "f8"),  # what each of its streams counts as on its route
        ("route", "i8"),  # -1 = over
        ("job", "i8"),
        ("sibling", "i8"),  # the next transfer of the same phase; unused rows are chained here
        ("next_amount", "f8"),  # what it moves once its delay is over
        ("next_weight", "i8"),
        ("next_route", "i8"),  # and where; -1 = it is under way, -2 = it never moves any
        ("base", "i8"),  # the route that it would take if nobody steered it
        ("earlier", "f8"),  # bytes of its amount that it has moved over other routes
        ("beside", "i1"),  # 0 = its phase waits for it; else it runs beside the phases: 1 + PhaseKind
    ],
    align=True,
)
NETWORK = np.dtype(
    [
        ("n_timers", "i8"),
        ("seq", "i8"),
        ("n_links", "i8"),  # changed since they were shared out
        ("n_routes", "i8"),
        ("n_static", "i8"),  # routes known at the start; those above are made and unmade
        ("blank_route", "i8"),
        ("blank_entry", "i8"),
        ("blank_transfer", "i8"),
        ("waiting_route", "i8"),  # where transfers wait until their delay is over; -1 = there are none
        ("held_route", "i8"),  # where transfers stay that are held; -1 = none is held
    ],
    align=True,
)


class Network(NamedTuple):
    """The network of a run."""

    state: np.ndarray  # NETWORK, one row
    links: np.ndarray  # LINK
    routes: np.ndarray  # ROUTE
    entries: np.ndarray  # ENTRY
    transfers: np.ndarray  # TRANSFER
    timers: np.ndarray  # TIMER heap, slot = route: when its next transfer ends
    where: np.ndarray  # int64[route]
    pending: np.ndarray  # int64[2, ...]: links and routes that changed
    share: np.ndarray  # float64[6, ...] for sharing out: capacity, load, cap, rate, and the solver's own two
    chosen: np.ndarray  # int64[4, ...] for sharing out: routes, links, first, links of each route
    copies: np.ndarray  # int64[route, COPIES]: copies of a static route that were made last; empty unless steered


Loads = Mapping[int, float]
COPIES = 16
"""So many scales of a route are found again; transfers with further ones have routes of their own."""


def make_network(
    capacity: Sequence[float],
    routes: Sequence[tuple[float, Loads]],
    n_transfers: int,
    n_spare_routes: int = 0,
    n_spare_entries: int = 0,
    delays: Sequence[float] = (),
    pauses: bool = False,
    steered: bool = False,
) -> Network:
    """An idle network. A route is (cap, {link: load}); loads are relative to its most loaded link.

    Spare routes and entries are for those made on the way; see `kernels.open_route`. Where routes have `delays`, or
    phases `pauses`, there is one more, without links, on which a transfer moves the seconds that it waits. Where they
    are `steered`, there is one over the last link on which nothing moves.
    """
    held = len(routes) if steered else -1
    routes = [*routes, (0.0, {len(capacity) - 1: 1.0})] if steered else routes
    waiting = len(routes) if any(delays) or pauses else -1
    routes = [*routes, (1.0, {})] if waiting >= 0 else routes
    n_static, n_used = len(routes), sum(len(loads) for _, loads in routes)
    n_routes, n_entries = n_static + n_spare_routes, n_used + n_spare_entries
    most = max(len(capacity), n_routes, n_entries) + 1
    net = Network(
        state=np.zeros(1, NETWORK),
        links=np.zeros(len(capacity), LINK),
        routes=np.zeros(n_routes, ROUTE),
        entries=np.zeros(n_entries, ENTRY),
        transfers=np.zeros(n_transfers, TRANSFER),
        timers=np.zeros(n_routes + 1, TIMER),
        where=np.full(n_routes, -1, np.int64),
        pending=np.zeros((2, max(len(capacity), n_routes)), np.int64),
        share=np.zeros((6, most)),
        chosen=np.zeros((4, most), np.int64),
        copies=np.zeros((n_static if steered else 0, COPIES), np.int64),
    )
    net.links["capacity"], net.links["entry"], net.links["slot"] = capacity, -1, -1
    net.routes["root"] = net.routes["slot"] = net.routes["like"] = -1
    net.routes["scale"] = 1.0
    net.routes["delay"][: len(delays)] = delays
    net.state["waiting_route"], net.state["held_route"] = waiting, held
    rows: list[tuple[float, int, int, int, int, int]] = []
    firsts: list[int] = []
    for c, (_, loads) in enumerate(routes):
        begin, end = len(rows), len(rows) + len(loads)
        firsts.append(begin if loads else -1)
        nexts = [*range(begin + 1, end), -1]
        rows += [(load, c, k, following, -1, -1) for (k, load), following in zip(loads.items(), nexts, strict=False)]
    net.entries[:n_used] = rows  # all at once: one by one took a tenth of building a small run
    net.routes["cap"][:n_static], net.routes["entry"][:n_static] = [cap for cap, _ in routes], firsts
    net.state["n_static"] = n_static
    net.state["blank_route"] = _chain(net.routes["entry"], n_static)
    net.state["blank_entry"] = _chain(net.entries["next"], n_used)
    net.state["blank_transfer"] = _chain(net.transfers["sibling"], 0)
    net.transfers["job"] = -1
    return net


def _chain(column: np.ndarray, first: int) -> int:
    """Chain the rows from `first` on, to be handed out; returns the first, -1 if there is none."""
    if first == len(column):
        return -1
    column[first:] = np.arange(first + 1, len(column) + 1)
    column[-1] = -1
    return first
