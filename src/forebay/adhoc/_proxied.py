"""How fast an ad-hoc file system is behind proxies, one on each node: see `gekkofs.Proxy`."""

import numpy as np
from numpy.typing import NDArray

from forebay.adhoc.gekkofs import Proxy
from forebay.adhoc.throughput import Device, Link, blocks_a_second


def proxied(
    clients: int, servers: int, block_size: int, device: Device, link: Link, proxy: Proxy, *, reads: bool
) -> NDArray[np.float64]:
    """Bytes a second of all numbers of clients and servers, [clients, servers], each from 1 up to these.

    A cache answers reads. Writes that are written back wait for the proxy alone, while it hands on what came before;
    at the close all of it must have arrived (close-to-open), so the slower of both counts.
    """
    n_servers, hits = np.arange(1, servers + 1, dtype=np.float64), proxy.hits if reads else 0.0
    served = (1 - hits) * device.seconds(block_size, link, reads=reads)
    sent = (1 - hits) * (link.seconds(block_size) - link.latency + link.latency / proxy.batch)
    writes_back = proxy.write_back and not reads
    rates = np.array(list(blocks_a_second(clients, n_servers, sent + (0.0 if writes_back else proxy.hop), served)))
    if writes_back and proxy.hop > 0:
        rates = np.minimum(rates, (np.arange(1, clients + 1) / proxy.hop)[:, None])
    return rates * block_size
