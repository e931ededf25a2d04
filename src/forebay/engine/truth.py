"""Truth: what only the engine knows, above all how long things really take and what is still to come."""

from typing import NamedTuple

import numpy as np

from forebay._numba.pointer import pointer_type
from forebay.algorithms.queues.heap import TIMER
from forebay.core.inside import ASK
from forebay.core.tables import JOB, LEG, PICK
from forebay.engine.contention.routes import Paths, no_paths
from forebay.engine.contention.tables import Network, make_network
from forebay.engine.dependencies.tables import Dependencies, make_dependencies
from forebay.engine.failures.tables import Resilience, make_resilience
from forebay.engine.io_knowledge.tables import IoKnowledge, make_knowledge
from forebay.engine.io_scheduling.tables import IoScheduling, make_io
from forebay.engine.limits.tables import Meters, make_meters
from forebay.engine.malleable.tables import Rounds, no_rounds
from forebay.engine.partitions.tables import Doors, make_doors
from forebay.engine.placing.tables import Placing, make_placing
from forebay.engine.power.tables import Switching, make_switching
from forebay.engine.steering.tables import Steering, make_steering
from forebay.engine.ticks.tables import make_ticks

CURSOR = np.dtype(
    [
        ("next_event", "i8"),
        ("n_timers", "i8"),
        ("seq", "i8"),
        ("n_open", "i8"),  # jobs submitted and not yet ended
        ("n_ended", "i8"),
        ("n_decisions", "i8"),
        ("n_log", "i8"),  # rows in the buffer
        ("n_drained", "i8"),  # rows of the log before those
        ("n_placed", "i8"),
        ("n_stored", "i8"),
        ("n_held", "i8"),
        ("drain", "i8"),  # the address of the function that empties these buffers
        ("begin", "f8"),  # nothing is decided before
        ("n_wakes", "i8"),
        ("n_idle_wakes", "i8"),  # in a row, with nothing running and nothing to come
        ("next_failure", "i8"),
        ("draw", "i8"),  # the address of the function that draws further failures; 0 = there are no others
        ("n_hidden", "i8"),
        ("again", "i1"),  # whether the policy must decide again: starts were put off, or a job was interrupted
        ("refusal", "i8"),
        ("refused_job", "i8"),
        ("refused_resource", "i8"),
    ],
    align=True,
)
SCRIPT = np.dtype(
    [
        ("walltime", "f8"),
        ("asked", "f8"),  # the walltime that its user asked for, without checkpoints
        ("seconds", "f8"),  # all phases together; inf where transfers decide
        ("number", "i8"),
        ("first_phase", "i8"),
        ("last_phase", "i8"),  # behind it
        ("kills", "i1"),  # whether the job is killed when the leg reaches its walltime
        ("logged", "i1"),  # whether its phases are
        ("guarded", "i1"),  # whether its job writes checkpoints
    ],
    align=True,
)
"""A leg as it really is; `legs` in State shows a policy the part it may know."""
PHASE = np.dtype(
    [
        ("seconds", "f8"),
        ("bytes", "f8"),  # to move, all nodes together
        ("communication", "f8"),  # bytes from each node to each other node
        ("amount", "i8"),  # of `resource` given back at its end
        ("resource", "i4"),  # -1 = none
        ("kind", "i4"),
    ],
    align=True,
)
ACTIVITY = np.dtype(
    [
        ("phase", "i8"),  # the one under way, or the next to begin
        ("first", "i8"),  # transfer of the phase under way; -1 = none
        ("streams", "i8"),  # of its transfers, those not yet over
        ("drains", "i8"),  # transfers that run beside the phases
        ("final", "i1"),  # JobState to end the leg with once the drains are over; 0 = phases are still to come
    ],
    align=True,
)
"""What a running job is doing."""
LOG = np.dtype(
    [
        ("time", "f8"),
        ("amount", "i8"),
        ("job", "i4"),
        ("leg", "i2"),
        ("resource", "i2"),
        ("kind", "i1"),
        ("reason", "i1"),
    ],
    align=True,
)
EVENT = np.dtype([("time", "f8"), ("subject", "i8"), ("kind", "i8")], align=True)
"""Something that comes from outside, see EventKind; it happens to `subject`, a job."""
PLACEMENT = np.dtype([("row", "u4"), ("low", "i4"), ("high", "i4")], align=True)
"""Nodes low..high were taken, or given back, by the change in this row of the log. What a job gives back when it then
has no nodes left is not written: all that it had."""
STORED = np.dtype([("row", "u4"), ("server", "i4"), ("bytes", "i8")], align=True)
"""The start in this row of the log put so many bytes on a server. Chunks are given back all together."""

HELD = np.dtype([("time", "f8"), ("job", "i8"), ("by", "i8"), ("row", "i8"), ("part", "i8")], align=True)
"""From then on a job that waits is held back, see `causes`."""

MAX_WAKES = 4096
BUFFER = 1 << 15  # rows of the log, of placements and of chunks, before they are taken away


