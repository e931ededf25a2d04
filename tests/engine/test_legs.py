"""Jobs in several legs, by hand. One machine throughout: 4 nodes, 10 units of burst buffer."""

import polars as pl
import pytest

import forebay
from cases import pooled
from forebay.core.schemas import LEG_SCHEMA, PHASE_SCHEMA
from forebay.errors import InputError
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import shared_bb
from forebay.workload.workload import job_table

pytestmark = pytest.mark.small

MACHINE = pooled.platform(4, 10)


def leg(job, number, seconds, nodes, buffer, carry="", walltime=None):
    """A leg of one phase or several; its walltime is their sum unless told."""
    lengths = seconds if isinstance(seconds, list) else [seconds]
    phases = [entry if isinstance(entry, tuple) else (entry, None) for entry in lengths]
    total = sum(length for length, _ in phases)
    row = {"job": job, "leg": number, "walltime": walltime or total, "nodes": nodes}
    row |= {"burst_buffer": buffer, "carry": carry}
    return row, [{"job": job, "leg": number, "seconds": length, "release": name} for length, name in phases]


def run(jobs, legs, policy="fcfs"):
    """Run jobs given as (id, submit, seconds, nodes, buffer) and legs as `leg` makes them."""
    names = ("id", "submit", "walltime", "nodes", "burst_buffer")
    rows = [dict(zip(names, row, strict=True)) for row in jobs]
    phases = [phase for _, own in legs for phase in own]
    workload = pooled.workload(rows, [row for row, _ in legs], phases)
    return forebay.simulate(workload, MACHINE, policy)


def starts(result):
    """(time, job, leg) of every start, in order."""
    return result.log.filter(pl.col("kind") == "start").select("time", "job", "leg").rows()


def changes(result, job):
    """(time, kind, resource, amount) of everything that a job took or gave back."""
    taken = result.log.filter((pl.col("job") == job) & ~pl.col("kind").is_in(["submit", "queue"]))
    return taken.select("time", "kind", "resource", "amount").rows()


def test_stage_in_run_stage_out():
    """Slurm's life cycle of a burst buffer: in {bb}, run {nodes, bb}, out {bb}, one buffer all along.

    Job 1 stages in from 0 to 2, runs on 3 nodes from 2 to 7, stages out from 7 to 8; it holds 6 of buffer from 0 to 8.
    Job 2 has the 4 nodes from 0 to 1. Job 3 wants 5 of buffer: 4 are free, so it waits for time 8, not 7.
    """
    legs = [leg(1, 0, 2.0, 0, 6), leg(1, 1, 5.0, 3, 6, "burst_buffer"), leg(1, 2, 1.0, 0, 6, "burst_buffer")]
    result = run([(1, 0.0, 8.0, 3, 6), (2, 0.0, 1.0, 4, 0), (3, 3.0, 1.0, 1, 5)], legs)
    assert starts(result) == [(0, 1, 0), (0, 2, 0), (2, 1, 1), (7, 1, 2), (8, 3, 0)]
    assert changes(result, 1) == [
        (0, "start", "nodes", 0),
        (0, "acquire", "burst_buffer", 6),
        (2, "end", "nodes", 0),
        (2, "start", "nodes", 3),
        (7, "end", "nodes", 3),
        (7, "start", "nodes", 0),
        (8, "end", "nodes", 0),
        (8, "release", "burst_buffer", 6),
    ]
    assert result.jobs["finish_time"].to_list() == [8, 1, 9]
    assert result.jobs["total_wait"].to_list() == [0, 0, 5]


def test_carry_while_waiting():
    """What a leg carries stays held while it waits, and counts its wait.

    Job 1's leg 0 has 6 of buffer from 0 to 2. Job 2 has the 4 nodes from 0 to 5, so leg 1 waits for nodes from 2 to 5,
    holding the buffer: job 3, which wants 5 of it and no node, cannot pass even under filler. Leg 1 runs 5 to 6, and
    at 6 job 3 starts. Job 1 waited 0 for its first leg and 3 in all.
    """
    legs = [leg(1, 0, 2.0, 0, 6), leg(1, 1, 1.0, 1, 6, "burst_buffer")]
    result = run([(1, 0.0, 3.0, 1, 6), (2, 0.0, 5.0, 4, 0), (3, 3.0, 1.0, 0, 5)], legs, "filler")
    assert starts(result) == [(0, 1, 0), (0, 2, 0), (5, 1, 1), (6, 3, 0)]
    first = result.jobs.row(0, named=True)
    assert (first["waiting_time"], first["total_wait"]) == (0, 3)


