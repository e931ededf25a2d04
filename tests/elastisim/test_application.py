"""Application models: rows by hand for every kind of task and every pattern."""

import pytest

pytestmark = pytest.mark.small

MALLEABLE = {"type": "malleable"}


def cpu(flops=None, pattern="uniform", **more):
    task = {"type": "cpu"} | more
    return task if flops is None else {**task, "flops": flops, "computation_pattern": pattern}


def sending(size, pattern, **more):
    return {"type": "cpu", "bytes": size, "communication_pattern": pattern} | more


def moving(kind, size, pattern="all_ranks", **more):
    return {"type": kind, "bytes": size, "pattern": pattern} | more


def waiting(delay, pattern="uniform", **more):
    return {"type": "idle", "delay": delay, "pattern": pattern} | more


def phases(*tasks, **more):
    return {"phases": [{"tasks": list(tasks)} | more]}


def amounts(workload, *columns):
    return workload.applications.amounts.select(*columns).rows()


# Work


@pytest.mark.parametrize(
    ("pattern", "flop"),
    [("uniform", [60] * 4), ("all_ranks", [30, 20, 15, 12]), ("total", [30, 20, 15, 12]), ("root_only", [60] * 4),
     ("even_ranks", [60, 30, 30, 20]), ("odd_ranks", [60, 60, 30, 30]), ("ALL_RANKS", [30, 20, 15, 12])],
)  # fmt: skip
def test_work_of_the_node_that_has_the_most(read, pattern, flop):
    made = read(phases(cpu(60, pattern)), **MALLEABLE)
    assert amounts(made, "nodes", "flop") == list(zip((2, 3, 4, 5), flop, strict=True))
    waits = read(phases(waiting(60, pattern)), **MALLEABLE)
    assert amounts(waits, "seconds", "flop") == [(float(value), 0.0) for value in flop]


def test_odd_ranks_of_one_node_are_none(read):
    made = read(phases(cpu(60, "odd_ranks"), moving("pfs_write", 60, "odd_ranks")), num_nodes=1)
    assert amounts(made, "flop", "bytes", "streams") == [(0, 0, 0), (0, 0, 0)]


def test_a_vector_has_a_number_for_each_node_of_a_rigid_job(read):
    made = read(phases(cpu([1, 5, 2, 2], "vector")))
    assert amounts(made, "nodes", "flop") == [(4, 5.0)]


def test_formulas_are_evaluated_for_each_size(read):
    made = read(phases(cpu("work/num_nodes^alpha")), arguments={"work": 60, "alpha": 2}, **MALLEABLE)
    assert amounts(made, "flop") == [(15,), (60 / 9,), (3.75,), (2.4,)]


def test_busy_waits_are_times_on_any_machine(read):
    made = read(phases({"type": "busy_wait", "delay": "num_nodes", "pattern": "uniform"}), **MALLEABLE)
    assert amounts(made, "seconds", "flop") == [(2, 0), (3, 0), (4, 0), (5, 0)]
    assert made.applications.tasks["kind"].to_list() == ["compute"]


# Arguments, as ElastiSim writes them


def test_floats_have_six_decimals(read):
    given = {"a": 1.23456789, "b": 4e-7, "c": 3, "d": "2*num_nodes"}
    made = read(phases(cpu("a"), cpu("b"), cpu("c"), cpu("d")), arguments=given)
    assert amounts(made, "flop") == [(1.234568,), (0.0,), (3.0,), (8.0,)]


def test_numbers_of_a_model_have_six_decimals_unless_the_job_is_rigid(read):
    model = phases(waiting(1.23456789))
    assert amounts(read(model), "seconds") == [(1.23456789,)]
    assert amounts(read(model, **MALLEABLE), "seconds") == [(1.234568,)] * 4


def test_iterations_are_cut(read):
    made = read(phases(cpu(1, iterations="n/4"), iterations="n/2"), arguments={"n": 7})
    assert made.applications.loops["rounds"].to_list() == [3]
    assert len(made.applications.tasks) == 1


# Messages: 4 nodes and 1200 bytes; the busiest port over 3 others


@pytest.mark.parametrize(
    ("pattern", "busiest"),
    [("all_to_all", 300), ("gather", 900), ("scatter", 900), ("master_worker", 2400), ("ring", 300),
     ("ring_clockwise", 300), ("ring_counter_clockwise", 300)],
)  # fmt: skip
def test_messages_by_the_busiest_port(read, pattern, busiest):
    assert amounts(read(phases(sending(1200, pattern))), "flop", "communication") == [(0, busiest / 3)]
    assert amounts(read(phases(sending(1200, pattern)), num_nodes=1), "communication") == [(0,)]


