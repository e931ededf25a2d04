"""ElastiSim's scheduling algorithms as policies: `schedule(jobs, nodes, system)` is called once an event, in order.

ElastiSim calls its scheduler for one event at a time, and each call sees what those before it have changed. forebay
decides once an instant. So the events of an instant are replayed here one by one, on jobs and nodes of the kind that
algorithms know.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forebay.core.codes import JobState as State
from forebay.core.codes import Trigger
from forebay.elastisim.interface import InvocationType, Job, JobState, JobType, Node, NodeState, NodeType
from forebay.elastisim.platform import Machine
from forebay.errors import BadActionError
from forebay.platforms.tiers import node_local

if TYPE_CHECKING:
    from forebay.elastisim.project import Project

Schedule = Callable[[list[Job], list[Node], dict[str, Any]], Any]
Event = tuple[InvocationType, int]
_KILLS, _OTHERS, _SUBMITS = range(3)
_RUNNING, _COMPLETED = State.RUNNING.value, State.COMPLETED.value
_AT_POINT = (InvocationType.INVOKE_SCHEDULING_POINT, InvocationType.INVOKE_EVOLVING_REQUEST)
_RECONFIGURED = InvocationType.INVOKE_RECONFIGURATION
_ENDS = (InvocationType.INVOKE_JOB_COMPLETED, InvocationType.INVOKE_JOB_KILLED)


@dataclass
class _Run:
    """A job that runs."""

    nodes: set[Node]
    turn: int  # when its processes were last started, counted: so are events of one time ordered
    promised: set[Node] | None = None  # what it will have from its next point on, if that is another set


class Algorithm:
    """A policy that asks an ElastiSim algorithm about a project.

    With `senses` it looks at the file system at the project's sensing intervals: `samples` then has the times, and the
    bytes/s read and written.
    """

    resizes = True

    def __init__(self, schedule: Schedule, project: "Project", senses: bool = False) -> None:
        self._schedule, self._facts, self._machine = schedule, project.facts, project.machine
        self._calls, self._interval = project.configuration.calls, project.configuration.interval
        self._io_information = project.configuration.io_information
        self._sensing = project.configuration.sensing if senses else 0
        self._doors = project.machine.doors
        self.samples: list[tuple[float, float, float]] = []

    def setup(self, view: Any) -> None:
        """Begin a run: all nodes free, no job known."""
        gpus = self._machine.gpus.count if self._machine.gpus else 0
        self._nodes = [Node(k, _node_type(self._machine), gpus) for k in range(int(view.capacity[0]))]
        self._jobs: list[Job] = []  # all that have been submitted; a job's number is its row
        self._changed: list[Job] = []  # by the present call
        self._running: dict[int, _Run] = {}
        self._n_turns = 0
        self._next_call = self._interval
        self._next_sample = 0
        self.samples = []

    def decide(self, view: Any, act: Any) -> None:
        """Replay the events of this instant."""
        self._sense(view)
        if self._interval and view.now >= self._next_call:
            self._next_call += self._interval
            self._call(view, act, InvocationType.INVOKE_PERIODIC, None)
        for why, row in self._events(view):
            self._happen(view, why, row)
            if why in self._calls:
                self._call(view, act, why, row)
            elif why in _AT_POINT and self._pass_point(act, row) and _RECONFIGURED in self._calls:
                self._call(view, act, _RECONFIGURED, row)
        if self._interval:
            act.wake(self._next_call)
        if self._sensing:
            act.wake(self._next_sample)

    def _sense(self, view: Any) -> None:
        while self._sensing and view.now >= self._next_sample:
            self.samples.append((float(self._next_sample), *self._carried(view)))
            self._next_sample += self._sensing

    def _carried(self, view: Any) -> tuple[float, float]:
        """Bytes/s that are read from the file system and written to it. Where no job moves any, there are no links."""
        rates = view.rates.tolist()
        read, write = (sum((rates[k] for k in links), 0.0) if rates else 0.0 for links in self._doors)
        return read, write

    def _events(self, view: Any) -> list[Event]:
        """What has happened, as ElastiSim orders it: kills; ends, points, requests by who started first; arrivals."""
        found: list[tuple[tuple[int, int], InvocationType, int]] = []
        if view.triggers == Trigger.WAKE:
            return []
        if view.because(Trigger.JOB_ENDED):
            state = view.jobs["state"]
            for row, run in self._running.items():
                if state[row] != _RUNNING:
                    killed = bool(state[row] != _COMPLETED)
                    found.append(((_KILLS if killed else _OTHERS, run.turn), _ENDS[killed], row))
        for row in view.points:
            found.append(((_OTHERS, self._running[row].turn), _AT_POINT[view.wants(row) > 0], row))
        if view.because(Trigger.SUBMIT):
            for row in view.queue[::-1].tolist():
                if row < len(self._jobs):
                    break
                found.append(((_SUBMITS, row), InvocationType.INVOKE_JOB_SUBMIT, row))
        found.sort(key=lambda event: event[0])
        return [(why, row) for _, why, row in found]

    def _happen(self, view: Any, why: InvocationType, row: int) -> None:
        """Let the algorithm's jobs and nodes know of an event."""
        if why is InvocationType.INVOKE_JOB_SUBMIT:
            self._submit(view, row)
        elif why in _ENDS:
            state = JobState.COMPLETED if why is _ENDS[0] else JobState.KILLED
            self._end(row, state, float(view.jobs["finish"][row]))
        else:
            self._jobs[row].completed_phases = round(view.done(row) * self._jobs[row].total_phase_count)

    def _submit(self, view: Any, row: int) -> None:
        while len(self._jobs) <= row:
            at = len(self._jobs)
            self._jobs.append(Job(at, self._facts[at], float(view.jobs["submit"][at]), self._changed))
            if at < row:  # too large for the machine: turned away, and here to keep the numbers right
                self._jobs[at].state = JobState.KILLED

    def _end(self, row: int, state: JobState, time: float) -> None:
        job, run = self._jobs[row], self._running.pop(row, None)
        job.state, job.end_time, job.turnaround_time = state, time, time - job.submit_time
        if run is not None:
            job.makespan = time - job.start_time
            _free(run.nodes | (run.promised or set()))
        if state is JobState.COMPLETED:
            job.completed_phases = job.total_phase_count

    def _call(self, view: Any, act: Any, why: InvocationType, row: int | None) -> None:
        """Ask the algorithm, and carry out what it notes on jobs."""
        system: dict[str, Any] = {"time": view.now, "invocation_type": why}
        if row is not None:
            system |= {"job": self._jobs[row], "job_id": row}
        if why is InvocationType.INVOKE_EVOLVING_REQUEST:
            system["evolving_request"] = view.wants(row)
        if self._io_information:
            system["pfs_read_bw"], system["pfs_write_bw"] = self._machine.file_system
            system["pfs_read_utilization"], system["pfs_write_utilization"] = self._carried(view)
        self._schedule(self._jobs, self._nodes, system)
        changed = sorted(self._changed)
        self._changed.clear()
        for job in changed:
            job.modified = False
            if job.kill_flag:
                act.kill(job.identifier)
                self._end(job.identifier, JobState.KILLED, view.now)  # no call follows from what it did itself
            elif job.state is not JobState.PENDING:
                self._promise(job)
        if row is not None and why in _AT_POINT:
            self._pass_point(act, row)
        for job in changed:  # the last, for they may have been given nodes that others have lost in this call
            if job.state is JobState.PENDING:
                self._start(view, act, job)

    def _wanted(self, job: Job, mine: set[Node]) -> set[Node]:
        """The nodes that the algorithm gives a job, if it may have them; `mine` are those that it has already."""
        wanted = set(job.assigned_nodes)
        taken = next((node for node in wanted - mine if node.state is not NodeState.FREE), None)
        if taken is not None:
            raise BadActionError(f"the algorithm assigned {taken!r} to {job!r}, and it is not free")
        least, most = self._facts[job.identifier].least, self._facts[job.identifier].most
        if not least <= len(wanted) <= most:
            sizes = f"{least}" if least == most else f"{least} to {most}"
            raise BadActionError(f"the algorithm gave {job!r} {len(wanted)} of the nodes; it may have {sizes}")
        return wanted

    def _start(self, view: Any, act: Any, job: Job) -> None:
        wanted = self._wanted(job, set())
        act.start(job.identifier, nodes=[node.identifier for node in wanted])
        job.state, job.start_time, job.wait_time = JobState.RUNNING, view.now, view.now - job.submit_time
        self._running[job.identifier] = _Run(wanted, self._next_turn())
        for node in wanted:
            node.pass_to(job, NodeState.ALLOCATED)

    def _promise(self, job: Job) -> None:
        """Note what a job will have from its next point on. What it gains is reserved from now on."""
        run = self._running.get(job.identifier)
        if run is None or job.type in (JobType.RIGID, JobType.MOLDABLE):
            raise BadActionError(f"the algorithm changed the nodes of {job!r}; it can change those of jobs that run "
                                 "and are malleable, evolving or adaptive")  # fmt: skip
        before = run.promised or run.nodes
        wanted = self._wanted(job, run.nodes | before)
        _free(before - wanted - run.nodes)
        for node in wanted - run.nodes:
            node.pass_to(None, NodeState.RESERVED)
        run.promised = wanted if wanted != run.nodes else None
        job.state = JobState.RUNNING if run.promised is None else JobState.PENDING_RECONFIGURATION

    def _pass_point(self, act: Any, row: int) -> bool:
        """Let a job leave its point, with what was promised to it; returns whether that is another size."""
        run = self._running.get(row)
        if run is None:  # killed there
            return False
        run.turn = self._next_turn()
        if run.promised is None:
            return False
        act.resize(row, nodes=[node.identifier for node in run.promised], again=False)
        _free(run.nodes - run.promised)
        for node in run.promised:
            node.pass_to(self._jobs[row], NodeState.ALLOCATED)
        run.nodes, run.promised = run.promised, None
        self._jobs[row].state = JobState.RUNNING
        return True

    def _next_turn(self) -> int:
        self._n_turns += 1
        return self._n_turns


def _node_type(machine: Machine) -> NodeType:
    if machine.striped:
        return NodeType.COMPUTE_NODE_WIDE_STRIPED_BB
    has_buffer = any(isinstance(tier, node_local.Tier) for tier in machine.platform.tiers)
    return NodeType.COMPUTE_NODE_WITH_BB if has_buffer else NodeType.COMPUTE_NODE


def _free(nodes: Iterable[Node]) -> None:
    for node in nodes:
        node.pass_to(None)
