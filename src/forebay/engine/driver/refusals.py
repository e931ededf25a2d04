"""Refusals: what a policy did that cannot be, as errors with names, and limits that do not go with it."""

import traceback
from pathlib import Path

import numpy as np

from forebay._support.text import amount, counted
from forebay.core.atoms import Atoms
from forebay.core.codes import Flexibility, JobState, Refusal, Verb
from forebay.core.limits import NO_LIMIT
from forebay.core.tables import State
from forebay.core.view import View
from forebay.engine.dependencies.tables import Standing
from forebay.engine.truth import Truth
from forebay.errors import (
    BadActionError,
    InputError,
    OversubscribedError,
    PolicyError,
    PolicyRaisedError,
    StalledError,
    StartedEarlyError,
    StartedTwiceError,
    UnknownJobError,
)

_OURS = Path(__file__).parents[2]


def check_limits(truth: Truth) -> None:
    """Refuse limits on nodes where a policy chooses how many jobs have: it would choose the same again and again."""
    if not truth.rounds.visits[0] or not (truth.rounds.jobs["kind"] != Flexibility.RIGID).any():
        return
    if (truth.meters.most[:, 0] < NO_LIMIT).any() or np.isfinite(truth.meters.most_ahead[:, 0]).any():
        raise InputError(
            "limits: user_nodes does not go with a policy that changes the sizes of jobs, nor does another limit on "
            "nodes; leave it out, or run another policy, under which jobs have the sizes that they prefer"
        )


def reason_of(state: State, view: View, error: BaseException) -> Exception:
    """What to raise for what a policy raised. That is also a sys.exit(): only a signal ends a run from outside.

    Memory may be short for other reasons than the policy.
    """
    return error if isinstance(error, PolicyError | MemoryError) else _raised(state, view, error)


def _name(state: State, j: int) -> str:
    return f"job {state.jobs[j]['id']}" if 0 <= j < len(state.jobs) else f"row {j}"


def _free_for(state: State, j: int) -> int:
    """How many nodes are free where a job may run."""
    atoms, allowed = Atoms(*state.nodes.atoms.T.tolist()), int(state.legs[state.jobs[j]["leg"]]["allowed"])
    return sum(some for a, some in enumerate(atoms.free(state.resources["free"].tolist())) if allowed >> a & 1)


_BAD = {
    Refusal.UNKNOWN_REASON: "started {job} for reason {r}, which no start has; take fb.LogReason.NONE, IN_ORDER or "
    "BACKFILLED",
    Refusal.WRONG_SIZE: "gave {job} {nodes}, a size that it may not have; see view.sizes(job)",
    Refusal.CANNOT_RESIZE: "resized {job}, which does not run or whose size is not for policies to change; resize "
    "malleable and adaptive jobs that run, and evolving ones that ask for it (view.wants(job))",
    Refusal.DOES_NOT_RESIZE: "resized {job}, but has not said that it does; give its class resizes = True",
    Refusal.CANNOT_INTERRUPT: "interrupted {job}, which does not run; interrupt jobs of view.running",
    Refusal.JUST_STARTED: "interrupted {job}, which it had started in the same instant; start others",
    Refusal.NO_CHECKPOINTS: "asked {job} to stop after a checkpoint, and it writes none; interrupt it with "
    "checkpoint='last', or run with --failures checkpoint=300s,period=1h",
    Refusal.UNKNOWN_RESUME: "interrupted {job} in way {r}, which there is not; take one of Resume",
    Refusal.CANNOT_KILL: "killed {job}, which neither waits nor runs; kill jobs that do",
    Refusal.WRONG_WAY: "started {job} in way {r} to run, which it does not have; see view.ways(job)",
    Refusal.OVER_LIMIT: "started {job}, which its user's limits hold back; start only jobs of view.queue, as it is now",
    Refusal.CANNOT_REJECT: "rejected {job}, which is not waiting for its first start; reject from view.queue",
    Refusal.WAKE_NOT_LATER: "asked to be woken at a time that is not later; wake at view.now + something",
    Refusal.TOO_MANY_WAKES: "has {wakes:,} wakes pending; ask for the next one only",
    Refusal.DOES_NOT_STEER: "steered the I/O of {job}, but has not said that it does, or nothing moves in this run; "
    "give its class steers = True, and run with a job model that moves data, such as io-aware",
    Refusal.CANNOT_STEER: "steered the I/O of {job}, which neither waits nor runs; steer jobs that do",
    Refusal.NO_IO: "held the I/O of {job}, which does none; hold jobs that move data",
    Refusal.CAP_TOO_LOW: "capped the I/O of {job} so low that a phase would take more than a century; give more "
    "bytes/s",
    Refusal.TOO_MANY_ACTIONS: "took more than {actions:,} actions in one decision",
}
"""What is wrong with an action that needs no more than a sentence."""


