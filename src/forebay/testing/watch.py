"""One run of a policy on copies of the tables, each of its decisions watched for writing where it may not."""

from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from forebay._run.blocks import Blocks
from forebay.core.actions import Actions
from forebay.core.codes import JobState, Trigger, Verb
from forebay.core.running import NO_LABELS, Labels
from forebay.core.tables import State, instant_width
from forebay.core.view import View
from forebay.engine.driver.batch import run
from forebay.engine.driver.deciders import Compiled, kernel_of
from forebay.engine.policy_io.view_inputs import Handed
from forebay.engine.truth import Truth
from forebay.errors import PolicyError
from forebay.testing.report import Tally


class WroteError(PolicyError):
    """A decision changed a table that is not its own."""


class SpinsError(PolicyError):
    """A policy is called again and again while nothing happens but what it does itself."""


class DelayedError(PolicyError):
    """A decision put off the job that has waited longest."""


class TooLongError(PolicyError):
    """In a case of long jobs, a policy that wakes itself takes too many decisions: the case is skipped."""


MOST_WAKES = 1000
"""In a row, and for nothing: jobs of small cases last for some seconds."""
SHORT = 0.1
"""Seconds between wakes, on average, that are spinning also where jobs last for hours."""


class Outcome(NamedTuple):
    hash: str
    unfinished: list[int]


class _Watched:
    """A policy whose every decision is checked for writing where it may not."""

    def __init__(self, policy: Any, state: State, keeps_head: bool, long: bool, tally: Tally):
        self._policy, self._state, self._keeps_head = policy, state, keeps_head
        self._long, self._tally = long, tally
        self._n_wakes, self._since, self._then, self._head, self._latest = 0, 0.0, -np.inf, -1, np.inf
        self.resizes = getattr(policy, "resizes", False)

    def setup(self, view: View) -> None:
        """Prepare the policy, compiled or not."""
        if kernel_of(self._policy) is None:
            if hasattr(self._policy, "setup"):
                self._policy.setup(view)
            self._decide = self._policy.decide
            return
        compiled = Compiled(self._policy, self._state, view.resources, view.rng)
        self._decide = lambda view, act: compiled.decide(nullcontext())

    def decide(self, view: View, act: Actions) -> None:
        """Let the policy decide, then compare every table with what it was."""
        self._look_for_spinning(view)
        self._note_head(view)
        before = _snapshot(self._state)
        self._tally.triggers |= view.triggers
        try:
            self._decide(view, act)
        except ValueError as error:
            if "read-only" in str(error):
                raise WroteError(f"{view._when} wrote to a table of the view: {error}") from None
            raise
        now = _snapshot(self._state)
        for name, was in before.items():
            if was != now[name]:
                raise WroteError(
                    f"{view._when} changed the table {name!r}; read it only, and act through act.start, act.resize, "
                    "act.interrupt, act.wake, act.reject and act.kill"
                )
        self._tally.verbs.update(self._written()["verb"].tolist())
        self._look_at_wakes(view)
        self._look_at_head(view)

    def _look_for_spinning(self, view: View) -> None:
        """Refuse what is called for nothing too often."""
        again = view.now == self._then  # because it has interrupted or resized a job
        own = again or view.triggers == Trigger.WAKE
        self._n_wakes, self._since = (self._n_wakes + 1, self._since) if own else (0, view.now)
        self._then = view.now
        if self._n_wakes > 5 * MOST_WAKES:
            raise TooLongError("woken too often")
        if self._n_wakes > MOST_WAKES and (not self._long or view.now - self._since < SHORT * MOST_WAKES):
            raise SpinsError(
                f"{view._when} spins: it was called for the {MOST_WAKES:,}th time in a row by nothing but itself, and "
                "nothing else happened; wake less often, or only while jobs wait"
            )

    def _look_at_wakes(self, view: View) -> None:
        """Refuse a wake in this instant: it would be called for it again and again."""
        for action in self._written():
            if action["verb"] == Verb.WAKE and not action["time"] > view.now + instant_width(view.now):
                raise SpinsError(
                    f"{view._when} spins: it asks to be woken at {float(action['time']):.10g} s, which is now; wake at "
                    "view.now + something"
                )

    def _note_head(self, view: View) -> None:
        """Who has waited longest, and when it could start before the policy decides."""
        if self._keeps_head:
            queue = view.queue
            self._head = int(queue[0]) if len(queue) else -1
            self._latest = view.earliest(self._head) if len(queue) else np.inf

    def _look_at_head(self, view: View) -> None:
        """Refuse a decision after which the head could only start later.

        Of one that resizes, stops or turns away jobs it says nothing, nor of one that starts a leg with others to
        follow: when what these carry on will be free is not known.
        """
        if not self._keeps_head or self._head < 0:
            return
        written, jobs = self._written(), self._state.jobs
        plain = (written["verb"] == Verb.START) & (written["way"] == 0) & (written["nodes"] == 0)
        if not (plain | (written["verb"] == Verb.WAKE)).all():
            return
        started = written["job"][plain]
        if (jobs["leg"][started] != jobs["last_leg"][started]).any():
            return
        begin = view.earliest(self._head)
        if begin > self._latest + instant_width(self._latest):
            when = f"at {begin:.10g} s" if begin < np.inf else "unknown when"
            raise DelayedError(
                f"{view._when} started what delays job {int(jobs['id'][self._head])}, which has waited longest: it "
                f"could have started at {self._latest:.10g} s, and now starts {when}; leave it to act.backfill, or "
                "test view.earliest"
            )

    def _written(self) -> np.ndarray:
        written: np.ndarray = self._state.actions[
            : min(int(self._state.counts[0]["n_actions"]), len(self._state.actions))
        ]
        return written


def watched_run(
    policy: Any,
    state: State,
    truth: Truth,
    resources: tuple[str, ...],
    labels: Labels = NO_LABELS,
    keeps_head: bool = False,
    long: bool = False,
    tally: Tally | None = None,
) -> Outcome:
    """One run on copies of the tables; in a `long` one a policy may wake itself more often."""
    state, truth = _copy(state), _copy(truth)
    watched = _Watched(policy, state, keeps_head, long, Tally() if tally is None else tally)
    handed = Handed(Blocks, labels)
    record = run(state, truth, watched, resources, np.random.default_rng(0), handed=handed)
    return Outcome(record.sha256(), state.jobs["id"][state.jobs["state"] < JobState.COMPLETED].tolist())


def _copy(tables: Any) -> Any:
    return type(tables)(*(_copy(table) if isinstance(table, tuple) else table.copy() for table in tables))


def _snapshot(state: State) -> dict[str, bytes]:
    """Every table's bytes by name, leaving out what a policy may write: actions, picks, shares and how many."""
    counts = state.counts.copy()
    counts["n_actions"] = counts["n_picks"] = counts["n_shares"] = 0
    return _bytes(
        state._replace(counts=counts, actions=state.actions[:0], picks=state.picks[:0], shares=state.shares[:0])
    )


def _bytes(tables: Any, before: str = "") -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for name, table in zip(tables._fields, tables, strict=True):
        if isinstance(table, tuple):
            found |= _bytes(table, f"{before}{name}.")
        else:
            found[before + name] = table.tobytes()
    return found
