"""ElastiSim's scheduling algorithms as policies: `schedule(jobs, nodes, system)` is called once an event, in order.

ElastiSim calls its scheduler for one event at a time, and each call sees what those before it have changed. forebay
decides once an instant. So the events of an instant are replayed here one by one, on jobs and nodes of the kind that
algorithms know.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any

from forebay.core.codes import JobState as State
from forebay.errors import BadActionError


class InvocationType(Enum):
    """Why an algorithm is called."""

    INVOKE_PERIODIC = 0
    INVOKE_JOB_SUBMIT = 1
    INVOKE_JOB_COMPLETED = 2
    INVOKE_JOB_KILLED = 3
    INVOKE_SCHEDULING_POINT = 4
    INVOKE_EVOLVING_REQUEST = 5
    INVOKE_RECONFIGURATION = 6


class JobType(Enum):
    """Who decides on a job's size."""

    RIGID = 0
    MOLDABLE = 1
    MALLEABLE = 2
    EVOLVING = 3
    ADAPTIVE = 4


class JobState(Enum):
    """Where a job is in its life."""

    PENDING = 0
    RUNNING = 1
    PENDING_RECONFIGURATION = 2
    IN_RECONFIGURATION = 3
    COMPLETED = 4
    KILLED = 5


class NodeState(Enum):
    """Whose a node is."""

    FREE = 0
    ALLOCATED = 1
    RESERVED = 2


class NodeType(Enum):
    """What a node has."""

    COMPUTE_NODE = 0
    COMPUTE_NODE_WITH_BB = 1
    COMPUTE_NODE_WITH_WIDE_STRIPED_BB = 2


class Node:
    """A node as algorithms see it."""

    def __init__(self, identifier: int, kind: NodeType = NodeType.COMPUTE_NODE) -> None:
        self.identifier, self.type = identifier, kind
        self.state = NodeState.FREE
        self.assigned_jobs: list[Job] = []
        self.assigned_job_ids: list[int] = []
        self.gpus: list[Any] = []

    def __repr__(self) -> str:
        return f"<Node {self.identifier}: {self.state.name.lower()}>"


class Job:
    """A job as algorithms see it. `assign`, `remove` and `kill` note what is to be done."""

    def __init__(self, identifier: int, kind: JobType, told: dict[str, Any]) -> None:
        self.identifier, self.type, self.state = identifier, kind, JobState.PENDING
        self.submit_time: float = told["submit_time"]
        self.walltime: float = told["walltime"]
        self.num_nodes: int | None = told["num_nodes"]
        self.num_nodes_min: int | None = told["num_nodes_min"]
        self.num_nodes_max: int | None = told["num_nodes_max"]
        self.arguments: dict[str, Any] = told.get("arguments", {})
        self.attributes: dict[str, Any] = told.get("attributes", {})
        self.runtime_arguments: dict[str, Any] = {}
        self.start_time = self.end_time = self.wait_time = self.makespan = self.turnaround_time = -1.0
        self.assigned_nodes: set[Node] = set()
        self.assigned_num_gpus_per_node = 0
        self.total_phase_count: int = told.get("total_phase_count", 0)
        self.completed_phases = 0
        self.wanted: set[Node] | None = None  # what it is to have from its start, or its next point, on
        self.kill_flag = False

    def __repr__(self) -> str:
        return f"<Job {self.identifier}: {self.type.name.lower()}, {self.state.name.lower()}>"

    @property
    def assigned_node_ids(self) -> set[int]:
        """The numbers of its nodes."""
        return {node.identifier for node in self.assigned_nodes}

    def _now_wanted(self) -> set[Node]:
        if self.wanted is None:
            self.wanted = set(self.assigned_nodes)
        return self.wanted

    def assign(self, nodes: "Node | Iterable[Node]") -> None:
        """Give it nodes: to start on or, while it runs, in addition to those it has."""
        self._now_wanted().update(_each(nodes))

    def remove(self, nodes: "Node | Iterable[Node]") -> None:
        """Take nodes from it."""
        for node in _each(nodes):
            if node not in self._now_wanted():
                raise BadActionError(f"the algorithm removed {node!r} from {self!r}, which does not have it")
            self._now_wanted().discard(node)

    def assign_num_gpus_per_node(self, number: int) -> None:
        """How many of its nodes' GPUs it uses."""
        self.assigned_num_gpus_per_node = number

    def kill(self) -> None:
        """End it."""
        self.kill_flag = True

    def update_runtime_argument(self, name: str, value: Any) -> None:
        """Refused: what tasks take is worked out when a project is read."""
        raise BadActionError(f"the algorithm set the runtime argument {name!r} of {self!r}; that is not supported")


