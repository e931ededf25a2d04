"""Nodes and servers as a policy in plain Python sees them during a decision: what its own starts have left."""

import numpy as np

from forebay.algorithms.nodes.placement import count_chunks, pick_server
from forebay.core.tables import State
from forebay.engine.policy_io.idle_nodes import Idle, mask_of


class Places:
    """A scratch copy on which starts are tried by the engine's own rule of placement."""

    def __init__(self, state: State):
        self._state, self._counts = state, state.counts[0]
        self.matter = bool(state.machine[0]["chunked"] >= 0)
        self._room = state.servers.room.copy()
        self._idle = np.zeros(0, bool)
        self._known = False

    def begin(self) -> None:
        """A new decision."""
        self._known = False
        self._counts["n_picks"] = 0

    def fits(self, job: int) -> bool:
        """Whether servers have room for the job's chunks."""
        self._look()
        n_chunks, size = self._chunks(job)
        return n_chunks == 0 or int(count_chunks(self._room, size, n_chunks)) >= n_chunks

    def place(self, job: int, nodes: list[int] | None = None, count: int | None = None) -> tuple[int, int]:
        """Take places for a job: the lowest free nodes, `count` or as many as demanded, or those given.

        Returns its picks: first, count.

        No picks are made of places that the engine would choose by itself; a count below 0 is one it will refuse.
        """
        self._look()
        first = int(self._counts["n_picks"])
        n_chunks, size = self._chunks(job)
        leg = self._state.jobs[job]["leg"]
        wanted = self._state.demands[leg, 0] if count is None else count
        lowest = np.flatnonzero(self._idle)[:wanted]
        chosen = lowest if nodes is None else np.sort(np.array(nodes, np.int64))
        known = chosen[(chosen >= 0) & (chosen < len(self._idle))]
        self._idle[known] = False
        if n_chunks > 0:
            sites = [*self._state.nodes.site[known], *self._state.nodes.site[:1].repeat(max(n_chunks - len(known), 0))]
            servers = [int(pick_server(self._state.servers.near[site], self._room, size)) for site in sites]
            chosen = np.append(chosen, np.full(max(n_chunks - len(chosen), 0), -1))
        else:
            servers = [-1] * len(chosen)
        if nodes is None:
            return first, 0
        if len(chosen) > len(self._state.picks) - first or len(nodes) != wanted:
            return first, -1
        rows = self._state.picks[first : first + len(chosen)]
        rows["low"], rows["count"] = chosen, 1
        rows["server"] = (servers + [-1] * len(chosen))[: len(chosen)]
        self._counts["n_picks"] = first + len(chosen)
        return first, len(chosen)

    def pick(self, nodes: list[int]) -> tuple[int, int]:
        """Write down the nodes that a job shall have; a count below 0 is one that the engine will refuse."""
        self._look()
        first, chosen = int(self._counts["n_picks"]), np.sort(np.array(nodes, np.int64))
        if not len(chosen) or len(chosen) > len(self._state.picks) - first:
            return first, -1
        rows = self._state.picks[first : first + len(chosen)]
        rows["low"], rows["count"], rows["server"] = chosen, 1, -1
        self._counts["n_picks"] = first + len(chosen)
        self._idle[chosen[(chosen >= 0) & (chosen < len(self._idle))]] = False
        return first, len(chosen)

    def follow(self, actions: np.ndarray) -> None:
        """Take what these starts, which a kernel has written with their picks, will take."""
        self._look()
        for action in actions:
            _, size = self._chunks(int(action["job"]))
            first = int(action["first_pick"])
            for pick in self._state.picks[first : first + int(action["n_picks"])]:
                if pick["low"] >= 0:
                    self._idle[pick["low"] : pick["low"] + pick["count"]] = False
                if size > 0:
                    self._room[pick["server"]] -= size * pick["count"]

    def idle(self, actions: np.ndarray) -> np.ndarray:
        """The nodes that are left after these verbs of this decision, ascending."""
        return Idle(self._state).follow(actions)

    def _look(self) -> None:
        """Copy what is free, once a decision."""
        if self._known:
            return
        self._known = True
        state = self._state
        self._room[:] = state.servers.room
        self._idle = mask_of(state)

    def _chunks(self, job: int) -> tuple[int, int]:
        size = int(self._state.legs[self._state.jobs[job]["leg"]]["chunk"])
        return (max(int(self._state.jobs[job]["nodes"]), 1) if size > 0 else 0), size
