"""Shared nodes as a policy in plain Python sees them during a decision: what its own starts have left of their room."""

import numpy as np

from forebay.algorithms.nodes.shared_nodes import count_parts, holds, place_parts, take_parts
from forebay.core.tables import State


class SharedPlaces:
    """A scratch copy on which starts are tried by the engine's own rule of placement."""

    matter = True

    def __init__(self, state: State):
        self._state, self._counts = state, state.counts[0]
        self._room = state.inside.room.copy()
        self._known = False

    def begin(self) -> None:
        """A new decision."""
        self._known = False
        self._counts["n_picks"] = 0

    def fits(self, job: int) -> bool:
        """Whether all parts of the job find room."""
        self._look()
        inside, ask = self._state.inside, self._ask(job)
        return bool(count_parts(self._room, inside.full, inside.atoms, ask) >= ask["parts"])

    def place(self, job: int, nodes: list[int] | None = None, count: int | None = None) -> tuple[int, int]:
        """Take places for a job: by the rule, or a part on each of the nodes given. Returns its picks: first, count.

        No picks are made where the rule finds no room, or the job needs none; a count below 0 is one that the engine
        will refuse.
        """
        self._look()
        state, inside, ask = self._state, self._state.inside, self._ask(job)
        first = int(self._counts["n_picks"])
        if nodes is None:
            placement = state.machine[0]["placement"]
            n = int(place_parts(self._room, inside.full, inside.atoms, ask, placement, state.picks, first)) - first
            n = max(n, 0)
        else:
            chosen, parts = np.unique(np.array(nodes, np.int64), return_counts=True)
            n = len(chosen)
            if n == 0 or n > len(state.picks) - first:
                return first, -1
            rows = state.picks[first : first + n]
            rows["low"], rows["count"], rows["server"] = chosen, parts, -1
        self._take(ask, first, n)
        self._counts["n_picks"] = first + n
        return first, n

    def follow(self, actions: np.ndarray) -> None:
        """Take what these starts, which a kernel has written with their picks, will take."""
        self._look()
        for action in actions:
            self._take(self._ask(int(action["job"])), int(action["first_pick"]), int(action["n_picks"]))

    def _take(self, ask: np.void, first: int, n: int) -> None:
        """Take what `n` picks from `first` on say, as far as it is there."""
        full = self._state.inside.full
        for pick in self._state.picks[first : first + n]:
            node, some = int(pick["low"]), int(pick["count"])
            if 0 <= node < len(full) and holds(self._room, full, node, ask) >= some:
                take_parts(self._room, full, node, ask, some)

    def pick(self, nodes: list[int]) -> tuple[int, int]:
        """Nobody is resized on shared nodes."""
        return int(self._counts["n_picks"]), -1

    def idle(self, actions: np.ndarray) -> np.ndarray:
        """The nodes of which no job has a part after what this decision has started, ascending."""
        self._look()
        full = self._state.inside.full
        return np.flatnonzero((self._room[: len(full)] == full).all(axis=1))

    def _ask(self, job: int) -> np.void:
        ask: np.void = self._state.inside.asks[self._state.jobs[job]["leg"]]
        return ask

    def _look(self) -> None:
        """Copy what is free, once a decision."""
        if not self._known:
            self._known = True
            self._room[:] = self._state.inside.room
