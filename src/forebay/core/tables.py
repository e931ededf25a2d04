"""State: what a scheduler may know, as a handful of tables. A policy reads these and writes actions, nothing else.

Rows of jobs that have not been submitted are blank: the engine fills them in on arrival, so no policy can look ahead.
"""

from typing import NamedTuple

import numba
import numpy as np
from numba import types

from forebay._numba.jit import allocating_kernel, kernel
from forebay._numba.pointer import pointer_type
from forebay.core.inside import Inside, empty_inside
from forebay.core.running import KNOWN_IO, Io, empty_io
from forebay.core.stopping import CLOCK

COUNTS = np.dtype(
    [
        ("n_queued", "i8"),
        ("queue_first", "i8"),  # the queue is queue[queue_first:queue_last], with holes: numbers below 0
        ("queue_begun", "i8"),  # where jobs that wait for a later leg end and new ones begin
        ("queue_last", "i8"),
        ("layout", "i8"),  # how often places of jobs that have not begun were changed, or starts were put off
        ("opened", "i8"),  # how often reservations, or partitions, have changed where jobs may run
        ("n_running", "i8"),
        ("n_actions", "i8"),
        ("n_picks", "i8"),
        ("n_shares", "i8"),
        ("n_idle", "i8"),  # intervals of idle nodes
        ("n_down", "i8"),  # nodes
        ("blank_piece", "i8"),  # first unused row of `nodes.pieces`
        ("blank_chunk", "i8"),  # first unused row of `servers.chunks`
        ("n_started", "i8"),
        ("n_ended", "i8"),
    ],
    align=True,
)
"""How far each table is in use."""
MACHINE = np.dtype(
    [
        ("chunked", "i8"),  # the resource that lies in chunks on servers; -1 = none
        ("large", "i8"),  # the resource that counts nodes with the larger of two devices; -1 = all have the same
        ("local", "i8"),  # the resource of which nodes have devices of two sizes, where they have
        ("small_device", "i8"),  # bytes in a node of the smaller kind
        ("large_device", "i8"),
        ("placement", "i8"),  # on nodes that are shared, see core.inside; -1 = jobs have their nodes to themselves
        ("first_inside", "i8"),  # the resources from here on count what is in such nodes, beside their cores
    ],
    align=True,
)
"""What never changes in a run."""
JOB = np.dtype(
    [
        ("submit", "f8"),  # these seven side by side: they are read of every job of a long queue
        ("walltime", "f8"),
        ("priority", "f8"),
        ("id", "i8"),  # the number in the trace
        ("rank", "i8"),  # of its partition among those of this machine: who has a higher one goes first
        ("leg", "i8"),  # row in `legs`: the one running, or waiting to
        ("nodes", "i8"),  # asked for: the most that any of its legs holds
        ("start", "f8"),  # of the first leg
        ("finish", "f8"),
        ("queued_since", "f8"),  # when the current leg joined the queue
        ("waited", "f8"),  # time queued for any leg, until the last start
        ("leg_start", "f8"),
        ("end", "f8"),  # when its running leg is expected to end
        ("held", "i8"),  # nodes that it holds now
        ("last_leg", "i8"),
        ("at", "i8"),  # place in the queue
        ("piece", "i8"),  # first interval of the nodes it holds; -1 = none
        ("chunk", "i8"),  # first run of the chunks it holds; -1 = none
        ("user", "i8"),
        ("group", "i8"),
        ("queue", "i8"),
        ("account", "i8"),  # who is charged; -1 = unknown
        ("qos", "i8"),  # quality of service; -1 = unknown
        ("within", "i8"),  # the atoms of its partitions, as bits; -1 = all nodes
        ("state", "i1"),
        ("urgency", "i1"),  # Urgency, while it waits
    ],
    align=True,
)
LEG = np.dtype(
    [
        ("walltime", "f8"),
        ("number", "i8"),  # which of its job's legs it is: 0, 1, ...
        ("chunk", "i8"),  # bytes of each chunk that it takes on servers; 0 = none
        ("allowed", "i8"),  # atoms that it may run on, as bits: see Nodes; -1 = all
        ("later", "i8"),  # those, and what reservations of the site keep from it now; 0 = something else does
        ("mine", "i8"),  # reservations of the site that are for it, as bits
        ("way", "i8"),  # to run, of several that its job has
        ("last", "i8"),  # row of the last leg of this way
        ("other", "i8"),  # of a first leg: row of the first leg of another way; -1 = none
    ],
    align=True,
)
"""What the user said of a leg. A job that may run in several ways has legs for each; its row in `jobs` names those of
the first until it starts, and the start says which it is. What ways are is for the job model to say: tiers of storage
to run on, as in `tiers`."""
TIER = np.dtype([("rate", "f8"), ("stage_rate", "f8"), ("resource", "i8")], align=True)
"""A tier of storage: bytes/s between it and all nodes, and between it and tier 0, the slow one; the resource that its
room is counted as, -1 where there is no end to it."""
RESOURCE = np.dtype([("capacity", "i8"), ("free", "i8")], align=True)
RUNNING = np.dtype([("end", "f8"), ("job", "i8"), ("leg", "i8")], align=True)
"""Running legs by expected end, ties in order of start."""
DOWN = np.dtype([("until", "f8"), ("node", "i8")], align=True)
"""A node that has failed, and when it will be back; inf where nobody can tell."""
PLANNED = np.dtype([("start", "f8"), ("end", "f8"), ("atoms", "i8")], align=True)
"""Nodes that are reserved, or in maintenance, from a start to an end: atoms as bits, -1 = all nodes."""
SAFETY = np.dtype(
    [
        ("left", "f8"),  # the walltime of its leg if it went on from its last checkpoint
        ("next", "f8"),  # when its next checkpoint is expected to be complete; inf = it writes none
        ("save", "f8"),  # seconds that it expects to write one
        ("recovery", "f8"),  # and to read it back
        ("leaves", "f8"),  # when it is expected to stop, as the policy has asked it to; inf = it goes on
    ],
    align=True,
)
"""What a running job would lose if it were interrupted."""
ACTION = np.dtype(
    [
        ("time", "f8"),
        ("job", "i8"),
        ("first_pick", "i8"),
        ("n_picks", "i8"),
        ("way", "i8"),
        ("share", "i8"),
        ("nodes", "i8"),
        ("verb", "i4"),
        ("reason", "i4"),
    ],
    align=True,
)
"""A start may name its nodes and servers: rows of `picks`. Without any the engine picks them. It names a way to run,
which counts for a job's first leg; in an interrupt, `way` is its Resume. A flexible job may be started, or resized,
with `nodes`; 0 means as many as it asks for. Where nodes are not all alike it may say how many of each atom it takes,
in a row of `shares`; with -1 that is what is free, from the first atom on."""
INTERVAL = np.dtype([("low", "i8"), ("high", "i8"), ("next", "i8")], align=True)
"""Nodes low..high, both included; `next` chains the intervals of one job."""
CHUNK = np.dtype([("server", "i8"), ("count", "i8"), ("size", "i8"), ("next", "i8")], align=True)
"""`count` chunks of `size` bytes on a server; `next` chains those of one job, in the order of its nodes."""
FLEX = np.dtype(
    [
        ("kind", "i8"),  # Flexibility
        ("first", "i8"),  # its sizes are rows first, first + 1, ... of `sizes`, ascending
        ("n_sizes", "i8"),
        ("size", "i8"),  # which of them it has, or would start with
        ("asked", "i8"),  # the one that it will have from its next point on; -1 = as now
        ("wants", "i8"),  # nodes that it asks for at this point; 0 = none
        ("rounds", "i8"),  # that its program has
        ("done", "i8"),  # of them
        ("at_point", "i1"),
        ("lingers", "i1"),  # nodes that it gives up go back only when its data have moved
    ],
    align=True,
)
"""A job with an application; a rigid one has one size."""
SIZE = np.dtype([("walltime", "f8"), ("seconds", "f8"), ("io", "f8"), ("nodes", "i8")], align=True)
"""A size that a job may have: what its user asked for at it, and how long the whole job and its transfers take at it
when alone on the machine."""
POINT = np.dtype([("time", "f8"), ("job", "i8")], align=True)
"""A job stands at a scheduling point, or has asked for another size."""
PICK = np.dtype([("low", "i8"), ("count", "i8"), ("server", "i8")], align=True)
"""Nodes low, low + 1, ... and the server of their chunks (-1: they have none). low = -1: chunks without nodes.

Where nodes are shared, `count` parts of the job on node `low`."""


