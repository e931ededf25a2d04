"""The face of a State that a policy in plain Python reads; see `actions` for what it writes."""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from forebay._support.text import counted, html_table
from forebay.core.codes import Flexibility, Trigger, Urgency
from forebay.core.inside import LOCAL
from forebay.core.outlook import Blocks, Outlook
from forebay.core.running import NO_LABELS, Labels
from forebay.core.tables import State
from forebay.core.views.relatives import Family, Relatives
from forebay.core.views.topology import Topology
from forebay.core.watching import Watching
from forebay.errors import BadActionError


def _sealed(table: np.ndarray) -> np.ndarray:
    """The table to read. What is only flagged as read-only can be unflagged: this has a buffer that never was more."""
    if table.size == 0:
        return np.zeros(table.shape, table.dtype)
    return np.frombuffer(table.reshape(-1).view(np.uint8).data.toreadonly(), table.dtype).reshape(table.shape)


class View(Outlook, Relatives, Watching):
    """What the scheduler knows now. Jobs are named by their row in `jobs`; `jobs["id"]` has the trace's numbers.

    Tables are the engine's own, read-only: copy what must outlive the decision.

    Examples
    --------
    >>> class Watch(fb.Policy):
    ...     def decide(self, view, act):
    ...         if view.now == 0:
    ...             print(view, view.idle_nodes)
    ...         for job in view.queue:
    ...             if act.fits(job):
    ...                 act.start(job)
    >>> result = fb.simulate("table1", policy=Watch())
    <View at 0 s: 2 waiting, 0 running, 4 of 4 nodes idle> [0 1 2 3]
    """

    def __init__(
        self,
        state: State,
        resources: tuple[str, ...],
        rng: np.random.Generator,
        rates: Callable[[], np.ndarray] = lambda: np.zeros(0),
        blocks: Blocks | None = None,
        labels: Labels = NO_LABELS,
        family: Family | None = None,
        topology: Callable[[], Topology | None] = lambda: None,
    ):
        self._family, self._topology = family, topology
        self._state, self._rates, self._blocks, self._labels = state, rates, blocks, labels
        self._clock, self._counts = state.clock[0], state.counts[0]
        self._leg = state.jobs["leg"]
        self._free = state.resources["free"]
        self._walltime = state.legs["walltime"]
        self.resources = resources
        """Names; 0 is nodes, or cores where nodes are shared."""
        self.rng = rng
        """The only randomness a policy may use: it follows --seed."""
        self.jobs = _sealed(state.jobs)
        self.legs = _sealed(state.legs)
        self.demands = _sealed(state.demands)
        self.releases = _sealed(state.releases)
        self.capacity = _sealed(state.resources)["capacity"]
        self._running = _sealed(state.running)
        self.last_job = -1

    def __repr__(self) -> str:
        waiting, running = int(self._counts["n_queued"]), int(self._counts["n_running"])
        unit = self.resources[0].removesuffix("s")
        nodes = f"{int(self._free[0]):,} of {counted(int(self.capacity[0]), unit)} idle"
        return f"<View at {self.now:,.10g} s: {waiting:,} waiting, {running:,} running, {nodes}>"

    def _repr_html_(self) -> str:
        free = zip(self.resources, self._free.tolist(), self.capacity.tolist(), strict=True)
        rows = [
            ("now", f"{self.now:,.10g} s"),
            ("waiting", f"{int(self._counts['n_queued']):,}"),
            ("running", f"{int(self._counts['n_running']):,}"),
            *((f"{name} free", f"{left:,} of {all_:,}") for name, left, all_ in free),
        ]
        return html_table("View", rows)

    @property
    def now(self) -> float:
        """Seconds since the workload's beginning."""
        return float(self._clock["now"])

    @property
    def triggers(self) -> int:
        """What called the policy, as Trigger bits."""
        return int(self._clock["triggers"])

    def because(self, trigger: Trigger) -> bool:
        """Whether `trigger` is among the causes of this call."""
        return bool(self.triggers & trigger)

    @property
    def queue(self) -> np.ndarray:
        """Waiting jobs in order of arrival; first of all those that have begun and wait for their next leg."""
        counts = self._counts
        line = self._state.queue[counts["queue_first"] : counts["queue_last"]]
        return line.copy() if len(line) == counts["n_queued"] else line[line >= 0]

    @property
    def running(self) -> np.ndarray:
        """Running legs by expected end: columns `end`, `job`, `leg`."""
        return self._running[: self._counts["n_running"]]

    @property
    def rates(self) -> np.ndarray:
        """Bytes/s that cross each shared link of the machine, as shared out last; see `platform.fabric().names`."""
        return self._rates()

    @property
    def free(self) -> np.ndarray:
        """What each resource had left when the decision began; `act.free` counts what was started since."""
        return self._free.copy()

    @property
    def idle_nodes(self) -> np.ndarray:
        """The nodes that nobody had when the decision began, ascending."""
        if self.shared:
            inside = self._state.inside
            return np.flatnonzero((inside.room[: len(inside.full)] == inside.full).all(axis=1))
        pieces = self._state.nodes.idle[: self._counts["n_idle"]][::-1]
        return np.concatenate([np.arange(low, high + 1) for low, high, _ in pieces] or [np.zeros(0, np.int64)])

    @property
    def shared(self) -> bool:
        """Whether jobs share nodes: then demands count cores, and `inside` tells what is free in which node."""
        return bool(self._state.machine[0]["placement"] >= 0)

    @property
    def inside(self) -> np.ndarray:
        """What was free of each node when the decision began, a row a node: cores, memory, GPUs.

        Then local storage, where the machine has some. Empty if no nodes are shared.
        """
        inside = self._state.inside
        local = len(inside.full) > 0 and bool((inside.counted[:, LOCAL] >= 0).any())
        return inside.room[: len(inside.full), : LOCAL + local].copy()

    @property
    def down(self) -> np.ndarray:
        """The nodes that have failed, by when they will be back: columns `until` (inf = nobody can tell) and `node`."""
        return self._state.down[: self._counts["n_down"]].copy()

    @cached_property
    def topology(self) -> Topology | None:
        """Where nodes stand: `router` and `group` of each, `distance(a, b)`; None where all hang on one crossbar."""
        return self._topology()

    def urgency(self, job: int) -> Urgency:
        """Why a job that has begun waits again."""
        return Urgency(int(self.jobs["urgency"][self._row(job)]))

    def safety(self, job: int) -> dict[str, float]:
        """What a running job that writes checkpoints would lose if it were interrupted; empty if it writes none.

        `left`: the walltime of its leg from its last checkpoint on. `next`: when its next one is expected to be
        complete. `save`, `recovery`: seconds to write one, and to read it. `leaves`: when it stops, if it was asked to.
        """
        row, table = self._row(job), self._state.safety
        return {name: float(table[row][name]) for name in table.dtype.names or ()} if len(table) else {}

    def demand(self, job: int) -> np.ndarray:
        """What the job's waiting leg asks of each resource."""
        row: np.ndarray = self.demands[self._leg[self._row(job)]]
        return row

    def chunk(self, job: int) -> int:
        """Bytes that each node of the job's waiting leg needs whole on one server; 0 where buffers are pooled."""
        return int(self._state.legs["chunk"][self._leg[self._row(job)]])

    @property
    def room(self) -> np.ndarray:
        """Free bytes of each server of a chunked buffer; empty where buffers are pooled."""
        return self._state.servers.room.copy()

    def ways(self, job: int) -> list[int]:
        """Ways in which the waiting job may be started, by their number; of tiers of storage, 0 is the slow one."""
        leg, found = int(self._leg[self._row(job)]), []
        while leg >= 0:
            found.append(int(self.legs["way"][leg]))
            leg = int(self.legs["other"][leg])
        return found

    def leg_of(self, job: int, way: int) -> int:
        """The row of the leg that the job would begin with in this way; its waiting leg if it has no such way.

        `legs`, `demands` and `releases` tell what it is like.
        """
        first = leg = int(self._leg[self._row(job)])
        while leg >= 0 and self.legs["way"][leg] != way:
            leg = int(self.legs["other"][leg])
        return leg if leg >= 0 else first

    def walltime(self, job: int) -> float:
        """How long the job's waiting or running leg may take."""
        return float(self._walltime[self._leg[self._row(job)]])

    def _flex(self, job: int) -> np.void | None:
        """What is known of a job with an application; None of others."""
        flexible, row = self._state.flexible, self._row(job)
        if not len(flexible.row) or flexible.row[row] < 0:
            return None
        found: np.void = flexible.jobs[flexible.row[row]]
        return found

    def _size(self, job: int, nodes: int | None) -> np.void | None:
        """The row of a job's size: that with so many nodes, or the present one."""
        if (flex := self._flex(job)) is None:
            return None
        mine = self._state.flexible.sizes[flex["first"] : flex["first"] + flex["n_sizes"]]
        at = int(flex["size"]) if nodes is None else int(np.searchsorted(mine["nodes"], nodes))
        if at == len(mine) or (nodes is not None and mine["nodes"][at] != nodes):
            raise BadActionError(
                f"{self._when} asked about {counted(nodes or 0, 'node')} for a job; see view.sizes(job)"
            )
        found: np.void = mine[at]
        return found

    def flexibility(self, job: int) -> Flexibility:
        """Who decides on the job's size, and when."""
        flex = self._flex(job)
        return Flexibility.RIGID if flex is None else Flexibility(int(flex["kind"]))

    def sizes(self, job: int) -> list[int]:
        """The numbers of nodes that the job may have, ascending."""
        if (flex := self._flex(job)) is None:
            return [self.size(job)]
        sizes: list[int] = self._state.flexible.sizes["nodes"][flex["first"] : flex["first"] + flex["n_sizes"]].tolist()
        return sizes

    def size(self, job: int) -> int:
        """How many nodes the job runs on, or would start with if nothing else is said."""
        return int(self.jobs["nodes"][self._row(job)])

    def time(self, job: int, nodes: int | None = None) -> float:
        """Seconds that a job with an application takes with so many nodes, alone on the machine; else its walltime.

        Of a job without an application, a policy that declares `known` gets what is known.
        """
        size = self._size(job, nodes)
        if size is None:
            return self._known(job, "seconds", self.walltime(job))
        return float(size["seconds"])

    def io(self, job: int, nodes: int | None = None) -> float:
        """Seconds of `time(job, nodes)` in which the job reads or writes.

        Of a job without an application, what is known to a policy that declares `known`; to others 0.
        """
        size = self._size(job, nodes)
        return self._known(job, "io", 0.0) if size is None else float(size["io"])

    def io_bytes(self, job: int) -> float:
        """Bytes that the job moves, as far as known, for policies that declare `known`; of an application 0."""
        return self._declared(job, "bytes", 0.0)

    def io_period(self, job: int) -> float:
        """The mean time between the beginnings of the job's I/O phases; inf where none is known. As `io_bytes`."""
        return self._declared(job, "period", np.inf)

    def _declared(self, job: int, what: str, otherwise: float) -> float:
        """The same for policies that say how much they know; of an application what it is otherwise."""
        if not len(self._state.known_io) and self._flex(job) is None:
            raise BadActionError(
                f"{self._when} asked what is known of jobs' I/O, but has not said how much it knows; give its class "
                'known = "exact", "stated" or "learned"'
            )
        return self._known(job, what, otherwise)

    def _known(self, job: int, what: str, otherwise: float) -> float:
        """What is known of the job's I/O."""
        known = self._state.known_io
        return float(known[what][self._row(job)]) if len(known) else otherwise

    def nodes_of(self, job: int) -> list[int]:
        """The nodes that the job holds, ascending."""
        row, found = self._row(job), list[int]()
        if self.shared:
            at, shares = int(self._state.inside.head[row]), self._state.inside.shares
            while at >= 0:
                found.append(int(shares["node"][at]))
                at = int(shares["next"][at])
            return sorted(found)
        at = int(self._state.jobs["piece"][row]) if self._state.jobs["held"][row] else -1
        while at >= 0:
            low, high, at = (int(value) for value in self._state.nodes.pieces[at])
            found += range(low, high + 1)
        return sorted(found)

    def done(self, job: int) -> float:
        """The part of the job's rounds that is over."""
        flex = self._flex(job)
        return 0.0 if flex is None or flex["rounds"] == 0 else float(flex["done"] / flex["rounds"])

    def wants(self, job: int) -> int:
        """How many nodes the job asks for now; 0 if it does not ask."""
        flex = self._flex(job)
        return 0 if flex is None else int(flex["wants"])

    def asked(self, job: int) -> int:
        """The size that the job will have from its next point on."""
        flex = self._flex(job)
        if flex is None or flex["asked"] < 0:
            return self.size(job)
        return int(self._state.flexible.sizes[flex["first"] + flex["asked"]]["nodes"])

    @property
    def points(self) -> list[int]:
        """The jobs that stand at a scheduling point, or ask for another size, in the order in which they came there."""
        n = int(self._state.flexible.n_points[0])
        jobs = self._state.flexible.points["job"][:n].tolist()
        at_point = self._state.flexible.jobs["at_point"]
        return [job for job in jobs if at_point[self._state.flexible.row[job]]]  # others were killed there
