"""Node stealing: the toy example of ADMIRE's D3.3 (Table 3.1, Fig. 3.1), cases by hand, and where nothing is stolen."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forebay as fb
from cases.chunks import examples
from cases.flexible import Jobs, compute, loop
from forebay.core.failures import Failures, Outages
from forebay.errors import InputError
from forebay.policies import load
from forebay.workload.workload import Workload, job_table

pytestmark = pytest.mark.small


def workload(rows):
    """Jobs of (submit, nodes, seconds), whose users know how long they take."""
    submit, nodes, seconds = (
        np.array(column, kind) for column, kind in zip(zip(*rows, strict=True), (float, int, float), strict=True)
    )
    table = {"id": np.arange(1, len(rows) + 1), "submit": submit, "nodes": nodes}
    return Workload("by hand", job_table(table | {"walltime": seconds, "run_time": seconds}))


def outages(*rows):
    """Outages of (node, down, up)."""
    node, down, up = (
        np.array(column, kind) for column, kind in zip(zip(*rows, strict=True), (int, float, float), strict=True)
    )
    return Outages("by hand", "", node, down, up)


def flows(rows, nodes, policy, failed, **more):
    failures = Failures(outages=outages(*failed), **more)
    return fb.simulate(workload(rows), f"flat:nodes={nodes}", policy, failures=failures).jobs["turnaround_time"]


TOY = [(0, 1, 8), (0, 1, 5), (0, 6, 10), (0, 6, 10), (0, 1, 2)]
FAILED = (2, 1.0, 6.0)  # P3 is down from 1 to 6


@pytest.mark.parametrize(
    ("policy", "expected", "largest", "mean", "weighted"),
    [
        ("conservative", [8, 5, 15, 25, 3], 25, 11.2, 17.067),
        ("sfsj", [8, 11, 11, 21, 10], 21, 12.2, 14.733),
        ("steal:over=fcfs-easy", [8, 11, 11, 21, 10], 21, 12.2, 14.733),
    ],
)
def test_the_toy_example(policy, expected, largest, mean, weighted):
    flow = flows(TOY, 8, policy, [FAILED])
    assert flow.to_list() == expected
    assert flow.max() == largest
    assert flow.mean() == pytest.approx(mean)
    nodes = np.array([row[1] for row in TOY])
    assert (flow.to_numpy() * nodes).sum() / nodes.sum() == pytest.approx(weighted, abs=5e-4)


def test_its_nodes_are_those_of_the_figure():
    # Fig. 3.1 (c): J3 goes on with P2 in place of P3, J2 runs on P3 once that is back.
    failures = Failures(outages=outages(FAILED))
    result = fb.simulate(workload(TOY), "flat:nodes=8", "sfsj", failures=failures)
    start = result.log.with_row_index("row").filter(result.log["kind"] == "start")
    placed = start.join(result.placements, on="row").select("time", "job", "low", "high").rows()
    assert sorted(row for row in placed if row[:2] == (1, 3)) == [(1, 3, 1, 1), (1, 3, 3, 7)]
    assert [row for row in placed if row[:2] == (6, 2)] == [(6, 2, 2, 2)]


def test_the_latest_of_the_smallest_is_robbed():
    # At 10 a node of the third fails. The first two are alike and the second came later; the fourth is larger.
    rows = [(0, 1, 100), (1, 1, 100), (2, 4, 100), (3, 2, 100)]
    assert flows(rows, 8, "sfsj", [(2, 10.0, 500.0)]).to_list() == [100, 199, 108, 100]


def test_the_smallest_of_the_latest_is_robbed():
    # Variant 121: the last to come is the fourth, which then waits for the end of the first. It has 2 nodes of its own,
    # and one is left over: too few for anybody.
    rows = [(0, 1, 100), (1, 1, 100), (2, 4, 100), (3, 2, 100)]
    assert flows(rows, 8, "steal:variant=121", [(2, 10.0, 500.0)]).to_list() == [100, 100, 108, 197]


def test_of_the_smallest_the_one_that_came_last_or_that_began_last():
    """Both readings of the text, where they differ: 6 nodes, jobs 1 and 2 of one node, job 3 of three.

    Job 1 fails at 5 and begins again on another node, so that it has run for a shorter time than job 2, which came
    later. At 10 job 3 fails: nodes 0 and 2 are down for long, and it lacks one. If job 2 is robbed, it waits for job 1,
    until 105, and has a flow of 204; if job 1 is, it waits for job 2, until 101, and has one of 201.
    """
    rows, failed = [(0, 1, 100), (1, 1, 100), (2, 3, 100)], [(0, 5.0, 900.0), (2, 10.0, 900.0)]
    assert flows(rows, 6, "sfsj", failed).to_list() == [105, 204, 108]
    assert flows(rows, 6, "steal:variant=131", failed).to_list() == [201, 100, 108]


def test_nobody_is_robbed_who_is_not_smaller():
    rows = [(0, 2, 10), (0, 2, 20)]
    assert (
        flows(rows, 4, "sfsj", [(2, 1.0, 100.0)]).to_list()
        == flows(rows, 4, "conservative", [(2, 1.0, 100.0)]).to_list()
    )


def test_with_another_condition_one_who_came_later_is():
    # Variant 112: the first fails at 1, the second has as many nodes and came later. It starts again at 11.
    rows = [(0, 2, 10), (0, 2, 20)]
    assert flows(rows, 4, "steal:variant=112", [(0, 1.0, 100.0)]).to_list() == [11, 31]
    # The other way round nobody did.
    assert flows(rows, 4, "steal:variant=112", [(2, 1.0, 100.0)]).to_list() == [10, 30]


def test_flows_are_weighed():
    # The second fails at 1. Waiting for the first it ends at 30, flow 30; the first at 10. Robbed, the first would
    # start again at 21 and end at 31: that is not lower. With 5 s in place of 20, it is 15 against 6 and 16: no. With a
    # first job of 100 s it is 105, against 6 and 106: no; with a second of 6 nodes and a first of 1, see the toy.
    assert flows([(0, 2, 10), (0, 2, 20)], 4, "steal:variant=113", [(2, 1.0, 100.0)]).to_list() == [10, 30]
    assert flows(TOY, 8, "steal:variant=113", [FAILED]).to_list() == [8, 11, 11, 21, 10]


VICTIM = [(0, 1, 100), (0, 3, 100)]
"""A small job that writes checkpoints of 2 s every 10 s of work, and a larger one, which fails at 25 s."""


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        # Both have saved 20 s of work at 24 s. The second goes on at once, with the nodes 0, 1, 2 (3 is down for long):
        # recovery 1, 80 s of work and 7 checkpoints: 25 + 1 + 80 + 14 = 120. Then the first: 120 + 1 + 80 + 14.
        ("111", [215, 120]),
        # The first writes what it did from 24 to 25 and stops at 27: the second ends at 122. The first has 79 s left.
        ("211", [122 + 1 + 79 + 14, 122]),
        # Its next checkpoint begins at 34 and stops it at 36: the second ends at 131. The first has 70 s left.
        ("311", [131 + 1 + 70 + 12, 131]),
    ],
)
def test_the_victim_goes_on_from_its_checkpoint(variant, expected):
    more = {"checkpoint": 2.0, "recovery": 1.0, "period": 10.0}
    assert flows(VICTIM, 4, f"steal:variant={variant}", [(3, 25.0, 900.0)], **more).to_list() == expected


def test_a_malleable_job_only_shrinks():
    # Rounds of 40 node-seconds: on 4 nodes 10 s each. At 15 the rigid job loses node 4 and lacks one: the malleable one
    # gives it at 20, its next point, and has 3 nodes for its last 2 rounds.
    jobs = Jobs()
    jobs.add("malleable", 0, range(1, 5), loop(4, compute(lambda n: 40 / n)), walltime=100, nodes=4)
    jobs.add("rigid", 0, [2], loop(1, compute(lambda n: 30.0)), walltime=30)
    failures = Failures(outages=outages((4, 15.0, 500.0)))
    result = fb.simulate(jobs.workload(), "flat:nodes=6", "steal-malleable", failures=failures)
    ends = result.jobs["finish_time"].to_list()
    assert ends == pytest.approx([20 + 2 * 40 / 3, 50])
    assert fb.summary(result)["n_steals"] == 0


@settings(max_examples=examples(50), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(1, 3), st.integers(1, 20)), min_size=1, max_size=6),
    st.lists(
        st.tuples(st.integers(0, 39), st.integers(1, 60), st.integers(1, 30)), max_size=4, unique_by=lambda r: r[1]
    ),
    st.sampled_from([h + v + d for h in "123" for v in "12" for d in "123"]),
)
def test_where_free_nodes_suffice_nothing_is_stolen(rows, failed, variant):
    """40 nodes for at most 6 jobs of 3: whoever fails starts again at once."""
    rows = sorted(rows)
    failed = sorted(((node, float(down), float(down + long)) for node, down, long in failed), key=lambda row: row[1])
    more = {"checkpoint": 1.0, "period": 4.0}
    made = workload(rows)
    failures = Failures(outages=outages(*failed), **more) if failed else Failures(period=4.0, checkpoint=1.0)
    logs = [
        fb.simulate(made, "flat:nodes=40", policy, failures=failures).facts["log_sha256"]
        for policy in ("conservative", f"steal:variant={variant}")
    ]
    assert logs[0] == logs[1]


@pytest.mark.parametrize("variant", ["11", "1111", "011", "411", "141", "114", "abc"])
def test_other_codes_are_refused(variant):
    with pytest.raises(InputError, match="give three digits"):
        load(f"steal:variant={variant}")


@pytest.mark.parametrize("over", ["plan-2", "sas", "sfsj"])
def test_stealing_is_for_backfilling(over):
    with pytest.raises(InputError, match="under which nodes cannot be stolen"):
        load(f"steal:over={over}")
