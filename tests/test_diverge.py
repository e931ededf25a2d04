"""Where two runs part."""

import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.workload import models

pytestmark = pytest.mark.small


def run(policy, **options):
    return fb.simulate("table1", policy=policy, **options)


def test_the_first_decision_that_differs():
    """Of the example of the paper: at 120 s job 4 would start beside job 3's reservation, if that counted buffers."""
    found = fb.diverge(run("fcfs-easy"), run("fcfs-bb"))
    assert found.time == 120
    assert found.names == ("fcfs-easy", "fcfs-bb")
    assert found.did[0].is_empty()
    assert found.did[1].filter(kind="start").select("job", "amount", "nodes").rows() == [(4, 2, "2-3")]
    assert found.waiting["job_id"].to_list() == [3, 4]
    assert found.waiting["waited"].to_list() == [60, 0]
    assert found.free == {"nodes": 2, "burst_buffer": 4 * 10**12}
    assert str(found).splitlines() == [
        "The runs part at 2 min (t = 120 s).",
        "Before: 2 jobs waited (job 3, job 4); 2 nodes, 4 TB of burst_buffer free.",
        "fcfs-easy: did nothing of that.",
        "fcfs-bb: started job 4 on 2 nodes (2-3).",
        "Job 4 did not start under fcfs-easy: it would fit, but the nodes are reserved for job 3, which goes first.",
    ]


def test_the_same_runs_never_part():
    assert fb.diverge(run("fcfs-bb"), run("fcfs-bb")) is None
    assert fb.diverge(run("fcfs-bb"), run("sjf-bb")) is None  # on so few jobs they decide alike


def test_both_sides_are_told_alike():
    one, other = run("fcfs"), run("filler")
    there, back = fb.diverge(one, other), fb.diverge(other, one)
    assert there.time == back.time
    assert there.did[0].equals(back.did[1])
    assert set(there.why) == set(back.why)


def test_what_fails_differently():
    found = fb.diverge(run("fcfs-bb"), run("fcfs-bb", failures="mtbf=1min,downtime=1min", seed=2))
    failed = run("fcfs-bb", failures="mtbf=1min,downtime=1min", seed=2).log.filter(kind="node_down")["time"][0]
    assert found.time == failed


class OtherNodes:
    """As filler, on the highest nodes."""

    def decide(self, view, act):
        idle = view.idle_nodes.tolist()
        for job in view.queue:
            n = int(view.demand(job)[0])
            if act.fits(job):
                act.start(job, nodes=idle[-n:])
                idle = idle[:-n]


def test_other_nodes_are_another_decision():
    found = fb.diverge(run("filler"), run(OtherNodes()))
    assert found.time == 0
    assert [rows["nodes"].drop_nulls()[0] for rows in found.did] == ["0", "3"]


def test_runs_that_are_not_over_are_followed_and_not_changed():
    sim = fb.open("table1", policy="fcfs").run(until=120)
    fork = sim.fork()
    fork.act.start(3)
    fork.step()
    found = fb.diverge(sim, fork)
    assert (found.time, sim.now) == (120, 120)
    assert found.names == ("fcfs (1)", "fcfs (2)")
    assert found.did[1]["job"].to_list() == [4, 4]


def test_mistakes():
    with pytest.raises(InputError, match="the runs have other jobs, of table1 and "):
        fb.diverge(run("fcfs"), fb.simulate(models.generate("lublin99:load=1.0,nodes=8", 1, jobs=5)))
    with pytest.raises(InputError, match="the second run"):
        fb.diverge(run("fcfs"), "fcfs-bb")
