"""Hercules: blocks dealt round robin over data nodes, which come and go (ADMIRE D3.3, sections 3.2.2 and 3.2.3).

New servers take new blocks only, so that growing moves nothing; before servers leave, their blocks move to others.
"""

from collections.abc import Sequence
from enum import Enum
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from forebay._support.text import counted
from forebay.adhoc import _checks
from forebay.adhoc._intervals import DataSet
from forebay.adhoc._moves import Move, Places, Tally
from forebay.errors import InputError, brief, listed, nearest, wrong_type

HOW = ("partial", "total")
"""What decommissioning redistributes: the blocks of servers that leave, or all blocks of the data sets on these."""


class State(Enum):
    """What a file system or a data set is doing."""

    READY = "ready"
    COMMISSIONING = "commissioning"
    DECOMMISSIONING = "decommissioning"


class Hercules:
    """An ad-hoc file system on so many data nodes.

    Parameters
    ----------
    servers
        How many data nodes there are at first. They are numbered from 0.
    block_size
        Bytes of a block.
    capacity
        Bytes that a data node holds; None for no bound.
    nodes
        How many data nodes there can be; None for no bound.

    Examples
    --------
    >>> fs = fb.adhoc.Hercules(2, block_size=1_000_000)
    >>> fs.write("a", 4)
    >>> fs.resize(3)
    Move(blocks=0, bytes=0, busiest=0)
    >>> fs.write("a", 4)
    >>> fs.find("a").tolist()
    [0, 1, 0, 1, 1, 2, 0, 1]
    """

    def __init__(self, servers: int, block_size: int, capacity: int | None = None, nodes: int | None = None) -> None:
        self.nodes = None if nodes is None else _checks.count("nodes", nodes, most=_checks.MOST_SERVERS)
        self.block_size = _checks.count("block_size", block_size)
        self.capacity = None if capacity is None else _checks.count("capacity", capacity)
        self.state = State.READY
        self._ring: Places = np.arange(_checks.servers(servers, self.nodes), dtype=np.int32)
        self._due = np.zeros(len(self._ring), np.int64)  # blocks that each server has, or will have after a move
        self._sets: dict[str, DataSet] = {}
        self._coming: Places = self._ring[:0]
        self._plan: dict[str, DataSet] = {}  # what data sets will be once their blocks have moved
        self._move = Move()
        self._turn = 0

    def __repr__(self) -> str:
        """The file system in a line."""
        servers, sets = counted(len(self._ring), "server"), counted(len(self._sets), "data set")
        return f"<Hercules, {self.state.value}: {sets} on {servers}>"

    @property
    def servers(self) -> tuple[int, ...]:
        """The data nodes that take new blocks, in the order of their turns."""
        return tuple(self._ring.tolist())

    @property
    def sets(self) -> dict[str, int]:
        """The data sets, and how many blocks each has."""
        return {name: one.blocks for name, one in self._sets.items()}

    def state_of(self, name: str) -> State:
        """What is being done with a data set."""
        self._set(name)
        return State.DECOMMISSIONING if name in self._plan else State.READY

    def intervals(self, name: str) -> int:
        """How many intervals the map of a data set has."""
        return len(self._set(name))

    def held(self) -> dict[int, int]:
        """How many blocks each server holds now, those that leave included."""
        total = np.zeros(len(self._due), np.int64)
        for one in self._sets.values():
            total += one.held(len(total))
        return {s: int(total[s]) for s in range(len(total)) if total[s] or s in self._ring}

    def write(self, name: str, blocks: int) -> None:
        """Write blocks behind those that the data set has; the first ones make it."""
        n = _checks.count("the number of blocks", blocks, least=0, most=2**50)
        if not isinstance(name, str):
            raise wrong_type("the name of a data set", name, "text")
        if name in self._plan:
            raise InputError(
                f"data set {brief(name)} is being decommissioned, which blocks updates; call finish() first"
            )
        first = self._sets[name].blocks if name in self._sets else 0
        due = self._due.copy()
        each, rest = divmod(n, len(self._ring))
        due[self._ring] += each
        due[self._ring[(first + np.arange(rest)) % len(self._ring)]] += 1
        _checks.room(int(due.max()) * self.block_size, self.capacity, f"data set {brief(name)}")
        self._due = due
        self._sets.setdefault(name, DataSet()).append(n, self._ring)

    def find(self, name: str, blocks: ArrayLike | None = None) -> Places:
        """The servers of these blocks of a data set, or of all."""
        one = self._set(name)
        if blocks is None:
            return one.places()
        wanted = np.asarray(blocks)
        if wanted.dtype.kind not in "iu" and wanted.size:
            raise wrong_type("the blocks to find", blocks, "whole numbers")
        outside = wanted[(wanted < 0) | (wanted >= one.blocks)]
        if outside.size:
            raise InputError(
                f"data set {brief(name)} has {counted(one.blocks, 'block')}, and no block {outside.flat[0]}"
            )
        return one.find(wanted.astype(np.int64))

    def commission(self, servers: int | Sequence[int]) -> None:
        """Ask for servers: so many, or these. Work goes on without them until `finish`."""
        self._rest()
        coming = self._idle(int(servers)) if isinstance(servers, Integral) else self._named(servers)
        _checks.servers(len(self._ring) + len(coming), self.nodes)
        taken = sorted({*coming} & {*self.servers})
        if taken:
            raise InputError(f"server {taken[0]} is part of the file system; name servers that are not")
        self._coming = np.array(coming, np.int32)
        self.state = State.COMMISSIONING

    def decommission(self, servers: int | Sequence[int], how: str = "partial") -> Move:
        """Begin to give servers back: the last so many, or these. `finish` says that their blocks have moved.

        Until then data sets on them can be read, not written. `how` is "partial", which moves the blocks of these
        servers alone, or "total", which deals all blocks of such data sets out anew.
        """
        self._rest()
        if how not in HOW:
            raise InputError(f"how is {brief(how)}: {nearest(how, HOW)}")
        leaving = self._last(int(servers)) if isinstance(servers, Integral) else self._named(servers)
        unknown = sorted({*leaving} - {*self.servers})
        if unknown:
            known = listed(map(str, self.servers))
            raise InputError(f"server {unknown[0]} is not part of the file system; its servers are {known}")
        gone = np.zeros(len(self._due), bool)
        gone[leaving] = True
        staying = self._ring[~gone[self._ring]]
        _checks.servers(len(staying), self.nodes)
        self._redistribute(gone, staying, how)
        self._ring = staying
        self.state = State.DECOMMISSIONING
        return self._move

    def finish(self) -> Move:
        """The servers asked for are there, or the blocks have moved: the file system is ready, and this was moved."""
        if len(self._coming):
            self._ring = np.concatenate([self._ring, self._coming])
            grown = max(0, int(self._coming.max()) + 1 - len(self._due))
            self._due = np.concatenate([self._due, np.zeros(grown, np.int64)])
        self._sets.update(self._plan)
        moved = self._move
        self._coming, self._plan, self._move, self.state = self._ring[:0], {}, Move(), State.READY
        return moved

    def resize(self, servers: int, how: str = "partial") -> Move:
        """Grow or shrink to so many servers at once, as an external controller orders it."""
        self._rest()
        change = _checks.servers(servers, self.nodes) - len(self._ring)
        if change > 0:
            self.commission(change)
        elif change < 0:
            self.decommission(-change, how)
        return self.finish()

    def _redistribute(self, gone: NDArray[np.bool_], staying: Places, how: str) -> None:
        """Plan what data sets on servers that leave will be, if those that stay have room for it."""
        tally, plan, turn = Tally(len(self._due)), {}, self._turn
        for name, one in self._sets.items():
            if not one.held(len(gone))[gone].any():
                continue
            if how == "total":
                plan[name] = one.spread_anew(staying)
            else:
                plan[name], turn = one.without(gone, staying, turn)
            one.compare(plan[name], tally)
        due = self._due + tally.received - tally.sent
        _checks.room(int(due.max()) * self.block_size, self.capacity, f"shrinking to {counted(len(staying), 'server')}")
        self._due, self._plan, self._turn, self._move = due, plan, turn, tally.move(self.block_size)

    def _set(self, name: str) -> DataSet:
        if name not in self._sets:
            known = nearest(name, self._sets) if self._sets else "write it first"
            raise InputError(f"there is no data set {brief(name)}; {known}")
        return self._sets[name]

    def _rest(self) -> None:
        if self.state is not State.READY:
            raise InputError(f"the file system is {self.state.value}; call finish() before it changes again")

    def _idle(self, n: int) -> list[int]:
        """The lowest numbers that no server has."""
        _checks.servers(len(self._ring) + _checks.count("the number of servers to add", n, least=0), self.nodes)
        free = np.ones(len(self._ring) + n, bool)
        free[self._ring[self._ring < len(free)]] = False
        idle: list[int] = np.flatnonzero(free)[:n].tolist()
        return idle

    def _last(self, n: int) -> list[int]:
        _checks.servers(len(self._ring) - _checks.count("the number of servers to remove", n, least=0), None)
        return list(self.servers[len(self._ring) - n :])

    def _named(self, servers: Any) -> list[int]:
        if not isinstance(servers, Sequence | np.ndarray) or isinstance(servers, str):
            raise wrong_type("the servers", servers, "how many, or a list of their numbers")
        most = (self.nodes or _checks.MOST_SERVERS) - 1
        named = [_checks.count("a server", one, least=0, most=most) for one in servers]
        if len({*named}) < len(named):
            raise InputError(f"servers {listed(map(str, named))} has one twice; name each once")
        return named
