"""A site's slurm.conf on the command line: a platform file that reads back, beside jobs or alone."""

import json

import pytest

from forebay import platforms
from forebay.workload import read

CONF = """ClusterName=brook
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=bf_interval=60,shiny
NodeName=n[1-8] CPUs=4
NodeName=g[1-2] CPUs=8 Gres=gpu:a100:2
PartitionName=day Nodes=n[1-8] Default=YES MaxTime=1-0
PartitionName=gpu Nodes=g[1-2] OverSubscribe=EXCLUSIVE
"""

SACCT = """JobID|Submit|Start|End|State|NNodes|User|Partition|Timelimit
1|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T01:00:00|COMPLETED|1|ann|day|02:00:00
2|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T01:00:00|COMPLETED|1|bob|gpu|02:00:00
3|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T01:00:00|COMPLETED|1|bob|old|02:00:00
"""


@pytest.fixture
def conf(tmp_path):
    path = tmp_path / "slurm.conf"
    path.write_text(CONF)
    return path


@pytest.fixture
def jobs(tmp_path):
    path = tmp_path / "jobs.sacct"
    path.write_text(SACCT)
    return path


def test_a_platform_file_is_written_and_reads_back(forebay, conf, tmp_path):
    site = tmp_path / "site.toml"
    done = forebay("platforms", "--slurm-conf", conf, "-o", site)
    assert done.code == 0
    assert "10 nodes, 48 cores, 4 GPUs, 2 classes, 2 partitions, nodes shared, best-fit" in done.out
    assert "SchedulerParameters has 'shiny', which Slurm does not: passed over" in done.out
    machine = platforms.load(site)
    assert (machine.name, machine.nodes, machine.sharing) == ("brook", 10, True)
    assert "brook (10 nodes" in forebay("platforms", site).out
    assert machine.policy == "slurm:bf_interval=60"
    assert site.read_text().split("\n")[:2] == ["# From slurm.conf.", 'name = "brook"']


def test_a_run_on_a_site_goes_by_the_policy_of_the_site(forebay, conf, jobs, tmp_path):
    target = tmp_path / "march.parquet.zip"
    assert forebay("workload", "convert", jobs, target, "--slurm-conf", conf, "--filter", "queue!=old").code == 0
    document = json.loads(forebay("run", target, "--format", "json").out)
    assert document["policy"] == "site"
    assert document["spec"] == document["platform"]["policy"] == "slurm:bf_interval=60"
    assert json.loads(forebay("run", target, "--policy", "fcfs", "--format", "json").out)["policy"] == "fcfs"
    told = forebay("fidelity", target).out
    assert "policy    site (" in told
    assert "site      slurm:bf_interval=60" in told
    assert "policy: slurm:bf_interval=60" in forebay("platforms", tmp_path / "march.toml").out


def test_without_a_file_it_is_printed_and_notes_go_to_stderr(forebay, conf, tmp_path):
    done = forebay("platforms", "--slurm-conf", conf)
    site = tmp_path / "site.toml"
    site.write_text(done.out)
    assert platforms.load(site).nodes == 10
    assert "shiny" in done.err


