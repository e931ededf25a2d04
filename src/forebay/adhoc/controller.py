"""When an ad-hoc file system should grow or shrink, and by how much (ADMIRE D3.3, section 3.2.1).

An application recommends a throughput (RIO); the file system measures what it gives (AIO). The text compares the mean
distance between both with RIO - T and RIO + T (eqs. 3.4 to 3.6), which only makes sense of a throughput; here the
distance is compared with -T and T.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from forebay.adhoc import _checks
from forebay.errors import InputError, wrong_type

Decide = Callable[[NDArray[np.float64], int], int]
"""A controller: from throughputs since the last change (bytes/s) and the number of servers to what it should be."""


class Verdict(Enum):
    """What the last operations say of the file system."""

    NEAR = "near"
    BELOW = "below"
    ABOVE = "above"


@dataclass(frozen=True)
class Controller:
    """Hercules' own heuristic: from measured throughputs and the number of servers to what that should be.

    With d the mean distance and m the mean throughput of a server, it adds ceil(-d / m) servers, or removes
    floor(d / m): as many as leave the recommended throughput. So it never turns round under a constant load, if twice
    the servers give at most twice the throughput.

    Parameters
    ----------
    recommended
        The throughput that the application wants, in bytes/s: RIO.
    tolerance
        How far the mean may be from it, in bytes/s: T.
    window
        How many operations the mean is of: k.
    most
        The most servers it asks for.
    least
        The fewest servers it leaves.

    Examples
    --------
    >>> controller = fb.adhoc.Controller(recommended=10e9, tolerance=1e9, window=3, most=16)
    >>> controller([4e9, 4e9, 4e9], 2)
    5
    >>> controller([9.5e9, 9.5e9, 9.5e9], 5)
    5
    """

    recommended: float
    tolerance: float
    window: int
    most: int
    least: int = 1

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by its name."""
        _checks.number("the recommended throughput", self.recommended)
        _checks.number("the tolerance", self.tolerance)
        _checks.count("the window", self.window)
        _checks.servers(self.least, None)
        _checks.servers(self.most, None)
        if self.least > self.most:
            raise InputError(f"least is {self.least}; give at most {self.most}, which is most")

    def distance(self, measured: ArrayLike) -> float | None:
        """The mean distance over the window (eqs. 3.1 and 3.2), None while it is not full."""
        last = np.asarray(measured, np.float64)[-self.window :]
        if len(last) < self.window:
            return None
        if not (np.isfinite(last) & (last >= 0)).all():
            raise InputError("a measured throughput is negative or not finite; give bytes a second from 0 up")
        return float(np.mean(last - self.recommended))

    def verdict(self, measured: ArrayLike) -> Verdict:
        """Near, below or above what is recommended (eqs. 3.3 to 3.6); near while the window is not full."""
        d = self.distance(measured)
        if d is None or abs(d) <= self.tolerance:
            return Verdict.NEAR
        return Verdict.BELOW if d < 0 else Verdict.ABOVE

    def __call__(self, measured: ArrayLike, servers: int) -> int:
        """How many servers there should be."""
        d = self.distance(measured)
        if d is None or abs(d) <= self.tolerance:
            return servers
        each = (d + self.recommended) / servers
        if d > 0:
            return min(servers, max(servers - math.floor(d / each), self.least))
        # Also where nothing came through at all: no number of servers follows from that.
        wanted = servers + math.ceil(-d / each) if each * self.most > -d else self.most
        return max(servers, min(wanted, self.most))


def trajectory(
    decide: Decide, measure: Callable[[int, int], float], servers: int, operations: int
) -> NDArray[np.int64]:
    """How many servers each operation meets, where a controller decides after each.

    Parameters
    ----------
    decide
        A `Controller`, or any function of the throughputs since the last change and the number of servers.
    measure
        The throughput (bytes/s) that this many servers give to this operation, counted from 0.
    servers
        How many there are at first.
    operations
        How many operations there are.

    Returns
    -------
    array of int
        One number an operation.

    Examples
    --------
    >>> controller = fb.adhoc.Controller(recommended=10e9, tolerance=1e9, window=3, most=16)
    >>> fb.adhoc.trajectory(controller, lambda servers, operation: 2e9 * servers, 2, 6).tolist()
    [2, 2, 2, 5, 5, 5]
    """
    if not callable(decide):
        raise wrong_type("the controller", decide, "a Controller, or a function of throughputs and servers")
    n = _checks.servers(servers, None)
    met = np.empty(_checks.count("the number of operations", operations, least=0), np.int64)
    measured, since = np.empty(len(met)), 0
    for i in range(len(met)):
        met[i] = n
        measured[i] = _checks.number(f"the throughput of operation {i}", measure(n, i))
        wanted = _checks.servers(decide(measured[since : i + 1], n), None)
        if wanted != n:
            # What other servers gave says nothing of these.
            n, since = wanted, i + 1
    return met
