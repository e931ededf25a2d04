"""The slow twin of failures, by hand: it must be right before anything is held against it."""

import math

import numpy as np
import pytest

from cases import transfers
from forebay.core.failures import Failures, Outages
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import pfs, shared_bb
from twins import failures as twin
from twins.backfill import PRESETS
from twins.careful import drawn
from twins.jobs import COMPLETED, TOO_LONG

pytestmark = pytest.mark.small

GB = 10**9


def outages(*rows):
    """Rows of node, down, up."""
    node, down, up = zip(*rows, strict=True) if rows else ((), (), ())
    return Outages("hand", "", np.array(node, np.int64), np.array(down, float), np.array(up, float))


def job(number, nodes, run_time, submit=0.0, walltime=1e6, **values):
    return {"id": number, "submit": submit, "nodes": nodes, "run_time": run_time, "walltime": walltime, **values}


def phase(number, kind, amount=0.0, leg=0, **values):
    return {"job": number, "leg": leg, "kind": kind, "bytes": float(amount), **values}


def machine(nodes):
    """A file system of 1 GB/s and a buffer that is as fast as can be."""
    tiers = (pfs.Tier(name="pfs", bandwidth=1.0 * GB), shared_bb.Tier(name="burst_buffer", capacity=100 * GB))
    return Platform(name="hand", nodes=nodes, tiers=tiers)


class Told(twin.Failing):
    """First come, first served; jobs are interrupted as told: (time, job, how)."""

    told = ()

    def decide(self, now):
        super().decide(now)
        for time, number, how in [one for one in self.told if one[0] <= now]:
            self.told.remove((time, number, how))
            self.interrupt(next(job for job in self.jobs if job.id == number), now, how)


def run(nodes, jobs, rows=(), phases=(), legs=(), preset="fcfs", told=(), **rules):
    """The finished run under known failures."""
    neutral = {"flop": 0.0, "communication": 0.0, "burst_buffer": 0}
    workload = transfers.workload([neutral | row for row in jobs], legs, phases)
    made = Told(workload, machine(nodes), PRESETS[preset], Failures(outages=outages(*rows), **rules))
    made.told = list(told)
    for time, *_ in told:
        made.event(time, "wake", None)
    return made.finished()


def ends(made):
    return [job.finish for job in made.jobs]


def rows(made, *kinds):
    """(time, kind, reason, amount) of the log."""
    return [(time, kind, reason, amount) for time, kind, _, reason, amount in made.log if kind in kinds]


def steps(made):
    """(time, begin or end, save or recover)."""
    return [(time, kind[:-6], reason) for time, kind, _, reason, _ in made.log if kind.endswith("phase")]


def test_an_idle_node_fails():
    # 3 nodes; job 1 has 0 and 1. Node 2 is down from 1 to 6: job 2 of one node waits for it, though it came at 2.
    made = run(3, [job(1, 2, 10.0), job(2, 1, 1.0, 2.0)], [(2, 1.0, 6.0)])
    assert ends(made) == [10.0, 7.0]
    assert rows(made, "node_down", "node_up") == [(1.0, "node_down", "none", 2), (6.0, "node_up", "none", 2)]
    assert made.decisions == [0.0, 1.0, 2.0, 6.0, 7.0, 10.0]


def test_a_node_fails_twice():
    # Down from 1 to 6, and again from 3 to 4 or to 9: the later end counts. Job 1 then runs from 6, or from 9.
    for until, end in ((4.0, 16.0), (9.0, 19.0)):
        made = run(1, [job(1, 1, 10.0)], [(0, 1.0, 6.0), (0, 3.0, until)])
        assert ends(made) == [end]
        assert made.starts == [(0.0, 1, 0, {0}), (end - 10.0, 1, 0, {0})]
        assert len(rows(made, "node_down", "node_up")) == 2


def test_a_node_fails_as_it_comes_back():
    # Down from 1 to 6 and from 6 to 8: it is back at 6 before it fails again; nothing starts in between.
    made = run(1, [job(1, 1, 10.0)], [(0, 1.0, 6.0), (0, 6.0, 8.0)])
    assert ends(made) == [18.0]
    assert [kind for _, kind, *_ in rows(made, "node_down", "node_up")] == ["node_down", "node_up"] * 2
    assert made.decisions == [0.0, 1.0, 6.0, 8.0, 18.0]


