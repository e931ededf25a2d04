"""Algorithms of ElastiSim as policies: when they are called, what they see, and what becomes of what they note."""

import pytest

import forebay as fb
from cases.elastisim import MODEL, malleable, read_project, rigid, run
from forebay.elastisim.interface import InvocationType, JobState, JobType, NodeState, NodeType
from forebay.errors import BadActionError, InputError

pytestmark = pytest.mark.small


def name(system):
    return system["invocation_type"].name.removeprefix("INVOKE_").lower()


def free_of(nodes):
    return [node for node in nodes if node.state is NodeState.FREE]


def in_order(jobs, nodes, system):
    free = free_of(nodes)
    for job in jobs:
        if job.state is JobState.PENDING:
            needs = job.num_nodes or job.num_nodes_min
            if needs > len(free):
                return
            job.assign(free[:needs])
            del free[:needs]


def times(result):
    return result.jobs.sort("job_id").select("starting_time", "finish_time").rows()


def watched(rule):
    """A scheduling function that notes its calls."""
    calls = []

    def schedule(jobs, nodes, system):
        job = system.get("job")
        calls.append((system["time"], name(system), None if job is None else job.identifier))
        rule(jobs, nodes, system)

    schedule.calls = calls
    return schedule


# When


def test_it_is_called_once_an_event(tmp_path):
    schedule = watched(in_order)
    result, _ = run(read_project(tmp_path, rigid(), rigid(), rigid(nodes=4, walltime=5)), schedule)
    assert schedule.calls == [
        (0.0, "job_submit", 0),
        (0.0, "job_submit", 1),
        (0.0, "job_submit", 2),
        (10.0, "job_completed", 0),
        (10.0, "job_completed", 1),
        (15.0, "job_killed", 2),
    ]
    assert times(result) == [(0, 10), (0, 10), (10, 15)]


def test_at_intervals_alone(tmp_path):
    schedule = watched(in_order)
    made = read_project(
        tmp_path,
        rigid(nodes=4),
        rigid(nodes=4),
        rigid(submit=100),
        schedule_on_job_submit=False,
        schedule_on_job_finalize=False,
        scheduling_interval=7,
    )
    result, _ = run(made, schedule)
    assert times(result) == [(7, 17), (21, 31), (105, 115)]
    assert schedule.calls == [(7.0 * k, "periodic", None) for k in range(1, 17)]


def test_at_intervals_beside_events_no_more_often(tmp_path):
    schedule = watched(in_order)
    run(read_project(tmp_path, rigid(), rigid(submit=13), scheduling_interval=10), schedule)
    assert [(time, why) for time, why, _ in schedule.calls] == [
        (0, "job_submit"),
        (10, "periodic"),
        (10, "job_completed"),
        (13, "job_submit"),
        (20, "periodic"),
        (23, "job_completed"),
    ]


def test_ends_that_do_not_call_are_seen_all_the_same(tmp_path):
    seen = []

    def schedule(jobs, nodes, system):
        in_order(jobs, nodes, system)
        seen.append((system["time"], name(system), [job.state.name for job in jobs]))

    run(read_project(tmp_path, rigid(), rigid(11), schedule_on_job_finalize=False, scheduling_interval=15), schedule)
    assert seen == [
        (0, "job_submit", ["PENDING"]),  # what a call notes is done when it returns
        (11, "job_submit", ["COMPLETED", "PENDING"]),
        (15, "periodic", ["COMPLETED", "RUNNING"]),
    ]


def test_a_change_of_size_calls_where_points_do_not(tmp_path):
    def rule(jobs, nodes, system):
        if system["time"] == 5:
            jobs[0].remove(jobs[0].assigned_nodes[-2:])
            assert jobs[0].state is JobState.RUNNING
        elif name(system) == "reconfiguration":
            assert len(free_of(nodes)) == 2
            jobs[1].assign(free_of(nodes))
        elif name(system) == "job_submit":
            jobs[0].assign(nodes)

    jobs = malleable(rounds=3), rigid(submit=5)
    schedule = watched(rule)
    made = read_project(tmp_path, *jobs, schedule_on_scheduling_point=False, schedule_on_reconfiguration=True)
    result, _ = run(made, schedule)
    assert schedule.calls == [
        (0, "job_submit", 0),
        (5, "job_submit", 1),
        (10, "reconfiguration", 0),
        (20, "job_completed", 1),
        (30, "job_completed", 0),
    ]
    assert times(result) == [(0, 30), (10, 20)]