def test_without_carry_the_buffer_is_free_in_between():
    """The same without carry: at 2 the buffer is given back, so job 3 has it at 3, and leg 1 takes 6 anew at 5."""
    legs = [leg(1, 0, 2.0, 0, 6), leg(1, 1, 1.0, 1, 6)]
    result = run([(1, 0.0, 3.0, 1, 6), (2, 0.0, 5.0, 4, 0), (3, 3.0, 1.0, 0, 5)], legs, "filler")
    assert starts(result) == [(0, 1, 0), (0, 2, 0), (3, 3, 0), (5, 1, 1)]


@pytest.mark.parametrize(("later", "back", "taken"), [(3, 4, 0), (7, 0, 0), (9, 0, 2)])
def test_carry_is_the_smaller_of_held_and_asked(later, back, taken):
    """Leg 0 holds 7 of buffer. A leg 1 of 3 keeps 3 and 4 come back at 2; one of 7 keeps all; one of 9 takes 2 more."""
    result = run([(1, 0.0, 3.0, 1, 9)], [leg(1, 0, 2.0, 1, 7), leg(1, 1, 1.0, 1, later, "burst_buffer")])
    at_two = [row[1:] for row in changes(result, 1) if row[0] == 2 and row[2] == "burst_buffer"]
    assert at_two == [("release", "burst_buffer", back)] * (back > 0) + [("acquire", "burst_buffer", taken)] * (
        taken > 0
    )
    assert changes(result, 1)[-1] == (3, "release", "burst_buffer", later)


def test_carried_nodes_keep_their_ids():
    """Leg 0 takes nodes 0 and 1; job 2 has node 2. Leg 1 keeps 0 and 1 and adds the lowest free one, which is 3."""
    result = run([(1, 0.0, 2.0, 3, 0), (2, 0.0, 9.0, 1, 0)], [leg(1, 0, 1.0, 2, 0), leg(1, 1, 1.0, 3, 0, "nodes")])
    assert result.jobs["allocated_resources"].to_list() == ["0-1 3", "2"]


def test_release_lets_another_start_in_that_instant():
    """Job 1 computes 3 s on 4 nodes, gives the nodes back and drains its buffer for 4 s more.

    Job 2 (4 nodes) starts at 3, not at 7. What the log says of the nodes: 4 taken at 0, 4 released at 3, none at 7.
    """
    result = run([(1, 0.0, 7.0, 4, 6), (2, 1.0, 1.0, 4, 0)], [leg(1, 0, [(3.0, "nodes"), 4.0], 4, 6)])
    assert starts(result) == [(0, 1, 0), (3, 2, 0)]
    assert changes(result, 1) == [
        (0, "start", "nodes", 4),
        (0, "acquire", "burst_buffer", 6),
        (3, "release", "nodes", 4),
        (7, "end", "nodes", 0),
        (7, "release", "burst_buffer", 6),
    ]


def test_release_before_the_end_leaves_nothing_to_carry():
    """Leg 0 has released its buffer by its end, so leg 1 takes all 6 anew."""
    legs = [leg(1, 0, [(1.0, "burst_buffer"), 1.0], 1, 6), leg(1, 1, 1.0, 1, 6, "burst_buffer")]
    result = run([(1, 0.0, 3.0, 1, 6)], legs)
    buffer = [row for row in changes(result, 1) if row[2] == "burst_buffer"]
    assert [(time, kind, amount) for time, kind, _, amount in buffer] == [
        (0, "acquire", 6),
        (1, "release", 6),
        (2, "acquire", 6),
        (3, "release", 6),
    ]