def test_all_nodes_fail():
    # Both nodes go at 4; the job has both. One decision at 4, one at each repair: it starts at 7, when both are back.
    made = run(2, [job(1, 2, 5.0)], [(0, 4.0, 6.0), (1, 4.0, 7.0)])
    assert ends(made) == [12.0]
    assert made.decisions == [0.0, 4.0, 6.0, 7.0, 12.0]
    assert rows(made, "end") == [(4.0, "end", "node_down", 2), (12.0, "end", "completed", 2)]


def test_for_ever():
    made = run(1, [job(1, 1, 5.0)], [(0, 4.0, math.inf)])
    assert [job.id for job in made.queue] == [1]


def test_at_the_very_end():
    # The job ends at 5, when its node fails: it has completed; nobody is left, so nothing more happens. With a job to
    # come at 6 the node is down until 9.
    made = run(1, [job(1, 1, 5.0)], [(0, 5.0, 9.0)])
    assert (ends(made), rows(made, "node_down")) == ([5.0], [])
    made = run(1, [job(1, 1, 5.0), job(2, 1, 1.0, 6.0)], [(0, 5.0, 9.0), (0, 11.0, 12.0)])
    assert ends(made) == [5.0, 10.0]
    assert rows(made, "node_down", "node_up") == [(5.0, "node_down", "none", 0), (9.0, "node_up", "none", 0)]


def test_checkpoints():
    # 30 s of work, a checkpoint of 2 s after each 10: at 10 and 22, none at the end. 34 s.
    made = run(1, [job(1, 1, 30.0)], checkpoint=2.0, period=10.0)
    assert ends(made) == [34.0]
    assert steps(made) == [
        (10.0, "begin", "save"),
        (12.0, "end", "save"),
        (22.0, "begin", "save"),
        (24.0, "end", "save"),
    ]


def test_back_to_the_last_checkpoint():
    # As above; at 20 the node fails for 5 s. 10 s are safe. From 25: 3 s of recovery, then 10 s to 38, saved by 40,
    # 10 s more: 50.
    made = run(1, [job(1, 1, 30.0)], [(0, 20.0, 25.0)], checkpoint=2.0, period=10.0, recovery=3.0)
    assert ends(made) == [50.0]
    assert steps(made)[2:] == [
        (25.0, "begin", "recover"), (28.0, "end", "recover"), (38.0, "begin", "save"), (40.0, "end", "save"),
    ]  # fmt: skip
    assert rows(made, "start", "end", "queue") == [
        (0.0, "start", "start", 1), (20.0, "end", "node_down", 1), (20.0, "queue", "none", 0),
        (25.0, "start", "start", 1), (50.0, "end", "completed", 1),
    ]  # fmt: skip


def test_a_failure_in_a_checkpoint():
    # Fails at 23, while the second is written: it goes on from 10 s of work. From 25: 2 s of recovery, 10 s, 2 s, 10 s.
    made = run(1, [job(1, 1, 30.0)], [(0, 23.0, 25.0)], checkpoint=2.0, period=10.0)
    assert ends(made) == [49.0]
    assert steps(made)[2:6] == [
        (22.0, "begin", "save"), (23.0, "end", "save"), (25.0, "begin", "recover"), (27.0, "end", "recover"),
    ]  # fmt: skip


def test_a_failure_as_a_checkpoint_is_complete():
    # At 12 it is complete, then the node fails: 10 s are safe. From 13: 2, 10, 2, 10.
    assert ends(run(1, [job(1, 1, 30.0)], [(0, 12.0, 13.0)], checkpoint=2.0, period=10.0)) == [37.0]


def test_a_failure_in_recovery():
    # Fails at 15 and, recovering since 20, at 21 again. From 22: 2 s of recovery, 10, 2, 10.
    made = run(1, [job(1, 1, 30.0)], [(0, 15.0, 20.0), (0, 21.0, 22.0)], checkpoint=2.0, period=10.0)
    assert ends(made) == [46.0]
    assert steps(made)[2:6] == [
        (20.0, "begin", "recover"), (21.0, "end", "recover"), (22.0, "begin", "recover"), (24.0, "end", "recover"),
    ]  # fmt: skip


