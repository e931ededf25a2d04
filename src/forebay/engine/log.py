"""What has happened, written down: rows of the log, the nodes that a row of it gave to a job or took back, and the
servers on which it put chunks; and who is held back by a limit.

All are buffers. When one is full, all are emptied by a Python function whose address the cursor has, so that a run may
write as much as it likes: see `engine.driver.recorder`.
"""

from numba import types

from forebay._numba.bridge import call_address
from forebay._numba.jit import kernel
from forebay.core.tables import STATE
from forebay.engine.truth import TRUTH

_f8, _i8 = types.float64, types.int64


@kernel
def _write(truth, time, j, kind, leg, resource, amount, reason):
    cursor = truth.cursor[0]
    if cursor["n_log"] == len(truth.log):
        call_address(cursor["drain"])
    row = truth.log[cursor["n_log"]]
    row["time"] = time
    row["job"] = j
    row["kind"] = kind
    row["leg"] = leg
    row["resource"] = resource
    row["amount"] = amount
    row["reason"] = reason
    cursor["n_log"] += 1


# Explicit signatures where callers pass codes, literals and columns alike: without, each mix is compiled by itself.


@kernel(types.void(STATE, TRUTH, _f8, _i8, _i8, _i8, _i8, _i8))
def write_log(state, truth, time, j, kind, resource, amount, reason):
    """Append a row to the log."""
    _write(truth, time, j, kind, truth.scripts[state.jobs[j]["leg"]]["number"], resource, amount, reason)


@kernel(types.void(TRUTH, _f8, _i8, _i8))
def write_node(truth, time, kind, node):
    """Append a row on a node of the machine, whoever had it."""
    _write(truth, time, -1, kind, 0, -1, node, 0)


@kernel(types.void(TRUTH, _i8, _i8))
def write_nodes(truth, low, high):
    """Note that the change written last was of the nodes low..high."""
    cursor = truth.cursor[0]
    if cursor["n_placed"] == len(truth.placements):
        call_address(cursor["drain"])
    placement = truth.placements[cursor["n_placed"]]
    placement["row"] = cursor["n_drained"] + cursor["n_log"] - 1
    placement["low"] = low
    placement["high"] = high
    cursor["n_placed"] += 1


@kernel(types.void(TRUTH, _i8, _i8))
def write_chunks(truth, server, amount):
    """Note that the change written last put so many bytes on a server."""
    cursor = truth.cursor[0]
    if cursor["n_stored"] == len(truth.stored):
        call_address(cursor["drain"])
    stored = truth.stored[cursor["n_stored"]]
    stored["row"] = cursor["n_drained"] + cursor["n_log"] - 1
    stored["server"] = server
    stored["bytes"] = amount
    cursor["n_stored"] += 1


@kernel(types.void(TRUTH, _f8, _i8, _i8, _i8, _i8))
def write_held(truth, time, j, by, row, part):
    """Note what holds job `j` back from now on, unless that did so before."""
    cursor, cause = truth.cursor[0], truth.meters.cause[j]
    if by == cause["by"] and row == cause["row"] and part == cause["part"]:
        return
    cause["by"] = by
    cause["row"] = row
    cause["part"] = part
    if cursor["n_held"] == len(truth.held):
        call_address(cursor["drain"])
    held = truth.held[cursor["n_held"]]
    held["time"] = time
    held["job"] = j
    held["by"] = by
    held["row"] = row
    held["part"] = part
    cursor["n_held"] += 1