class Truth(NamedTuple):
    """The engine's tables. `demands`, `releases`, `carries` are int64[leg, resource]."""

    cursor: np.ndarray  # CURSOR, one row
    jobs: np.ndarray  # JOB, as they will arrive
    legs: np.ndarray  # LEG, as they will be shown
    scripts: np.ndarray  # SCRIPT, one a leg
    demands: np.ndarray
    releases: np.ndarray
    carries: np.ndarray  # what a leg keeps at its end for the next one
    stated: np.ndarray  # float64[leg, 2], as it will be shown in `tiers`; empty where jobs have no choice
    asks: np.ndarray  # ASK[leg], as it will be shown in `inside`; empty where nodes are not shared
    columns: np.ndarray  # float64[job, k], as it will be shown; empty where the policy names no column
    phases: np.ndarray  # PHASE, those of a leg side by side
    timers: np.ndarray  # TIMER heap; slot 2j = job j's phase, 2j + 1 = its walltime
    where: np.ndarray  # int64[slot], see algorithms.queues.heap
    wakes: np.ndarray  # float64, ascending; the first n_wakes
    events: np.ndarray  # EVENT, by time, then kind
    meters: Meters
    dependencies: Dependencies
    doors: Doors
    power: Switching
    placing: Placing
    ticks: np.ndarray  # see `ticks`; empty where policies are called as things happen
    member: np.ndarray  # int64[job]: reservations that it may use, as bits; empty where there are none
    hidden: np.ndarray  # int64: jobs that limits hold back, the first n_hidden
    due: np.ndarray  # int64 scratch: jobs whose walltime is up in this instant
    log: np.ndarray  # LOG, a buffer: see `driver.recorder`
    placements: np.ndarray  # PLACEMENT, another
    stored: np.ndarray  # STORED, a third; empty where no buffer is in chunks
    held: np.ndarray  # HELD, a fourth; empty where nothing is limited
    activities: np.ndarray  # ACTIVITY
    rounds: Rounds
    resilience: Resilience
    paths: Paths
    network: Network
    known_io: IoKnowledge
    steering: Steering
    io: IoScheduling
    ended: np.ndarray  # int64 scratch: transfers that end in this instant
    room: np.ndarray  # int64[server] scratch for placing
    picks: np.ndarray  # PICK scratch for placing


class Sizes(NamedTuple):
    """How large the tables of a Truth are."""

    jobs: int = 1
    legs: int = 1
    phases: int = 1
    resources: int = 1
    servers: int = 0
    picks: int = 0
    events: int = 0
    planned: int = 0  # reservations
    stated: int = 0  # legs of which users stated what they move
    asks: int = 0  # legs that take parts of nodes
    columns: int = 0
    steered: int = 0  # jobs whose transfers the policy steers
    known_io: IoKnowledge = make_knowledge()  # what a policy will know of what jobs read and write
    every: float = 0.0  # seconds between decisions by the clock


def empty_truth(
    n: Sizes,
    paths: Paths,
    network: Network,
    rounds: Rounds,
    resilience: Resilience,
    meters: Meters,
    dependencies: Dependencies,
    doors: Doors,
    power: Switching,
) -> Truth:
    """Tables of the right size, blank."""
    shape = (n.legs, n.resources)
    return Truth(
        cursor=np.zeros(1, CURSOR),
        jobs=np.zeros(n.jobs, JOB),
        legs=np.zeros(n.legs, LEG),
        scripts=np.zeros(n.legs, SCRIPT),
        demands=np.zeros(shape, np.int64),
        releases=np.zeros(shape, np.int64),
        carries=np.zeros(shape, np.int64),
        stated=np.zeros((n.stated, 2)),
        asks=np.zeros(n.asks, ASK),
        columns=np.full((n.jobs if n.columns else 0, n.columns), np.nan),
        phases=np.zeros(n.phases, PHASE),
        timers=np.zeros(2 * n.jobs + 1, TIMER),
        where=np.full(2 * n.jobs, -1, np.int64),
        wakes=np.zeros(MAX_WAKES),
        events=np.zeros(n.events, EVENT),
        meters=meters,
        dependencies=dependencies,
        doors=doors,
        power=power,
        placing=make_placing(),
        ticks=make_ticks(n.every),
        member=np.zeros(n.jobs if n.planned else 0, np.int64),
        hidden=np.zeros(len(meters.away), np.int64),
        due=np.zeros(n.jobs, np.int64),
        log=np.zeros(BUFFER, LOG),
        placements=np.zeros(BUFFER, PLACEMENT),
        stored=np.zeros(BUFFER if n.servers else 0, STORED),
        held=np.zeros(BUFFER if len(meters.away) else 0, HELD),
        activities=np.zeros(n.jobs, ACTIVITY),
        rounds=rounds,
        resilience=resilience,
        paths=paths,
        network=network,
        known_io=n.known_io,
        steering=make_steering(n.steered if len(network.transfers) else 0),
        io=make_io(),
        ended=np.zeros(len(network.transfers), np.int64),
        room=np.zeros(n.servers, np.int64),
        picks=np.zeros(n.picks, PICK),
    )


_NONE = (
    no_paths(), make_network([], [], 0), no_rounds(), make_resilience(), make_meters(), make_dependencies(),
    make_doors(), make_switching(),
)  # fmt: skip
TRUTH = pointer_type(empty_truth(Sizes(), *_NONE))
