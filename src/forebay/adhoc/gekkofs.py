"""GekkoFS: chunks placed by hashing alone, what a change of size moves, and a proxy (ADMIRE D3.3, section 3.3)."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forebay._support.text import counted
from forebay.adhoc import _checks
from forebay.adhoc._moves import Move, Places, Tally, shares
from forebay.adhoc.throughput import Link
from forebay.errors import InputError, brief, nearest, wrong_type

Keys = NDArray[np.uint64]
"""Hashes of chunks."""


def modulo(keys: Keys, servers: int) -> Places:
    """The servers of chunks by the remainder of their hashes, as GekkoFS does it.

    Parameters
    ----------
    keys
        Hashes of chunks.
    servers
        How many servers there are.

    Returns
    -------
    array of int

    Examples
    --------
    >>> import numpy as np
    >>> fb.adhoc.modulo(np.arange(6, dtype=np.uint64), 4).tolist()
    [0, 1, 2, 3, 0, 1]
    """
    return (keys % np.uint64(_checks.servers(servers, None))).astype(np.int32)


def consistent(keys: Keys, servers: int) -> Places:
    """The servers of chunks by jump consistent hashing (Lamping & Veach 2014): one more takes its share and no more.

    Parameters
    ----------
    keys
        Hashes of chunks.
    servers
        How many servers there are. The last come first to go.

    Returns
    -------
    array of int

    Examples
    --------
    >>> import numpy as np
    >>> fb.adhoc.consistent(np.array([1, 2, 3], dtype=np.uint64), 1).tolist()
    [0, 0, 0]
    """
    n = _checks.servers(servers, None)
    place = np.zeros(len(keys), np.int64)
    state = np.array(keys, np.uint64)
    jumping = np.arange(len(keys))
    while len(jumping):
        # Where a chunk goes next as servers are added one by one: its generator says at how many it jumps.
        state[jumping] = state[jumping] * np.uint64(2862933555777941757) + np.uint64(1)
        draw = (state[jumping] >> np.uint64(33)).astype(np.float64) + 1.0
        to = (place[jumping] + 1) * (2.0**31 / draw)
        jumping, to = jumping[to < n], to[to < n]
        place[jumping] = to.astype(np.int64)
    return place.astype(np.int32)


PLACEMENTS: dict[str, Callable[[Keys, int], Places]] = {"consistent": consistent, "modulo": modulo}
"""How chunks find their servers."""


def share_moved(before: int, after: int, placement: str = "modulo") -> float:
    """The share of chunks that changes its server, as expected.

    Parameters
    ----------
    before
        How many servers there are.
    after
        How many there will be.
    placement
        "modulo" or "consistent".

    Returns
    -------
    float
        1 - min / lcm under modulo; the difference / max under consistent hashing.

    Examples
    --------
    >>> fb.adhoc.share_moved(4, 5), fb.adhoc.share_moved(4, 5, "consistent")
    (0.8, 0.2)
    """
    n, m = _checks.servers(before, None), _checks.servers(after, None)
    return float(shares(n, m, _known(placement))[0])


def _known(placement: str) -> str:
    if placement not in PLACEMENTS:
        raise InputError(f"placement is {brief(placement)}: {nearest(placement, PLACEMENTS)}")
    return placement


class GekkoFS:
    """An ad-hoc file system whose chunks lie where the hash of their path and number says.

    Metadata are hashed likewise and moved with the chunks; they are small and not counted.

    Parameters
    ----------
    servers
        How many servers there are at first.
    chunk_size
        Bytes of a chunk.
    placement
        "modulo", as GekkoFS has it, or "consistent".
    capacity
        Bytes that a server holds; None for no bound.
    nodes
        How many servers there can be; None for no bound.

    Examples
    --------
    >>> fs = fb.adhoc.GekkoFS(4, chunk_size=524_288, placement="consistent")
    >>> fs.write("/results", 1_000)
    >>> fs.resize(5).blocks
    178
    """

    def __init__(
        self,
        servers: int,
        chunk_size: int,
        placement: str = "modulo",
        capacity: int | None = None,
        nodes: int | None = None,
    ) -> None:
        self.nodes = None if nodes is None else _checks.count("nodes", nodes, most=_checks.MOST_SERVERS)
        self.servers = _checks.servers(servers, self.nodes)
        self.chunk_size = _checks.count("chunk_size", chunk_size)
        self.capacity = None if capacity is None else _checks.count("capacity", capacity)
        self.placement = _known(placement)
        self.files: dict[str, int] = {}

    def __repr__(self) -> str:
        """The file system in a line."""
        files, servers = counted(len(self.files), "file"), counted(self.servers, "server")
        return f"<GekkoFS, {self.placement}: {files} on {servers}>"

    def write(self, path: str, chunks: int) -> None:
        """Write chunks behind those that the file has; the first ones make it."""
        if not isinstance(path, str):
            raise wrong_type("the path of a file", path, "text")
        n = self.files.get(path, 0) + _checks.count("the number of chunks", chunks, least=0, most=2**50)
        files = {**self.files, path: n}
        self._room(files, self.servers, f"file {brief(path)}")
        self.files = files

    def find(self, path: str) -> Places:
        """The servers of all chunks of a file."""
        if path not in self.files:
            known = nearest(path, self.files) if self.files else "write it first"
            raise InputError(f"there is no file {brief(path)}; {known}")
        return self._places(path, self.files[path], self.servers)

    def resize(self, servers: int) -> Move:
        """Start or stop servers and move every chunk to where its hash says now; nobody may use the files meanwhile."""
        n = _checks.servers(servers, self.nodes)
        self._room(self.files, n, f"resizing to {counted(n, 'server')}")
        tally = Tally(max(n, self.servers))
        for path, chunks in self.files.items():
            old, new = self._places(path, chunks, self.servers), self._places(path, chunks, n)
            tally.add(old, new, np.ones(chunks, np.int64))
        self.servers = n
        return tally.move(self.chunk_size)

    def _places(self, path: str, chunks: int, servers: int) -> Places:
        return PLACEMENTS[self.placement](_keys(path, chunks), servers)

    def _room(self, files: dict[str, int], servers: int, what: str) -> None:
        if self.capacity is None:
            return
        held = np.zeros(servers, np.int64)
        for path, chunks in files.items():
            held += np.bincount(self._places(path, chunks, servers), minlength=servers)
        _checks.room(int(held.max()) * self.chunk_size, self.capacity, what)


def _keys(path: str, chunks: int) -> Keys:
    """Hashes of the chunks of a file: the same in every run and on every machine."""
    seed = int.from_bytes(hashlib.blake2b(path.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
    z = np.arange(1, chunks + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    # SplitMix64 (Steele, Lea & Flood 2014): neighbours become strangers.
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@dataclass(frozen=True)
class Proxy:
    """A process on each node through which all its clients reach the servers.

    Each request takes one hop more, between processes. Those that the proxy's cache answers go no further; the others
    are sent in batches, each of which pays the latency of the network once. The text has no numbers for it, so nothing
    here is fitted.

    Parameters
    ----------
    hop
        Seconds that a request and its answer spend between client and proxy.
    hits
        The share of requests that the cache answers.
    batch
        How many requests it bundles.
    write_back
        Whether a write is over for its client once the proxy has it.
    """

    hop: float
    hits: float = 0.0
    batch: int = 1
    write_back: bool = False

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by its name."""
        _checks.number("hop", self.hop)
        _checks.share("hits", self.hits)
        _checks.count("batch", self.batch)

    def seconds(self, size: float, link: Link) -> float:
        """What a request for `size` bytes takes on average; without a proxy it is `link.seconds(size)`."""
        whole = link.seconds(_checks.number("the size of a request", size))
        return self.hop + (1 - self.hits) * (whole - link.latency + link.latency / self.batch)