def _is_free(node: Node) -> bool:
    return node.state is NodeState.FREE


def _each(nodes: "Node | Iterable[Node]") -> list[Node]:
    return [nodes] if isinstance(nodes, Node) else list(nodes)


Schedule = Callable[[list[Job], list[Node], dict[str, Any]], Any]
_KILLS, _OTHERS, _SUBMITS = range(3)


class Algorithm:
    """A policy that asks an ElastiSim algorithm. `told` has what each job's file says, in the order of the workload."""

    resizes = True

    def __init__(
        self,
        schedule: Schedule,
        told: Sequence[dict[str, Any]],
        interval: float = 0.0,
        calls: frozenset[InvocationType] = frozenset(InvocationType),
        node_type: NodeType = NodeType.COMPUTE_NODE,
    ) -> None:
        self._schedule, self._told, self._interval, self._calls = schedule, told, interval, calls
        self._node_type = node_type

    def setup(self, view: Any) -> None:
        """Begin a run: all nodes free, no job known."""
        self._nodes = [Node(k, self._node_type) for k in range(int(view.capacity[0]))]
        self._jobs: dict[int, Job] = {}  # submitted and not ended, by row
        self._promised: dict[int, set[Node]] = {}  # what running jobs will have from their next point on
        self._known: set[int] = set()  # those of them that the engine has been told of
        self._turn: dict[int, int] = {}  # when a job's processes were last started, counted
        self._n_turns = 0
        self._next = self._interval

    def decide(self, view: Any, act: Any) -> None:
        """Replay the events of this instant."""
        events = self._events(view)
        if self._interval > 0 and view.now >= self._next:
            self._call(view, act, InvocationType.INVOKE_PERIODIC, None)
            self._next = view.now + self._interval
        for why, row in events:
            self._happen(view, why, row)
            if why in self._calls:
                self._call(view, act, why, row)
            self._settle(view, act, why, row)
            self._forget(why, row)
        if self._interval > 0 and self._jobs:
            act.wake(self._next)

    def _events(self, view: Any) -> list[tuple[InvocationType, int]]:
        """What has happened, as ElastiSim orders it: kills; ends, points, requests by who started first; arrivals."""
        found: list[tuple[tuple[int, int], InvocationType, int]] = []
        state = view.jobs["state"]
        for row, job in self._jobs.items():
            if job.state is JobState.PENDING or state[row] == State.RUNNING:
                continue
            killed = state[row] != State.COMPLETED
            why = InvocationType.INVOKE_JOB_KILLED if killed else InvocationType.INVOKE_JOB_COMPLETED
            found.append(((_KILLS if killed else _OTHERS, self._turn[row]), why, row))
        for row in view.points:
            asks = view.wants(row) > 0
            why = InvocationType.INVOKE_EVOLVING_REQUEST if asks else InvocationType.INVOKE_SCHEDULING_POINT
            found.append(((_OTHERS, self._turn[row]), why, row))
        for row in view.queue.tolist():
            if row not in self._jobs:
                found.append(((_SUBMITS, row), InvocationType.INVOKE_JOB_SUBMIT, row))
        return [(why, row) for _, why, row in sorted(found, key=lambda event: event[0])]

    def _happen(self, view: Any, why: InvocationType, row: int) -> None:
        """Let the algorithm's jobs and nodes know of an event."""
        if why is InvocationType.INVOKE_JOB_SUBMIT:
            told = self._told[row] | {"submit_time": float(view.jobs["submit"][row])}
            self._jobs[row] = Job(int(view.jobs["id"][row]), JobType[view.flexibility(row).name], told)
            return
        job = self._jobs[row]
        if why in (InvocationType.INVOKE_JOB_COMPLETED, InvocationType.INVOKE_JOB_KILLED):
            ended = why is InvocationType.INVOKE_JOB_COMPLETED
            job.state = JobState.COMPLETED if ended else JobState.KILLED
            job.end_time = float(view.jobs["finish"][row])
            job.makespan, job.turnaround_time = job.end_time - job.start_time, job.end_time - job.submit_time
            self._release(job, self._promised.pop(row, set()) | job.assigned_nodes)
            job.assigned_nodes = set()

    def _release(self, job: Job, nodes: Iterable[Node]) -> None:
        for node in nodes:
            node.state, node.assigned_jobs, node.assigned_job_ids = NodeState.FREE, [], []

    def _hold(self, job: Job, nodes: Iterable[Node], state: NodeState) -> None:
        for node in nodes:
            node.state, node.assigned_jobs, node.assigned_job_ids = state, [job], [job.identifier]

    def _call(self, view: Any, act: Any, why: InvocationType, row: int | None) -> None:
        """Ask the algorithm, and carry out what it notes on jobs."""
        system = {"time": view.now, "invocation_type": why}
        if row is not None:
            system["job"] = self._jobs[row]
        if why is InvocationType.INVOKE_EVOLVING_REQUEST:
            assert row is not None
            system["evolving_request"] = view.wants(row)
        rows = sorted(self._jobs)
        self._schedule([self._jobs[each] for each in rows], self._nodes, system)
        changed = {each: job.wanted for each in rows if (job := self._jobs[each]).wanted is not None}
        # Who loses nodes comes first: others may have been given them in the same call.
        for each in sorted(changed, key=lambda each: (self._jobs[each].state is JobState.PENDING, each)):
            self._change(view, act, each, changed[each] or set())
        for each in rows:
            if self._jobs[each].kill_flag:
                self._kill(view, act, each)

    def _change(self, view: Any, act: Any, row: int, wanted: set[Node]) -> None:
        job = self._jobs[row]
        job.wanted = None
        taken = [node for node in wanted - job.assigned_nodes - self._promised.get(row, set()) if not _is_free(node)]
        if taken:
            raise BadActionError(f"the algorithm assigned {taken[0]!r} to {job!r}, and it is not free")
        if job.state is JobState.PENDING:
            if not wanted:
                return
            act.start(row, nodes=[node.identifier for node in wanted])
            job.state, job.start_time = JobState.RUNNING, view.now
            job.wait_time = job.start_time - job.submit_time
            job.assigned_nodes = wanted
            self._hold(job, wanted, NodeState.ALLOCATED)
            self._turn[row], self._n_turns = self._n_turns, self._n_turns + 1
            return
        if job.state is not JobState.RUNNING and job.state is not JobState.PENDING_RECONFIGURATION:
            raise BadActionError(f"the algorithm changed the nodes of {job!r}, which does not run")
        before = self._promised.pop(row, job.assigned_nodes)
        told = row in self._known
        self._known.discard(row)
        self._release(job, before - wanted - job.assigned_nodes)
        if wanted == job.assigned_nodes:
            job.state = JobState.RUNNING
            if told:
                act.resize(row, nodes=[node.identifier for node in wanted])
            return
        self._promised[row], job.state = wanted, JobState.PENDING_RECONFIGURATION
        self._hold(job, wanted - job.assigned_nodes, NodeState.RESERVED)
        if row in view.points or wanted > job.assigned_nodes:
            act.resize(row, nodes=[node.identifier for node in wanted])
            self._known.add(row)
        if row in view.points:  # what it gives up can be given to others at once
            self._release(job, job.assigned_nodes - wanted)

    def _kill(self, view: Any, act: Any, row: int) -> None:
        """No call follows from what the algorithm did itself."""
        job = self._jobs.pop(row)
        act.kill(row)
        self._release(job, self._promised.pop(row, set()) | job.assigned_nodes)
        job.state, job.end_time, job.assigned_nodes = JobState.KILLED, view.now, set()

    def _settle(self, view: Any, act: Any, why: InvocationType, row: int) -> None:
        """What was promised to a job comes true at its point, whatever was said there."""
        at_point = (InvocationType.INVOKE_SCHEDULING_POINT, InvocationType.INVOKE_EVOLVING_REQUEST)
        if why not in at_point or row not in self._promised or row not in self._jobs:
            return
        job, wanted = self._jobs[row], self._promised.pop(row)
        if row not in self._known:
            act.resize(row, nodes=[node.identifier for node in wanted])
            self._release(job, job.assigned_nodes - wanted)
        self._known.discard(row)
        self._hold(job, wanted, NodeState.ALLOCATED)
        job.assigned_nodes, job.state = wanted, JobState.RUNNING
        self._turn[row], self._n_turns = self._n_turns, self._n_turns + 1

    def _forget(self, why: InvocationType, row: int) -> None:
        if why in (InvocationType.INVOKE_JOB_COMPLETED, InvocationType.INVOKE_JOB_KILLED):
            self._jobs.pop(row, None)
