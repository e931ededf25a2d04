"""SchedulerParameters and Priority* by the names of slurm.conf."""

import pytest

from forebay.errors import InputError

NODES = "SelectType=select/linear\nNodeName=n[1-4]\n"


def test_parameters_by_name(told):
    made = told(
        f"{NODES}SchedulerParameters=bf_interval=60,BF_Window=2880,bf_continue,defer\nPriorityType=priority/multifactor\n"
        "PriorityWeightAge=1000\nPriorityWeightQOS=5\nPriorityMaxAge=14-0\nPriorityDecayHalfLife=12:00:00\n"
        "PriorityCalcPeriod=5\nPriorityFavorSmall=YES\nPriorityFlags=SMALL_RELATIVE_TO_TIME,no_fair_tree\n"
        "PartitionName=a Nodes=ALL PriorityJobFactor=10\nPartitionName=b Nodes=ALL\n"
    )
    assert made.parameters == {
        "bf_interval": "60",
        "bf_window": "2880",
        "bf_continue": "true",
        "defer": "true",
        "PriorityType": "multifactor",
        "PriorityMaxAge": "1209600",
        "PriorityDecayHalfLife": "43200",
        "PriorityCalcPeriod": "300",
        "PriorityWeightAge": "1000",
        "PriorityWeightQOS": "5",
        "PriorityFavorSmall": "true",
        "SMALL_RELATIVE_TO_TIME": "true",
        "NO_FAIR_TREE": "true",
        "PriorityJobFactor": "a=10;b=1",
    }
    assert made.notes == (
        "SchedulerParameters: defer changes nothing: jobs are never tried when they are submitted",
        "SchedulerParameters: bf_continue changes nothing while tests of jobs take no time: give the policy "
        "a test_time",
    )


WEIGHTS = "".join(f"PriorityWeight{name}=9\n" for name in ("Age", "Fairshare", "JobSize", "QOS"))


def test_without_a_database_no_job_ages_and_no_account_counts(told):
    """A real Slurm 22.05 without slurmdbd gave age 0 to all (recorded runs, 0.86 of the real mean wait with it)."""
    priorities = f"{NODES}PriorityType=priority/multifactor\n{WEIGHTS}"
    made = told(f"{priorities}AccountingStorageType=accounting_storage/none\n")
    assert made.parameters == {"PriorityType": "multifactor", "PriorityWeightJobSize": "9"}
    assert made.notes == (
        "PriorityWeightAge, PriorityWeightFairshare, PriorityWeightQOS: of no effect in Slurm with "
        "AccountingStorageType=accounting_storage/none",
    )
    made = told(f"{priorities}AccountingStorageType=accounting_storage/none\nPriorityFlags=ACCRUE_ALWAYS\n")
    assert made.parameters["PriorityWeightAge"] == "9"
    for line in ("", "AccountingStorageType=accounting_storage/slurmdbd\n"):
        assert {f"PriorityWeight{name}" for name in ("Age", "Fairshare", "QOS")} <= set(
            told(priorities + line).parameters
        )


def test_a_fair_tree_is_usual(told):
    made = told(f"{NODES}PriorityType=priority/multifactor\nPriorityFlags=FAIR_TREE,DEPTH_OBLIVIOUS\n")
    assert made.parameters == {"PriorityType": "multifactor", "DEPTH_OBLIVIOUS": "true"}


def test_old_names_are_those_of_today(told):
    made = told(f"{NODES}SchedulerParameters=max_job_bf=50,interval=20,max_rpc_count=9\n")
    assert made.parameters == {"bf_max_job_test": "50", "bf_interval": "20", "max_rpc_cnt": "9"}
    assert "SchedulerParameters: max_job_bf is the old name of bf_max_job_test" in made.notes


def test_a_new_name_counts_beside_the_old_one(told):
    for text in ("max_job_bf=50,bf_max_job_test=70", "bf_max_job_test=70,max_job_bf=50"):
        assert told(f"{NODES}SchedulerParameters={text}\n").parameters == {"bf_max_job_test": "70"}


def test_what_says_nothing_here_is_told(told):
    made = told(f"{NODES}SchedulerParameters=defer_batch,bf_yield_sleep=500000,bf_continue\n")
    assert made.parameters == {"bf_yield_sleep": "500000", "bf_continue": "true"}
    assert any(
        note.startswith("SchedulerParameters: bf_continue, bf_yield_sleep changes nothing") for note in made.notes
    )
    assert any(note.startswith("SchedulerParameters: defer_batch changes nothing") for note in made.notes)


def test_weights_mean_nothing_without_the_multifactor_plug_in(told):
    assert told(f"{NODES}PriorityType=priority/basic\nPriorityWeightAge=1000\n").parameters == {}


def test_slips_are_named_with_the_nearest(told):
    made = told(f"{NODES}SchedulerParameters=bf_intervall=60,shiny,bf_continue\n")
    assert made.parameters == {"bf_continue": "true"}
    assert "SchedulerParameters has 'bf_intervall', which Slurm does not: did you mean bf_interval?" in made.notes
    assert "SchedulerParameters has 'shiny', which Slurm does not: passed over" in made.notes


def test_what_has_no_model_is_told(told):
    made = told(f"{NODES}SchedulerType=sched/builtin\nTopologyPlugin=topology/tree\n")
    for word in ("sched/builtin", "TopologyPlugin=topology/tree"):
        assert any(word in note for note in made.notes), word


@pytest.mark.parametrize("line", ["PriorityWeightAge=much", "PriorityMaxAge=old", "PriorityFavorSmall=perhaps"])
def test_values_that_mean_nothing_are_refused_with_their_line(told, line):
    with pytest.raises(InputError, match=r"slurm\.conf:3: "):
        told(f"{NODES}{line}\n")


def test_weights_of_resources(told):
    weights = "PriorityWeightTRES=CPU=0,Mem=.03,GRES/gpu=30000,gres/gpu:V100=5,billing=7,license/foo=2,gres/nic=1"
    made = told(f"{NODES}PriorityType=priority/multifactor\n{weights}\n")
    assert made.parameters["PriorityWeightTRES"] == "mem=.03;gres/gpu=30000;gres/gpu:V100=5"
    assert made.notes == tuple(
        f"PriorityWeightTRES: '{word}' is not modelled: cpu, mem, node and gres/gpu are"
        for word in ("billing", "license/foo", "gres/nic")
    )
    assert (
        "PriorityWeightTRES"
        not in told(f"{NODES}PriorityType=priority/multifactor\nPriorityWeightTRES=CPU=0\n").parameters
    )
    with pytest.raises(InputError, match=r"PriorityWeightTRES has 'CPU=many'; write weights such as CPU=1000"):
        told(f"{NODES}PriorityType=priority/multifactor\nPriorityWeightTRES=CPU=many\n")