def test_a_matrix_has_a_number_for_each_pair(read):
    # Node 0 sends 5 + 7; node 2 gets 7 + 1 + 2; what a node sends itself stays there.
    matrix = [99, 5, 7, 0, 1, 0, 1, 0, 0, 0, 0, 3, 0, 0, 2, 0]
    assert amounts(read(phases(sending(matrix, "matrix"))), "communication") == [(12 / 3,)]


def test_windows_below_the_port_lengthen_single_messages(read, machine):
    slow = machine(latency="500us")
    # 4194304 B / 2 ms = 2.097 GB/s for each message, through a port of 12.5 GB/s
    ratio = 12.5e9 / (4194304 / 0.002)
    assert amounts(read(phases(sending(1200, "ring_clockwise")), slow), "communication") == [(300 * ratio / 3,)]
    assert amounts(read(phases(sending(1200, "gather")), slow), "communication") == [(300 * ratio / 3,)]
    assert amounts(read(phases(sending(120000, "all_to_all")), slow), "communication")[0][0] == pytest.approx(
        max(30000, 10000 * ratio) / 3
    )


@pytest.mark.parametrize(
    ("coupled", "both", "expected"), [(True, True, True), (False, True, False), (True, False, False)]
)
def test_coupled_tasks_have_work_and_messages(read, coupled, both, expected):
    task = sending(1200, "all_to_all", coupled=coupled) | (cpu(50) if both else {})
    made = read(phases(task))
    assert made.applications.tasks["coupled"].to_list() == [expected]
    assert amounts(made, "flop", "communication") == [(50.0 * both, 100.0)]


# Input and output


@pytest.mark.parametrize(
    ("pattern", "rows"),
    [("all_ranks", [(60, 2), (60, 3), (60, 4), (60, 5)]), ("uniform", [(120, 2), (180, 3), (240, 4), (300, 5)]),
     ("root_only", [(60, 1)] * 4), ("even_ranks", [(60, 1), (60, 2), (60, 2), (60, 3)]),
     ("odd_ranks", [(60, 1), (60, 1), (60, 2), (60, 2)])],
)  # fmt: skip
@pytest.mark.parametrize(
    ("kind", "ours"),
    [("pfs_read", "read"), ("pfs_write", "write"), ("bb_read", "fetch"), ("bb_write", "checkpoint")],
)
def test_bytes_and_streams(read, kind, ours, pattern, rows):
    made = read(phases(moving(kind, 60, pattern)), **MALLEABLE)
    assert made.applications.tasks["kind"].to_list() == [ours]
    assert amounts(made, "bytes", "streams") == rows


def test_vectors_of_equal_bytes_are_streams(read):
    assert amounts(read(phases(moving("pfs_read", [5, 0, 5, 5], "vector"), cpu(1, synchronized=True))),
                   "bytes", "streams") == [(15, 3), (0, 0)]  # fmt: skip
    assert amounts(read(phases(moving("pfs_read", 0))), "bytes", "streams") == [(0, 0)]


def test_tasks_that_run_beside_others(read):
    made = read(phases(moving("pfs_write", 60, **{"async": True}), cpu(1), barrier=False, iterations=9))
    assert made.applications.tasks["beside"].to_list() == [True, False]
    assert made.applications.loops.row(0) == (0, 0, 9, False, False)


def test_striped_buffers_write_a_stripe_and_send_the_others(read, machine):
    buffers = {"node_local_bb": "true", "bb_read_bw": "6GBps", "bb_write_bw": "2GBps"}
    striped = machine(**buffers, wide_striping="true", flops_per_byte="3f")
    root, all_ = (read(phases(moving("bb_write", 1200, pattern)), striped) for pattern in ("root_only", "all_ranks"))
    # The root writes a stripe of 300 to each of 4 devices, and sends 3 of them; all ranks: 4 stripes of 75 each.
    assert amounts(root, "bytes", "streams", "communication", "flop") == [(1200, 4, 300, 900)]
    assert amounts(all_, "bytes", "streams", "communication", "flop") == [(1200, 16, 75, 900)]
    assert root.applications.tasks["coupled"].to_list() == [True]
    apart = read(phases(moving("bb_write", 1200, "root_only")), machine(**buffers))
    assert amounts(apart, "bytes", "streams", "communication", "flop") == [(1200, 1, 0, 0)]


# GPUs


GPUS = {"num_gpus": "4", "flops_per_gpu": "10f", "gpu_to_gpu_bw": "2Bps"}


def gpu(flops=None, pattern="uniform", **more):
    return cpu(flops, pattern, **more) | {"type": "gpu"}


