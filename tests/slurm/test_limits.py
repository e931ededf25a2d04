"""Limits of QOS and associations from sacctmgr -P; priorities for the scheduler."""

import pytest

from forebay.errors import InputError

CONF = "AccountingStorageEnforce=associations,limits,qos\nPriorityType=priority/multifactor\nNodeName=n[1-4] CPUs=8\n"

QOS = """Name|Priority|GraceTime|UsageFactor|GrpTRES|GrpTRESMins|GrpJobs|MaxTRES|MaxWall|MaxTRESPU|MaxJobsPU|MaxSubmitPU
normal|0|00:00:00|1.000000||||||||
long|10|00:00:00|1.000000|cpu=2000,gres/gpu=8,billing=5|cpu=100|20|node=4|14-00:00:00|cpu=400|4|50
short|100|00:00:00|1.000000|||||||16|
"""

ASSOC = """Cluster|Account|User|Partition|Share|GrpJobs|GrpTRES|GrpSubmit|MaxJobs|MaxTRES|MaxWall|QOS|ParentName
brook|root|||1|||||||normal|
brook|physics|||4||node=2|100||||normal|root
brook|physics|ann||1||||||||
brook|physics|bob|gpu|1||||2|||normal|
brook|chem|||1||||||||root
"""


def test_limits_by_hand(told):
    made = told(CONF, qos=QOS, assoc=ASSOC)
    assert list(made.limits) == [
        {
            "qos": "long",
            "GrpTRES": "cpu=2000,gres/gpu=8",
            "GrpJobs": 20,
            "MaxTRESPerJob": "node=4",
            "MaxWall": "14 d",
            "MaxTRESPerUser": "cpu=400",
            "MaxJobsPerUser": 4,
            "MaxSubmitPerUser": 50,
            "over_submit": "wait",
        },
        {"qos": "short", "MaxJobsPerUser": 16},
        {"account": "physics", "GrpTRES": "node=2", "GrpSubmit": 100, "over_submit": "wait"},
        {"user": "bob", "account": "physics", "partition": "gpu", "MaxJobsPerUser": 2},
    ]
    assert "limits that are not heeded: GrpTRES of 'billing', GrpTRESMins" in made.notes


def test_priorities_go_to_the_scheduler(told):
    made = told(CONF, qos=QOS, assoc=ASSOC)
    assert made.parameters == {"PriorityType": "multifactor", "qos": "long=10;short=100", "charged": "association"}


def test_limits_that_are_not_enforced_are_left_out(told):
    made = told(CONF.replace(",limits", ""), qos=QOS)
    assert made.limits == ()
    assert any("AccountingStorageEnforce" in note for note in made.notes)


def test_limits_of_licences_and_of_the_qos_of_a_partition(told):
    made = told(
        f"{CONF}Licenses=2d-cad:5\nPartitionName=a Nodes=ALL QOS=part\nPartitionName=b Nodes=ALL QOS=other\n",
        qos="Name|GrpTRES\npart|license/2d-cad=3,bb/dw=10,license/none=1\n",
    )
    amounts = {"GrpTRES": "license/pool_2d-cad=3"}
    assert list(made.limits) == [{"qos": "part"} | amounts, {"partition": "a"} | amounts]
    assert "limits that are not heeded: GrpTRES of 'bb/dw', GrpTRES of 'license/none'" in made.notes
    assert any("not known: other" in note for note in made.notes)


def test_amounts_have_their_units_and_types_their_case(told):
    made = told(CONF, qos="Name|GrpTRES\nlong|mem=2T,gres/gpu:A100=4,CPU=4K\nshort|mem=1000,cpu=-1\n")
    assert [one["GrpTRES"] for one in made.limits] == ["mem=2097152M,gres/gpu:A100=4,cpu=4096", "mem=1000M"]


def test_a_bar_at_the_end_of_lines_is_fine(told):
    made = told(CONF, qos="Name|MaxJobsPU|\nlong|4|\n")
    assert list(made.limits) == [{"qos": "long", "MaxJobsPerUser": 4}]


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ("Name|MaxJobsPU\nlong|many\n", r"qos\.txt:2: MaxJobsPerUser is 'many'"),
        ("Name|GrpTRES\nlong|cpu=lots\n", r"qos\.txt:2: GrpTRES is 'lots'"),
        ("Name|MaxWall\nlong|soon\n", r"qos\.txt:2: MaxWall is 'soon'"),
        ("Name|MaxWall\n|1-0\n", r"qos\.txt:2: a QOS without a name"),
    ],
)
def test_what_is_no_limit_is_refused_with_its_line(told, table, what):
    with pytest.raises(InputError, match=what):
        told(CONF, qos=table)
