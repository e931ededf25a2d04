"""What the loop asks for in every instant, in the order in which it does."""

from forebay._numba.jit import kernel
from forebay.engine.contention.ends import end_transfers, next_end, share_links
from forebay.engine.dependencies.kernels import next_release
from forebay.engine.failures.kernels import fail_and_repair, next_of_nodes
from forebay.engine.hooks.holds_back import admit, are_more, hide
from forebay.engine.io_scheduling.arrange import arrange_io
from forebay.engine.malleable.resize import answer_points, leave_points
from forebay.engine.partitions.kernels import turn_away_for_good
from forebay.engine.policy_io.io_counters import tell_io
from forebay.engine.ticks.kernels import next_tick, set_tick, tick, waits_for_tick

__all__ = [
    "after_actions",
    "after_events",
    "at_standstill",
    "before_actions",
    "before_decision",
    "before_next",
    "end_transfers",
    "is_pending",
    "must_decide_again",
    "next_of_nodes",
    "next_tick",
    "next_time",
    "on_decision",
    "on_nodes",
    "tick",
]


@kernel
def before_actions(state, truth):
    """A policy has decided; returns a job that it must not start at all, -1 if there is none."""
    return admit(state, truth)


@kernel
def must_decide_again(state, truth, n_hidden):
    """Whether what was decided keeps more jobs from starting than were `n_hidden` before."""
    return are_more(state, truth, n_hidden)


@kernel
def after_actions(state, truth):
    """All that was decided is carried out."""
    leave_points(state, truth)


@kernel
def is_pending(truth, now):
    """Whether anything is still to happen in this instant, or nothing is to be decided in it."""
    return next_release(truth) <= now or waits_for_tick(truth, now)


@kernel
def before_next(state, truth):
    """An instant is over, and the loop looks for the next one."""
    set_tick(state, truth)
    arrange_io(state, truth, state.clock[0]["now"])
    share_links(truth, state.clock[0]["now"])


@kernel
def next_time(truth):
    """When something happens next, beside what comes from outside and timers of jobs."""
    return min(next_release(truth), next_end(truth))


@kernel
def on_nodes(state, truth, until):
    """Let happen to nodes what does by `until`; returns the latest time seen."""
    return fail_and_repair(state, truth, until)


@kernel
def after_events(state, truth):
    """All has happened that does in an instant."""
    answer_points(state, truth)


@kernel
def at_standstill(state, truth):
    """Nothing is to come any more: whether jobs that still wait were rejected for it, for which others may wait."""
    return turn_away_for_good(state, truth)


@kernel
def before_decision(state, truth):
    """A policy is about to decide."""
    hide(state, truth)


@kernel
def on_decision(state, truth):
    """A policy decides now, and may look at all that it asked to see."""
    tell_io(state, truth)