def test_work_of_gpus_is_seconds(read, machine):
    made = read(phases(gpu(80, "all_ranks")), machine(**GPUS), num_gpus_per_node=2)
    assert amounts(made, "seconds", "flop") == [(1.0, 0.0)]  # 80 / 4 nodes / 2 GPUs / 10 flop/s
    assert "work of GPUs is in seconds" in made.notes[-1]


@pytest.mark.parametrize(
    ("pattern", "gpus", "nodes", "inside", "outside"),
    [
        # 56 pairs of 8 GPUs have 1 byte each; 2 between the two of a node; 48 between nodes, 12 through each port
        ("all_to_all", 2, 4, 2, 12),
        # 16 messages of 3.5 bytes; between the 2 GPUs of a node 2 x 3.5 each way, as they are both neighbours
        ("ring", 2, 4, 7, 7),
        ("ring", 4, 2, 3.5 * 6 / 4, 7),
        ("ring_clockwise", 2, 4, 7, 7),
        ("ring_clockwise", 4, 1, 14, 0),
        ("all_to_all", 1, 4, 0, 14),
    ],
)
def test_messages_of_gpus_inside_nodes_and_between(read, machine, pattern, gpus, nodes, inside, outside):
    made = read(
        phases(gpu(**{"bytes": 56, "communication_pattern": pattern})),
        machine(**GPUS),
        num_gpus_per_node=gpus,
        num_nodes=nodes,
    )
    assert amounts(made, "seconds", "communication") == [(inside / 2, outside / max(nodes - 1, 1))]


def test_formulas_know_gpus(read, machine):
    both = {"num_gpus_per_node_min": 2, "num_gpus_per_node_max": 2}
    made = read(phases(gpu("num_gpus * 10 + num_gpus_per_node")), machine(**GPUS), **MALLEABLE, **both)
    assert amounts(made, "seconds") == [((n * 2 * 10 + 2) / 20,) for n in (2, 3, 4, 5)]


# Sequences, iterations, loops and stages


def test_sequences_and_iterations_of_tasks_are_written_out(read):
    made = read(phases({"type": "sequence", "iterations": 2, "tasks": [cpu(1), cpu(2, iterations=2)]}, cpu(3)))
    assert amounts(made, "task", "flop") == [(0, 1), (1, 2), (2, 2), (3, 1), (4, 2), (5, 2), (6, 3)]


def test_iterations_that_depend_on_the_size_are_idle_where_there_are_fewer(read):
    made = read(
        phases(cpu(7, iterations="num_nodes - 2"), moving("pfs_read", 6, iterations="num_nodes/4")), **MALLEABLE
    )
    assert amounts(made, "task", "nodes", "flop") == [
        *[(0, 2, 0), (0, 3, 7), (0, 4, 7), (0, 5, 7)],
        *[(1, 2, 0), (1, 3, 0), (1, 4, 7), (1, 5, 7)],
        *[(2, 2, 0), (2, 3, 0), (2, 4, 0), (2, 5, 7)],
        *[(3, 2, 0), (3, 3, 0), (3, 4, 0), (3, 5, 0)],
    ]
    assert amounts(made, "bytes", "streams")[-4:] == [(0, 0), (0, 0), (6, 4), (6, 5)]


def test_rounds_are_counted_not_written_out(read):
    made = read(phases(cpu(1), iterations=10**9))
    assert made.applications.loops.rows() == [(0, 0, 10**9, False, True)]
    assert made.jobs["flop"].to_list() == [1e9]


MODEL = {
    "on_init": {"tasks": [waiting("num_nodes")]},
    "on_reconfiguration": {"tasks": [waiting(7)], "iterations": 2},
    "on_expansion": {"tasks": [waiting("10*num_nodes")]},
    "phases": [{"tasks": [cpu(60, "all_ranks")], "iterations": 3},
               {"tasks": [cpu(6)], "scheduling_point": False, "barrier": False}],
}  # fmt: skip


def test_loops_and_stages(read):
    made = read(MODEL, **MALLEABLE)
    assert made.applications.loops.rows() == [(0, 0, 3, True, True), (0, 1, 1, False, False)]
    assert made.applications.tasks.select("task", "stage", "loop").rows() == [
        (0, "init", -1),
        (1, "run", 0),
        (2, "run", 1),
        (3, "reconfiguration", -1),
        (4, "reconfiguration", -1),
        (5, "expansion", -1),
    ]
    assert amounts(made, "task", "nodes", "seconds")[-3:] == [(5, 1, 10), (5, 2, 20), (5, 3, 30)]  # nodes added
    assert made.jobs.select("run_time", "flop", "nodes").row(0) == (5.0, 3 * 12 + 6, 5)


@pytest.mark.parametrize(("kind", "point"), [("rigid", False), ("moldable", False), ("malleable", True),
                                             ("evolving", False), ("adaptive", True)])  # fmt: skip
