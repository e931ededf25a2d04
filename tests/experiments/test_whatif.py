"""What-ifs: keys and values, what each changes, and that it is what the same edit of the file gives."""

import polars as pl
import pytest

import forebay as fb
from forebay import platforms
from forebay.errors import InputError
from forebay.experiments import whatif
from forebay.experiments.whatif import Site, changed

pytestmark = pytest.mark.small

POLICY = "slurm:PriorityType=multifactor,PriorityWeightAge=10,bf_window=1440"
FILE = f"""name = "brook"
policy = "{POLICY}"
[classes.cpu]
nodes = 4
cores = 4
[classes.gpu]
nodes = 2
cores = 8
gpus = 4
[partitions.day]
classes = ["cpu"]
default = true
max_time = "1 d"
[partitions.fast]
classes = ["gpu"]
[[limits]]
qos = "normal"
MaxJobsPerUser = 3
[tiers.burst_buffer]
kind = "shared_bb"
capacity = "10 TB"
"""


@pytest.fixture
def site(tmp_path):
    path = tmp_path / "brook.toml"
    path.write_text(FILE)
    machine = platforms.load(path)
    return Site(machine, machine.policy)


def jobs(n=40):
    """Jobs of two users and two QOS in two partitions, more than the machine has room for."""
    rows = range(n)
    table = {
        "id": [k + 1 for k in rows],
        "submit": [60.0 * k for k in rows],
        "walltime": [1200.0 + 600 * (k % 5) for k in rows],
        "run_time": [900.0 + 300 * (k % 7) for k in rows],
        "nodes": [1 + k % 2 for k in rows],
        "user": [k % 3 for k in rows],
        "qos": [k % 2 for k in rows],
        "queue": [0 if k % 4 else 1 for k in rows],
        "burst_buffer": [10**12 * (k % 6) for k in rows],
    }
    names = {"queue": {0: "day", 1: "fast"}, "qos": {0: "normal", 1: "long"}, "user": {0: "ann", 1: "bob", 2: "cem"}}
    return fb.Workload("jobs", fb.workload.job_table(table), names=names)


EDITS = [
    ("bf_window", "10", "bf_window=1440", "bf_window=10"),
    ("BF_Max_Job_Test", "1", "bf_window=1440", "bf_window=1440,bf_max_job_test=1"),
    ("weights.Age", "0", "PriorityWeightAge=10", "PriorityWeightAge=0"),
    ("weights.JobSize", "900", "bf_window=1440", "bf_window=1440,PriorityWeightJobSize=900"),
    ("classes.cpu.nodes", "7", "nodes = 4", "nodes = 7"),
    ("classes.gpu.nodes", "1", "nodes = 2", "nodes = 1"),
    ("nodes", "12", "nodes = 4", "nodes = 8", "nodes = 2", "nodes = 4"),
    ("burst_buffer", "6TB", "10 TB", "6 TB"),
    ("limits.qos.normal.MaxJobsPU", "1", "MaxJobsPerUser = 3", "MaxJobsPerUser = 1"),
    ("limits.qos.normal.MaxJobsPU", "none", '[[limits]]\nqos = "normal"\nMaxJobsPerUser = 3\n', ""),
    ("limits.qos.normal.GrpTRES", "node=2", "MaxJobsPerUser = 3", 'MaxJobsPerUser = 3\nGrpTRES = "node=2"'),
    ("limits.user.ann.MaxJobs", "1", "[tiers.", '[[limits]]\nuser = "ann"\nMaxJobsPerUser = 1\n[tiers.'),
    ("limits.partition.day.GrpJobs", "2", "[tiers.", '[[limits]]\npartition = "day"\nGrpJobs = 2\n[tiers.'),
    ("partitions.fast.max_jobs", "1", "[[limits]]", "max_jobs = 1\n[[limits]]"),
    ("partitions.fast.PriorityTier", "9", "[[limits]]", "priority_tier = 9\n[[limits]]"),
    ("partitions.day.MaxTime", "00:30:00", '"1 d"', '"30 min"'),
]


def starts(workload, machine, policy):
    return fb.simulate(workload, machine, policy).jobs.select("job_id", "starting_time", "finish_time")


def test_a_what_if_is_what_the_edited_file_gives(site, tmp_path):
    w, differ = jobs(), 0
    plain = starts(w, site.platform, site.policy)
    for place, (key, value, *edits) in enumerate(EDITS):
        text = FILE
        for old, new in zip(edits[::2], edits[1::2], strict=True):
            assert text.count(old) == 1
            text = text.replace(old, new)
        path = tmp_path / f"edited{place}.toml"
        path.write_text(text)
        by_hand = platforms.load(path)
        asked = changed(site, key, value)
        mine, edited = starts(w, asked.platform, asked.policy), starts(w, by_hand, by_hand.policy)
        assert mine.equals(edited), key
        differ += not mine.equals(plain)
    assert differ >= len(EDITS) * 2 // 3, differ


