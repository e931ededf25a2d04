"""Refusals: what a policy did that cannot be, as errors with names, and limits that do not go with it."""

import traceback
from pathlib import Path

import numpy as np

from forebay._support.text import amount, counted
from forebay.core.atoms import Atoms
from forebay.core.codes import Flexibility, JobState, Refusal
from forebay.core.limits import NO_LIMIT
from forebay.core.tables import State
from forebay.core.view import View
from forebay.engine.dependencies import Standing
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


def refused(state: State, truth: Truth, resources: tuple[str, ...]) -> PolicyError:
    cursor, now = truth.cursor[0], float(state.clock[0]["now"])
    j, r = int(cursor["refused_job"]), int(cursor["refused_resource"])
    refusal = Refusal(int(cursor["refusal"]))
    # A row that has not arrived is blank in State; the message may know its number all the same.
    job = f"job {truth.jobs[j]['id']}" if refusal == Refusal.NOT_SUBMITTED else _name(state, j)
    at = f"at t = {now:.10g} s the policy"
    match refusal:
        case Refusal.OVERSUBSCRIBED:
            need = int(state.demands[state.jobs[j]["leg"], r])
            free, where = int(state.resources[r]["free"]), ""
            if r == 0 and need <= free:
                where, free = " where it may run", _free_for(state, j)
            return OversubscribedError(
                f"{at} started {job}, which needs {amount(need, resources[r])}{where} while {free:,} are free; "
                "test act.fits(job) before act.start(job)"
            )
        case Refusal.WRONG_NODES | Refusal.NO_ROOM if state.machine[0]["placement"] >= 0:
            return OversubscribedError(
                f"{at} started {job}, which needs {_parts(state, j)}, on nodes that have not that room, or that it may "
                "not use; test act.fits(job), and leave the choice to act.start(job)"
            )
        case Refusal.WRONG_NODES:
            need = int(state.demands[state.jobs[j]["leg"], 0])
            kind = ", or too small for it" if state.machine[0]["large"] >= 0 else ""
            kind = kind or (", or not where it may run" if len(state.nodes.atoms) else "")
            return OversubscribedError(
                f"{at} picked nodes for {job} that are not free, or not the {need:,} that it needs{kind}; "
                "pick free nodes, or leave the choice to act.start(job)"
            )
        case Refusal.NO_ROOM:
            size, chunks = int(state.legs[state.jobs[j]["leg"]]["chunk"]), max(int(state.jobs[j]["nodes"]), 1)
            return OversubscribedError(
                f"{at} started {job}, which needs {size:,} bytes of {resources[r]} on one server for each of "
                f"{counted(chunks, 'node')}, and the servers have not that room; test act.fits(job) before "
                "act.start(job)"
            )
        case Refusal.UNKNOWN_REASON:
            return BadActionError(
                f"{at} started {job} for reason {r}, which no start has; take fb.LogReason.NONE, IN_ORDER or BACKFILLED"
            )
        case Refusal.WRONG_SIZE:
            return BadActionError(
                f"{at} gave {job} {counted(r, 'node')}, a size that it may not have; see view.sizes(job)"
            )
        case Refusal.CANNOT_RESIZE:
            return BadActionError(
                f"{at} resized {job}, which does not run or whose size is not for policies to change; "
                "resize malleable and adaptive jobs that run, and evolving ones that ask for it (view.wants(job))"
            )
        case Refusal.DOES_NOT_RESIZE:
            return BadActionError(f"{at} resized {job}, but has not said that it does; give its class resizes = True")
        case Refusal.CANNOT_INTERRUPT:
            return BadActionError(f"{at} interrupted {job}, which does not run; interrupt jobs of view.running")
        case Refusal.JUST_STARTED:
            return BadActionError(f"{at} interrupted {job}, which it had started in the same instant; start others")
        case Refusal.NO_CHECKPOINTS:
            return BadActionError(
                f"{at} asked {job} to stop after a checkpoint, and it writes none; interrupt it with "
                "checkpoint='last', or run with --failures checkpoint=300s,period=1h"
            )
        case Refusal.UNKNOWN_RESUME:
            return BadActionError(f"{at} interrupted {job} in way {r}, which there is not; take one of Resume")
        case Refusal.CANNOT_KILL:
            return BadActionError(f"{at} killed {job}, which neither waits nor runs; kill jobs that do")
        case Refusal.WRONG_WAY:
            return BadActionError(f"{at} started {job} in way {r} to run, which it does not have; see view.ways(job)")
        case Refusal.ALREADY_STARTED:
            return StartedTwiceError(f"{at} started {job}, which runs already; start only jobs of view.queue, once")
        case Refusal.ENDED:
            state_name = JobState(int(state.jobs[j]["state"])).name.lower()
            return StartedTwiceError(f"{at} started {job}, which is {state_name}; start only jobs of view.queue")
        case Refusal.NOT_SUBMITTED:
            when = float(truth.jobs[j]["submit"])
            if len(truth.dependencies.jobs) and truth.dependencies.jobs[j]["standing"] in (
                Standing.AHEAD,
                Standing.WAITS,
            ):
                return StartedEarlyError(
                    f"{at} started {job}, which waits for other jobs; start only jobs of view.queue"
                )
            return StartedEarlyError(
                f"{at} started {job}, which is submitted only at {when:.10g} s; start only jobs of view.queue"
            )
        case Refusal.UNKNOWN_JOB:
            return UnknownJobError(
                f"{at} named row {j}, but jobs have rows 0 to {len(state.jobs) - 1}; use rows of view.queue, not ids"
            )
        case Refusal.OVER_LIMIT:
            return BadActionError(
                f"{at} started {job}, which its user's limits hold back; start only jobs of view.queue, as it is now"
            )
        case Refusal.CANNOT_REJECT:
            return BadActionError(
                f"{at} rejected {job}, which is not waiting for its first start; reject from view.queue"
            )
        case Refusal.WAKE_NOT_LATER:
            return BadActionError(f"{at} asked to be woken at a time that is not later; wake at view.now + something")
        case Refusal.TOO_MANY_WAKES:
            return BadActionError(f"{at} has {len(truth.wakes):,} wakes pending; ask for the next one only")
        case Refusal.TOO_MANY_ACTIONS:
            return BadActionError(f"{at} took more than {len(state.actions) - 1:,} actions in one decision")
        case _:
            return BadActionError(f"{at} used an unknown verb; use act.start, act.wake or act.reject")


def _parts(state: State, j: int) -> str:
    """What job `j` asks of nodes that are shared, in words."""
    ask = state.inside.asks[state.jobs[j]["leg"]]
    each = [counted(int(ask["cores"]), "core")]
    each += [f"{int(ask['memory']):,} bytes of memory"] if ask["memory"] else []
    each += [counted(int(ask["gpus"]), "GPU")] if ask["gpus"] else []
    each += [f"{int(ask['local']):,} bytes of local storage"] if ask["local"] else []
    alone = ", each with nobody else" if ask["exclusive"] else ""
    return f"{counted(int(ask['parts']), 'node' if ask['spread'] else 'part')} with {', '.join(each)}{alone}"


def _waiting(state: State) -> np.ndarray:
    line = state.queue[state.counts[0]["queue_first"] : state.counts[0]["queue_last"]]
    return line[line >= 0]


def stalled(state: State, truth: Truth, resources: tuple[str, ...]) -> PolicyError:
    waiting = _waiting(state)
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
    return BadActionError(f"at t = {now:.10g} s the policy called act.stop(), which is the engine's own")


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
