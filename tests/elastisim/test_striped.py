"""Burst buffers that are striped over a job's nodes: how long they take, by hand.

Four nodes with ports of 12.5 GB/s and 100 us between them write at 2 GB/s and read at 6 GB/s. A rank puts a quarter of
its data on its own device while it sends quarters to the other nodes, and waits for both.
"""

import pytest

import forebay as fb

pytestmark = pytest.mark.small

GB = 10**9
IDLE, BESIDE = {"type": "idle", "delay": 1, "pattern": "uniform"}, {"async": True}
BUFFERS = {"node_local_bb": "true", "bb_read_bw": "6GBps", "bb_write_bw": "2GBps", "wide_striping": "true"}


def model(*tasks):
    return {"phases": [{"tasks": list(tasks), "barrier": True}]}


def task(kind, size, pattern, **more):
    return {"type": kind, "bytes": size * GB, "pattern": pattern} | more


@pytest.mark.parametrize(
    ("tasks", "flop_per_byte", "seconds"),
    [
        ([task("bb_write", 24, "uniform")], 0, 3.0),  # 6 GB to each device; 24 GB into a port take 1.92 s
        ([task("bb_read", 24, "uniform")], 0, 1.92 + 1e-4),  # 6 GB from each device take 1 s
        ([task("bb_write", 24, "root_only")], 0, 3.0),
        ([task("bb_read", 24, "root_only")], 0, 1.44 + 1e-4),  # 3 x 6 GB out of the root's port
        ([task("bb_read", 24, "uniform")], 50, 12 + 1e-4),  # 24 GB x 50 at 100 Gflop/s
        # Written beside what is computed: its device is still at it when the computing is over.
        ([task("bb_write", 24, "uniform", **BESIDE), IDLE], 0, 3.0),
        # The messages of a read beside go on for longer than its device.
        ([task("bb_read", 24, "uniform", **BESIDE), IDLE], 0, 1.9201),
        ([task("bb_read", 0, "uniform")], 0, 0.0),
    ],
)  # fmt: skip
def test_as_long_as_the_later_of_device_and_messages(read, machine, tasks, flop_per_byte, seconds):
    there = machine(**BUFFERS, flops_per_byte=f"{flop_per_byte}f")
    result = fb.simulate(read(model(*tasks), there), there.platform, "fcfs")
    assert result.jobs["execution_time"].to_list() == pytest.approx([seconds], abs=1e-9)


def test_one_node_sends_nothing(read, machine):
    there = machine(**BUFFERS)
    result = fb.simulate(read(model(task("bb_read", 24, "uniform")), there, num_nodes=1), there.platform, "fcfs")
    assert result.jobs["execution_time"].to_list() == [4.0]


def test_what_was_moved_when_killed_counts_bytes_only(read, machine):
    there = machine(**BUFFERS)
    made = read(model(task("bb_read", 24, "uniform")), there, walltime=1)
    result = fb.simulate(made, there.platform, "fcfs")
    ended = result.log.filter(kind="end_phase")
    assert ended["amount"].to_list() == [24 * GB]  # the devices' 4 x 6 GB; messages are under way