def test_a_part_lets_another_start_in_that_instant():
    """Job 1 holds 9 of buffer and gives back 4 at 2 and 3 at 5; the last 2 go at 7, its end.

    Job 2 wants 5: 1 is free, so it starts at 2. Job 3 wants 4 and has to wait for job 2's end at 9: at 5 there are 3,
    at 7 there are 5, so it starts at 7.
    """
    legs = [leg(1, 0, [(2.0, "burst_buffer=4"), (3.0, "burst_buffer=3"), 2.0], 1, 9)]
    result = run([(1, 0.0, 7.0, 1, 9), (2, 0.0, 7.0, 1, 5), (3, 0.0, 1.0, 1, 4)], legs)
    assert starts(result) == [(0, 1, 0), (2, 2, 0), (7, 3, 0)]
    assert changes(result, 1) == [
        (0, "start", "nodes", 1),
        (0, "acquire", "burst_buffer", 9),
        (2, "release", "burst_buffer", 4),
        (5, "release", "burst_buffer", 3),
        (7, "end", "nodes", 1),
        (7, "release", "burst_buffer", 2),
    ]


def test_a_part_and_then_the_rest():
    """Of 9, 4 are given back at 2, and all that is left at 5: nothing at the end. Nodes go in parts just so."""
    phases = [(2.0, "burst_buffer=4"), (3.0, "burst_buffer"), (1.0, "nodes=1"), (1.0, "nodes"), 1.0]
    result = run([(1, 0.0, 8.0, 3, 9), (2, 0.0, 1.0, 2, 0)], [leg(1, 0, phases, 3, 9)])
    assert [row for row in changes(result, 1) if row[1] in ("release", "end")] == [
        (2, "release", "burst_buffer", 4),
        (5, "release", "burst_buffer", 5),
        (6, "release", "nodes", 1),
        (7, "release", "nodes", 2),
        (8, "end", "nodes", 0),
    ]
    assert starts(result) == [(0, 1, 0), (6, 2, 0)]
    assert result.jobs["allocated_resources"].to_list() == ["0-2", "2-3"]  # the node taken last goes first


def test_a_part_is_carried_over_and_given_back_when_it_has_been_used():
    """Leg 0 holds 2; leg 1 keeps them, takes 7 more and gives 2 back after its first phase; leg 2 keeps nodes alone.

    At 3 leg 1 has 7 left; job 2 wants 3 and starts then. At 5 the 7 go back, and job 3, which wants 7, starts.
    """
    legs = [leg(1, 0, 1.0, 0, 2), leg(1, 1, [(2.0, "burst_buffer=2"), 2.0], 2, 9, "burst_buffer")]
    legs.append(leg(1, 2, 4.0, 2, 0, "nodes"))
    result = run([(1, 0.0, 9.0, 2, 9), (2, 1.5, 6.0, 1, 3), (3, 1.5, 1.0, 1, 7)], legs)
    assert [row for row in changes(result, 1) if row[2] == "burst_buffer"] == [
        (0, "acquire", "burst_buffer", 2),
        (1, "acquire", "burst_buffer", 7),
        (3, "release", "burst_buffer", 2),
        (5, "release", "burst_buffer", 7),
    ]
    assert [row for row in changes(result, 1) if row[2] == "nodes" and row[3]] == [
        (1, "start", "nodes", 2),
        (9, "end", "nodes", 2),
    ]
    assert starts(result) == [(0, 1, 0), (1, 1, 1), (3, 2, 0), (5, 1, 2), (5, 3, 0)]


def test_what_is_left_of_a_part_is_carried():
    """Leg 0 holds 8 and gives back 3; leg 1 asks for 6: it has 5 and takes 1 more. All 6 go at the end."""
    legs = [leg(1, 0, [(1.0, "burst_buffer=3"), 1.0], 1, 8), leg(1, 1, 1.0, 1, 6, "burst_buffer")]
    buffer = [row for row in changes(run([(1, 0.0, 3.0, 1, 8)], legs), 1) if row[2] == "burst_buffer"]
    assert [(time, kind, amount) for time, kind, _, amount in buffer] == [
        (0, "acquire", 8),
        (1, "release", 3),
        (2, "acquire", 1),
        (3, "release", 6),
    ]


def test_a_kill_gives_back_what_parts_have_left():
    """Killed at 4, after a part of 3 went at 2: the other 6 go at 4."""
    result = run(
        [(1, 0.0, 4.0, 1, 9)], [leg(1, 0, [(2.0, "burst_buffer=3"), (3.0, "burst_buffer=5")], 1, 9, walltime=4.0)]
    )
    assert [row for row in changes(result, 1) if row[1] == "release"] == [
        (2, "release", "burst_buffer", 3),
        (4, "release", "burst_buffer", 6),
    ]


