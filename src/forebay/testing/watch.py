"""One run of a policy on copies of the tables, each of its decisions watched for writing where it may not."""

from typing import Any, NamedTuple

import numpy as np

from forebay._numba.jit import ready
from forebay._numba.pointer import pointer
from forebay.core.actions import Actions
from forebay.core.codes import JobState, Trigger
from forebay.core.running import NO_LABELS, Labels
from forebay.core.tables import STATE, State
from forebay.core.view import View
from forebay.engine.run import params_of, run
from forebay.engine.truth import Truth
from forebay.errors import PolicyError


class WroteError(PolicyError):
    """A decision changed a table that is not its own."""


class SpinsError(PolicyError):
    """A policy is woken again and again while nothing happens."""


MOST_WAKES = 1000
"""In a row, and for nothing: jobs of cases last for some seconds."""


class Outcome(NamedTuple):
    hash: str
    unfinished: list[int]


class _Watched:
    """A policy whose every decision is checked for writing where it may not."""

    def __init__(self, policy: Any, state: State):
        self._policy, self._state, self._n_wakes = policy, state, 0
        self.resizes = getattr(policy, "resizes", False)

    def setup(self, view: View) -> None:
        """Prepare the policy, compiled or not."""
        kernel = self._policy.kernel() if hasattr(self._policy, "kernel") else None
        if kernel is None:
            if hasattr(self._policy, "setup"):
                self._policy.setup(view)
            self._decide = self._policy.decide
            return
        integers, floats = self._policy.memory(len(view.jobs), len(view.resources))
        memory = (np.zeros(integers, np.int64), np.zeros(floats))
        params = params_of(self._policy, view.resources)
        tables = pointer(self._state, STATE)
        decide = ready(kernel)
        self._decide = lambda view, act: decide(tables, params, memory, view.rng)

    def decide(self, view: View, act: Actions) -> None:
        """Let the policy decide, then compare every table with what it was."""
        self._n_wakes = self._n_wakes + 1 if view.triggers == Trigger.WAKE else 0
        if self._n_wakes > MOST_WAKES:
            raise SpinsError(
                f"{view.when} was woken for the {MOST_WAKES:,}th time in a row, and nothing else happened; "
                "wake less often, or only while jobs wait"
            )
        before = _snapshot(self._state)
        try:
            self._decide(view, act)
        except ValueError as error:
            if "read-only" in str(error):
                raise WroteError(f"{view.when} wrote to a table of the view: {error}") from None
            raise
        now = _snapshot(self._state)
        for name, was in before.items():
            if was != now[name]:
                raise WroteError(
                    f"{view.when} changed the table {name!r}; read it only, and act through act.start, act.resize, "
                    "act.interrupt, act.wake, act.reject and act.kill"
                )


def watched_run(
    policy: Any, state: State, truth: Truth, resources: tuple[str, ...], labels: Labels = NO_LABELS
) -> Outcome:
    """One run on copies of the tables."""
    state, truth = _copy(state), _copy(truth)
    record = run(state, truth, _Watched(policy, state), resources, np.random.default_rng(0), labels=labels)
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
