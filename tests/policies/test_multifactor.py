"""Multifactor priorities by hand, from the formulas in Slurm's documentation."""

import numpy as np
import polars as pl
import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.policies._families.multifactor import Column, Number
from forebay.policies.multifactor import Multifactor
from forebay.workload.workload import job_table

pytestmark = pytest.mark.small


def workload(*jobs, **more):
    """Jobs as (submit, seconds, nodes, user), whose walltime is their run time; further columns by name."""
    submit, seconds, nodes, user = zip(*jobs, strict=True)
    columns = {"id": range(1, len(jobs) + 1), "submit": submit, "run_time": seconds, "walltime": seconds}
    columns = {key: list(map(float, value)) if key != "id" else value for key, value in columns.items()}
    return job_table(columns | {"nodes": nodes, "user": user} | more)


def remembered(table, names=None, nodes=8, **weights):
    """What the kernel remembers at the end of a run: its integers and floats."""
    seen = []

    class Watched(Multifactor):
        def remarks(self, memory):
            seen.append(tuple(part.copy() for part in memory))
            return []

    work = fb.Workload("by hand", table, names=names or {})
    result = fb.simulate(
        work, f"flat:nodes={nodes}", Watched(**{"PriorityWeightAge": 0, "PriorityWeightFairshare": 0} | weights)
    )
    return result, *seen[0]


def test_age_grows_until_its_most():
    # All nodes are taken until 1000. Priorities are computed when jobs come (age 0, so the least priority: 1), and
    # every 300 s; the last time that job 2 waits is 900: (900 - 100) / 2000 of 1000. Job 3 has then waited for 50 s.
    table = workload((0, 1000, 8, 1), (100, 10, 8, 1), (850, 10, 8, 1))
    _, _, numbers = remembered(table, PriorityWeightAge=1000, PriorityMaxAge=2000.0)
    assert numbers[1, Number.PRIORITY] == 400
    assert numbers[2, Number.PRIORITY] == 25


def test_size_favours_large_jobs_or_small_ones():
    table = workload((0, 10, 8, 1), (0, 10, 6, 1), (0, 10, 1, 1))
    _, _, large = remembered(table, PriorityWeightJobSize=1000)
    assert large[:3, Number.PRIORITY].tolist() == [1000, 750, 125]
    _, _, small = remembered(table, PriorityWeightJobSize=1000, PriorityFavorSmall=True)
    assert small[:3, Number.PRIORITY].tolist() == [1, 250, 875]  # 0 is for jobs that are held


def test_size_over_time():
    # 6 of 8 nodes for 10 minutes: 0.75 / 10.
    table = workload((0, 600, 6, 1))
    _, _, numbers = remembered(table, PriorityWeightJobSize=1000, SMALL_RELATIVE_TO_TIME=True)
    assert numbers[0, Number.PRIORITY] == 75


def test_partitions_and_qualities_of_service_count_by_name():
    # Partition factors over the largest: 10, 5, and 1 where none is given. QOS over the largest; 0 where none is given.
    table = workload(*[(0, 10, 1, 1)] * 3, queue=[0, 1, 2], qos=[4, 5, 6])
    names = {"queue": {0: "short", 1: "long", 2: "other"}, "qos": {4: "high", 5: "low", 6: "none"}}
    told = {"PriorityJobFactor": "short=10;long=5", "qos": "high=40;low=10"}
    _, _, numbers = remembered(table, names, PriorityWeightPartition=1000, PriorityWeightQOS=100, **told)
    assert numbers[:3, Number.PRIORITY].tolist() == [1100, 525, 100]


def test_usage_decays_and_factors_follow():
    # User 1 runs on 4 nodes, user 2 on 2 from 0 on, user 3 waits for 8. Half-life 1000 s: a period of 300 s leaves
    # d = (1 - 0.693 / 1000)^300 of what was used. At 300 users have 1200 d and 600 d; at 600 (1200 d + 1200) d, half of
    # that. Their parts of all usage are 2/3 and 1/3, of shares 1/3 each: 2^-2 and 2^-1; user 3 has 2^0.
    table = workload((0, 700, 4, 1), (0, 700, 2, 2), (1, 10, 8, 3), (2, 10, 8, 1), (3, 10, 8, 2))
    result, integers, numbers = remembered(
        table, PriorityWeightFairshare=1000, PriorityDecayHalfLife=1000.0, NO_FAIR_TREE=True
    )
    d = (1 - 0.693 / 1000) ** 300
    assert integers[:3, Column.CHARGE_CODE].tolist() == [1, 2, 3]
    assert np.allclose(numbers[:3, Number.USAGE], [(1200 * d + 1200) * d, (600 * d + 600) * d, 0])
    assert numbers[:3, Number.FACTOR].tolist() == pytest.approx([0.25, 0.5, 1.0])
    assert numbers[2:5, Number.PRIORITY].tolist() == [1000, 250, 500]
    starts = result.jobs.sort("job_id")["starting_time"].to_list()
    assert starts == [0, 0, 700, 720, 710]