@pytest.mark.parametrize("amount", ["", "0", "-3", "2.5", "1e3", "three", "5=5", "99999999999999999999"])
def test_parts_that_are_no_amount_are_refused(amount):
    with pytest.raises(InputError) as caught:
        run([(7, 0.0, 1.0, 1, 6)], [leg(7, 0, [(1.0, f"burst_buffer={amount}")], 1, 6)])
    assert f"a phase of job 7 has the release 'burst_buffer={amount}'; write a whole number above 0" in str(
        caught.value
    )


def test_a_part_that_is_more_than_the_leg_holds_is_refused():
    legs = [leg(7, 0, 1.0, 1, 6), leg(7, 1, [(1.0, "burst_buffer=4"), (1.0, "burst_buffer=3")], 1, 6)]
    with pytest.raises(InputError) as caught:
        run([(7, 0.0, 3.0, 1, 6)], legs)
    says = "job 7 gives back 3 of burst_buffer at the end of a phase, and its leg 1 then holds 2; correct the amount"
    assert says in str(caught.value)


def test_chunks_go_back_all_at_once():
    legs, phases = zip(*[leg(7, 0, [(1.0, "burst_buffer=4"), 1.0], 1, 6)], strict=True)
    job = {"id": 7, "submit": 0.0, "walltime": 2.0, "nodes": 1, "burst_buffer": 6}
    buffer = shared_bb.Tier(name="burst_buffer", capacity=10, placement="chunked")
    machine = Platform(name="chunks", nodes=1, tiers=(buffer,))
    with pytest.raises(InputError, match=r"job 7 gives back a part of its burst_buffer.*give back all of it"):
        forebay.simulate(pooled.workload([job], legs, phases[0]), machine, "fcfs")
    phases[0][0]["release"] = "burst_buffer=6"  # all, in other words
    result = forebay.simulate(pooled.workload([job], legs, phases[0]), machine, "fcfs")
    assert (1, "release", "burst_buffer", 6) in changes(result, 7)


def test_a_part_of_what_the_machine_lacks_is_no_event():
    jobs, legs = [(1, 0.0, 2.0, 1, 6)], [leg(1, 0, [(1.0, "burst_buffer=99"), 1.0], 1, 6)]
    names = ("id", "submit", "walltime", "nodes", "burst_buffer")
    rows = [dict(zip(names, row, strict=True)) for row in jobs]
    workload = pooled.workload(rows, [row for row, _ in legs], legs[0][1])
    assert forebay.simulate(workload, "flat:nodes=1", "fcfs").facts["decisions"] == 2


def test_release_to_come_is_part_of_the_profile():
    """A reservation counts on what a running leg will give back, also if a phase will give it back before the end.

    Job 1: 4 nodes, 0 to 10, says so; it will give them back at 6, which no scheduler knows. Job 2 (4 nodes) is the head
    and is expected to start at 10. At 1 job 3 asks for buffer alone for 9 s: 1 + 9 = 10, nobody is delayed, it starts.
    Job 4 wants the same for 10 s and all of the buffer that job 2 needs: it must wait. At 6 job 2 starts.
    """
    legs = [leg(1, 0, [(6.0, "nodes"), 4.0], 4, 0)]
    jobs = [(1, 0.0, 10.0, 4, 0), (2, 0.0, 2.0, 4, 6), (3, 1.0, 9.0, 0, 4), (4, 1.0, 10.0, 0, 6)]
    result = run(jobs, legs, "fcfs-bb")
    # At 6 job 2 has its 6 of buffer (job 3 has 4), until 8; then job 4 can start.
    assert starts(result) == [(0, 1, 0), (1, 3, 0), (6, 2, 0), (8, 4, 0)]


def test_a_job_that_has_begun_goes_first():
    """Job 1's second leg is queued at 2, job 2 since 0; on the 4 nodes that both want, job 1 goes first."""
    result = run([(1, 0.0, 3.0, 4, 0), (2, 0.0, 1.0, 4, 0)], [leg(1, 0, 2.0, 4, 0), leg(1, 1, 1.0, 4, 0)])
    assert starts(result) == [(0, 1, 0), (2, 1, 1), (3, 2, 0)]


