"""What ElastiSim's algorithms import and are handed: jobs, nodes and their states, in its words."""

from collections.abc import Iterable
from enum import Enum
from typing import Any

from forebay.elastisim.job import JobFacts
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

    PENDING = 1
    RUNNING = 4
    PENDING_RECONFIGURATION = 5
    IN_RECONFIGURATION = 6
    COMPLETED = 7
    KILLED = 8


class NodeState(Enum):
    """Whose a node is."""

    FREE = 0
    ALLOCATED = 1
    RESERVED = 2


class NodeType(Enum):
    """What a node has."""

    COMPUTE_NODE = 0
    COMPUTE_NODE_WITH_BB = 1
    COMPUTE_NODE_WIDE_STRIPED_BB = 2


class GpuState(Enum):
    """Whether a GPU is at work."""

    FREE = 0
    ALLOCATED = 1


class Gpu:
    """A GPU of a node. Jobs have whole nodes, so it is as free as its node."""

    def __init__(self, identifier: int, node: "Node") -> None:
        self.identifier, self._node = identifier, node

    @property
    def state(self) -> GpuState:
        """Whether its node runs a job."""
        return GpuState.ALLOCATED if self._node.state is NodeState.ALLOCATED else GpuState.FREE


class _Numbered:
    """Equal, ordered and hashed by number, as ElastiSim's users rely on."""

    identifier: int

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.identifier == self.identifier

    def __hash__(self) -> int:
        return self.identifier

    def __lt__(self, other: "_Numbered") -> bool:
        return self.identifier < other.identifier


class Node(_Numbered):
    """A node as algorithms see it."""

    def __init__(self, identifier: int, kind: NodeType = NodeType.COMPUTE_NODE, gpus: int = 0) -> None:
        self.identifier, self.type = identifier, kind
        self.gpus = [Gpu(k, self) for k in range(gpus)]
        self.pass_to(None)

    def pass_to(self, job: "Job | None", state: NodeState = NodeState.FREE) -> None:
        """Let it have another state; `job` is who runs on it."""
        self.state = state
        self.assigned_jobs: list[Job] = [] if job is None else [job]
        self.assigned_job_ids: set[int] = set() if job is None else {job.identifier}

    def __repr__(self) -> str:
        return f"<Node {self.identifier}: {self.state.name.lower()}>"


class Job(_Numbered):
    """A job as algorithms see it. `assign`, `remove` and `kill` note what is to be done, and add it to `changed`."""

    def __init__(self, identifier: int, facts: JobFacts, submit_time: float, changed: "list[Job]") -> None:
        self.identifier, self._changed = identifier, changed
        self.type, self.state = JobType[facts.type.upper()], JobState.PENDING
        rigid = self.type is JobType.RIGID
        self.submit_time, self.walltime = submit_time, facts.walltime
        self.num_nodes = facts.least if rigid else None
        self.num_nodes_min = None if rigid else facts.least
        self.num_nodes_max = None if rigid else facts.most
        self.num_gpus_per_node = facts.gpus if rigid else None
        self.num_gpus_per_node_min = self.num_gpus_per_node_max = None if rigid else facts.gpus
        self.arguments, self.attributes = dict(facts.arguments), dict(facts.attributes)
        self.runtime_arguments: dict[str, str] = {}
        self.start_time = self.end_time = self.wait_time = self.makespan = self.turnaround_time = -1.0
        self.assigned_nodes: list[Node] = []  # from its start, or its next point, on
        self.assigned_node_ids: set[int] = set()
        self.assigned_num_gpus_per_node = facts.gpus if rigid else 0
        self.total_phase_count, self.completed_phases = facts.rounds, 0
        self.modified = self.kill_flag = False

    def __repr__(self) -> str:
        return f"<Job {self.identifier}: {self.type.name.lower()}, {self.state.name.lower()}>"

    def _note(self) -> None:
        if not self.modified:
            self.modified = True
            self._changed.append(self)

    def assign(self, nodes: Node | Iterable[Node]) -> None:
        """Give it nodes: to start on or, while it runs, in addition to those it has."""
        self._refuse_killed()
        new = [node for node in _each(nodes) if node.identifier not in self.assigned_node_ids]
        self.assigned_nodes.extend(new)
        self.assigned_node_ids.update(node.identifier for node in new)
        self._note()

    def remove(self, nodes: Node | Iterable[Node]) -> None:
        """Take nodes from it; those that it does not have are passed over."""
        self._refuse_killed()
        self.assigned_node_ids -= {node.identifier for node in _each(nodes)}
        self.assigned_nodes = [node for node in self.assigned_nodes if node.identifier in self.assigned_node_ids]
        self._note()

    def _refuse_killed(self) -> None:
        if self.kill_flag:
            raise RuntimeError(f"{self!r} is to be killed; its nodes cannot be changed")

    def kill(self) -> None:
        """End it."""
        self.kill_flag = True
        self._note()

    def assign_num_gpus_per_node(self, number: int) -> None:
        """How many of its nodes' GPUs it uses: there is one number that it may have."""
        wanted = self.num_gpus_per_node if self.type is JobType.RIGID else self.num_gpus_per_node_max
        if number != wanted:
            raise BadActionError(f"the algorithm gave {self!r} {number} GPUs of each node; it has {wanted}")
        self.assigned_num_gpus_per_node = number

    def update_runtime_argument(self, name: str, value: Any) -> None:
        """Refused: what tasks take is worked out when a project is read."""
        raise BadActionError(f"the algorithm set the runtime argument {name!r} of {self!r}; that is not supported")


def _each(nodes: Node | Iterable[Node]) -> list[Node]:
    return [nodes] if isinstance(nodes, Node) else list(nodes)