def refused(state: State, truth: Truth, resources: tuple[str, ...]) -> PolicyError:
    cursor, now = truth.cursor[0], float(state.clock[0]["now"])
    j, r = int(cursor["refused_job"]), int(cursor["refused_resource"])
    refusal, at = Refusal(int(cursor["refusal"])), f"at t = {now:.10g} s the policy"
    match refusal:
        case Refusal.OVERSUBSCRIBED if (nodes := _resized_to(state, j)) > 0:
            return OversubscribedError(f"{at} resized {_name(state, j)} to {_more(state, j, r, resources[r], nodes)}")
        case Refusal.OVERSUBSCRIBED:
            return OversubscribedError(f"{at} started {_name(state, j)}, {_lacks(state, j, r, resources[r])}")
        case Refusal.WRONG_NODES | Refusal.NO_ROOM:
            return OversubscribedError(f"{at} {_misplaced(state, refusal, j, resources[r])}")
        case Refusal.ALREADY_STARTED | Refusal.ENDED:
            if _starts(state, j) > 1:
                return StartedTwiceError(
                    f"{at} started {_name(state, j)}, which it had started already in the same decision, by act.start "
                    "or by act.backfill, which returns the jobs that it starts; start each job once"
                )
            what = "runs already" if refusal == Refusal.ALREADY_STARTED else f"is {_state_of(state, j)}"
            once = ", once" if refusal == Refusal.ALREADY_STARTED else ""
            return StartedTwiceError(
                f"{at} started {_name(state, j)}, which {what}; start only jobs of view.queue{once}"
            )
        case Refusal.NOT_SUBMITTED:
            # A row that has not arrived is blank in State; the message may know its number all the same.
            job, why = f"job {truth.jobs[j]['id']}", _not_yet(truth, j)
            return StartedEarlyError(f"{at} started {job}, which {why}; start only jobs of view.queue")
        case Refusal.UNKNOWN_JOB:
            return UnknownJobError(
                f"{at} named row {j}, but jobs have rows 0 to {len(state.jobs) - 1}; use rows of view.queue, not ids"
            )
    words = _BAD.get(refusal, "used an unknown verb; use act.start, act.wake or act.reject")
    given = {"job": _name(state, j), "r": r, "nodes": counted(r, "node"), "wakes": len(truth.wakes)}
    return BadActionError(f"{at} {words.format(**given, actions=len(state.actions) - 1)}")


def _resized_to(state: State, j: int) -> int:
    """The size that the decision gives a running job; 0 if it gives it none."""
    if state.jobs[j]["state"] != JobState.RUNNING:
        return 0
    mine = state.actions[: int(state.counts[0]["n_actions"])]
    mine = mine[(mine["job"] == j) & (mine["verb"] == Verb.RESIZE)]
    return int(mine["nodes"][-1]) if len(mine) else 0


def _more(state: State, j: int, r: int, resource: str, nodes: int) -> str:
    """How much more than what is free a job that grows needs."""
    now, free = int(state.demands[state.jobs[j]["leg"], 0]), int(state.resources[r]["free"])
    needs = f"{counted(nodes, 'node')}, {nodes - now:,} more than it has,"
    left = f"{free:,} {'is' if free == 1 else 'are'} free" if r == 0 else f"{amount(free, resource)} are free"
    return f"{needs} while {left}; grow it by act.free[0] at most"


def _lacks(state: State, j: int, r: int, resource: str) -> str:
    """How much more than what is free a job needs."""
    need, free, where = int(state.demands[state.jobs[j]["leg"], r]), int(state.resources[r]["free"]), ""
    if r == 0 and need <= free:
        where, free = " where it may run", _free_for(state, j)
    return (
        f"which needs {amount(need, resource)}{where} while {free:,} are free; test act.fits(job) before act.start(job)"
    )