def test_given_up():
    # Without a checkpoint, the second failure is one too many. With one in between the count starts anew.
    known = [(0, 3.0, 4.0), (0, 12.0, 13.0)]
    made = run(1, [job(1, 1, 30.0)], known, max_attempts=2)
    assert (ends(made), made.jobs[0].state) == ([12.0], twin.FAILED)
    assert rows(made, "end")[-1] == (12.0, "end", "node_down", 1)
    # From 4: 4 s of work are saved by 9. From 13: 1 s, 4 s, 1 s, 1 s.
    made = run(1, [job(1, 1, 9.0)], known, max_attempts=2, checkpoint=1.0, period=4.0)
    assert (ends(made), made.jobs[0].state) == ([20.0], COMPLETED)


def test_phases_are_saved_between():
    # 4 GB read at 1 GB/s, 19 s of computing, 8 GB written. T = 6: at 6 (2 s into computing), 13 and 20 (14 s), after
    # which 5 s of computing are left until 26; the writing is not cut: 34, no checkpoint at the end.
    phases = [phase(1, "read", 4 * GB), phase(1, "compute", seconds=19.0), phase(1, "write", 8 * GB)]
    made = run(1, [job(1, 1, 0.0)], phases=phases, checkpoint=1.0, period=6.0)
    assert [time for time, what, _ in steps(made) if what == "begin"] == [6.0, 13.0, 20.0]
    assert ends(made) == [pytest.approx(34.0)]
    # Exactly at the end of a phase, with more to come: before the next.
    phases = [phase(1, "compute", seconds=6.0), phase(1, "write", 8 * GB), phase(1, "compute", seconds=1.0)]
    made = run(1, [job(1, 1, 0.0)], phases=phases, checkpoint=1.0, period=6.0)
    assert [time for time, what, _ in steps(made) if what == "begin"] == [6.0, 15.0]
    assert ends(made) == [17.0]


def test_jobs_that_use_the_buffer_start_again():
    # Staging 2 GB takes 2 s. Fails at 10: from 11 again 2 + 20 s; no checkpoints.
    phases = [phase(1, "stage_in", 2 * GB), phase(1, "compute", seconds=20.0)]
    made = run(1, [job(1, 1, 0.0, burst_buffer=2 * GB)], [(0, 10.0, 11.0)], phases=phases, checkpoint=1.0, period=5.0)
    assert (ends(made), steps(made)) == ([33.0], [])


def test_a_carried_buffer_is_kept():
    # Leg 0 stages 2 GB by 2 s; leg 1 of one node fails at 5 and starts again at 9 with the same buffer.
    pools = {"job": 1, "burst_buffer": 100 * GB, "walltime": 100.0}
    legs = [{**pools, "leg": 0, "nodes": 0, "carry": ""}, {**pools, "leg": 1, "nodes": 1, "carry": "burst_buffer"}]
    phases = [phase(1, "stage_in", 2 * GB), phase(1, "compute", leg=1, seconds=10.0)]
    other = job(2, 0, 1.0, 3.0, burst_buffer=1)
    made = run(1, [job(1, 1, 0.0, burst_buffer=100 * GB), other], [(0, 5.0, 9.0)], phases, legs)
    assert ends(made)[0] == 19.0
    # Job 2 wants one byte of the buffer, and gets it only then.
    assert made.jobs[1].start == 19.0


def test_what_was_given_back_is_taken_again():
    # As above, but leg 1 gives back 40 GB after 10 s and fails at 15: job 2 has those from 13 on, so it waits until 43.
    pools = {"job": 1, "burst_buffer": 100 * GB, "walltime": 100.0}
    legs = [{**pools, "leg": 0, "nodes": 0, "carry": ""}, {**pools, "leg": 1, "nodes": 1, "carry": "burst_buffer"}]
    phases = [phase(1, "stage_in", 2 * GB), phase(1, "compute", leg=1, seconds=10.0, release=f"burst_buffer={40 * GB}")]
    phases += [phase(1, "compute", leg=1, seconds=10.0), phase(2, "compute", seconds=30.0)]
    other = job(2, 0, 30.0, 13.0, burst_buffer=40 * GB)
    made = run(1, [job(1, 1, 0.0, burst_buffer=100 * GB), other], [(0, 15.0, 16.0)], phases, legs)
    assert ends(made) == [63.0, 43.0]
    assert made.pools == [100 * GB]


