"""Whether a run is to end, as kernels that take long ask: a byte is read, and Python is called when it is set.

The byte is written by the signal itself (see engine.driver.signals): kernels hold no lock of the interpreter's, but its
handlers run only where the main thread runs Python. A look takes about a nanosecond, so that any loop can have one.
"""

import signal

import numba
import numpy as np
from numba import types

from forebay._numba.bridge import call_address, peek
from forebay._numba.jit import kernel

CLOCK = np.dtype([("now", "f8"), ("triggers", "i8"), ("signals", "i8"), ("look_up", "i8"), ("stop", "i1")], align=True)
"""The time, and the Trigger bits of this instant; where signals are written, whom to call then, and what that says."""
CLOCK_ROWS = types.Array(numba.from_dtype(CLOCK), 1, "C")
NO_CLOCK = np.zeros(1, CLOCK)
"""For a kernel that is called outside of any run, which nothing stops."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Those that end a run, unless their handlers do something else."""
ROOM = 4096
"""Bytes that signals are written to, one each."""
_INT, _TERM, _HUP = map(int, SIGNALS)


@kernel(types.boolean(types.int64))
def _called(address):
    """Whether one of the signals has come. Others, whose handlers run later, may have come before it."""
    for k in range(ROOM):
        number = peek(address + k)
        if number == 0:
            return False
        if number in (_INT, _TERM, _HUP):
            return True
    return False


@kernel
def stopped(clock):
    """Whether the run with this clock is to end. What a kernel then leaves half done is not read."""
    row = clock[0]
    if row["signals"] != 0 and peek(row["signals"]) != 0 and _called(row["signals"]):
        call_address(row["look_up"])
    return row["stop"] != 0