def test_who_stops_at_scheduling_points_and_who_is_resized(read, kind, point):
    made = read(MODEL, type=kind).applications
    assert made.jobs.rows() == [(0, kind)]
    assert made.loops["point"].to_list() == [point, False]
    resized = kind in ("malleable", "evolving", "adaptive")
    assert set(made.tasks["stage"]) == {"init", "run", *(("reconfiguration", "expansion") if resized else ())}


def test_one_size_is_never_changed(read):
    made = read(MODEL, type="malleable", num_nodes_min=3, num_nodes_max=3)
    assert set(made.applications.tasks["stage"]) == {"init", "run"}
    assert made.applications.sizes.rows() == [(0, 3, float("inf"))]


def test_phases_without_rounds_are_left_out(read):
    made = read({"phases": [{"tasks": [cpu(1)], "iterations": 0}, {"tasks": [cpu(2)]}]})
    assert made.applications.loops.rows() == [(0, 0, 1, False, True)]
    assert amounts(made, "flop") == [(2,)]


# Requests


def asking(request, **more):
    return {"phases": [{"tasks": [cpu(1)], "evolving_request": request, "iterations": 3} | more]}


def test_requests_for_each_size(read):
    made = read(asking("num_nodes_max - num_nodes/2"), type="evolving")
    assert made.applications.requests.rows() == [(0, 0, -1, 2, 4), (0, 0, -1, 3, 3), (0, 0, -1, 4, 3), (0, 0, -1, 5, 2)]


def test_requests_by_round_are_cut_and_clipped(read):
    made = read(asking("num_nodes + 1.9 - 2*phase_iteration"), type="evolving", num_nodes_min=2, num_nodes_max=4)
    assert made.applications.requests.select("round", "nodes", "wants").rows() == [
        *[(0, 2, 2), (0, 3, 3), (0, 4, 4)],  # nobody asks before the job's first round
        *[(1, 2, 2), (1, 3, 2), (1, 4, 3)],
        *[(2, 2, 2), (2, 3, 2), (2, 4, 2)],
    ]


def test_later_phases_ask_before_their_first_round(read):
    model = asking("4 + phase_iteration")
    model["phases"].insert(0, {"tasks": [cpu(1)]})
    made = read(model, type="evolving", num_nodes_min=4, num_nodes_max=5)
    assert made.applications.requests.rows() == [
        *[(0, 1, 0, 4, 4), (0, 1, 0, 5, 4)],
        *[(0, 1, 1, 4, 5), (0, 1, 1, 5, 5)],
        *[(0, 1, 2, 4, 5), (0, 1, 2, 5, 5)],
    ]


def test_only_evolving_and_adaptive_jobs_ask(read):
    model = asking("num_nodes_min")
    for kind, asks in (("malleable", False), ("moldable", False), ("evolving", True), ("adaptive", True)):
        made = read(model, type=kind).applications
        assert (len(made.requests) > 0) == asks
        assert made.loops["point"].to_list() == [kind == "malleable"]  # a request takes the place of a point


# Notes


@pytest.mark.parametrize(
    ("tasks", "noted"),
    [
        ([cpu(1, "root_only"), cpu(1)], True),
        ([cpu(1, "root_only"), cpu(1, synchronized=True)], False),
        ([cpu(1, "root_only"), cpu(1, "root_only")], False),
        ([cpu(1, "root_only"), cpu(1, "odd_ranks")], True),
        ([moving("pfs_read", 1, "root_only"), sending(1, "scatter")], False),
        ([moving("pfs_read", 1, "odd_ranks"), sending(1, "scatter")], True),
        ([moving("pfs_read", 1, "root_only"), sending(1, "scatter") | cpu(1)], True),
        ([cpu(1), cpu(1, "root_only")], False),
        ([moving("pfs_write", 1, "root_only", **{"async": True}), cpu(1)], False),
        ([{"type": "sequence", "tasks": [cpu(1, "root_only")]}, cpu(1)], True),
    ],
)
def test_nodes_that_would_go_on_before_others_are_noted(read, tasks, noted):
    notes = read(phases(*tasks)).notes
    assert bool(notes) == noted
    if noted:
        assert "some nodes begin phase 1, task 2 before it has ended in ElastiSim, and none do here" in notes[0]


def test_without_a_barrier_nodes_drift_into_the_next_round(read):
    assert "begin the next round" in read(phases(cpu(1, "root_only"), barrier=False)).notes[0]


def test_keys_that_mean_nothing_are_noted(read):
    notes = read(phases(cpu(1, colour="blue"), iteration=3)).notes
    assert notes == ("model.json: keys that mean nothing here: iteration of phase 1, colour of phase 1, task 1",)
