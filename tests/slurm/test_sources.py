"""What scontrol and sinfo print says the same as slurm.conf; JSON of older and newer releases."""

import json

import pytest

from forebay import platforms
from forebay.errors import InputError
from forebay.slurm.description import describe


def toml(*paths):
    return describe(paths).platform("")


def test_scontrol_tells_what_slurm_conf_does(shown):
    by_file = toml(shown / "slurm.conf")
    for nodes in ("nodes.txt", "nodes_o.txt"):
        assert toml(shown / nodes, shown / "partitions.txt", shown / "config.txt") == by_file


def test_the_real_cluster_by_hand(shown):
    """slurmctld showed CPUEfctv=7 for g1, of whose 8 cores one is set apart; memory is not given out (CR_CPU)."""
    made = describe([shown / "slurm.conf"])
    assert [(one.name, len(one.names), one.node.cores, one.node.gpus) for one in made.machine.classes] == [
        ("g", 2, 7, 4),
        ("n", 2, 2, 0),
        ("c", 4, 16, 0),  # of the largest weight, so last
    ]
    assert all(one.node.memory is None for one in made.machine.classes)
    placed = {one.name: (classes, ids) for one, classes, ids in made.machine.partitions}
    assert placed == {"gpu": (("g",), ""), "short": ((), "0,4-5"), "main": ((), "all")}
    assert made.site.licences == {"bb": 10}
    assert made.parameters == {
        "bf_interval": "2",
        "bf_licenses": "true",
        "default_queue_depth": "50",
        "PriorityType": "multifactor",
        "PriorityMaxAge": "129600",
        "PriorityJobFactor": "gpu=7;short=1;main=1",
    }
    assert any(note.startswith("PriorityWeightAge: of no effect") for note in made.notes)


@pytest.mark.parametrize("name", ["sinfo.txt", "sinfo_l.txt", "sinfo.json"])
def test_sinfo_tells_nodes_and_who_is_in_which_partition(shown, name, tmp_path):
    path = tmp_path / "site.toml"
    path.write_text(toml(shown / name, shown / "config.txt"))
    machine = platforms.load(path)
    # sinfo does not show what is set apart: 8 CPUs of g.
    assert [(one.name, one.nodes, one.cores) for one in machine.classes] == [("g", 2, 8), ("n", 2, 2), ("c", 4, 16)]
    members = {one.name: one.nodes or one.classes for one in machine.partitions}
    assert members == {"gpu": ("g",), "short": "0,4-5", "main": "all"}


def test_limits_of_partitions_in_the_table_of_sinfo(tmp_path):
    path = tmp_path / "out"
    path.write_text("PARTITION|AVAIL|TIMELIMIT|CPUS|NODELIST\nday*|up|1-00:00:00|4|n[1-3]\nold|down|30:00|4|n[1-3]\n")
    day, old = (one for one, *_ in describe([path]).machine.partitions)
    assert (day.default, day.max_time, day.state) == (True, 86400, "up")
    assert (old.default, old.max_time, old.state) == (False, 1800, "down")


def number(value):
    return {"set": True, "infinite": False, "number": value}


NEWER = {
    "sinfo": [
        {
            "nodes": {"total": 2, "hostnames": ["a1", "a2"], "nodes": ["a1", "a2"]},
            "node": {"state": ["IDLE"]},
            "cpus": {"minimum": 8, "maximum": 8},
            "sockets": {"minimum": 2},
            "cores": {"minimum": 4},
            "threads": {"minimum": 1},
            "memory": {"minimum": 1024},
            "weight": {"minimum": 1},
            "features": {"total": "x,y"},
            "gres": {"total": "gpu:a100:2"},
            "partition": {
                "name": "day",
                "maximums": {"time": number(1440), "nodes": {"set": False, "infinite": True, "number": 0}},
                "priority": {"tier": 3, "job_factor": 1},
                "partition": {"state": ["UP"]},
            },
        }
    ]
}


def test_the_newer_sinfo_has_groups_of_nodes(tmp_path):
    path = tmp_path / "sinfo.json"
    path.write_text(json.dumps(NEWER))
    made = describe([path])
    (cls,) = made.machine.classes
    assert (cls.names, cls.node.cores, cls.node.gpus, cls.node.gpu) == (("a1", "a2"), 8, 2, "a100")
    assert (cls.node.memory, cls.node.features) == (2**30, ("x", "y"))
    ((partition, _, ids),) = made.machine.partitions
    assert (partition.name, ids, partition.max_time, partition.max_nodes) == ("day", "all", 86400, None)
    assert partition.priority_tier == 3


def test_scontrol_show_partition_as_json(tmp_path, shown):
    path = tmp_path / "partitions.json"
    document = {
        "partitions": [
            {
                "name": "gpu",
                "nodes": {"configured": "g[1-2]", "total": 2},
                "maximums": {"time": number(60), "nodes": number(1), "oversubscribe": {"jobs": 0}},
                "priority": {"tier": 5, "job_factor": 7},
                "partition": {"state": ["DRAIN"]},
            }
        ]
    }
    path.write_text(json.dumps(document))
    ((partition, classes, _),) = describe([shown / "nodes.txt", path]).machine.partitions
    assert classes == ("g",)
    assert (partition.max_time, partition.max_nodes, partition.state) == (3600, 1, "drain")
    assert partition.exclusive


def test_the_burst_buffer_that_scontrol_shows(shown, tmp_path):
    path = tmp_path / "bb.txt"
    path.write_text(
        "Name=datawarp DefaultPool=wlm_pool Granularity=200GiB TotalSpace=5800GiB FreeSpace=4600GiB UsedSpace=1200GiB\n"
        "  AltPoolName[0]=ldap Granularity=1GiB TotalSpace=2TiB FreeSpace=2TiB UsedSpace=0\n"
        "  Flags=EnablePersistent\n  Allocated Buffers:\n    Name=alpha CreateTime=2026-01-01 Size=4GB UserID=ann(1)\n"
    )
    made = describe([shown / "slurm.conf", path])
    assert made.site.buffers == {"burst_buffer": 5800 * 2**30, "ldap": 2 * 2**40}
    file = tmp_path / "site.toml"
    file.write_text(made.platform(""))
    assert platforms.load(file).finite["burst_buffer"] == 5800 * 2**30


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("hello\n", "not a description of a site"),
        ("", "not a description of a site"),
        ("{}", "JSON without nodes"),
        ('{"nodes": 3}', "must be a list"),
        ('{"nodes": [{"cpus": 3}]}', "has no name"),
        ('{"sinfo": [{"cpus": {}}]}', "names no nodes"),
        ("{", "not JSON"),
        ("ClusterName=a\n", "no nodes there"),
        ("NODELIST CPUS PARTITION\nn1 4\n", "has 2 columns, the head 3"),
        ("Name|Priority|GrpTRES\nx|1\n", "has 2 columns, the head 3"),
    ],
)
def test_what_describes_no_site_is_refused_by_its_name(tmp_path, text, what):
    path = tmp_path / "odd.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=what) as error:
        describe([path])
    assert "odd.txt" in str(error.value)


def test_a_folder_and_a_file_that_is_not_there(tmp_path):
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(InputError, match=str(path)):
            describe([path])
