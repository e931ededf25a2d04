"""Burst buffers that are striped over a job's nodes: how long they take, by hand.

Four nodes with ports of 12.5 GB/s and 100 us between them write at 2 GB/s and read at 6 GB/s. A rank puts a quarter of
its data on each of the four devices while it sends the quarters of others, and waits for all of it. What is written to
a device at once shares its 2 GB/s, what is read its 6 GB/s, and both together 6 GB/s; every stripe has an equal share.
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
    size = [one * GB for one in size] if isinstance(size, list) else size * GB
    return {"type": kind, "bytes": size, "pattern": pattern} | more


@pytest.mark.parametrize(
    ("tasks", "flop_per_byte", "seconds"),
    [
        ([task("bb_write", 24, "uniform")], 0, 12.0),  # 4 x 6 GB to each device; 18 GB out of a port take 1.44 s
        ([task("bb_read", 24, "uniform")], 0, 4.0),
        ([task("bb_write", 24, "all_ranks")], 0, 3.0),  # 4 x 1.5 GB
        ([task("bb_write", 24, "root_only")], 0, 3.0),  # 6 GB, as much
        ([task("bb_write", 24, "even_ranks")], 0, 3.0),
        ([task("bb_write", [8, 8, 0, 8], "vector")], 0, 3.0),
        ([task("bb_read", 24, "root_only")], 0, 1.44 + 1e-4),  # 3 x 6 GB into the root's port; a device takes 1 s
        ([task("bb_read", 24, "uniform")], 50, 12 + 1e-4),  # 24 GB x 50 at 100 Gflop/s
        # Written during computing: devices are still busy when the computing ends.
        ([task("bb_write", 24, "uniform", **BESIDE), IDLE], 0, 12.0),
        # The messages of a concurrent read take longer than its devices.
        ([task("bb_read", 24, "root_only", **BESIDE), IDLE], 0, 1.4401),
        # 6 + 3 GB to each device, 2 GB/s for both together
        ([task("bb_write", 24, "root_only", **BESIDE), task("bb_write", 12, "all_ranks")], 0, 4.5),
        # Of a device's 6 GB/s, four stripes that are read and one that is written have 1.2 GB/s each. 24 GB are read in
        # 5 s; then 2 GB/s are left for the other 4 GB.
        ([task("bb_write", 40, "root_only", **BESIDE), task("bb_read", 24, "uniform")], 0, 7.0),
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


@pytest.mark.parametrize(
    ("first", "second", "seconds"),
    [
        (task("bb_write", 24, "uniform", **BESIDE), task("bb_write", 12, "uniform"), 18.0),  # 36 GB at 2 GB/s
        (task("bb_read", 24, "uniform", **BESIDE), task("bb_read", 12, "uniform"), 6.0),
        # The write has 2 GB/s for 3 s, while the read has 4; then the read has 6 for its other 12 GB.
        (task("bb_write", 6, "uniform", **BESIDE), task("bb_read", 24, "uniform"), 5.0),
    ],
)
def test_devices_that_are_not_striped_are_shared_by_what_runs_at_a_time(read, machine, first, second, seconds):
    there = machine(**BUFFERS | {"wide_striping": "false"})
    result = fb.simulate(read(model(first, second), there), there.platform, "fcfs")
    assert result.jobs["execution_time"].to_list() == pytest.approx([seconds], abs=1e-9)


class Grow(fb.Policy):
    """Starts jobs on the fewest nodes that they can have, and gives them the most at their first point."""

    resizes = True

    def decide(self, view, act):
        for job in view.points:
            act.resize(job, view.sizes(job)[-1])
        for job in view.queue.tolist():
            act.start(job, nodes=view.sizes(job)[0])


MESSAGES = {"type": "cpu", "bytes": 24 * GB, "communication_pattern": "all_to_all"}


@pytest.mark.parametrize(
    ("done", "seconds"),
    [
        (task("bb_write", 12, "uniform"), 6.0),  # 2 x 6 GB to each of two devices
        (task("bb_read", 24, "root_only"), 2.0),  # 12 GB from each
        (task("bb_read", 24, "root_only", iterations="num_nodes - 1"), 2.0),
        (MESSAGES, 12 / 12.5 + 1e-4),  # 12 GB each way
    ],
)
def test_nodes_that_were_added_are_among_themselves(read, machine, done, seconds):
    """4 nodes become 6 after a second: the 2 new ones do this, then all 6 are idle for another second."""
    there = machine(**BUFFERS)
    added = model(IDLE) | {"on_expansion": {"tasks": [done]}}
    added["phases"][0] |= {"iterations": 2}
    made = read(added, there, type="malleable", num_nodes_min=4, num_nodes_max=6)
    result = fb.simulate(made, there.platform, Grow())
    assert result.jobs["execution_time"].to_list() == pytest.approx([2 + seconds], abs=1e-9)


def test_what_was_moved_when_killed_counts_bytes_only(read, machine):
    there = machine(**BUFFERS)
    made = read(model(task("bb_read", 24, "uniform")), there, walltime=1)
    result = fb.simulate(made, there.platform, "fcfs")
    ended = result.log.filter(kind="end_phase")
    assert ended["amount"].to_list() == [24 * GB]  # of 4 devices x 24 GB; messages do not count


def test_what_was_moved_beside_others_counts_on_every_device(read, machine):
    there = machine(**BUFFERS)
    tasks = task("bb_write", 1, "uniform", **BESIDE), task("bb_read", 24, "uniform")
    made = read(model(*tasks), there, walltime=1)
    result = fb.simulate(made, there.platform, "fcfs")
    ended = result.log.filter(kind="end_phase")
    # Of a device's 6 GB/s, what is written has its 2 for half a second; so 5 GB have been read from each.
    assert ended["amount"].to_list()[-1] == 20 * GB
