"""The slow twin of a run whose nodes fail, and whose jobs write checkpoints, start again and are interrupted.

Written from the specification alone. A leg that writes checkpoints is a generator of pieces of work, told how long each
of them took; what is lost is whatever it did since the last checkpoint that was complete. Nodes are carried from leg to
leg in no workload here: who keeps a node that has failed is nobody's question.
"""

import math
from dataclasses import replace
from types import SimpleNamespace

from twins.backfill import PRESETS, Backfill
from twins.careful import Careful, drawn
from twins.jobs import KILLED, TOO_LONG
from twins.network import fill
from twins.run import Stream
from twins.times import before

FAILED = "COMPLETED_FAILED"
BUFFER = ("stage_in", "checkpoint", "drain", "stage_out", "fetch")
URGENCY = {"next leg": 0, "interrupted": 1, "node_down": 2}
WHY = {"": "completed", TOO_LONG: "walltime", KILLED: "cancelled"}


class Failing(Backfill):
    """A run under the parameters of a backfilling policy, with failures and interrupts."""

    kind_of_job = Careful

    def __init__(self, workload, platform, policy, failures, job_model="io-aware", seed=0):
        super().__init__(workload, platform, policy, job_model)
        self.failures, self.down, self.log, self.interrupts = failures, {}, [], 0
        turns = self.turns
        self.turns = {
            "phase": turns["phase"], "kill": turns["kill"], "repair": self.repair, "failure": self.fail,
            "submit": turns["submit"], "cancel": turns["cancel"], "wake": lambda _: True,
        }  # fmt: skip
        for job in self.jobs:
            job.rules = [self.rule(leg) for leg in job.legs]
        self.draws = iter(())
        if failures.outages is not None:
            known = failures.outages
            for node, time, until in zip(known.node, known.down, known.up, strict=True):
                self.event(float(time), "failure", None, ("node", int(node), float(until)))
        elif failures.machine_mtbf(platform.nodes) < math.inf:
            self.draws = drawn(failures, platform.nodes, seed)
            self.draw()

    def draw(self):
        """The next failure, if they are drawn."""
        for time, u, downtime in self.draws:
            self.event(time, "failure", None, ("u", u, time + downtime))
            return

    def rule(self, leg):
        """How a leg saves itself; None if it does not."""
        rule, n = self.failures, leg.demand[0]
        if not rule.writes or n == 0 or any(phase.kind in BUFFER for phase in leg.phases):
            return None
        save, recover = rule.checkpoint, rule.recovery
        if rule.checkpoint_bytes:
            save = self.alone("write", rule.checkpoint_bytes * n, n)
            recover = self.alone("read", rule.checkpoint_bytes * n, n)
        recover = save if recover < 0 else recover
        own = self.failures.machine_mtbf(self.space.n_nodes) * self.space.n_nodes / n
        return SimpleNamespace(period=rule.period or math.sqrt(2 * save * own), save=save, recover=recover, nodes=n)

    def alone(self, kind, total, n):
        """How long a transfer takes if nobody else moves anything."""
        streams = self.network.streams(kind, total, list(range(n)), n, [])
        rates = fill(self.network.of, [(cap, links) for _, cap, links in streams])
        return max(amount / rate for (amount, *_), rate in zip(streams, rates, strict=True))

    def finished(self):
        """Until the last job has ended, or until nothing can bring a waiting one forward."""
        while self.open():
            if not self.running and all(event.kind == "failure" for event in self.events):
                break
            self.instant()
        return self

    def open(self):
        """Whether any job has not ended; with the last end, all is over."""
        return any(not job.state for job in self.jobs)

    def note(self, time, kind, job, reason="none", amount=0):
        """A row of the log."""
        self.log.append((time, kind, None if job is None else job.id, reason, amount))

    def plan(self, now):
        """With the nodes that will be back."""
        plan, space = super().plan(now), self.space
        for node, until in self.down.items():
            if self.failures.known and until < math.inf:
                plan.returns.append((until, space.amounts([node], [0] * (space.R - 1), [0] * space.S)))
        return plan

    # Nodes

    def fail(self, event):
        """A node is gone, after the job that has it has given back all its nodes."""
        how, which, until = event.phase
        self.draw()
        up = sorted(set(range(self.space.n_nodes)) - set(self.down))
        if (not up and how == "u") or not self.open():
            return False
        node = up[math.floor(which * len(up))] if how == "u" else which
        if node in self.down:
            self.stay_down(node, until)
            return False
        for job in [job for job in self.running if node in job.nodes]:
            self.interrupted(job, event.time, "node_down")
        self.idle.remove(node)
        self.down[node] = until
        self.note(event.time, "node_down", None, amount=node)
        if until < math.inf:
            self.event(until, "repair", None, node)
        return True

    def stay_down(self, node, until):
        """Until the later of two repairs; among nodes that are back at once it is the last."""
        self.events = [event for event in self.events if (event.kind, event.phase) != ("repair", node)]
        self.down[node] = max(until, self.down[node])
        if self.down[node] < math.inf:
            self.event(self.down[node], "repair", None, node)

    def repair(self, event):
        """A node is back."""
        if not self.open():
            return False
        self.idle.add(event.phase)
        del self.down[event.phase]
        self.note(event.time, "node_up", None, amount=event.phase)
        return True

    # Legs that save themselves

    def start(self, job, now, place):
        """Start a leg, from where it is safe."""
        job.asked, job.leaves, job.worked, job.at = "", math.inf, 0.0, job.safe or (0, 0.0)
        job.deadline, job.urgency, job.step = now + job.walltime, 0, ""
        job.life = None if job.rule is None else self.pieces(job)
        self.note(now, "start", job, "start", len(place.nodes))
        super().start(job, now, place)
        if job.step == "recover":
            self.hold_clock(job)

    def pieces(self, job):
        """What a leg does: (what, phase, seconds if it may be cut)."""
        phases, period = job.legs[job.leg].phases, job.rule.period
        if job.safe:
            yield "recover", None, None
        while job.at[0] < len(phases):
            due = not before(job.worked, period) or (job.asked == "now" and job.worked > 0)
            if due and not (self.kill and not before(job.step_began, job.deadline)):
                yield "save", None, None
            index, done = job.at
            left = self.left(job)
            if left is None:
                took = yield "work", index, None
                through = True
            else:
                rest = period - job.worked
                took = yield "work", index, min(left, rest) if rest > 0 else left
                through = not before(took, left)
            job.worked += took
            job.at = (index + 1, 0.0) if through else (index, done + (1 - done) * took / left)

    def to_do(self, job, index):
        """Of the phase that a leg was safe in, the rest."""
        phase = super().to_do(job, index)
        if job.life is None or job.at[1] == 0:
            return phase
        rest = 1 - job.at[1]
        return replace(phase, seconds=phase.seconds * rest, communication=phase.communication * rest)

    def left(self, job):
        """Seconds left of a phase that can be cut: of computing, with messages only if nobody else has their links."""
        phase = self.to_do(job, job.at[0])
        if phase.kind != "compute":
            return None
        if phase.communication == 0 or len(job.nodes) == 1:
            return phase.seconds
        total, cap, links = self.network.talk(phase.communication, job.nodes, phase.seconds)
        return None if links else total / cap

    def begin_phases(self, job, time):
        """Go on; True if the leg is over."""
        if job.life is None:
            return super().begin_phases(job, time)
        return self.go_on(job, time, None)

    def go_on(self, job, time, took):
        """The next piece, now that the one before is through; True if there is none."""
        job.step_began = time
        try:
            job.step, index, seconds = job.life.send(took)
        except StopIteration:
            job.blocking = None
            return True
        job.blocking = job.step if index is None else index
        if job.step == "work" and seconds is None:
            self.begin(job, index, time)
        elif job.step == "work":
            job.active[index] = 1
            self.event(time + seconds, "phase", job, index)
        else:
            self.note(time, "begin_phase", job, job.step)
            self.hold_clock(job)
            self.move(job, time)
        return False

    def move(self, job, time):
        """Write a checkpoint, or read it back."""
        rule, bytes_ = job.rule, self.failures.checkpoint_bytes * job.rule.nodes
        kind, seconds = ("write", rule.save) if job.step == "save" else ("read", rule.recover)
        streams = [] if not bytes_ else self.network.streams(kind, bytes_, job.nodes, rule.nodes, [])
        job.active[job.step] = max(1, len(streams))
        if not streams:
            self.event(time + seconds, "phase", job, job.step)
        for total, cap, links in streams:
            if links:
                self.streams.append(Stream(job, job.step, total, total, cap, links))
            else:
                self.event(time + total / cap, "phase", job, job.step)

    def hold_clock(self, job):
        """Walltime counts work only: nobody is killed while it saves itself or recovers."""
        self.events = [event for event in self.events if (event.kind, event.job) != ("kill", job)]

    def end_phase(self, event):
        """A piece is through."""
        job = event.job
        if job.life is None:
            return super().end_phase(event)
        job.active[event.phase] -= 1
        if job.active[event.phase]:
            return False
        del job.active[event.phase]
        took = event.time - job.step_began
        if job.step != "work":
            return self.end_move(job, event.time, took)
        released = self.released(job, took)
        over = self.go_on(job, event.time, took)
        if over:
            self.end_leg(job, event.time)
        return released or over

    def released(self, job, took):
        """Give back what a phase does, if this is its end."""
        left = self.left(job)
        if left is not None and before(took, left):
            return False
        return self.release(job, job.legs[job.leg].phases[job.at[0]].release) > 0

    def end_move(self, job, time, took):
        """A checkpoint is written, or read back; whoever was waiting for it leaves."""
        rule, saving = job.rule, job.step == "save"
        self.note(time, "end_phase", job, job.step)
        late = took - (rule.save if saving else rule.recover)
        job.deadline, job.leaves = max(job.deadline + late, time), job.leaves + late
        if self.kill and job.deadline < math.inf:
            self.event(job.deadline, "kill", job)
        job.step = ""
        if saving:
            job.safe, job.saved, job.worked, job.attempts = job.at, job.saved + job.worked, 0.0, 0
        if saving and job.asked:
            self.interrupted(job, time, "interrupted")
            return True
        self.go_on(job, time, None)  # a leg is never over here
        return False

    # Ends

    def interrupt(self, job, now, how):
        """What the policy asks for."""
        assert job in self.running
        assert before(job.leg_start, now)
        self.interrupts += 1
        if how == "last" or (how == "now" and not self.worth_saving(job, now)):
            self.interrupted(job, now, "interrupted")
            return
        assert job.rule is not None
        job.asked, rule = how, job.rule
        if job.step == "save":
            job.leaves = job.step_began + rule.save
        elif how == "now":
            job.leaves = now + rule.save
            if self.left(job) is not None:
                self.events = [event for event in self.events if (event.job, event.phase) != (job, job.blocking)]
                del job.active[job.blocking]
                self.go_on(job, now, now - job.step_began)
        else:
            rest = rule.period - job.worked if job.step == "work" else rule.recover + rule.period
            job.leaves = job.step_began + max(rest, 0.0) + rule.save

    def worth_saving(self, job, now):
        """Whether it is saving itself, or has worked since it was safe."""
        return job.step == "save" or (job.step == "work" and (job.worked > 0 or now > job.step_began))

    def interrupted(self, job, time, reason):
        """Stop all that the job does; it waits again, unless it has failed too often."""
        for stream in [stream for stream in self.streams if stream.job is job]:
            self.drop(stream, stream.total - stream.left + stream.rate * (time - self.clock))
        self.events = [event for event in self.events if event.job is not job or event.kind == "cancel"]
        job.active, job.blocking = {}, None
        self.note_stop(job, time)
        if job.stopped:  # it was over but for its drains
            self.end_leg(job, time)
            return
        self.running.remove(job)
        job.attempts += reason == "node_down"
        over = reason == "node_down" and job.attempts >= self.failures.max_attempts
        n, carried = len(job.nodes), job.legs[job.leg - 1].keeps if job.leg > 0 and not over else [0] * self.space.R
        for r, held in enumerate(job.held()):
            self.give_back(job, r, max(held - carried[r], 0))
        self.note(time, "end", job, reason, n - len(job.nodes))
        if over:
            job.finish, job.state = time, FAILED
            return
        job.urgency = URGENCY[reason]
        self.enqueue(job, time)

    def note_stop(self, job, time):
        """A checkpoint that is not complete, or not read back."""
        if job.life is not None and job.step in ("save", "recover"):
            self.note(time, "end_phase", job, job.step)
        job.step = ""

    def stop(self, job, time, state):
        """At its walltime, or withdrawn."""
        if job.blocking is not None:
            self.note_stop(job, time)
        return super().stop(job, time, state)

    def end_leg(self, job, time):
        """It is over; the next one is not safe anywhere yet."""
        n, reason = len(job.nodes), WHY[job.stopped]
        at = len(self.log)
        job.safe, job.saved, job.attempts, job.urgency = None, 0.0, 0, URGENCY["next leg"]
        super().end_leg(job, time)
        self.log.insert(at, (time, "end", job.id, reason, n - len(job.nodes)))

    def enqueue(self, job, time):
        """By urgency; those alike that were interrupted or failed, in order of submission."""
        super().enqueue(job, time)
        begun = [one for one in self.queue if one.begun]
        others = [one for one in self.queue if not one.begun]
        self.queue = by_urgency(begun) + others
        self.note(time, "queue", job)

    def again(self, held):
        """Also after an interrupt."""
        interrupts, self.interrupts = self.interrupts, 0
        return super().again(held) or interrupts > 0


def by_urgency(begun):
    """Those that failed, those that were interrupted, then those that wait for a next leg as they came.

    A first leg that starts again comes after all later ones, which may hold what it needs.
    """
    return sorted(begun, key=lambda job: (job.leg == 0, -job.urgency, (job.submit, job.id) if job.urgency else ()))


def simulate(workload, platform, preset, failures, job_model="io-aware", seed=0):
    """The finished run under a preset."""
    return Failing(workload, platform, PRESETS[preset], failures, job_model, seed).finished()