class Nodes(NamedTuple):
    """Which nodes are whose, and where they stand."""

    idle: np.ndarray  # INTERVAL, the first n_idle, highest ids first
    pieces: np.ndarray  # INTERVAL, chained: what jobs hold
    site: np.ndarray  # int32[node]: where it stands
    seats: np.ndarray  # int64[k, 3]: word, bits, site: ascending nodes that look for room alike, in words of 32 bits
    atoms: np.ndarray  # int64[atom, 2]: first node, resource: see algorithms.nodes.atoms; empty = nodes are alike
    weights: np.ndarray  # int64[atom]: Slurm takes nodes of less weight first; empty = they are alike


class Servers(NamedTuple):
    """The servers of a chunked buffer."""

    near: np.ndarray  # int64[site, server]: servers as a site looks for room, nearest first
    room: np.ndarray  # int64[server]: free bytes
    chunks: np.ndarray  # CHUNK, chained


class Tiers(NamedTuple):
    """Tiers of storage that jobs may choose between: way v is to run on tier v. Both empty where there is no choice."""

    rates: np.ndarray  # TIER
    stated: np.ndarray  # float64[leg, 2]: bytes between nodes and tier, between tier and the slow one, as users say


class Flexible(NamedTuple):
    """Jobs with applications: how long they take, and the sizes they may have. All empty where there is none."""

    row: np.ndarray  # int64[job]: its row in `jobs`; -1 = it has no application
    jobs: np.ndarray  # FLEX
    sizes: np.ndarray  # SIZE
    points: np.ndarray  # POINT, the first n_points, in the order in which jobs came there
    n_points: np.ndarray  # int64[1]


