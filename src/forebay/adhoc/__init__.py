"""Ad-hoc file systems that change their size: where data lies, what a change moves, when to change, how fast they are.

>>> fs = fb.adhoc.Hercules(4, block_size=2**20)
>>> fs.write("results", 1_000)
>>> fs.resize(6).blocks
0
>>> fs.resize(3).blocks
250

A library by itself: it knows neither jobs nor machines. After ADMIRE's deliverable D3.3, sections 3.2 and 3.3.
"""

from forebay.adhoc._moves import Move, shares
from forebay.adhoc.controller import Controller, Verdict, trajectory
from forebay.adhoc.gekkofs import GekkoFS, Proxy, consistent, modulo, share_moved
from forebay.adhoc.hercules import Hercules, State
from forebay.adhoc.throughput import Device, Link, growing_throughput, steady_throughput

__all__ = [
    "Controller",
    "Device",
    "GekkoFS",
    "Hercules",
    "Link",
    "Move",
    "Proxy",
    "State",
    "Verdict",
    "consistent",
    "growing_throughput",
    "modulo",
    "share_moved",
    "shares",
    "steady_throughput",
    "trajectory",
]
