"""The two faces of a State that a policy in plain Python sees: a View to read, Actions to write."""

from collections.abc import Callable, Iterable
from itertools import islice
from operator import index
from typing import Any, Protocol

import numpy as np

from forebay._text import counted, html_table
from forebay.core.codes import Flexibility, LogReason, Trigger, Verb
from forebay.core.kinds import taken
from forebay.core.tables import State
from forebay.errors import BadActionError, UnknownJobError, brief


def _sealed(table: np.ndarray) -> np.ndarray:
    """The table to read. What is only flagged as read-only can be unflagged: this has a buffer that never was more."""
    if table.size == 0:
        return np.zeros(table.shape, table.dtype)
    return np.frombuffer(table.reshape(-1).view(np.uint8).data.toreadonly(), table.dtype).reshape(table.shape)


class View:
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
    ):
        self._state, self._rates = state, rates
        self._clock, self._counts = state.clock[0], state.counts[0]
        self._leg = state.jobs["leg"]
        self._free = state.resources["free"]
        self._walltime = state.legs["walltime"]
        self.resources = resources
        """Names; 0 is nodes."""
        self.rng = rng
        """The only randomness a policy may use: it follows --seed."""
        self.jobs = _sealed(state.jobs)
        self.legs = _sealed(state.legs)
        self.demands = _sealed(state.demands)
        self.releases = _sealed(state.releases)
        self.capacity = _sealed(state.resources)["capacity"]
        self._running = _sealed(state.running)
        self.last_job = -1  # for messages: the job that the policy asked about last

    def __repr__(self) -> str:
        waiting, running = int(self._counts["n_queued"]), int(self._counts["n_running"])
        nodes = f"{int(self._free[0]):,} of {counted(int(self.capacity[0]), 'node')} idle"
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
        pieces = self._state.nodes.idle[: self._counts["n_idle"]][::-1]
        return np.concatenate([np.arange(low, high + 1) for low, high, _ in pieces] or [np.zeros(0, np.int64)])

    def row(self, job: Any) -> int:
        """The job's row, if it names one."""
        try:
            row = index(job)
        except TypeError:
            raise BadActionError(
                f"{self.when} named a job by {brief(job)}; name it by its row, a whole number, as view.queue does"
            ) from None
        if not 0 <= row < len(self.jobs):
            last = len(self.jobs) - 1
            raise UnknownJobError(
                f"{self.when} named row {row}, but jobs have rows 0 to {last}; use rows of view.queue, not ids"
            )
        self.last_job = row
        return row

    @property
    def when(self) -> str:
        """How messages on a policy's mistakes begin."""
        return f"at t = {self.now:.10g} s the policy"

    def demand(self, job: int) -> np.ndarray:
        """What the job's waiting leg asks of each resource."""
        row: np.ndarray = self.demands[self._leg[self.row(job)]]
        return row

    def chunk(self, job: int) -> int:
        """Bytes that each node of the job's waiting leg needs whole on one server; 0 where buffers are pooled."""
        return int(self._state.legs["chunk"][self._leg[self.row(job)]])

    @property
    def room(self) -> np.ndarray:
        """Free bytes of each server of a chunked buffer; empty where buffers are pooled."""
        return self._state.servers.room.copy()

    def ways(self, job: int) -> list[int]:
        """Ways in which the waiting job may be started, by their number; of tiers of storage, 0 is the slow one."""
        leg, found = int(self._leg[self.row(job)]), []
        while leg >= 0:
            found.append(int(self.legs["way"][leg]))
            leg = int(self.legs["other"][leg])
        return found

    def leg_of(self, job: int, way: int) -> int:
        """The row of the leg that the job would begin with in this way; its waiting leg if it has no such way.

        `legs`, `demands` and `releases` tell what it is like.
        """
        first = leg = int(self._leg[self.row(job)])
        while leg >= 0 and self.legs["way"][leg] != way:
            leg = int(self.legs["other"][leg])
        return leg if leg >= 0 else first

    def walltime(self, job: int) -> float:
        """How long the job's waiting or running leg may take."""
        return float(self._walltime[self._leg[self.row(job)]])

    def _flex(self, job: int) -> np.void | None:
        """What is known of a job whose size is not fixed; None of others."""
        flexible, row = self._state.flexible, self.row(job)
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
            raise BadActionError(f"{self.when} asked about {nodes} node(s) for a job; see view.sizes(job)")
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
        return int(self.jobs["nodes"][self.row(job)])

    def time(self, job: int, nodes: int | None = None) -> float:
        """Seconds that the whole job takes with so many nodes, alone on the machine; its walltime if it is rigid."""
        size = self._size(job, nodes)
        return self.walltime(job) if size is None else float(size["seconds"])

    def io(self, job: int, nodes: int | None = None) -> float:
        """Those of them in which it reads or writes."""
        size = self._size(job, nodes)
        return 0.0 if size is None else float(size["io"])

    def nodes_of(self, job: int) -> list[int]:
        """The nodes that the job holds, ascending."""
        row, found = self.row(job), list[int]()
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


