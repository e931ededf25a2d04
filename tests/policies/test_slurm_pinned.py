"""Reservations of certain nodes as Slurm makes them, solved by hand. Real runs are in tests/real_slurm."""

import polars as pl
import pytest

import forebay as fb
from forebay.workload.workload import job_table

pytestmark = pytest.mark.small

OFTEN = "slurm:reservations=pinned,bf_interval=5,bf_resolution=1"


def ran(*jobs, nodes=8, policy=OFTEN):
    """Jobs as (submit, seconds, walltime, nodes); returns their starts and nodes."""
    columns = {name: [float(job[i]) for job in jobs] for i, name in enumerate(("submit", "run_time", "walltime"))}
    table = job_table({"id": range(1, len(jobs) + 1), "nodes": [job[3] for job in jobs]} | columns)
    result = fb.simulate(fb.Workload("by hand", table), f"flat:nodes={nodes}", policy).jobs.sort("job_id")
    return result["starting_time"].to_list(), result["allocated_resources"].cast(pl.String).to_list()


def test_nodes_are_picked_by_blocks():
    # Job 1 has 0-3 until 50, job 2 has 4. Job 3 comes to blocks of 4 and 3 nodes and takes the tighter one. Job 4 wants
    # 5: no block has as many, so it gets the whole of 0-3 and then what is left of the other.
    starts, nodes = ran((0, 50, 60, 4), (0, 500, 600, 1), (60, 100, 120, 2), (70, 100, 120, 5))
    assert starts == [0, 0, 60, 70]
    assert nodes == ["0-3", "4", "5-6", "0-3 7"]


def test_an_end_counts_to_the_job():
    # Job 2 wants all nodes, and has them reserved from 600 on. A job that would end at 600 sharp may not pass, one that
    # ends a second before may; both are tried at 5, as a cycle ran at 0.
    first, second = (0, 600, 600, 3), (1, 50, 60, 4)
    assert ran(first, second, (2, 10, 595, 1), nodes=4)[0] == [0, 600, 650]
    assert ran(first, second, (2, 10, 594, 1), nodes=4)[0] == [0, 600, 5]


def test_a_reservation_is_of_certain_nodes():
    # Nodes 0 to 3 are expected back at 100, 155, 200 and 400, and come a second sooner. Job 5 wants 4 of 5 nodes: 0-2,
    # and 4, which idles, from 200 on. Job 6 would hold node 4 until 205: it waits, until 209.
    running = [(0, limit - 1, limit, 1) for limit in (100, 155, 200, 400)]
    starts, nodes = ran(*running, (1, 10, 60, 4), (2, 10, 200, 1), nodes=5)
    assert starts[4:] == [199, 209]
    assert nodes[4] == "0-2 4"


def test_the_first_window_is_at_least_30_seconds_wide():
    # Nodes 0 and 1 are expected back at 82 and 114. The first end, rounded up, is 90, and 114 is not later than 120: so
    # both count as one. Job 3, which wants 2 of 3 nodes, is reserved for 114, on 0-1, the lowest of the block 0-2. The
    # idle node 2 is left alone, and job 4 runs there for as long as it likes.
    starts, nodes = ran((0, 80, 82, 1), (0, 110, 114, 1), (1, 10, 60, 2), (2, 500, 600, 1), nodes=3)
    assert nodes[3] == "2"
    assert starts[3] == 5
    # Had the second job 125 s, they would not count as one. Two nodes are free with the first end, 0 and 2: these are
    # reserved from 82 on, and job 4 waits.
    starts, nodes = ran((0, 80, 82, 1), (0, 110, 125, 1), (1, 10, 60, 2), (2, 500, 600, 1), nodes=3)
    assert starts[2] == 80
    assert starts[3] > 80


def test_many_reservations_beside_one_of_the_site():
    """A job that fits is behind six that wait for all nodes: these reserve more nodes than the site does."""
    n = 8
    columns = {
        "id": list(range(1, n + 1)),
        "submit": [0.0] + [1.0] * (n - 1),
        "walltime": [3600.0] + [600.0] * (n - 1),
        "run_time": [3600.0] + [600.0] * (n - 1),
        "nodes": [48] + [64] * (n - 2) + [1],
    }
    kept = fb.platforms.Reservation(name="service", start="3 d", duration="1 h")
    machine = fb.platform("flat:nodes=64").model_copy(update={"reservations": (kept,)})
    starts = fb.simulate(fb.Workload("line", job_table(columns)), machine, "slurm").jobs.sort("job_id")["starting_time"]
    assert starts[n - 1] < 60
    assert starts[1] >= 3600