class State(NamedTuple):
    """The tables of a run that a policy sees. `demands` and `releases` are int64[leg, resource]."""

    clock: np.ndarray  # CLOCK, one row
    counts: np.ndarray  # COUNTS, one row
    machine: np.ndarray  # MACHINE, one row
    jobs: np.ndarray  # JOB
    legs: np.ndarray  # LEG
    demands: np.ndarray  # what a leg takes when it starts, beyond what it carried over
    releases: np.ndarray  # what a leg gives back when it ends; of an atom's nodes, what it took when it started
    resources: np.ndarray  # RESOURCE; 0 = nodes, or cores where nodes are shared: what the ids of nodes count
    queue: np.ndarray  # waiting jobs: first those that have begun, then the others by rank and arrival; see COUNTS
    running: np.ndarray  # RUNNING, the first n_running
    started: np.ndarray  # int64: jobs of which a leg has started since the last decision, the first n_started
    ended: np.ndarray  # int64: those that are over since then, the first n_ended
    down: np.ndarray  # DOWN, the first n_down, by the time at which they are back; empty where nodes do not fail
    planned: np.ndarray  # PLANNED, by start: what the site has announced
    safety: np.ndarray  # SAFETY[job]; empty where jobs write no checkpoints
    actions: np.ndarray  # ACTION, the first n_actions; the last row is never carried out, see `verbs`
    picks: np.ndarray  # PICK, the first n_picks
    shares: np.ndarray  # int64[k, atom], the first n_shares: nodes of each that a start takes; the last is scratch
    nodes: Nodes
    servers: Servers
    tiers: Tiers
    flexible: Flexible
    inside: Inside
    io: Io  # filled before each decision of a policy that needs it
    columns: np.ndarray  # float64[job, k]: the workload's own that the policy names; NaN = not known
    known_io: np.ndarray  # KNOWN_IO[job]; empty unless the policy asks what is known of jobs' reads and writes


class Sizes(NamedTuple):
    """How large the tables of a State are."""

    jobs: int = 1
    legs: int = 1
    resources: int = 1
    nodes: int = 1
    sites: int = 1
    servers: int = 0
    chunks: int = 0
    seats: int = 0
    atoms: int = 0  # 0 = nodes are alike
    tiers: int = 0
    flexible: int = 0  # jobs with applications
    sizes: int = 0  # that these may have
    down: int = 0  # nodes that may be down at a time
    safety: int = 0  # jobs that write checkpoints
    shared: int = 0  # nodes that jobs share: `nodes` are then their cores
    room: int = 0  # rows that tell what is free there
    shared_atoms: int = 0
    planned: int = 0  # reservations
    told_links: int = 0  # shared links, where the policy asks what running jobs do
    told_tiers: int = -1  # tiers of storage there; -1 = it does not ask
    told_ways: int = 0
    columns: int = 0  # of the workload's own
    known_io: int = 0  # jobs of which the policy knows what they read and write