def test_the_tree_ranks_users_and_shares_count():
    # The same usage. In the tree the factor is the rank: user 3 of three first, then 2, then 1. With 5 shares for user
    # 1 usage over share is (2/3) / (5/7) = 0.93 and (1/3) / (1/7) = 2.33: user 1 goes before user 2.
    table = workload((0, 700, 4, 1), (0, 700, 2, 2), (1, 10, 8, 3))
    _, _, numbers = remembered(table, PriorityWeightFairshare=1000)
    assert numbers[:3, Number.FACTOR].tolist() == pytest.approx([1 / 3, 2 / 3, 1.0])
    _, _, numbers = remembered(table, PriorityWeightFairshare=1000, shares="1=5")
    assert numbers[:3, Number.FACTOR].tolist() == pytest.approx([2 / 3, 1 / 3, 1.0])


def test_long_quiet_times_count_period_by_period():
    # One job runs for 10 periods while nobody decides: usage after n periods is 300 x (d + d^2 + ... + d^n).
    table = workload((0, 3100, 1, 1), (3050, 10, 1, 2))
    _, _, numbers = remembered(table, PriorityWeightFairshare=1000, PriorityDecayHalfLife=5000.0)
    d = (1 - 0.693 / 5000) ** 300
    assert numbers[0, Number.USAGE] == pytest.approx(300 * sum(d**k for k in range(1, 11)))


def test_who_is_charged():
    table = workload((0, 700, 4, 1), (0, 10, 1, 2), account=[7, 7])
    _, integers, _ = remembered(table, charged="account")
    assert integers[0, Column.COUNT] == 1
    assert integers[0, Column.CHARGE_CODE] == 7


def test_fairshare_lets_go_first_who_has_used_least():
    # User 1's first job runs; at 400, after a calculation at 300, user 2's job goes before user 1's other one.
    table = workload((0, 400, 8, 1), (1, 10, 8, 1), (2, 10, 8, 2))
    jobs = fb.simulate(fb.Workload("by hand", table), "flat:nodes=8", "fairshare").jobs.sort("job_id")
    assert jobs["starting_time"].to_list() == [0, 410, 400]
    assert jobs.filter(pl.col("final_state") != "COMPLETED_SUCCESSFULLY").is_empty()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("multifactor:PriorityWeightAge=-1", "PriorityWeightAge is -1; give a whole number from 0"),
        ("multifactor:PriorityMaxAge=0", "PriorityMaxAge is 0; give a number above 0"),
        ("multifactor:PriorityDecayHalfLife=-1", "PriorityDecayHalfLife is -1 s; give a time from 0 up"),
        ("multifactor:charged=nobody", "charged is 'nobody'"),
    ],
)
def test_bad_weights(spec, message):
    with pytest.raises(InputError, match=message):
        fb.policies.load(spec)


def test_a_name_that_no_job_has_counts_among_the_largest_and_is_noted():
    # Of QOS, high has 5 of the 20 that gold has, which no job asks for: as in Slurm, a quarter.
    result, _, numbers = remembered(
        workload((0, 10, 1, 1), qos=[4]), {"qos": {4: "high"}}, qos="gold=20;high=5", PriorityWeightQOS=1000
    )
    assert numbers[0, Number.PRIORITY] == 250
    assert "the policy names QOS 'gold', which no job has: known: high" in result.facts["notes"]


def test_a_name_of_the_site_is_no_slip():
    rule = fb.platforms.Rule(qos="gold", MaxJobsPerUser=4)
    machine = fb.platform("flat:nodes=8").model_copy(update={"limits": (rule,)})
    work = fb.Workload("by hand", workload((0, 10, 1, 1), qos=[4]), names={"qos": {4: "high"}})
    notes = fb.simulate(work, machine, "multifactor:qos=gold=20;high=5").facts["notes"]
    assert not [note for note in notes if "the policy names" in note]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("1=-5", r"shares: '1=-5': give a number from 0 up"),
        ("ann", r"shares: 'ann' is not NAME=NUMBER; write it such as"),
        ("ann=much", r"shares: 'ann=much' is not NAME=NUMBER"),
    ],
)
def test_bad_tables(table, message):
    with pytest.raises(InputError, match=message):
        remembered(workload((0, 10, 1, 1)), shares=table)


CLUSTER = """sharing = true
[classes.cpu]
nodes = 3
cores = 8
memory = "80 GB"
[classes.gpu]
nodes = 2
cores = 4
memory = "40 GB"
gpus = 2
gpu = "v100"
[partitions.all]
classes = ["cpu", "gpu"]
default = true
[partitions.fast]
classes = ["gpu"]
"""


