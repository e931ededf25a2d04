"""How many servers each job with an ad-hoc file system has at first, may have, and asks for before each operation."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from forebay._support.text import counted
from forebay.adhoc._proxied import proxied
from forebay.adhoc.controller import Controller
from forebay.adhoc.gekkofs import Proxy
from forebay.adhoc.throughput import D33_DEVICE, D33_LINK, Device, Link, throughputs
from forebay.core.units import format_bytes
from forebay.errors import InputError, nearest


@dataclass(frozen=True)
class Setting:
    """The parameters of the job model."""

    servers: str
    nodes: str
    start: float
    most: float
    recommended: float
    tolerance: float
    window: int
    operations: int
    grant: str
    redistribute: str
    block: int
    holds: float
    write: float
    read: float
    slowdown: float
    hop: float = 0.0
    hits: float = 0.0
    batch: int = 1
    write_back: bool = False

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        for name, words in _WORDS.items():
            if getattr(self, name) not in words:
                raise _wrong(f"{name} is {getattr(self, name)!r}: {nearest(getattr(self, name), words)}")
        for name in ("window", "operations", "block", "batch"):
            if getattr(self, name) < 1:
                raise _wrong(f"{name} is {getattr(self, name)}; give a whole number from 1 up")
        for name in ("start", "most", "holds", "write", "read"):
            if not getattr(self, name) > 0:
                raise _wrong(f"{name} is {getattr(self, name):g}; give a number above 0")
        if not 0 <= self.hits <= 1:
            raise _wrong(f"hits is {self.hits:g}; give a share from 0 to 1")
        for name in ("recommended", "tolerance", "slowdown", "hop"):
            if not 0 <= getattr(self, name) < np.inf:
                raise _wrong(f"{name} is {getattr(self, name):g}; give a number from 0 up")
        for name in ("start", "most", "write", "read"):
            if getattr(self, name) == np.inf:
                raise _wrong(f"{name} is infinite; give a number")
        if self.malleable and self.most < self.start:
            raise _wrong(f"most is {self.most:g}, and start is {self.start:g}; give most as much as start, or more")
        if self.malleable and self.nodes == "own":
            raise _wrong("servers on a job's own nodes are as many as these; write nodes=borrowed, or servers=fixed")

    @property
    def proxy(self) -> Proxy | None:
        """What stands between a node and its servers; None where nothing does."""
        found = Proxy(self.hop, self.hits, self.batch, self.write_back)
        return found if found != Proxy(0.0) else None

    @property
    def malleable(self) -> bool:
        """Whether the number of servers changes."""
        return self.servers == "malleable"


_WORDS = {
    "servers": ("none", "fixed", "malleable"),
    "nodes": ("borrowed", "own"),
    "grant": ("free", "idle"),
    "redistribute": ("partial", "total", "modulo", "consistent"),
}


def _wrong(what: str) -> InputError:
    return InputError(f"job model 'adhoc': {what}")


class Servers:
    """What servers a machine with so many nodes has for jobs.

    Jobs on `nodes` nodes that keep `data` bytes have names in `ids`, for messages. `first` is how many servers
    each has at first, 0 = none: it uses the machine's file system.
    """

    def __init__(
        self, setting: Setting, machine: int, port: float, ids: np.ndarray, nodes: np.ndarray, data: np.ndarray
    ) -> None:
        for name in ("start", "most"):
            if getattr(setting, name) > machine:
                raise _wrong(
                    f"{name} is {getattr(setting, name):g} servers for each node of a job, and the machine has "
                    f"{counted(machine, 'node')}; give fewer"
                )
        self.setting, self.nodes = setting, nodes
        self.link = Link(min(D33_LINK.bandwidth, port), D33_LINK.stream, D33_LINK.latency)
        self.device = Device(setting.write, setting.read, D33_DEVICE.write_delay, D33_DEVICE.read_delay)
        room = nodes if setting.nodes == "own" else np.maximum(machine - nodes, 0)
        needed = np.maximum(np.ceil(data / setting.holds), 1).astype(np.int64)
        small = (needed > room) & (room > 0)
        if small.any():
            k = int(np.argmax(small))
            raise _wrong(
                f"job {ids[k]} keeps {format_bytes(int(data[k]))}, and the {counted(int(room[k]), 'server')} that it "
                f"can have hold {format_bytes(int(setting.holds))} each; raise holds, or leave the job out"
            )
        first = nodes if setting.nodes == "own" else _rounded_up(setting.start, nodes)
        self.first = np.minimum(np.maximum(first, needed), room)
        most = _rounded_up(setting.most, nodes) if setting.malleable else self.first
        self.most = np.minimum(np.maximum(most, self.first), room)

    @cached_property
    def rates(self) -> tuple[np.ndarray, np.ndarray]:
        """Bytes/s of writes and of reads, by number of clients - 1, then of servers - 1."""
        clients, servers = int(self.nodes.max()), max(int(self.most.max()), 1)
        proxy, sizes = self.setting.proxy, (clients, servers, self.setting.block, self.device, self.link)
        if proxy is not None:
            return proxied(*sizes, proxy, reads=False), proxied(*sizes, proxy, reads=True)
        return throughputs(*sizes, reads=False), throughputs(*sizes, reads=True)

    def wanted(self, k: int, servers: int, writes: int) -> int:
        """How many servers job `k` wants, which has so many, after a window with so many writes."""
        setting, n = self.setting, int(self.nodes[k])
        by_write, by_read = (rates[n - 1, servers - 1] for rates in self.rates)
        decide = Controller(
            recommended=n * setting.recommended,
            tolerance=setting.tolerance * n * setting.recommended,
            window=setting.window,
            most=int(self.most[k]),
            least=int(self.first[k]),
        )
        return decide([by_write] * writes + [by_read] * (setting.window - writes), servers)

    def reached(self, k: int, windows: Iterable[int]) -> dict[int, dict[int, int]]:
        """All numbers of servers that job `k` may come to have, and what it wants then after each of these windows.

        A window is known by its writes.
        """
        windows, found, new = list(windows), {}, [int(self.first[k])]
        while new:
            servers = new.pop()
            found[servers] = {writes: self.wanted(k, servers, writes) for writes in windows}
            new += [one for one in set(found[servers].values()) if one not in found and one not in new]
        return dict(sorted(found.items()))

    def seconds_a_byte(self) -> float:
        """How long a server takes to receive a byte of what is redistributed."""
        return self.device.seconds(self.setting.block, self.link) / self.setting.block


def streaks(writes: np.ndarray, window: int) -> np.ndarray:
    """Before each operation, how many of the last `window` were writes; -1 where there were not so many."""
    sums = np.concatenate([[0], np.cumsum(writes)])
    last = np.full(len(writes), -1, np.int64)
    late = np.arange(window, len(writes))
    last[late] = sums[late] - sums[late - window]
    return last


def _rounded_up(share: float, nodes: np.ndarray) -> np.ndarray:
    """Servers for so many nodes; 0.1 of 30 is 3, whatever is left behind the comma."""
    servers: np.ndarray = np.ceil(share * nodes - 1e-9).astype(np.int64)
    return servers
