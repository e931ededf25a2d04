"""Who displaces whom, as slurm.conf and sacctmgr's table of QOS say it."""

import pytest

from forebay.cli._input import site
from forebay.errors import InputError

NODES = "AccountingStorageEnforce=qos,limits\nSelectType=select/linear\nNodeName=n[1-4]\n"
QOS = (
    "Name|Priority|GraceTime|Preempt|PreemptExemptTime|PreemptMode\n"
    "high|100|00:00:00|low,standby||cluster\n"
    "low|10|00:01:30||00:10:00|cluster\n"
    "standby|1|00:00:00|||cancel\n"
)


def test_by_qos(told):
    made = told(f"{NODES}PreemptType=preempt/qos\nPreemptMode=REQUEUE\nPreemptExemptTime=00:05:00\n", qos=QOS)
    assert made.parameters == {
        "PreemptType": "qos",
        "PreemptMode": "REQUEUE;standby=CANCEL",
        "PreemptExemptTime": "300;low=600",
        "GraceTime": "0;low=90",
        "Preempt": "high=low;high=standby",
        "qos": "high=100;low=10;standby=1",
    }
    assert made.notes == ()


def test_the_policy_takes_all_of_it(tmp_path):
    (tmp_path / "slurm.conf").write_text(
        f"{NODES}PreemptType=preempt/qos\nPreemptMode=CANCEL\nSchedulerParameters=preempt_youngest_first\n"
    )
    (tmp_path / "qos.txt").write_text(QOS)
    made = site.tell([tmp_path / "slurm.conf", tmp_path / "qos.txt"])
    assert "preempt_youngest_first=true" in made.policy
    assert "PreemptType=qos,PreemptMode=CANCEL" in made.policy
    assert "Preempt=high=low;high=standby" in made.policy
    assert made.notes == ()


def test_by_partition(told):
    made = told(
        f"{NODES}PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"
        "PartitionName=day Nodes=ALL GraceTime=30\nPartitionName=night Nodes=ALL PreemptMode=OFF\n"
        "PartitionName=urgent Nodes=ALL PriorityTier=10\n"
    )
    assert made.parameters == {
        "PreemptType": "partition_prio",
        "PreemptMode": "REQUEUE;night=OFF",
        "GraceTime": "0;day=30",
    }


@pytest.mark.parametrize("mode", ["SUSPEND,GANG", "GANG", "OFF", ""])
def test_modes_without_a_model_displace_nobody(told, mode):
    made = told(f"{NODES}PreemptType=preempt/qos\n" + (f"PreemptMode={mode}\n" if mode else ""), qos=QOS)
    assert "PreemptType" not in made.parameters
    assert any(f"PreemptMode={mode or 'OFF'} is not modelled" in note for note in made.notes)


def test_what_is_missing_is_told(told):
    made = told(f"{NODES}PreemptType=preempt/qos\nPreemptMode=REQUEUE\n")
    assert made.notes == ("which QOS displace others is not known: add sacctmgr -P show qos",)
    assert "Preempt" not in made.parameters
    made = told(f"{NODES}PreemptType=preempt/qos\nPreemptMode=REQUEUE\n", qos=QOS.replace("cancel", "suspend"))
    assert made.parameters["PreemptMode"] == "REQUEUE;standby=OFF"
    assert "modes of preemption that are not modelled, and are as OFF: standby SUSPEND" in made.notes


def test_times_that_mean_nothing_are_refused_with_their_line(told):
    with pytest.raises(InputError, match=r"slurm\.conf:6: "):
        told(f"{NODES}PreemptType=preempt/qos\nPreemptMode=REQUEUE\nPreemptExemptTime=long\n")