def _misplaced(state: State, refusal: Refusal, j: int, resource: str) -> str:
    """What is wrong with the nodes or servers that were named for a job."""
    job, leg = _name(state, j), state.jobs[j]["leg"]
    if state.machine[0]["placement"] >= 0:
        return (
            f"started {job}, which needs {_parts(state, j)}, on nodes that have not that room, or that it may not use; "
            "test act.fits(job), and leave the choice to act.start(job)"
        )
    if refusal == Refusal.WRONG_NODES:
        kind = ", or too small for it" if state.machine[0]["large"] >= 0 else ""
        kind = kind or (", or not where it may run" if len(state.nodes.atoms) else "")
        return (
            f"picked nodes for {job} that are not free, or not the {int(state.demands[leg, 0]):,} that it needs{kind}; "
            "pick free nodes, or leave the choice to act.start(job)"
        )
    size, chunks = int(state.legs[leg]["chunk"]), max(int(state.jobs[j]["nodes"]), 1)
    return (
        f"started {job}, which needs {size:,} bytes of {resource} on one server for each of {counted(chunks, 'node')}, "
        "and the servers have not that room; test act.fits(job) before act.start(job)"
    )


def _starts(state: State, j: int) -> int:
    """How often the decision starts a job."""
    written = state.actions[: int(state.counts[0]["n_actions"])]
    return int(((written["verb"] == Verb.START) & (written["job"] == j)).sum())


def _state_of(state: State, j: int) -> str:
    return JobState(int(state.jobs[j]["state"])).name.lower()


def _not_yet(truth: Truth, j: int) -> str:
    waiting = (Standing.AHEAD, Standing.WAITS)
    if len(truth.dependencies.jobs) and truth.dependencies.jobs[j]["standing"] in waiting:
        return "waits for other jobs"
    return f"is submitted only at {float(truth.jobs[j]['submit']):.10g} s"


def _parts(state: State, j: int) -> str:
    """What job `j` asks of nodes that are shared, in words."""
    ask = state.inside.asks[state.jobs[j]["leg"]]
    each = [counted(int(ask["cores"]), "core")]
    each += [f"{int(ask['memory']):,} bytes of memory"] if ask["memory"] else []
    each += [counted(int(ask["gpus"]), "GPU")] if ask["gpus"] else []
    each += [f"{int(ask['local']):,} bytes of local storage"] if ask["local"] else []
    alone = ", each alone" if ask["exclusive"] else ""
    return f"{counted(int(ask['parts']), 'node' if ask['spread'] else 'part')} with {', '.join(each)}{alone}"


def _waiting(state: State) -> np.ndarray:
    line = state.queue[state.counts[0]["queue_first"] : state.counts[0]["queue_last"]]
    return line[line >= 0]


def stalled(state: State, truth: Truth, resources: tuple[str, ...]) -> PolicyError:
    waiting, held = _waiting(state), np.flatnonzero((truth.steering.rules["held"] != 0).any(axis=1))
    held = held[state.jobs["state"][held] == JobState.RUNNING]
    if len(held):
        return StalledError(
            f"at t = {float(state.clock[0]['now']):.10g} s nothing moves and nothing will arrive, but the policy "
            f"holds the I/O of {counted(len(held), 'running job')}, {_name(state, int(held[0]))} first; release one "
            "(act.io_release), or ask act.wake(time)"
        )
    first = _name(state, int(waiting[0]))
    free = ", ".join(f"{int(row['free']):,} {name}" for name, row in zip(resources, state.resources, strict=True))
    idle = int(truth.cursor[0]["n_idle_wakes"]) - 1
    spins = f" and was woken {idle:,} times in a row for nothing" if idle else ""
    if len(state.down) and idle:
        spins = f", however often nodes failed and came back ({idle:,} times in a row)"
    return StalledError(
        f"at t = {float(state.clock[0]['now']):.10g} s nothing runs and nothing will arrive, but the policy leaves "
        f"{counted(len(waiting), 'job')} waiting{spins}, {first} first, with {free} free; start one, or ask "
        "act.wake(time)"
    )


def stopped(state: State, truth: Truth, resources: tuple[str, ...]) -> PolicyError:
    now = float(state.clock[0]["now"])
    return BadActionError(f"at t = {now:.10g} s the policy called act._stop(), which is the engine's own")


def _raised(state: State, view: View, error: BaseException) -> PolicyError:
    frames = error.__traceback__
    while frames is not None and frames.tb_next and Path(frames.tb_frame.f_code.co_filename).is_relative_to(_OURS):
        frames = frames.tb_next  # its author wants to see the policy, not the engine
    where = "".join(traceback.format_exception(type(error), error, frames)).rstrip()
    # Of the view nothing is sure any more: its own tables are what a policy may have spoiled.
    waiting, last = _waiting(state), getattr(view, "last_job", -1)
    j = last if last >= 0 or not len(waiting) else int(waiting[0])
    return PolicyRaisedError(
        f"the policy raised {type(error).__name__} at t = {float(state.clock[0]['now']):.10g} s "
        f"with {len(waiting)} waiting (last it looked at: {_name(state, j)}):\n{where}"
    )