class Places(Protocol):
    """Where jobs would go, after what this decision has started."""

    matter: bool  # whether fitting depends on places, not on amounts alone

    def begin(self) -> None: ...
    def fits(self, job: int) -> bool: ...
    def pick(self, nodes: list[int]) -> tuple[int, int]: ...
    def place(self, job: int, nodes: list[int] | None = None, count: int | None = None) -> tuple[int, int]: ...


class Actions:
    """The verbs. The engine checks and carries them out, in order, when the policy returns.

    Examples
    --------
    >>> class Patient(fb.Policy):
    ...     def decide(self, view, act):
    ...         if view.now < 60:
    ...             act.wake(60)
    ...             return
    ...         for job in view.queue:
    ...             if act.fits(job):
    ...                 act.start(job)
    >>> fb.simulate("table1", policy=Patient()).jobs["waiting_time"][0]
    60.0
    """

    def __init__(self, state: State, view: View, places: Places):
        self._view, self._counts, self._actions = view, state.counts[0], state.actions
        self._machine = state.machine[0]
        self._places = places
        self._free = state.resources["free"]
        self._n = 0
        self._left: list[int] | None = None
        # Legs started since `_left` was counted, on how many nodes (-1: as demanded), how many of them large.
        self._uncounted: list[tuple[int, int, int]] = []
        self._held: dict[int, int] = {}  # nodes of jobs that this decision has resized

    def begin(self) -> None:
        """A new decision: forget what the last one started."""
        self._n = 0
        self._left = None
        self._uncounted.clear()
        self._held.clear()
        self._places.begin()

    @property
    def free(self) -> list[int]:
        """What each resource has left after what this decision has started."""
        return self._count_free().copy()

    def _count_free(self) -> list[int]:
        if self._left is None:
            self._left = self._free.tolist()
        for leg, nodes, n_large in self._uncounted:
            demand = self._view.demands[leg].tolist()
            if nodes >= 0:
                demand[0] = nodes
            needs = taken(demand, self._left, int(self._machine["large"]), n_large)
            self._left = [left - need for left, need in zip(self._left, needs, strict=True)]
        self._uncounted.clear()
        return self._left

    def fits(self, job: int, way: int = 0, nodes: int | None = None) -> bool:
        """Whether the job could start now, in that way, with so many nodes, beside what this decision has started."""
        needs = self._view.demands[self._view.leg_of(job, way)].tolist()
        if nodes is not None:
            needs[0] = self._whole(nodes, "a number of nodes")
        for need, left in zip(needs, self._count_free(), strict=True):
            if need > left:
                return False
        return self._places.fits(job) if self._places.matter else True

    def start(
        self, job: int, reason: LogReason = LogReason.NONE, nodes: int | Iterable[int] | None = None, way: int = 0
    ) -> None:
        """Start the job's waiting leg now, on the lowest idle nodes, on as many of them as given, or on those given.

        A job that begins does so in that way, where it has several. Only one whose size is not fixed takes a number.
        """
        row, way = self._view.row(job), self._whole(way, "a way to run")
        count, chosen = self._size_or_set(row, nodes)
        action = self._add(Verb.START, row, reason=self._whole(reason, "a reason"))
        action["way"], action["nodes"] = way, count
        if chosen is not None or self._places.matter:
            action["first_pick"], action["n_picks"] = self._places.place(row, chosen, count or None)
        n_large = -1 if chosen is None else sum(node >= self._machine["first_large"] for node in chosen)
        self._uncounted.append((self._view.leg_of(row, way), count or -1, n_large))

    def resize(self, job: int, nodes: int | Iterable[int]) -> None:
        """Give a running job another size: at once if it stands at a point, else from its next one on.

        Nodes that it gains are taken now; those that it loses are free at its point. Instead of their number, `nodes`
        may be all the nodes that it shall have; away from its point, what it has is then among them.
        """
        row = self._view.row(job)
        count, chosen = self._size_or_set(row, nodes)
        action = self._add(Verb.RESIZE, row)
        if chosen is not None:
            count = len(chosen)
            action["first_pick"], action["n_picks"] = self._places.pick(chosen)
        action["nodes"] = count
        table = self._view.jobs
        held = self._held.get(row, int(table["held"][row]))
        keeps = count if row in self._view.points else max(count, int(table["nodes"][row]))
        left = self._count_free()
        left[0] -= keeps - held
        self._held[row] = keeps

    def kill(self, job: int) -> None:
        """End a job, wherever it is."""
        self._add(Verb.KILL, self._view.row(job))

    def _size_or_set(self, row: int, nodes: int | Iterable[int] | None) -> tuple[int, list[int] | None]:
        """How many nodes, 0 if nothing is said of it, and which."""
        if nodes is None:
            return 0, None
        if isinstance(nodes, int | np.integer):
            count = self._whole(nodes, "a number of nodes")
            if count < 1:
                raise BadActionError(f"{self._view.when} gave {count} as a number of nodes; see view.sizes(job)")
            return count, None
        chosen = self._chosen(nodes)
        return (len(chosen) if len(self._view.sizes(row)) > 1 else 0), chosen

    def _whole(self, value: Any, what: str) -> int:
        try:
            whole = index(value)
        except TypeError:
            raise BadActionError(f"{self._view.when} gave {brief(value)} as {what}; give a whole number") from None
        if not -(2**31) <= whole < 2**31:
            raise BadActionError(f"{self._view.when} gave {brief(value)} as {what}, which is none")
        return whole

    def _chosen(self, nodes: Iterable[int]) -> list[int]:
        """Nodes that a policy names, if it comes to an end with them."""
        most = int(self._view.capacity[0])
        try:
            chosen = list(islice(nodes, most + 1))
        except TypeError:
            raise BadActionError(
                f"{self._view.when} gave {brief(nodes)} as nodes; give a list of their numbers"
            ) from None
        if len(chosen) > most:
            raise BadActionError(f"{self._view.when} picked more than the {most:,} nodes that there are")
        return [self._whole(node, "a node") for node in chosen]

    def wake(self, time: float) -> None:
        """Be called at `time` even if nothing happens then."""
        try:
            seconds = float(time)
        except (TypeError, ValueError):
            raise BadActionError(
                f"{self._view.when} asked to be woken at {brief(time)}; give seconds, such as view.now + 60"
            ) from None
        self._add(Verb.WAKE, -1)["time"] = seconds

    def reject(self, job: int) -> None:
        """Turn a waiting job away for good."""
        self._add(Verb.REJECT, self._view.row(job))

    def stop(self) -> None:
        """End the run: the policy cannot go on."""
        self._n = 0
        self._add(Verb.STOP, -1)

    def _add(self, verb: int, job: int, reason: int = LogReason.NONE) -> np.void:
        """The next row. When the table is full it is the last, again and again: the engine then refuses the run."""
        at = min(self._n, len(self._actions) - 1)
        self._actions[at] = (0.0, job, 0, 0, 0, -1, 0, verb, reason)
        self._n += 1
        self._counts["n_actions"] = self._n
        row: np.void = self._actions[at]
        return row