def test_resources_count_by_what_their_partition_has(tmp_path):
    # Partition all has 5 nodes, 32 cores, 320 GB and 4 GPUs; fast has 2 nodes, 8 cores, 80 GB and 4 GPUs.
    # Job 1, of no partition, asks for 2 of 5 nodes, 8 of 32 cores: 400 + 250. Job 2 in fast: 1 of 2 nodes, 2 of 8
    # cores, 20 of 80 GB, 1 of 4 GPUs (not of a type): 500 + 250 + 2500 + 25,000. Job 3 in all, of both names: 1 of 5
    # nodes, 1 of 32 cores (31.25), 2 of 4 GPUs of type v100: 200 + 31 + 50,000 + 5 x 2 / 4 = 2.5: 50,233.75, cut off.
    table = workload(
        (0, 10, 2, 1), (0, 10, 1, 1), (0, 10, 1, 1),
        cores=[8, 2, 1], memory=[0, 20 * 10**9, 0], gpus=[0, 1, 2], gpu=[-1, -1, 7], queue=[-1, 1, 2],
    )  # fmt: skip
    names = {"queue": {1: "fast", 2: "all,fast"}, "gpu": {7: "v100"}}
    (tmp_path / "site.toml").write_text(CLUSTER)
    weights = "node=1000;cpu=1000;mem=10000;gres/gpu=100000;GRES/gpu:v100=5;gres/gpu:a100=1000"
    seen = []

    class Watched(Multifactor):
        def remarks(self, memory):
            seen.append(memory[1][:3, Number.PRIORITY].tolist())
            return []

    policy = Watched(PriorityWeightAge=0, PriorityWeightFairshare=0, PriorityWeightTRES=weights)
    result = fb.simulate(fb.Workload("by hand", table, names=names), tmp_path / "site.toml", policy)
    assert seen == [[650, 28250, 50233]]
    assert "PriorityWeightTRES of gpus_a100 adds nothing: site does not say how many it has" in result.facts["notes"]


def test_resources_as_sprio_of_a_real_slurm_shows_them(tmp_path):
    # Slurm 22.05.8 with PriorityWeightTRES=CPU=1000,Mem=10000,Node=500, four nodes of 4 CPUs and 1,000 MiB, two of them
    # also in a partition small. sprio: cpu=375,mem=500,node=250; cpu=125,mem=1250,node=250; cpu=375,mem=5000,node=250;
    # and cpu=188,mem=75,node=375, of which the last sums up to 637.
    mebibyte = 2**20
    table = workload(
        (0, 10, 2, 1), (0, 10, 1, 1), (0, 10, 1, 1), (0, 10, 3, 1), cores=[6, 1, 3, 3], queue=[1, 2, 2, 1],
        memory=[200 * mebibyte, 250 * mebibyte, 1000 * mebibyte, 30 * mebibyte],
    )  # fmt: skip
    text = 'sharing = true\n[classes.n]\nnodes = 4\ncores = 4\nmemory = "1000 MiB"\n'
    (tmp_path / "site.toml").write_text(f'{text}[partitions.main]\nnodes = "0-3"\n[partitions.small]\nnodes = "0-1"\n')
    seen = []

    class Watched(Multifactor):
        def remarks(self, memory):
            seen.append(memory[1][:4, Number.PRIORITY].tolist())
            return []

    policy = Watched(PriorityWeightAge=0, PriorityWeightFairshare=0, PriorityWeightTRES="cpu=1000;mem=10000;node=500")
    fb.simulate(fb.Workload("real", table, names={"queue": {1: "main", 2: "small"}}), tmp_path / "site.toml", policy)
    assert seen == [[1125, 1625, 5625, 637]]


def test_resources_beside_size_on_whole_nodes():
    # 6 of 8 nodes: 750 by size, 375 by nodes; a core a node where nothing is known of them: 75 by cores.
    table = workload((0, 10, 6, 1))
    weights = {"PriorityWeightJobSize": 1000, "PriorityWeightTRES": "node=500;cpu=100"}
    _, _, numbers = remembered(table, **weights)
    assert numbers[0, Number.PRIORITY] == 1200


def test_a_job_for_gpus_goes_first_where_they_weigh():
    # Both wait for the node until 10, the job for GPUs since later.
    text = "multifactor:PriorityWeightFairshare=0,PriorityWeightAge=1"
    node = fb.platforms.NodeClass(name="a", nodes=1, cores=4, gpus=2)
    machine = fb.Platform(name="one", nodes=1, sharing=True, classes=(node,))
    table = workload((0, 10, 1, 1), (1, 10, 1, 1), (2, 10, 1, 1), cores=[4, 4, 4], gpus=[0, 0, 1])
    for weighed, starts in (("", [0, 10, 20]), (",PriorityWeightTRES=gres/gpu=10", [0, 20, 10])):
        jobs = fb.simulate(fb.Workload("by hand", table), machine, text + weighed).jobs.sort("job_id")
        assert jobs["starting_time"].to_list() == starts


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("billing=3", "billing is not weighed"),
        ("license/foo=3", "license/foo is not weighed"),
        ("cpu=3;CPU=4", "CPU is given twice; keep one"),
        ("cpu=-3", "give a number from 0 to"),
        ("cpu", "is not NAME=NUMBER"),
    ],
)
def test_weights_of_resources_that_make_no_sense(text, says):
    with pytest.raises(InputError, match=f"PriorityWeightTRES.*{says}"):
        Multifactor(PriorityWeightTRES=text)