def test_ids_of_nodes_go_with_their_classes(tmp_path):
    path = tmp_path / "ids.toml"
    path.write_text(
        '[classes.a]\nnodes = 4\nnames = "a[1-4]"\n[classes.b]\nnodes = 2\n[partitions.all]\nnodes = "all"\n'
        '[partitions.whole]\nnodes = "a[1-4]"\n[partitions.part]\nnodes = "2-4"\n'
        '[[reservations]]\nname = "r"\nstart = 0\nduration = "1 h"\nnodes = "4-5"\n'
    )
    machine = Site(platforms.load(path), "")
    more = changed(machine, "classes.a.nodes", "6").platform
    assert [one.nodes for one in more.partitions] == ["all", "0-5", "2-3,6"]
    assert (more.nodes, more.reservations[0].nodes) == (8, "6-7")
    less = changed(machine, "classes.a.nodes", "3").platform
    assert [one.nodes for one in less.partitions] == ["all", "0-2", "2-3"]
    assert changed(machine, "nodes", "9").platform.classes[0].nodes == 6
    assert changed(machine, "classes.a.nodes", "4").platform.partitions == machine.platform.partitions


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("bf_windw", "720", "brook has nothing of this name; did you mean 'bf_window'"),
        ("weights.Agee", "5", "did you mean 'weights.Age'"),
        ("classes.gpu.nods", "4", "did you mean 'classes.gpu.nodes'"),
        ("classes.gp.nodes", "4", "did you mean 'classes.gpu.nodes'"),
        ("classes.gpu.nodes", "0", "0 is none; write an amount above 0"),
        ("classes.gpu.nodes", "x", "is not a whole number"),
        ("classes.gpu.nodes", "10" * 8, "that a machine may have; write fewer"),
        ("nodes", "1", "1 nodes are fewer than the 2 classes"),
        ("burst_bufer", "20TB", "did you mean 'burst-buffer'"),
        ("burst_buffer", "20", "20"),
        ("limits.qos.normal.MaxJobz", "9", "'MaxJobz' is no limit; did you mean"),
        ("limits.qos.MaxJobsPU", "9", "write limits.KIND.NAME.LIMIT, where KIND is one of user, account, qos"),
        ("limits.qoz.a.MaxJobsPU", "9", "write limits.KIND.NAME.LIMIT"),
        ("limits.qos.normal.MaxJobs", "x", "is not a whole number"),
        ("partitions.dya.MaxTime", "2d", "did you mean 'partitions.day.max_time'"),
        ("partitions.fast.state", "dwn", "write 'up', 'down', 'drain' or 'inactive'"),
        ("bf_window", "x", "'x' is not a number"),
        ("bf_window", "-1", "give a number above 0"),
    ],
)
def test_what_cannot_be_asked(site, key, value, says):
    with pytest.raises(InputError, match=says) as caught:
        changed(site, key, value)
    assert str(caught.value).startswith(f"--vary {key}")
    assert "\n" not in str(caught.value)


def test_a_class_that_a_partition_would_lose(tmp_path):
    path = tmp_path / "ids.toml"
    path.write_text('[classes.a]\nnodes = 4\n[partitions.last]\nnodes = "3"\n')
    with pytest.raises(InputError, match="the partition last would have no node left"):
        changed(Site(platforms.load(path), ""), "classes.a.nodes", "3")


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["bf_window"], "is not KEY=VALUE,VALUE"),
        (["=3"], "is not KEY=VALUE,VALUE"),
        (["a=1", "a=2"], "a is given twice"),
        (["a=1,,2"], "a has an empty value"),
        (["a=1,1"], "a has the value '1' twice"),
    ],
)
def test_texts_that_ask_nothing(texts, says):
    with pytest.raises(InputError, match=says):
        whatif.parse(texts)


def test_a_comparison_of_what_ifs(site, tmp_path):
    vary = {"bf_window": [10], "classes.cpu.nodes": 7, "limits.qos.lnog.MaxJobs": 2}
    found = fb.compare(
        jobs(), platform=site.platform, vary=vary, replicas=0, jobs=1, page=True, output=tmp_path / "out"
    )
    rows = {"site", "site, bf_window=10", "site, classes.cpu.nodes=7", "site, limits.qos.lnog.MaxJobs=2"}
    assert (found.reference, set(found.table["policy"])) == ("site", rows)
    judged = found.verdicts.filter(pl.col("metric") == "mean_wait")
    assert set(judged["policy"]) == rows - {"site"}
    assert set(found.groups["policy"]) == rows
    assert any(
        "limits of qos 'lnog' have no effect, as no job has it: did you mean 'long'" in one for one in found.notes
    )
    alone = fb.simulate(jobs(), changed(site, "classes.cpu.nodes", "7").platform)
    assert found.runs["site, classes.cpu.nodes=7"].jobs["finish_time"].equals(alone.jobs["finish_time"])
    assert found.document()["platform"]["nodes"] == 6
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.count(POLICY) == 1
    assert "brook (6 nodes" in page
    assert "brook (9 nodes" not in page


def test_load_and_policies_beside_what_ifs(site):
    found = fb.compare(
        jobs(), ["fcfs-easy"], site.platform, vary={"nodes": [12]}, reference="fcfs-easy", scale_load=2, replicas=0
    )
    assert set(found.table["policy"]) == {"fcfs-easy", "fcfs-easy, nodes=12"}
    assert found.runs["fcfs-easy"].jobs["submission_time"].max() == 30.0 * 39
    with pytest.raises(InputError, match="nothing of this name"):
        fb.compare(jobs(), [fb.policies.load("fcfs")], site.platform, vary={"depth": 2}, reference="Fcfs", replicas=0)


def test_a_buffer_where_the_site_has_none_is_as_if_the_file_had_it(tmp_path):
    path = tmp_path / "brook.toml"
    path.write_text(FILE.partition("[tiers.burst_buffer]")[0])
    machine = platforms.load(path)
    found = changed(Site(machine, machine.policy), "burst_buffer", "10TB").platform
    path.write_text(FILE)
    assert found.tiers == platforms.load(path).tiers
    assert found.classes == machine.classes
    with pytest.raises(InputError, match="0TB is none"):
        changed(Site(machine, machine.policy), "burst-buffer", "0TB")
    with pytest.raises(InputError, match="has nothing of this name"):
        changed(Site(machine, machine.policy), "burst_bufer", "1TB")