def test_as_json(forebay, conf, tmp_path):
    document = json.loads(forebay("platforms", "--slurm-conf", conf, "--format", "json").out)
    assert document["platform"] is None
    assert document["parameters"] == {"bf_interval": "60"}
    assert document["toml"].endswith("\n")
    site = tmp_path / "site.toml"
    document = json.loads(forebay("platforms", "--slurm-conf", conf, "-o", site, "--format", "json").out)
    assert document["toml"] == site.read_text()


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["flat", "--slurm-conf", "CONF"], "both 'flat' and --slurm-conf were given"),
        (["-o", "x.toml"], "add --slurm-conf slurm.conf"),
        (["--slurm-conf", "CONF", "-o", "x.txt"], "a platform file ends in .toml; write x.toml"),
        (["--slurm-conf", "CONF", "-o", "."], "is a folder"),
        (["--slurm-conf", "none.conf"], "no such file"),
    ],
)
def test_mistakes_are_answered_with_the_cure(forebay, conf, arguments, what, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    done = forebay("platforms", *(str(conf) if word == "CONF" else word for word in arguments))
    assert (done.code, done.out) == (2, "")
    assert what in done.err
    assert sorted(tmp_path.iterdir()) == before


def test_jobs_are_converted_with_their_machine(forebay, conf, jobs, tmp_path):
    target = tmp_path / "march.parquet.zip"
    done = forebay("workload", "convert", jobs, target, "--slurm-conf", conf)
    assert done.code == 0
    assert "1 job names partitions that the site lacks: old" in done.out
    found = read(target)
    assert found.platform == str(tmp_path / "march.toml")
    assert platforms.load(found.platform).nodes == 10
    names = [found.names["queue"][number] for number in found.jobs["queue"]]
    alone = dict(zip(names, found.jobs["exclusive"], strict=True))
    assert alone["gpu"] == 1
    assert alone["day"] != 1
    assert not any("machine's size" in note for note in found.notes)


def test_convert_as_json_tells_of_the_site(forebay, conf, jobs, tmp_path):
    target = tmp_path / "march.parquet.zip"
    document = json.loads(forebay("workload", "convert", jobs, target, "--slurm-conf", conf, "--format", "json").out)
    assert document["site"]["platform"] == str(tmp_path / "march.toml")
    assert document["jobs"] == 3


def test_convert_makes_the_machine_alone(forebay, conf, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert forebay("workload", "convert", "--slurm-conf", conf).code == 0
    assert platforms.load("slurm.toml").nodes == 10
    assert forebay("workload", "convert", "mine.toml", "--slurm-conf", conf).code == 0
    assert platforms.load("mine.toml").nodes == 10


def test_convert_needs_both_names_without_it(forebay, jobs):
    done = forebay("workload", "convert", jobs)
    assert done.code == 2
    assert "OUT is missing" in done.err
    assert "IN and OUT are missing" in forebay("workload", "convert").err


def test_limits_of_a_qos_stand_in_the_file(forebay, conf, tmp_path):
    pytest.importorskip("forebay.platforms.rules")
    qos, site = tmp_path / "qos.txt", tmp_path / "site.toml"
    conf.write_text(f"{CONF}AccountingStorageEnforce=limits\n")
    qos.write_text("Name|GrpTRES|MaxJobsPU\nlong|cpu=20,gres/gpu:a100=2|4\n")
    done = forebay("platforms", "--slurm-conf", conf, "--slurm-conf", qos, "-o", site)
    assert (done.code, done.err) == (0, "")
    (rule,) = platforms.load(site).limits
    assert rule.described() == {
        "qos": "long",
        "GrpTRES": {"cores": 20, "gpus_a100": 2},
        "MaxJobsPerUser": 4,
    }


PRIORITIES = """PriorityType=priority/multifactor
PriorityWeightQOS=1000
PriorityWeightFairshare=1000
AccountingStorageEnforce=limits,qos
"""
QOS = "Name|Priority|MaxSubmitPU\nnormal|10|1\nhigh|100|\n"
ASSOC = """Account|User|Share|ParentName
root||1|
physics||3|root
theory||2|physics
theory|ann|1|
chem||1|root
chem|bob|1|
"""
OF_SITE = """JobID|Submit|Start|End|State|NNodes|User|Account|QOS|Timelimit
1|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T01:00:00|COMPLETED|1|ann|theory|normal|02:00:00
2|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T01:00:00|COMPLETED|1|ann|theory|normal|02:00:00
3|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T01:00:00|COMPLETED|1|bob|chem|normal|02:00:00
"""


def test_what_is_written_runs(forebay, tmp_path):
    """No job has QOS high. ann may have one job submitted at a time: her second comes again, and is not lost."""
    files = {"slurm.conf": CONF + PRIORITIES, "qos.txt": QOS, "assoc.txt": ASSOC, "a.sacct": OF_SITE}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    told = [part for name in ("slurm.conf", "qos.txt", "assoc.txt") for part in ("--slurm-conf", tmp_path / name)]
    site = tmp_path / "site.toml"
    assert forebay("platforms", *told, "-o", site).code == 0
    assert "qos=normal=10;high=100,charged=association" in platforms.load(site).policy
    assert 'over_submit = "wait"' in site.read_text()
    theory = {one.name: one for one in platforms.load(site).accounts}["theory"]
    assert (theory.parent, theory.shares, theory.users) == ("physics", 2, {"ann": 1})
    done = forebay("run", tmp_path / "a.sacct", "--platform", site, "--format", "json")
    assert done.code == 0, done.err
    answer = json.loads(done.out)
    assert (answer["summary"]["n_jobs"], answer["summary"]["n_rejected"]) == (3, 0)
    assert any("names QOS 'high', which no job has" in note for note in answer["notes"])