def test_jobs_are_killed_a_grace_after_their_walltime(tmp_path):
    jobs = rigid(seconds=30, walltime=10), malleable(seconds=30, walltime=10), rigid(seconds=12, walltime=10)
    result, _ = run(read_project(tmp_path, *jobs, job_kill_grace_period=5), in_order)
    assert [end - start for start, end in times(result)] == [15, 15, 12]
    assert result.jobs["requested_time"].to_list() == [10, 10, 10]
    result, _ = run(read_project(tmp_path, *jobs), in_order)
    assert [end - start for start, end in times(result)] == [10, 10, 10]


def test_a_grace_below_zero(tmp_path):
    made = read_project(tmp_path, rigid())
    with pytest.raises(InputError, match="grace is -1; it must be 0 or more seconds"):
        fb.simulate(made.workload, made.machine.platform, "fcfs", job_model="application:grace=-1")


# What


def test_jobs_are_told_as_elastisim_tells_them(tmp_path):
    told = []

    def schedule(jobs, nodes, system):
        in_order(jobs, nodes, system)
        told[:] = jobs

    attributes = {"user": "ada", "share": 0.5}
    jobs = rigid(walltime=60, rounds=3, attributes=attributes), malleable(submit=1, walltime=1.5)
    run(read_project(tmp_path, *jobs), schedule)
    first, second = told
    assert (first.type, first.num_nodes, first.num_nodes_min, first.walltime) == (JobType.RIGID, 2, None, 60)
    assert (first.arguments["seconds"], first.attributes) == ("10", {"user": "ada", "share": "0.500000"})
    assert (first.total_phase_count, first.completed_phases, first.num_gpus_per_node) == (3, 3, 0)
    assert (second.num_nodes, second.num_nodes_min, second.num_nodes_max) == (None, 1, 4)
    assert (second.walltime, second.attributes) == (0, {})
    assert (second.submit_time, second.start_time, second.end_time) == (1, 1, 11)
    assert (second.wait_time, second.makespan, second.turnaround_time) == (0, 10, 10)


def test_all_jobs_ever_submitted_are_listed_by_number(tmp_path):
    def schedule(jobs, nodes, system):
        assert [job.identifier for job in jobs] == list(range(len(jobs)))
        assert system["job"] is jobs[system["job_id"]]
        if system["time"] == 30:
            assert [job.state.name for job in jobs] == ["COMPLETED", "KILLED", "RUNNING", "PENDING"]
            assert sorted(jobs, reverse=True)[0] is jobs[3]
            assert len({*jobs, jobs[0]}) == 4
        in_order(jobs, nodes, system)

    # The second is larger than the machine, which turns it away.
    result, _ = run(
        read_project(tmp_path, rigid(), rigid(nodes=5), rigid(submit=20, seconds=20), rigid(submit=30)), schedule
    )
    assert times(result) == [(0, 10), (None, None), (20, 40), (30, 40)]


def test_nodes_follow_what_is_assigned(tmp_path):
    def schedule(jobs, nodes, system):
        if system["time"] == 0:
            jobs[0].assign(nodes[1:])
            jobs[0].remove([nodes[0], *jobs[0].assigned_nodes[-1:]])  # the first it does not have
            assert (jobs[0].assigned_nodes, jobs[0].assigned_node_ids) == (nodes[1:3], {1, 2})
            assert nodes[1].state is NodeState.FREE  # until the call returns
        elif system["time"] == 4:
            assert [node.state.name for node in nodes] == ["FREE", "ALLOCATED", "ALLOCATED", "FREE"]
            assert (nodes[1].assigned_jobs, nodes[1].assigned_job_ids) == ([jobs[0]], {0})
            assert (nodes[0].assigned_jobs, nodes[0].type, nodes[0].gpus) == ([], NodeType.COMPUTE_NODE, [])
            jobs[1].assign(nodes[0])
        elif system["time"] == 14:
            assert all(node.state is NodeState.FREE for node in nodes)

    result, _ = run(read_project(tmp_path, rigid(), rigid(submit=4, nodes=1)), schedule)
    assert result.jobs["allocated_resources"].to_list() == ["1-2", "0"]


