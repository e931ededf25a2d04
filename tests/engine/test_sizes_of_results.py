"""What results say of jobs that change their size: solved by hand.

16 nodes, fcfs-malleable
job  prefers  may have  starts on  then       rounds
0    12       12        12         -          35 s, once
1    6        2 to 8    4          8 from 40  6 of 80 / n s: two of 20 s, four of 10 s: ends at 80
2    6        2 to 8    8 from 35  -          6 of 10 s: ends at 95; submitted at 3
"""

import polars as pl
import pytest

import forebay as fb
from cases.flexible import Jobs, compute, growing, loop
from forebay import metrics

pytestmark = pytest.mark.small


@pytest.fixture(scope="module")
def result():
    return fb.simulate(growing(), "flat:nodes=16", "fcfs-malleable")


def test_a_job_asked_for_what_it_prefers(result):
    """Not for what it had in the end."""
    assert result.jobs["requested_number_of_resources"].to_list() == [12, 6, 6]
    assert result.jobs["requested_time"].to_list() == [-1, 500, 500]


def test_the_nodes_it_had(result):
    # Job 1: (40 x 4 + 40 x 8) / 80.
    columns = result.jobs.select("type", "mean_nodes", "n_resizes").rows()
    assert columns == [("rigid", 12, 0), ("malleable", 6, 1), ("malleable", 8, 0)]


def test_node_seconds(result):
    # 420, 480 and 480: of 16 x 95.
    hours = metrics.by_column(result, "job_id").sort("job_id")["node_hours"]
    assert (hours * 3600).to_list() == pytest.approx([420, 480, 480])
    assert metrics.utilisation(result) == pytest.approx(1380 / 1520)
    assert metrics.usage(result, "nodes").rows() == [(0, 16), (35, 12), (40, 16), (80, 8), (95, 0)]


def test_nodes_are_given_to_jobs_that_start_and_that_grow(result):
    # 12, 4 and 8 to those that start, 4 more to job 1: of 16.
    assert metrics.summary(result)["allocations_per_node"] == 28 / 16
    late = metrics.window(result, 3, 10)
    assert metrics.allocations_per_node(late) == 8 / 16


def test_weighted_means(result):
    # Waits of 0, 0 and 32 s: by nodes asked for 6 of 24; by node-seconds 480 of 1380.
    assert metrics.weighted_mean(result, by="nodes") == pytest.approx(32 * 6 / 24)
    assert metrics.weighted_mean(result, by="node_seconds") == pytest.approx(32 * 480 / 1380)


def test_a_job_is_in_the_class_of_its_own_size(result):
    classes = metrics.by_size_class(result).select("size_class", "n").rows()
    assert classes == [("1", 0), ("2-4", 0), ("5-8", 2), ("9-16", 1)]


def test_nodes_are_told_apart(result):
    assert metrics.stays(result).rows() == [
        (0, 0, 11, 0, 35),
        (1, 12, 15, 0, 80),
        (1, 8, 11, 40, 80),
        (2, 0, 7, 35, 95),
    ]


class Halve(fb.Policy):
    """Starts jobs in order on all they may have; those at points go down to their least if somebody waits."""

    resizes = True

    def decide(self, view, act):
        queue = view.queue.tolist()
        for job in view.points:
            if queue:
                act.resize(job, view.sizes(job)[0])
        for job in queue:
            if view.sizes(job)[-1] <= act.free[0]:
                act.start(job, nodes=view.sizes(job)[-1])


def test_a_job_that_shrinks():
    # 8 nodes for 10 s, then 2 for four rounds of 40 s; node 2 and up go to job 1 at 10, for 5 s.
    jobs = Jobs()
    jobs.add("malleable", 0, [2, 8], loop(5, compute(lambda n: 80 / n)))
    jobs.add("rigid", 7, [6], loop(1, compute(5)))
    result = fb.simulate(jobs.workload(), "flat:nodes=8", Halve())
    assert metrics.stays(result).rows() == [(0, 2, 7, 0, 10), (0, 0, 1, 0, 170), (1, 2, 7, 10, 15)]
    assert result.jobs.select("mean_nodes", "n_resizes").rows() == [(pytest.approx((80 + 320) / 170), 1), (6, 0)]
    assert metrics.utilisation(result) == pytest.approx((80 + 320 + 30) / (8 * 170))


def test_jobs_that_never_ran_had_no_nodes():
    jobs = Jobs()
    jobs.add("malleable", 0, [20, 40], loop(5, compute(1)))
    jobs.add("malleable", 0, [2, 4], loop(5, compute(1)))
    result = fb.simulate(jobs.workload(), "flat:nodes=8", "fcfs-malleable")
    assert result.jobs.select("final_state", "mean_nodes").rows() == [
        ("REJECTED", None), ("COMPLETED_SUCCESSFULLY", 4)
    ]  # fmt: skip


def test_files_keep_it(result, tmp_path):
    result.save(tmp_path / "out")
    back = fb.load(tmp_path / "out")
    assert back.jobs.equals(result.jobs)
    assert metrics.stays(back).equals(metrics.stays(result))


def test_runs_of_rigid_jobs_have_no_such_columns():
    assert not {"type", "mean_nodes", "n_resizes"} & set(fb.simulate("table1").jobs.columns)


@pytest.mark.parametrize("seed", range(6))
def test_nodes_agree_with_the_log(seed):
    """On a random trace: nobody on another's node, and as many nodes in use as the log counts."""
    from forebay.workload import models

    trace = models.generate("lublin99:load=1.2,nodes=32", seed, jobs=60)
    flexible = models.attach(trace, ["flexible:share=0.7,points=60,max=4"], seed)
    result = fb.simulate(flexible, policy="fcfs-malleable")
    rows = metrics.stays(result).filter(pl.col("end") > pl.col("start"))
    assert result.jobs["n_resizes"].sum() > 0
    for i, (_, first, last, start, end) in enumerate(rows.rows()):
        for _, low, high, since, until in rows.rows()[:i]:
            assert last < low or high < first or end <= since or until <= start
    seconds = (pl.col("last_node") - pl.col("first_node") + 1) * (pl.col("end") - pl.col("start"))
    held = rows.group_by("job").agg(seconds.sum().alias("area")).join(result.jobs, left_on="job", right_on="job_id")
    assert held["area"].to_list() == pytest.approx((held["mean_nodes"] * held["execution_time"]).to_list())