def empty_state(n: Sizes) -> State:
    """Tables of the right size, blank. Nothing can be held in more pieces than there are nodes."""
    machine = np.zeros(1, MACHINE)
    machine["chunked"] = machine["large"] = machine["placement"] = -1
    return State(
        clock=np.zeros(1, CLOCK),
        counts=np.zeros(1, COUNTS),
        machine=machine,
        jobs=np.zeros(n.jobs, JOB),
        legs=np.zeros(n.legs, LEG),
        demands=np.zeros((n.legs, n.resources), np.int64),
        releases=np.zeros((n.legs, n.resources), np.int64),
        resources=np.zeros(n.resources, RESOURCE),
        # Twice the jobs: when an end is reached at least half is holes, so closing them costs O(1) a job.
        queue=np.zeros(2 * n.jobs + 16, np.int64),
        running=np.zeros(n.jobs + 1, RUNNING),
        started=np.zeros(n.jobs + 1025, np.int64),  # no more than there are actions
        ended=np.zeros(n.jobs, np.int64),
        down=np.zeros(n.down, DOWN),
        planned=np.zeros(n.planned, PLANNED),
        safety=np.zeros(n.safety, SAFETY),
        actions=np.zeros(n.jobs + 1025, ACTION),
        # Nodes, and chunks, can be picked once each in a decision; chunks of legs without nodes come on top.
        picks=np.zeros(n.nodes + n.chunks + 1, PICK),
        # In a decision no more jobs can start on nodes than there are; one is tried behind them.
        shares=np.zeros((n.nodes + 2 if n.atoms else 0, n.atoms), np.int64),
        nodes=Nodes(
            idle=np.zeros(n.nodes + 1, INTERVAL),
            pieces=np.zeros(n.nodes + 1, INTERVAL),
            site=np.zeros(n.nodes, np.int32),
            seats=np.zeros((n.seats, 3), np.int64),
            atoms=np.zeros((n.atoms, 2), np.int64),
            weights=np.ones(max(n.atoms, n.shared_atoms), np.int64),
        ),
        servers=Servers(
            near=np.zeros((n.sites, n.servers), np.int64),
            room=np.zeros(n.servers, np.int64),
            chunks=np.zeros(n.chunks, CHUNK),
        ),
        tiers=Tiers(rates=np.zeros(n.tiers, TIER), stated=np.zeros((n.legs if n.tiers else 0, 2))),
        flexible=Flexible(
            row=np.full(n.jobs if n.flexible else 0, -1, np.int64),
            jobs=np.zeros(n.flexible, FLEX),
            sizes=np.zeros(n.sizes, SIZE),
            points=np.zeros(2 * n.flexible, POINT),  # a job may come to its next one as it leaves one
            n_points=np.zeros(1, np.int64),
        ),
        inside=empty_inside(n.shared, n.room, n.nodes, n.shared_atoms, n.legs, n.jobs),
        io=empty_io() if n.told_tiers < 0 else empty_io(n.jobs, n.told_links, n.told_tiers, n.told_ways),
        columns=np.full((n.jobs if n.columns else 0, n.columns), np.nan),
        known_io=np.zeros(n.known_io, KNOWN_IO),
    )


STATE = pointer_type(empty_state(Sizes()))
PARAMS = types.float64[::1]
MEMORY = types.Tuple((types.int64[:, ::1], types.float64[:, ::1]))
PICKS = numba.from_dtype(PICK)[::1]
ACTION_ROW = numba.from_dtype(ACTION)
RNG = numba.typeof(np.random.default_rng(0))
DECIDE = types.void(STATE, PARAMS, MEMORY, RNG)

policy_kernel = allocating_kernel(DECIDE)
"""Decorates a compiled policy: `decide(state, params, memory, rng)`."""


@kernel
def flex_row(state, j):
    """The row of job `j` among those with applications; -1 if it has none."""
    return state.flexible.row[j] if len(state.flexible.row) > 0 else -1


@kernel
def nodes_in(state, a):
    """How many nodes an atom has; without a resource of its own, what others leave of all."""
    atoms, resources = state.nodes.atoms, state.resources
    if atoms[a, 1] >= 0:
        return resources[atoms[a, 1]]["capacity"]
    count = resources[0]["capacity"]
    for b in range(len(atoms)):
        if b != a:
            count -= resources[atoms[b, 1]]["capacity"]
    return count


@kernel
def nodes_kept(state, j, nodes):
    """How many nodes job `j`, whose size is not fixed, holds at once when it is decided that it shall have so many."""
    flex = state.flexible.jobs[flex_row(state, j)]
    return nodes if flex["at_point"] and not flex["lingers"] else max(nodes, state.jobs[j]["nodes"])


@kernel
def instant_width(time):
    """Events this close to the first are one instant: analytically equal times differ in their last bits."""
    return min(1e-9 * max(1.0, abs(time)), 1e-6)


@kernel
def after(time):
    """The first time that is surely not of the same instant, however far from 0."""
    return time + max(2.0 * instant_width(time), 4.5e-16 * abs(time))
