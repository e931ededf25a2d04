"""How fast an ad-hoc file system is: clients that write or read block after block, at servers picked evenly.

A closed network of queues, by mean value analysis (Reiser & Lavenberg 1980). A client spends latency + b / stream
seconds on a block of b bytes by itself; a server serves one block at a time, in delay + b / min(device, link) seconds
on average. With few servers blocks queue there; with many the clients are the limit.

The defaults are fitted to what ADMIRE D3.3 publishes of Hercules (section 3.2.4). That is gains in per cent and no
throughput at all, so the scale hangs on the link, whose 100 Gb/s are given, and on the device's write bandwidth, which
is set, not fitted: anything from 0.1 to 2 GB/s does nearly as well. docs/reference/adhoc.md holds the comparison.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from forebay.adhoc import _checks
from forebay.errors import InputError


@dataclass(frozen=True)
class Device:
    """What a server stores blocks on.

    Parameters
    ----------
    write
        Bytes a second that it takes.
    read
        Bytes a second that it gives.
    write_delay
        Seconds that a server spends on a written block, whatever its size.
    read_delay
        The same of a block that is read.
    """

    write: float
    read: float
    write_delay: float = 0.0
    read_delay: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a device that moves nothing."""
        _checks.number("the device's write bandwidth", self.write, above=True)
        _checks.number("the device's read bandwidth", self.read, above=True)
        _checks.number("write_delay", self.write_delay)
        _checks.number("read_delay", self.read_delay)

    def seconds(self, size: float, link: "Link", *, reads: bool = False) -> float:
        """What a server behind this link spends on a block of so many bytes."""
        bandwidth, delay = (self.read, self.read_delay) if reads else (self.write, self.write_delay)
        return delay + size / min(bandwidth, link.bandwidth)


@dataclass(frozen=True)
class Link:
    """What connects clients and servers.

    Parameters
    ----------
    bandwidth
        Bytes a second into and out of a server.
    stream
        Bytes a second that one client can handle; no more than the bandwidth.
    latency
        Seconds that a client spends on a block, whatever its size.
    """

    bandwidth: float
    stream: float
    latency: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a link that carries nothing."""
        _checks.number("the link's bandwidth", self.bandwidth, above=True)
        _checks.number("the link's stream", self.stream, above=True)
        _checks.number("the link's latency", self.latency)

    def seconds(self, size: float) -> float:
        """What one client spends on `size` bytes."""
        return self.latency + size / min(self.stream, self.bandwidth)


D33_DEVICE = Device(write=1e9, read=50e9, write_delay=2.16e-4, read_delay=2.9e-6)
"""Memory of a data node. The delays are fitted, the bandwidths are not: reads are faster than the link anyway."""

D33_LINK = Link(bandwidth=12.5e9, stream=2.02e9, latency=8.5e-6)
"""Omni-Path of 100 Gb/s, as the text says; what a client does with it is fitted."""

D33_SHARE = 0.24
"""Of the data, the share that is moved before the file system has grown; fitted."""

D33_OVERHEAD = 0.011
"""What being malleable costs: 1.10 %, as the text says of writes with blocks of 256 kB."""


def steady_throughput(
    clients: int,
    servers: ArrayLike,
    block_size: int,
    device: Device = D33_DEVICE,
    link: Link = D33_LINK,
    *,
    reads: bool = False,
) -> Any:
    """Bytes a second that clients move together while the number of servers stays.

    Parameters
    ----------
    clients
        Processes that write or read, each on a link of its own, one block at a time.
    servers
        How many servers there are; an array gives as many answers.
    block_size
        Bytes of a block.
    device
        What servers store blocks on.
    link
        What connects both.
    reads
        Whether blocks are read, not written.

    Returns
    -------
    float or array of float

    Examples
    --------
    One client meets no queue, so servers do not matter to it:

    >>> device, link = fb.adhoc.Device(write=1e9, read=1e9), fb.adhoc.Link(bandwidth=1e9, stream=1e9)
    >>> fb.adhoc.steady_throughput(1, [1, 4], 1_000_000, device, link).tolist()
    [500000000.0, 500000000.0]
    """
    n_clients = _checks.count("the number of clients", clients, most=_checks.MOST_SERVERS)
    n_servers = np.vectorize(lambda n: _checks.servers(n, None), otypes=[np.float64])(np.asarray(servers))
    size = _checks.count("block_size", block_size)
    rates = blocks_a_second(n_clients, n_servers, link.seconds(size), device.seconds(size, link, reads=reads))
    return deque(rates, maxlen=1)[0] * size


def throughputs(
    clients: int, servers: int, block_size: int, device: Device, link: Link, *, reads: bool = False
) -> NDArray[np.float64]:
    """The same for all numbers of clients and servers at once, [clients, servers], each from 1 up to these."""
    n_servers = np.arange(1, servers + 1, dtype=np.float64)
    served = device.seconds(block_size, link, reads=reads)
    return np.array(list(blocks_a_second(clients, n_servers, link.seconds(block_size), served))) * block_size


def blocks_a_second(
    n_clients: int, n_servers: NDArray[np.float64], alone: float, served: float
) -> Iterator[NDArray[np.float64]]:
    """For 1, 2, ... clients. Mean value analysis: a block finds at its server what would queue there with one fewer."""
    queue = np.zeros(n_servers.shape)
    for n in range(1, n_clients + 1):
        response = served * (1 + queue)
        rate = n / (alone + response)
        queue = rate * response / n_servers
        yield rate


def growing_throughput(
    before: ArrayLike, after: ArrayLike, share: float = D33_SHARE, overhead: float = D33_OVERHEAD
) -> Any:
    """Bytes a second over a run whose file system grows on the way.

    Parameters
    ----------
    before
        Bytes a second before it grows.
    after
        Bytes a second from then on.
    share
        The share of the data that is moved before.
    overhead
        By how much being malleable lengthens the run: 0.01 is 1 %.

    Returns
    -------
    float or array of float

    Examples
    --------
    Half of the data at 1 GB/s and half at 4 GB/s:

    >>> float(fb.adhoc.growing_throughput(1e9, 4e9, share=0.5, overhead=0))
    1600000000.0
    """
    first = _checks.share("share", share)
    longer = 1 + _checks.number("overhead", overhead)
    rates = np.asarray(before, np.float64), np.asarray(after, np.float64)
    for what, rate in zip(("before", "after"), rates, strict=True):
        if not (rate > 0).all():
            raise InputError(f"{what} has a throughput that is not above 0; give bytes a second")
    return 1 / (longer * (first / rates[0] + (1 - first) / rates[1]))
