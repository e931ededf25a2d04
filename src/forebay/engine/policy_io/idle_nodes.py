"""Which nodes the verbs of a decision leave idle: they are tried on a copy, as the engine will carry them out."""

from typing import Any

import numpy as np

from forebay.core.atoms import Atoms
from forebay.core.codes import Verb
from forebay.core.tables import State


def mask_of(state: State) -> np.ndarray:
    """Of each node, whether it is idle now."""
    idle = np.zeros(len(state.nodes.site), bool)
    for piece in state.nodes.idle[: state.counts[0]["n_idle"]]:
        idle[piece["low"] : piece["high"] + 1] = True
    return idle


class Idle:
    """The nodes that are left, start by start and resize by resize.

    Nodes of interrupted or killed jobs are not counted: starts may get them, but the policy is called again anyway.
    """

    def __init__(self, state: State):
        self._state, self.left = state, mask_of(state)
        self._atoms = Atoms(*state.nodes.atoms.T.tolist()) if len(state.nodes.atoms) else None
        self._held: dict[int, list[int]] = {}  # nodes of resized jobs, in the order in which they would give them back

    def follow(self, actions: np.ndarray) -> np.ndarray:
        """Carry these out, and return the nodes that are idle then, ascending."""
        for action in actions:
            if action["verb"] == Verb.START:
                self._start(action)
            elif action["verb"] == Verb.RESIZE:
                self._resize(action)
        return np.flatnonzero(self.left)

    def _picked(self, action: np.void) -> list[int]:
        first = int(action["first_pick"])
        picks = self._state.picks[first : first + max(int(action["n_picks"]), 0)]
        wanted = [
            node for pick in picks if pick["low"] >= 0 for node in range(pick["low"], pick["low"] + pick["count"])
        ]
        return [int(node) for node in wanted if node < len(self.left)]

    def _start(self, action: np.void) -> None:
        state, job = self._state, int(action["job"])
        leg = first = int(state.jobs["leg"][job])
        while leg >= 0 and state.legs["way"][leg] != action["way"]:
            leg = int(state.legs["other"][leg])
        leg = leg if leg >= 0 else first
        count = int(action["nodes"]) or int(state.demands[leg, 0])
        if action["n_picks"] != 0:
            self.left[self._picked(action)] = False
        elif self._atoms is None:
            self._take(0, len(self.left), count)
        else:
            self._take_of_atoms(self._atoms, leg, action, count)

    def _take_of_atoms(self, atoms: Atoms, leg: int, action: np.void, count: int) -> None:
        """Of each atom as many as the start says or, where it says nothing, what is left from the first one on."""
        ends = [*atoms.first[1:], len(self.left)]
        given = self._state.shares[action["share"]].tolist() if action["share"] >= 0 else None
        for a, (first, end) in enumerate(zip(atoms.first, ends, strict=True)):
            allowed = int(self._state.legs["allowed"][leg]) >> a & 1
            some = given[a] if given is not None else count if allowed else 0
            count -= len(self._take(first, end, some))

    def _take(self, first: int, end: int, count: int) -> list[int]:
        """The lowest that are left there."""
        lowest: Any = np.flatnonzero(self.left[first:end])[: max(count, 0)] + first
        self.left[lowest] = False
        return [int(node) for node in lowest]

    def _resize(self, action: np.void) -> None:
        state, job = self._state, int(action["job"])
        flex = state.flexible.jobs[state.flexible.row[job]]
        mine = self._held.setdefault(job, self._pieces(job))
        at_once = flex["at_point"] and not flex["lingers"]
        keeps = int(action["nodes"]) if at_once else max(int(action["nodes"]), int(state.jobs["nodes"][job]))
        if action["n_picks"] != 0:
            chosen = self._picked(action)
            gone = [node for node in mine if node not in chosen]
            mine[:] = [*sorted(set(chosen) - set(mine), reverse=True), *(node for node in mine if node in chosen)]
            self.left[gone], self.left[chosen] = True, False
        elif keeps > len(mine):
            mine[:0] = self._take(0, len(self.left), keeps - len(mine))[::-1]
        else:
            self.left[mine[: len(mine) - keeps]] = True
            del mine[: len(mine) - keeps]

    def _pieces(self, job: int) -> list[int]:
        state, found = self._state, list[int]()
        at = int(state.jobs["piece"][job]) if state.jobs["held"][job] else -1
        while at >= 0:
            low, high, at = (int(value) for value in state.nodes.pieces[at])
            found += range(high, low - 1, -1)
        return found