def test_rounds_that_are_over_are_counted_at_points(tmp_path):
    seen = []

    def schedule(jobs, nodes, system):
        in_order(jobs, nodes, system)
        seen.append((name(system), jobs[0].completed_phases, jobs[0].total_phase_count))

    run(read_project(tmp_path, malleable(rounds=3)), schedule)
    assert seen == [
        ("job_submit", 0, 3),
        ("scheduling_point", 1, 3),
        ("scheduling_point", 2, 3),
        ("job_completed", 3, 3),
    ]


def test_the_load_of_the_file_system_is_told_where_it_is_asked_for(tmp_path):
    seen = []

    def schedule(jobs, nodes, system):
        in_order(jobs, nodes, system)
        seen.append(
            tuple(system.get(f"pfs_{key}") for key in ("read_bw", "write_bw", "read_utilization", "write_utilization"))
        )

    # The first writes at 2 GB/s from 10 to 20 s.
    jobs = rigid(amount=20_000_000_000), rigid(submit=5, seconds=1), rigid(submit=15, seconds=1)
    run(read_project(tmp_path, *jobs, forward_io_information=True), schedule)
    assert seen == [(2e9, 2e9, 0, load) for load in (0, 0, 0, 2e9, 2e9, 0)]
    seen.clear()
    run(read_project(tmp_path, *jobs), schedule)
    assert set(seen) == {(None,) * 4}


def test_the_file_system_is_sensed_at_intervals(tmp_path):
    made = read_project(tmp_path, rigid(amount=20_000_000_000), rigid(submit=21), sensing=True, sensing_interval=4)
    _, policy = run(made, in_order, senses=True)
    loads = {12: 2e9, 16: 2e9, 20: 2e9}
    assert policy.samples == [(4 * k, 0, loads.get(4 * k, 0)) for k in range(8)]
    _, policy = run(made, in_order)
    assert policy.samples == []


def test_where_nothing_is_moved_the_file_system_is_idle(tmp_path):
    made = read_project(tmp_path, rigid(amount=0), sensing=True, sensing_interval=6, forward_io_information=True)
    _, policy = run(made, in_order, senses=True)
    assert policy.samples == [(0, 0, 0), (6, 0, 0)]


# What becomes of it


def test_a_size_decided_at_the_jobs_point_counts_at_once(tmp_path):
    def schedule(jobs, nodes, system):
        if system["time"] == 10:
            jobs[0].remove(jobs[0].assigned_nodes[2:])
            jobs[1].assign(nodes[2:])
        elif name(system) == "job_submit" and not jobs[0].assigned_nodes:
            jobs[0].assign(nodes)

    result, _ = run(read_project(tmp_path, malleable(rounds=2), rigid(submit=3)), schedule)
    assert times(result) == [(0, 20), (10, 20)]
    assert result.jobs["allocated_resources"].to_list() == ["0-3", "2-3"]


def test_one_decided_elsewhere_reserves_nodes_until_the_point(tmp_path):
    def schedule(jobs, nodes, system):
        time = system["time"]
        if time == 0:
            jobs[0].assign(nodes[:2])
        elif time == 3:
            jobs[0].assign(nodes[2])
        elif time == 4:
            assert (jobs[0].state, nodes[2].state) == (JobState.PENDING_RECONFIGURATION, NodeState.RESERVED)
            assert (nodes[2].assigned_jobs, jobs[0].assigned_nodes) == ([], nodes[:3])
            jobs[0].remove(nodes[2])
            jobs[0].assign(nodes[3])
        elif time == 10:
            assert [node.state.name for node in nodes] == ["ALLOCATED", "ALLOCATED", "FREE", "RESERVED"]
            jobs[1].assign(nodes[2])
        elif time == 20:
            assert [node.state.name for node in nodes][:2] == ["ALLOCATED"] * 2
            assert nodes[3].assigned_jobs == [jobs[0]]
            if name(system) == "job_completed":
                jobs[2].assign(nodes[2])

    jobs = malleable(rounds=3), rigid(submit=3, nodes=1), rigid(submit=4, nodes=1)
    result, _ = run(read_project(tmp_path, *jobs), schedule)
    assert times(result) == [(0, 30), (10, 20), (20, 30)]
    assert result.jobs["allocated_resources"].to_list() == ["0-1 3", "2", "2"]