def test_checkpoints_of_bytes_contend():
    # Two jobs of one node write 2 GB each after 10 s, together at 1 GB/s: 4 s instead of 2. Read back by one: 2 s.
    made = run(2, [job(1, 1, 15.0), job(2, 1, 15.0)], [(0, 16.0, 17.0)], checkpoint_bytes=2 * GB, period=10.0)
    assert ends(made) == [pytest.approx(24.0), pytest.approx(19.0)]
    assert [(round(time, 9), what) for time, what, _ in steps(made)] == [
        (10.0, "begin"), (10.0, "begin"), (14.0, "end"), (14.0, "end"), (17.0, "begin"), (19.0, "end"),
    ]  # fmt: skip


def test_walltime_counts_work():
    # 25 s of walltime, T = 10: ceil(2.5) - 1 = 2 checkpoints of 2 s: until 29. 26 s of work: killed then.
    made = run(1, [job(1, 1, 26.0, walltime=25.0)], checkpoint=2.0, period=10.0)
    assert (ends(made), made.jobs[0].state) == ([29.0], TOO_LONG)
    # 20 s: ceil(2) - 1 = 1 checkpoint.
    made = run(1, [job(1, 1, 26.0, walltime=20.0)], checkpoint=2.0, period=10.0)
    assert (ends(made), made.jobs[0].state) == ([22.0], TOO_LONG)
    # It fails at 15 with 10 s safe: from 16, 3 s of recovery, 15 s of walltime and one checkpoint.
    rules = {"checkpoint": 2.0, "period": 10.0, "recovery": 3.0}
    made = run(1, [job(1, 1, 26.0, walltime=25.0)], [(0, 15.0, 16.0)], **rules)
    assert (ends(made), made.jobs[0].state) == ([36.0], TOO_LONG)


def test_a_slow_checkpoint_moves_the_walltime():
    # Job 1 writes 1 GB from 10 on while job 2 writes 9: 2 s instead of 1. Walltime 15, one checkpoint: 16, moved to 17.
    phases = [phase(2, "compute", seconds=10.0), phase(2, "write", 9 * GB)]
    jobs = [job(1, 1, 20.0, walltime=15.0), job(2, 1, 0.0)]
    made = run(2, jobs, phases=phases, checkpoint_bytes=GB, period=10.0)
    # Job 2 too writes a checkpoint at 10, before its phase: both 1 GB in 2 s.
    assert ends(made)[0] == pytest.approx(17.0)


def test_begun_jobs_wait_first():
    # One node. Job 1 is interrupted at 2 and job 3, which came before it, fails at 4: both wait before job 4.
    jobs = [job(3, 1, 10.0), job(1, 1, 10.0, 1.0), job(4, 1, 10.0, 1.5)]
    made = run(2, jobs, [(0, 4.0, 30.0), (1, 4.0, 31.0)])
    assert [job.id for job in made.jobs] == [3, 1, 4]
    assert [(time, number) for time, number, *_ in made.starts] == [(0, 3), (1, 1), (30, 3), (31, 1), (40, 4)]
    # The interrupted one starts again at once: the one that failed is not there yet.
    made = run(1, jobs, [(0, 4.0, 30.0)], told=[(2.0, 3, "last")])
    assert [(time, number) for time, number, *_ in made.starts] == [(0, 3), (2, 3), (30, 3), (40, 1), (50, 4)]


