"""Who waits for whom, and where nodes stand, as policies in plain Python see it."""

import numpy as np
import pytest

import forebay as fb
from forebay.errors import BadActionError
from forebay.workload import dependency_table, job_table
from test_cookbook import load

pytestmark = pytest.mark.small


def _workload(walltimes, submit, waits):
    n = len(walltimes)
    columns = {"id": np.arange(11, 11 + n), "submit": submit, "nodes": [1] * n}
    columns |= {name: np.array(walltimes, float) for name in ("walltime", "run_time")}
    rows = {name: [row[k] for row in waits] for k, name in enumerate(("job", "parent", "kind", "delay"))}
    return fb.Workload("family", job_table(columns), dependencies=dependency_table(rows))


class Looks(fb.Policy):
    def __init__(self, look):
        self.look, self.seen = look, {}

    def decide(self, view, act):
        self.seen[view.now] = self.look(view)
        act.backfill(depth=0)


def _family(view):
    known = [row for row in range(len(view.jobs)) if view.now >= 5 * (row == 3)]
    return {row: (view.children(row), view.parents(row), view.critical_path(row)) for row in known}


DIAMOND = _workload(
    [10, 20, 30, 40],
    [0.0, 0.0, 0.0, 5.0],
    [(12, 11, "afterok", 0.0), (13, 11, "afterany", 7.0), (14, 12, "afterok", 0.0), (14, 13, "after", 1.0)],
)
"""Row 3 is submitted at 5 s. It waits for the end of row 1, and 1 s from the start of row 2."""


def test_who_is_submitted_is_seen():
    policy = Looks(_family)
    fb.simulate(DIAMOND, "flat:nodes=4", policy)
    assert policy.seen[0.0] == {
        0: ([1, 2], [], 10 + 7 + 30), 1: ([], [0], 20.0), 2: ([], [0], 30.0),
    }  # fmt: skip
    # 14 waits for others when it comes; behind row 2 its 40 s count from the start of that.
    assert policy.seen[10.0] == {
        0: ([1, 2], [], 10 + 20 + 40), 1: ([3], [0], 20 + 40), 2: ([3], [0], 1 + 40), 3: ([], [1, 2], 40.0),
    }  # fmt: skip


def test_nobody_asks_about_jobs_to_come():
    with pytest.raises(BadActionError, match="relatives of row 3, whose job has not arrived"):
        fb.simulate(DIAMOND, "flat:nodes=4", Looks(lambda view: view.children(3)))


def test_without_dependencies_a_path_is_a_walltime():
    policy = Looks(lambda view: [(view.parents(row), view.critical_path(row)) for row in view.queue.tolist()])
    fb.simulate("table1", policy=policy)
    assert policy.seen[0.0][0] == ([], 600.0)


def test_the_critical_path_goes_first_under_heft():
    """One node, five tasks of 10 s: 11 is alone, and 12 has three behind it, which HEFT begins with."""
    waits = [(13, 12, "afterok", 0.0), (14, 13, "afterok", 0.0), (15, 14, "afterok", 0.0)]
    chain = _workload([10.0] * 5, [0.0] * 5, waits)
    starts = {
        policy: fb.simulate(chain, "flat:nodes=1", load(policy)).jobs["starting_time"].to_list()
        for policy in ("Heft", "Easy")
    }
    assert starts == {"Heft": [30.0, 0.0, 10.0, 20.0, 40.0], "Easy": [0.0, 10.0, 20.0, 30.0, 40.0]}


def test_a_long_chain_is_no_deep_recursion():
    n = 3000
    chain = _workload([1.0] * n, [0.0] * n, [(11 + k, 10 + k, "afterok", 0.0) for k in range(1, n)])

    class Once(Looks):
        def decide(self, view, act):
            if view.now == 0:
                self.seen[0.0] = view.critical_path(0)
            act.backfill(depth=0)

    policy = Once(None)
    fb.simulate(chain, "flat:nodes=1", policy)
    assert policy.seen[0.0] == n


def test_where_nodes_stand():
    """On the same router, in the same group, and elsewhere."""
    machine = fb.platform("dragonfly-96")
    policy = Looks(lambda view: view.topology)
    fb.simulate(fb.workload.operations.first(fb.read("default"), 3), machine, policy, job_model="alloc-only")
    seen = policy.seen[min(policy.seen)]
    shape, slots = machine.topology, machine.nodes
    assert len(seen.router) == len(seen.group) == slots
    routers = shape.chassis * shape.routers
    assert (seen.group == seen.router // routers).all()
    assert (np.bincount(seen.group) == slots // shape.groups).all()
    same = np.flatnonzero(seen.router == seen.router[0])
    assert [seen.distance(same[0], same[-1]), seen.distance(0, slots - 1) > 2] == [0, True]
    assert ((seen.hops == 0) == np.eye(len(seen.hops), dtype=bool)).all()
    near = seen.group[:, None] == seen.group[None, :]
    assert seen.hops[seen.router[:, None], seen.router[None, :]][near].max() <= 2


def test_a_crossbar_has_no_routers():
    policy = Looks(lambda view: view.topology)
    fb.simulate("table1", policy=policy)
    assert set(policy.seen.values()) == {None}