def test_releasing_what_a_leg_does_not_hold_is_no_event():
    """One job, 1 node, no buffer; its first phase would give back buffer: two decisions, no release row."""
    jobs = job_table(
        {"id": [1], "submit": [0.0], "walltime": [5.0], "run_time": [2.0], "nodes": [1], "burst_buffer": [0]}
    )
    phases = pl.DataFrame(
        [(1, 0, "compute", 1.0, 0.0, 0.0, 0.0, "burst_buffer"), (1, 0, "compute", 1.0, 0.0, 0.0, 0.0, None)],
        schema=PHASE_SCHEMA,
        orient="row",
    )
    result = forebay.simulate(forebay.Workload("w", jobs, phases=phases), "flat:nodes=1,burst_buffer=5B", "fcfs")
    assert result.facts["decisions"] == 2
    assert result.log["kind"].to_list() == ["submit", "start", "end"]


def test_phases_without_legs_are_run():
    """Phases of 100, 600 and 50 s under a walltime of 1000 s: 750 s in all."""
    jobs = job_table({"id": [1], "submit": [0.0], "walltime": [1000.0], "run_time": [600.0], "nodes": [1]})
    rows = [
        (1, 0, kind, seconds, 0.0, 0.0, 0.0, None)
        for kind, seconds in (("stage_in", 100.0), ("compute", 600.0), ("stage_out", 50.0))
    ]
    phases = pl.DataFrame(rows, schema=PHASE_SCHEMA, orient="row")
    result = forebay.simulate(forebay.Workload("w", jobs, phases=phases), "flat:nodes=1", "fcfs")
    assert result.jobs["finish_time"].to_list() == [750.0]


@pytest.mark.parametrize(
    ("legs", "phases", "says"),
    [
        (
            [(1, 0, 9.0, 1, ""), (1, 1, 9.0, 1, "burstbuffer")],
            [(0, "compute", None), (1, "compute", None)],
            "burstbuffer",
        ),
        ([(1, 0, 9.0, 1, "")], [(0, "compute", "disk")], "disk"),
        ([(1, 0, 9.0, 1, "")], [(0, "computing", None)], "computing"),
        ([(1, 0, 9.0, 1, "")], [(1, "compute", None)], "leg 1 of job 1"),
        ([(1, 0, 9.0, 1, ""), (1, 1, 9.0, 1, "")], [(0, "compute", None)], "leg 1 of job 1 has no phase"),
        ([(1, 1, 9.0, 1, "")], [(1, "compute", None)], "numbered"),
        ([(2, 0, 9.0, 1, "")], [(0, "compute", None)], "job 2, which does not exist"),
    ],
)
def test_bad_legs_and_phases_are_refused(legs, phases, says):
    jobs = job_table({"id": [1], "submit": [0.0], "walltime": [9.0], "run_time": [1.0], "nodes": [1]})
    legs = pl.DataFrame(legs, schema=LEG_SCHEMA, orient="row")
    rows = [(1, leg, kind, 1.0, 0.0, 0.0, 0.0, release) for leg, kind, release in phases]
    workload = forebay.Workload("w", jobs, legs, pl.DataFrame(rows, schema=PHASE_SCHEMA, orient="row"))
    with pytest.raises(InputError, match=says):
        forebay.simulate(workload, "flat:nodes=1", "fcfs")


def test_two_jobs_of_one_id_are_refused():
    jobs = job_table(
        {"id": [1, 1], "submit": [0.0, 0.0], "walltime": [9.0, 9.0], "run_time": [1.0, 1.0], "nodes": [1, 1]}
    )
    with pytest.raises(InputError, match="id 1"):
        forebay.simulate(forebay.Workload("w", jobs), "flat:nodes=1", "fcfs")


def test_more_legs_than_the_log_can_count_are_refused():
    n = 2**15 + 1
    legs = [{"job": 7, "leg": k, "walltime": 1.0, "nodes": 1, "carry": ""} for k in range(n)]
    phases = [{"job": 7, "leg": k, "seconds": 1.0} for k in range(n)]
    w = pooled.workload([{"id": 7, "submit": 0.0, "walltime": 1.0, "nodes": 1}], legs, phases)
    with pytest.raises(InputError, match="job 7 has 32,769 legs; a job has 32,768 at most"):
        forebay.simulate(w, pooled.platform(1), "fcfs")