def test_interrupted_at_a_checkpoint():
    rules = {"checkpoint": 2.0, "period": 10.0, "recovery": 1.0}
    # last, at 15: 10 s are safe; 1 s of recovery, 10 s, 2 s, 10 s: 38.
    assert ends(run(1, [job(1, 1, 30.0)], told=[(15.0, 1, "last")], **rules)) == [38.0]
    # now, at 15: written by 17, 13 s are safe; 1 s, 10 s, 2 s, 7 s: 37.
    made = run(1, [job(1, 1, 30.0)], told=[(15.0, 1, "now")], **rules)
    assert ends(made) == [37.0]
    assert rows(made, "end")[0] == (17.0, "end", "interrupted", 1)
    # next, at 15: written by 24; 1 s, 10 s: 35.
    assert ends(run(1, [job(1, 1, 30.0)], told=[(15.0, 1, "next")], **rules)) == [35.0]
    # now, at 11, while the first is written: at 12; 1 s, 10 s, 2 s, 10 s: 35. At 12, nothing was done since: the same.
    for time in (11.0, 12.0):
        assert ends(run(1, [job(1, 1, 30.0)], told=[(time, 1, "now")], **rules)) == [35.0]
    # next, in the last stretch: it ends before.
    assert ends(run(1, [job(1, 1, 30.0)], told=[(30.0, 1, "next")], **rules)) == [34.0]


def test_interrupted_where_it_cannot_be_cut():
    # now, at 3 in 8 s of writing: a checkpoint from 8 to 9, then 1 s of recovery and 5 s: 15.
    phases = [phase(1, "write", 8 * GB), phase(1, "compute", seconds=5.0)]
    made = run(1, [job(1, 1, 0.0)], phases=phases, checkpoint=1.0, period=50.0, told=[(3.0, 1, "now")])
    assert ends(made) == [15.0]
    assert rows(made, "end")[0] == (9.0, "end", "interrupted", 1)


def test_toy_example():
    # Eight nodes; the third fails at 1 for 5 s. Flows 8, 5, 15, 25 and 3.
    sizes, lengths = (1, 1, 6, 6, 1), (8.0, 5.0, 10.0, 10.0, 2.0)
    jobs = [job(i + 1, sizes[i], lengths[i], walltime=lengths[i]) for i in range(5)]
    for preset in ("fcfs-easy", "conservative"):
        made = run(8, jobs, [(2, 1.0, 6.0)], preset=preset)
        assert ends(made) == [8.0, 5.0, 15.0, 25.0, 3.0]
        assert made.starts[3:5] == [(1.0, 5, 0, {3}), (5.0, 3, 0, {1, 3, 4, 5, 6, 7})]
        # Without failures, the last is backfilled when the second has ended.
        assert ends(run(8, jobs, preset=preset)) == [8.0, 5.0, 10.0, 20.0, 7.0]


def period(nodes, **rules):
    """Of a job with so many nodes out of four."""
    workload = transfers.workload([job(1, nodes, 200.0, flop=0.0, communication=0.0, burst_buffer=0)])
    made = twin.Failing(workload, machine(4), PRESETS["fcfs"], Failures(**rules))
    return made.jobs[0].rule.period


def test_the_period_of_young_and_daly():
    # C = 2 s, MTBF of the machine 900 s, 4 nodes: a job on one node, sqrt(2 x 2 x 900 x 4) = 120; on four, 60.
    assert period(1, mtbf=900.0, checkpoint=2.0) == 120.0
    assert period(4, mtbf=900.0, checkpoint=2.0) == 60.0
    # 2 GB a node: 8 s on four: sqrt(2 x 8 x 900) = 120.
    assert period(4, mtbf=900.0, checkpoint_bytes=2 * GB) == pytest.approx(120.0)
    # The same by the MTBF of a node, a quarter as often.
    assert period(4, node_mtbf=3600.0, checkpoint=2.0) == 60.0


@pytest.mark.parametrize("shape", [1.0, 0.7])
def test_drawn_failures(shape):
    """The mean time between two is the MTBF; nodes are struck alike."""
    failures = Failures(mtbf=100.0, shape=shape)
    rows = [one for _, one in zip(range(20_000), drawn(failures, 4, 5), strict=False)]
    times = np.array([time for time, *_ in rows])
    assert times[-1] / len(rows) == pytest.approx(100.0, rel=0.03)
    assert np.mean([u for _, u, _ in rows]) == pytest.approx(0.5, abs=0.01)
    assert (np.diff(times) >= 0).all()
