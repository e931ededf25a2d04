"""What a walltime does to a job, by hand. One machine throughout: 4 nodes, 10 units of burst buffer."""

import math

import polars as pl
import pytest

import forebay
from cases import pooled

pytestmark = pytest.mark.small

COMPLETED, TOO_LONG = "COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED"
MACHINE = pooled.platform(4, 10)


def job(job_id, submit, run_time, walltime, nodes=4, buffer=0):
    row = {"id": job_id, "submit": submit, "run_time": run_time, "walltime": walltime}
    return row | {"nodes": nodes, "burst_buffer": buffer}


def outcome(jobs, legs=(), phases=(), policy="fcfs", kill="true"):
    """(start, finish, final state) of each job, and the log."""
    workload = pooled.workload(jobs, legs, phases)
    result = forebay.simulate(workload, MACHINE, policy, job_model=f"alloc-only:kill={kill}")
    return result.jobs.select("starting_time", "finish_time", "final_state").rows(), result.log


def test_killed_at_walltime():
    """10 s of work in 6 s: killed at 6, and the next job has the nodes at once."""
    rows, _ = outcome([job(1, 0.0, 10.0, 6.0), job(2, 0.0, 1.0, 1.0)])
    assert rows == [(0, 6, TOO_LONG), (6, 7, COMPLETED)]


def test_completes_exactly_at_walltime():
    rows, _ = outcome([job(1, 2.0, 6.0, 6.0)])
    assert rows == [(2, 8, COMPLETED)]


def test_completes_at_walltime_but_for_rounding():
    """0.1 + 0.2 is 0.30000000000000004 in floats, later than 0.3: still an end at the walltime, hence a completion."""
    legs = [{"job": 1, "leg": 0, "walltime": 0.3, "nodes": 1, "carry": "", "burst_buffer": 0}]
    phases = [{"job": 1, "leg": 0, "seconds": 0.1}, {"job": 1, "leg": 0, "seconds": 0.2}]
    assert 0.1 + 0.2 > 0.3
    rows, _ = outcome([job(1, 0.0, 0.3, 0.3, nodes=1)], legs, phases)
    assert rows == [(0, 0.1 + 0.2, COMPLETED)]


def test_a_millisecond_over_is_too_long():
    rows, _ = outcome([job(1, 0.0, 6.001, 6.0)])
    assert rows == [(0, 6, TOO_LONG)]


def test_kill_off():
    """Nothing is killed; the job past its estimate ends when it ends."""
    rows, _ = outcome([job(1, 0.0, 10.0, 6.0), job(2, 0.0, 1.0, 1.0)], kill="false")
    assert rows == [(0, 10, COMPLETED), (10, 11, COMPLETED)]


def test_no_limit():
    rows, _ = outcome([job(1, 0.0, 1e6, math.inf)])
    assert rows == [(0, 1e6, COMPLETED)]


def test_past_its_estimate_counts_as_ending_in_a_second():
    """Kill off, EASY. Job 1 (3 nodes) says 2 s and runs 20; job 2 (4 nodes) is the head from time 1.

    At 5 job 1 is overdue, so it is expected at 6 and job 2 holds all nodes from then on. Jobs 3 and 4 want the free
    node: job 3 for exactly 1 s, which fits before 6; job 4 for 2 s, which does not. Job 3's end at 6 is a decision too,
    when job 1 is expected at 7: again no room for job 4's 2 s. It follows job 2 (20 to 21).
    """
    jobs = [
        job(1, 0.0, 20.0, 2.0, nodes=3),
        job(2, 1.0, 1.0, 1.0),
        job(3, 5.0, 1.0, 1.0, nodes=1),
        job(4, 5.0, 2.0, 2.0, nodes=1),
    ]
    rows, _ = outcome(jobs, policy="fcfs-easy", kill="false")
    assert [start for start, _, _ in rows] == [0, 20, 5, 21]


def test_kill_in_mid_phase_returns_everything():
    """Killed in the second of three phases, while it holds nodes and carries buffer from the leg before.

    Job 1: leg 0 takes 6 of buffer, 0 to 2. Leg 1 keeps those 6, adds 2 more and 3 nodes at 2; its phases would end at
    5, 10 and 12, but its walltime of 6 s ends it at 8. Leg 2 (buffer, carried) never runs. Job 2 wants all 10 of buffer
    and all 4 nodes: it can start at 8 only if every piece is back.
    """
    names = ("job", "leg", "walltime", "nodes", "burst_buffer", "carry")
    rows = [(1, 0, 5.0, 0, 6, ""), (1, 1, 6.0, 3, 8, "burst_buffer"), (1, 2, 5.0, 0, 8, "burst_buffer")]
    legs = [dict(zip(names, row, strict=True)) for row in rows]
    seconds = [(0, 2.0), (1, 3.0), (1, 5.0), (1, 2.0), (2, 1.0)]
    phases = [{"job": 1, "leg": leg, "seconds": length} for leg, length in seconds]
    jobs = [job(1, 0.0, 12.0, 16.0, nodes=3, buffer=8), job(2, 1.0, 1.0, 1.0, nodes=4, buffer=10)]
    rows, log = outcome(jobs, legs, phases)
    assert rows == [(0, 8, TOO_LONG), (8, 9, COMPLETED)]
    given = log.filter((pl.col("job") == 1) & (pl.col("time") == 8)).select("kind", "resource", "amount").rows()
    assert given == [("end", "nodes", 3), ("release", "burst_buffer", 8)]
    assert log.filter((pl.col("job") == 1) & (pl.col("leg") == 2)).is_empty()


def test_kill_before_a_release_returns_what_it_would_have_released():
    """The phase that gives the nodes back at its end (8 s) is cut at the walltime (6 s): they come back then."""
    legs = [{"job": 1, "leg": 0, "walltime": 6.0, "nodes": 4, "burst_buffer": 3, "carry": ""}]
    phases = [{"job": 1, "leg": 0, "seconds": 8.0, "release": "nodes"}, {"job": 1, "leg": 0, "seconds": 1.0}]
    jobs = [job(1, 0.0, 9.0, 6.0, buffer=3), job(2, 0.0, 1.0, 1.0, buffer=10)]
    rows, log = outcome(jobs, legs, phases)
    assert rows == [(0, 6, TOO_LONG), (6, 7, COMPLETED)]
    end = log.filter((pl.col("job") == 1) & (pl.col("kind") == "end"))
    assert end["amount"].to_list() == [4]