def test_what_was_decided_after_a_jobs_point_waits_for_its_next(tmp_path):
    """Both jobs stand at points at 10 s. The second's call comes last, and is too late for the first."""
    sizes = []

    def schedule(jobs, nodes, system):
        if name(system) == "job_submit":
            jobs[-1].assign([nodes[len(jobs) - 1]])
        elif system["time"] == 10 and system["job_id"] == 1:
            jobs[0].assign(nodes[2])
        sizes.append((system["time"], nodes[2].state.name))

    run(read_project(tmp_path, malleable(rounds=3), malleable(rounds=3)), schedule)
    assert [state for time, state in sizes if time == 20] == ["RESERVED", "ALLOCATED"]
    assert sizes[-1] == (30, "FREE")


def test_what_follows_a_change_takes_its_time(tmp_path):
    """But other nodes, as many as before, are no other size."""
    model = MODEL | {"on_reconfiguration": {"tasks": [{"type": "idle", "delay": 3, "pattern": "uniform"}]}}

    def schedule(jobs, nodes, system):
        if system["time"] == 0:
            jobs[0].assign(nodes[:2])
        elif system["time"] == 10:
            jobs[0].remove(nodes[0])
            jobs[0].assign(nodes[2])
        elif system["time"] == 20:
            jobs[0].assign(nodes[0])

    result, _ = run(read_project(tmp_path, malleable(rounds=3), model=model), schedule)
    assert times(result) == [(0, 33)]
    assert result.jobs["allocated_resources"].to_list() == ["0-2"]


def test_it_can_kill(tmp_path):
    def schedule(jobs, nodes, system):
        if system["time"] == 4:
            jobs[0].kill()
            jobs[1].kill()
            jobs[2].assign(nodes)
            with pytest.raises(RuntimeError, match="is to be killed"):
                jobs[0].assign(nodes)
        elif system["time"] == 0 and len(jobs) == 1:
            jobs[0].assign(nodes)

    watch = watched(schedule)
    result, _ = run(read_project(tmp_path, rigid(nodes=4), rigid(nodes=4), rigid(submit=4, nodes=4)), watch)
    assert times(result)[0] == (0, 4)
    assert times(result)[2] == (4, 14)
    assert result.jobs["success"].to_list() == [0, 0, 1]
    assert [why for _, why, _ in watch.calls] == ["job_submit"] * 3 + ["job_completed"]


@pytest.mark.parametrize(
    ("rule", "complaint"),
    [
        (
            lambda jobs, nodes: jobs[1].assign(nodes[:2]),
            "assigned <Node [01]: allocated> to <Job 1: rigid, pending>, and",
        ),
        (lambda jobs, nodes: jobs[1].assign(nodes[2]), "gave <Job 1: rigid, pending> 1 of the nodes; it may have 2"),
        (lambda jobs, nodes: jobs[0].assign(nodes[2]), "changed the nodes of <Job 0: rigid, running>"),
        (lambda jobs, nodes: jobs[2].assign([]), "gave <Job 2: malleable, pending> 0 of the nodes; it may have 1 to 4"),
        (lambda jobs, nodes: jobs[1].assign_num_gpus_per_node(2), "2 GPUs of each node; it has 0"),
        (lambda jobs, nodes: jobs[1].update_runtime_argument("x", 1), "set the runtime argument 'x'"),
    ],
)
def test_what_it_may_not_do(tmp_path, rule, complaint):
    def schedule(jobs, nodes, system):
        if len(jobs) == 1:
            jobs[0].assign(nodes[:2])
        elif len(jobs) == 3:
            rule(jobs, nodes)

    with pytest.raises(BadActionError, match=complaint):
        run(read_project(tmp_path, rigid(), rigid(), malleable()), schedule)


def test_every_reason_for_a_call_has_elastisims_number():
    assert [why.value for why in InvocationType] == list(range(7))
