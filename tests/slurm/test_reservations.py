"""What `scontrol show reservation` prints, beside a slurm.conf: reservations of a platform file, by names of nodes."""

import json

import pytest

from forebay import platforms
from forebay.errors import InputError
from forebay.slurm.description import describe

CONF = """ClusterName=brook
NodeName=cpu[000-009] CPUs=36
NodeName=gpu[1-2] CPUs=40 Gres=gpu:v100:4 Weight=10
NodeName=next[1-4] CPUs=64 State=FUTURE
PartitionName=standard Nodes=cpu[000-009] Default=YES
"""
# As slurm 22.05 prints it.
SHOWN = """ReservationName=maint StartTime=2025-03-01T08:00:00 EndTime=2025-03-01T16:00:00 Duration=08:00:00
   Nodes=cpu[000-003],gpu[1-2],next1 NodeCnt=6 CoreCnt=224 Features=(null) PartitionName=(null) Flags=MAINT,SPEC_NODES
   TRES=cpu=224
   Users=root Groups=(null) Accounts=(null) Licenses=(null) State=INACTIVE BurstBuffer=(null) Watts=n/a
   MaxStartDelay=(null)

ReservationName=course StartTime=2025-03-02T09:00:00 EndTime=2025-03-02T12:00:00 Duration=03:00:00
   Nodes=cpu[004-005] NodeCnt=2 CoreCnt=50 Features=(null) PartitionName=standard Flags=WEEKLY
     NodeName=cpu004 CoreIDs=0-24
   TRES=cpu=50
   Users=ann,bob,-eve Groups=(null) Accounts=(null) Licenses=(null) State=INACTIVE BurstBuffer=(null) Watts=n/a
   MaxStartDelay=(null)
"""


@pytest.fixture
def site(tmp_path):
    def tell(shown, conf=CONF):
        (tmp_path / "slurm.conf").write_text(conf)
        (tmp_path / "res.txt").write_text(shown)
        made = describe([tmp_path / "slurm.conf", tmp_path / "res.txt"])
        (tmp_path / "site.toml").write_text(made.platform(""))
        return platforms.load(tmp_path / "site.toml"), made.notes

    return tell


def test_by_hand(site):
    machine, notes = site(SHOWN)
    maint, course = machine.reservations
    assert str(maint) == "maint: 2025-03-01T08:00:00 to 2025-03-01T16:00:00, nodes 0-3,10-11"
    assert maint.flags == ("maint",)
    assert str(course) == "course: 2025-03-02T09:00:00 to 2025-03-02T12:00:00, nodes 4-5, for ann, bob"
    assert [note for note in notes if "course" in note] == [
        "reservation 'course': not heeded: Users=-eve",
        "reservation 'course' repeats (WEEKLY): counted once",
        "reservation 'course' is of 50 of 72 cores: its nodes are reserved whole",
    ]
    assert [one.names for one in machine.classes] == ["cpu[000-009]", "gpu[1-2]"]


def test_in_one_line_each(site):
    lines = [" ".join(block.split()) for block in SHOWN.split("\n\n")]
    assert site("\n".join(lines) + "\n") == site(SHOWN)


def test_in_json(site):
    """Times are seconds since 1970 there; numbers are plain, or tell whether they are set."""
    rows = [
        {"name": "all", "start_time": 1740816000, "end_time": {"set": True, "infinite": False, "number": 1740844800},
         "node_list": "cpu[000-009],gpu[1-2]", "core_count": 440, "flags": ["MAINT"], "users": "root"},
        {"name": "none", "start_time": 1740816000, "end_time": 1740844800, "node_list": "", "users": "ann"},
    ]  # fmt: skip
    machine, notes = site(json.dumps({"reservations": rows}))
    assert [str(one) for one in machine.reservations] == [
        "all: 2025-03-01T08:00:00+00:00 to 2025-03-01T16:00:00+00:00, all nodes"
    ]
    assert "reservation 'none' has no nodes: left out" in notes


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("cpu[004-005]", "cpu[004-015]"), "res.txt:7: node 'cpu010' is not declared; did you mean"),
        (
            ("StartTime=2025-03-02T09:00:00", "StartTime=Sun"),
            "res.txt:7: StartTime is 'Sun'; it must be a date such as",
        ),
        (("CoreCnt=50", "CoreCnt=many"), "res.txt:7: CoreCnt is 'many'; it must be a whole number"),
    ],
)
def test_what_is_wrong_names_its_line(site, change, why):
    with pytest.raises(InputError) as caught:
        site(SHOWN.replace(*change))
    assert why in str(caught.value)
