"""Drive a run to its end, with a compiled policy or one in plain Python, and turn refusals into named errors."""

import time
import traceback
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from forebay._numba.bridge import Callback
from forebay._numba.jit import ready
from forebay._support.text import amount, counted
from forebay.core.actions import Actions
from forebay.core.atoms import Atoms
from forebay.core.codes import Flexibility, JobState, Refusal, Status
from forebay.core.limits import NO_LIMIT
from forebay.core.tables import State
from forebay.core.view import View
from forebay.engine.dependencies.tables import Standing
from forebay.engine.entering import loop_for, policy_for
from forebay.engine.interrupts import Interrupts
from forebay.engine.lending import lend, take_back, unused
from forebay.engine.malleable.tables import POLICY
from forebay.engine.policy_io.preview import Places
from forebay.engine.policy_io.view_inputs import NOTHING_HANDED, Handed, view_of
from forebay.engine.record import Record
from forebay.engine.shared_nodes.preview import SharedPlaces
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

SLICE_SECONDS = 0.2
"""How long the loop runs between two looks at the world outside: Ctrl-C and the progress bar."""

_OURS = Path(__file__).parents[1]

Progress = Callable[[int, int], None]
Advance = Callable[[int], int]
Memory = tuple[np.ndarray, np.ndarray]


def run(
    state: State,
    truth: Truth,
    policy: Any,
    resources: tuple[str, ...],
    rng: np.random.Generator,
    progress: Progress | None = None,
    remarks: list[str] | None = None,
    draw: Callable[[], None] | None = None,
    keep: bool = True,
    handed: Handed = NOTHING_HANDED,
) -> Record:
    """Run until every job has ended; returns what was recorded. `progress(ended, jobs)` is called at times.

    What a compiled policy has to say of the run is added to `remarks`. `draw` fills the table of failures again.
    Without `keep` nothing is recorded. `handed` is what a policy in plain Python builds on.
    """
    record, interrupts, n_decisions = Record(truth, keep), Interrupts(state.clock), 256
    prepare = _compiled if kernel_of(policy) else partial(_plain, interrupts, record, handed)
    if getattr(policy, "resizes", False):
        truth.rounds.visits[0] = POLICY
    check_limits(truth)
    advance, memory = prepare(state, truth, policy, resources, rng)
    drawing = Callback(draw or (lambda: None))
    truth.cursor["draw"] = drawing.address
    with interrupts, record as check:
        while True:
            begun = time.perf_counter()
            status = advance(n_decisions)
            interrupts.check()
            check()
            # Only where the loop pauses depends on the clock; what it computes does not.
            if status == Status.PAUSED and time.perf_counter() - begun < SLICE_SECONDS / 2:
                n_decisions *= 2
            elif time.perf_counter() - begun > SLICE_SECONDS and n_decisions > 1:
                n_decisions //= 2
            if progress is not None:
                progress(int(truth.cursor[0]["n_ended"]), len(state.jobs))
            if status == Status.DONE:
                break
            if status == Status.STALLED:
                raise stalled(state, truth, resources)
            if status == Status.REFUSED:
                raise refused(state, truth, resources)
    if remarks is not None and memory is not None and hasattr(policy, "remarks"):
        remarks += policy.remarks(memory)
    return record


def check_limits(truth: Truth) -> None:
    """Refuse limits on nodes where a policy chooses how many jobs have: it would choose the same again and again."""
    if not truth.rounds.visits[0] or not (truth.rounds.jobs["kind"] != Flexibility.RIGID).any():
        return
    if (truth.meters.most[:, 0] < NO_LIMIT).any() or np.isfinite(truth.meters.most_ahead[:, 0]).any():
        raise InputError(
            "limits: user_nodes does not go with a policy that changes the sizes of jobs, nor does another limit on "
            "nodes; leave it out, or run another policy, under which jobs have the sizes that they prefer"
        )


def kernel_of(policy: Any) -> Any:
    return policy.kernel() if hasattr(policy, "kernel") else None


def memory_of(policy: Any, state: State) -> tuple[tuple[int, int], tuple[int, int]]:
    """How large the two tables are that a compiled policy keeps its own things in."""
    sized = hasattr(policy, "memory_on")
    sizes: tuple[tuple[int, int], tuple[int, int]] = (
        policy.memory_on(state) if sized else policy.memory(len(state.jobs), len(state.resources))
    )
    return sizes


def params_of(policy: Any, resources: tuple[str, ...]) -> np.ndarray:
    """The numbers that a compiled policy reads on a machine with these resources."""
    row = policy.params_on(resources) if hasattr(policy, "params_on") else policy.params()
    return np.ascontiguousarray(row, dtype=np.float64)


def _compiled(
    state: State, truth: Truth, policy: Any, resources: tuple[str, ...], rng: np.random.Generator
) -> tuple[Advance, Memory | None]:
    """A function that runs a slice of decisions with a compiled policy, and that policy's memory."""
    if hasattr(policy, "check"):
        policy.check(state)
    integers, floats = memory_of(policy, state)
    memory = (np.zeros(integers, np.int64), np.zeros(floats))
    params = params_of(policy, resources)
    # Called by its entry: the kernel itself would first have Numba look for extensions among all installed packages.
    loop, tables = loop_for(state, truth)
    (kernel, _), lent = policy_for(policy, kernel_of(policy), state, params), lend(rng)

    def advance(n_decisions: int) -> int:
        return int(loop(*tables, kernel, params, memory, lent, n_decisions))

    weakref.finalize(advance, take_back, lent)
    return advance, memory


def _plain(
    interrupts: Interrupts,
    record: Record,
    handed: Handed,
    state: State,
    truth: Truth,
    policy: Any,
    resources: tuple[str, ...],
    rng: np.random.Generator,
) -> tuple[Advance, Memory | None]:
    """The same with a policy in plain Python, whose memory is its own."""
    from forebay.engine.loop import call_python

    view = view_of(state, truth, resources, rng, handed)
    act = Actions(state, view, SharedPlaces(state) if state.machine[0]["placement"] >= 0 else Places(state))
    record.saying = act.said
    if hasattr(policy, "setup"):
        try:
            policy.setup(view)
        except BaseException as error:
            raise reason_of(state, view, error) from error
    decide, failed = policy.decide, []

    def decision() -> None:
        try:
            try:
                interrupts.welcome = True  # a policy may take for ever
                act.begin()
                decide(view, act)
            finally:
                interrupts.welcome = False
        except BaseException as error:  # it must not cross the compiled loop
            failed.append(error)
            act.stop()

    callback, kernel = Callback(decision), ready(call_python)
    loop, tables = loop_for(state, truth)

    def advance(n_decisions: int) -> int:
        memory = (np.array([[callback.address]], np.int64), np.zeros((0, 0)))
        status = int(loop(*tables, kernel, np.zeros(0), memory, unused(), n_decisions))
        if status == Status.STOPPED:
            if not failed:
                raise BadActionError(f"{view._when} called act.stop(), which is the engine's own")
            if interrupts.raised:
                raise failed[0]
            raise reason_of(state, view, failed[0]) from failed[0]
        return status

    return advance, None


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
