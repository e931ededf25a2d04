"""Who waited because a partition of a higher priority tier goes first."""

import pytest

import forebay as fb
from explain.test_reasons import check
from forebay.explain import reasons
from forebay.platforms import Partition, Platform
from forebay.workload import job_table

NAMES = ("low", "high")
SITE = Platform(
    name="site",
    nodes=4,
    partitions=(
        Partition(name="low", nodes="all", default=True),
        Partition(name="high", nodes="all", priority_tier=9),
    ),
)


def run(rows, policy, site=SITE):
    """Jobs of (submit, walltime, nodes, partition), numbered from 1 on."""
    submit, walltime, nodes, queue = zip(*rows, strict=True)
    table = job_table(
        {
            "id": range(1, len(rows) + 1), "submit": submit, "walltime": walltime, "run_time": walltime,
            "nodes": nodes, "queue": [-1 if name == "" else NAMES.index(name) for name in queue],
        }
    )  # fmt: skip
    return fb.simulate(fb.Workload("made", table, names={"queue": dict(enumerate(NAMES))}), site, policy)


@pytest.mark.small
@pytest.mark.parametrize(("policy", "reason"), [("fcfs", "order"), ("fcfs-easy", "reserved"), ("slurm-bb", "order")])
def test_a_tier_above_goes_first(policy, reason):
    """4 nodes; 1 holds 3 of them to 100, 2 the last up to 10. 3 (low, 1 node, 95 s) came at 5, 4 (high, 4 nodes) at 6:
    from 10 on a node is free for 3, and kept for 4."""
    result = run([(0, 100, 3, "low"), (0, 10, 1, ""), (5, 95, 1, "low"), (6, 20, 4, "high")], policy)
    mine = reasons(result).filter(job_id=3).rows(named=True)
    assert [(row["start"], row["end"], row["reason"]) for row in mine[:2]] == [
        (5.0, 10.0, "nodes"),
        (10.0, mine[1]["end"], reason),
    ]
    assert (mine[1]["slurm"], mine[1]["blocker"]) == ("Priority", 4)
    assert mine[1]["detail"].endswith("first by the priority tier of partition high, 9")


@pytest.mark.small
def test_without_tiers_no_word_of_them():
    alike = SITE.model_copy(
        update={"partitions": tuple(one.model_copy(update={"priority_tier": 1}) for one in SITE.partitions)}
    )
    result = run([(0, 100, 3, "low"), (0, 10, 1, ""), (5, 20, 4, "high"), (6, 95, 1, "low")], "fcfs", alike)
    assert not any("tier" in row["detail"] for row in reasons(result).rows(named=True))


@pytest.mark.small
@pytest.mark.parametrize("policy", ["fcfs", "fcfs-easy", "conservative", "filler", "sjf-easy", "multifactor"])
def test_pieces_add_up(policy):
    rows = [(3 * k, 5 + 7 * k % 23, 1 + k % 4, ("low", "high", "")[k % 3]) for k in range(40)]
    check(run(rows, policy))
