"""`forebay workload`: describing, converting and splitting files."""

import dataclasses
import json

import pytest

from forebay._support.text import plain
from forebay.workload import read, write


def test_info_says_what_was_left_out_and_why(forebay, trace):
    path = trace((0, 60, 2, 60), (5, 0, 1, 60), (9, 60, 0, 60))
    code, out, _ = forebay("workload", "info", path)
    assert code == 0
    assert "1 of 3 records" in out
    assert "1: run time not positive" in out
    assert "1: no processors" in out
    assert "flat:nodes=4" in out
    assert json.loads(forebay("workload", "info", path, "--format", "json").out)["jobs"] == 1


def test_info_of_an_embedded_workload_knows_its_load(forebay):
    facts = json.loads(forebay("workload", "info", "table1", "--format", "json").out)
    assert facts["machine_nodes"] == 4
    assert facts["offered_load"] == pytest.approx(2340 / (4 * 240))


def test_convert_through_every_change_in_order(forebay, tmp_path):
    target = tmp_path / "out.json"
    changes = ("--slice", "1d:8d", "--filter", "nodes<=64", "--filter", "nodes>1", "--first", 50)
    code, out, _ = forebay("workload", "convert", "default", target, *changes, "--scale-load", 2, "--perfect-estimates")
    assert code == 0
    assert str(target) in out
    assert "not kept" in out  # the writer's notes
    jobs = read(target)
    assert len(jobs) == 50
    assert jobs.jobs["nodes"].min() > 1
    assert jobs.jobs["nodes"].max() <= 64
    steps = [line.split()[1] for line in out.splitlines() if line.startswith("from")]
    assert steps[0] == "embedded"
    assert steps[-6:] == ["submitted", "nodes<=64:", "nodes>1:", "first", "load", "perfect"]


def test_convert_joins(forebay, tmp_path):
    document = forebay("workload", "convert", "table1", tmp_path / "a.swf", "--join", "table1", "--format", "json").out
    assert json.loads(document)["jobs"] == len(read(tmp_path / "a.swf")) == 16


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--filter", "nods<=64"], "did you mean 'nodes'?"),
        (["--filter", "nodes"], "not a condition"),
        (["--filter", "nodes>1000"], "no job is left"),
        (["--slice", "1d"], "START:END"),
        (["--first", "0"], "at least 1"),
        (["--scale-load", "0"], "above 0"),
        (["--join", "nowhere.swf"], "no such file"),
    ],
)
def test_convert_refuses(forebay, tmp_path, options, words):
    code, out, err = forebay("workload", "convert", "table1", tmp_path / "a.swf", *options)
    assert (code, out) == (2, "")
    assert words in err
    assert list(tmp_path.iterdir()) == []


def test_convert_to_nowhere(forebay, tmp_path):
    assert "end the name in one of" in forebay("workload", "convert", "table1", tmp_path / "a.xyz").err
    assert "cannot write there" in forebay("workload", "convert", "table1", tmp_path / "no" / "a.swf").err
    assert list(tmp_path.iterdir()) == []


def test_split(forebay, tmp_path):
    code, out, _ = forebay("workload", "split", "default", 3, "-o", tmp_path / "parts")
    assert code == 0
    parts = sorted((tmp_path / "parts").iterdir())
    assert [path.name for path in parts] == [f"default-part-{k}.swf.gz" for k in range(3)]
    assert sum(len(read(path)) for path in parts) == 3000
    assert out.count("note  burst_buffer of") == 1  # each note once, not once a part
    assert out.count("note  the platform") == 1


def test_split_refuses(forebay, tmp_path):
    folder = tmp_path / "parts"
    code, _, err = forebay("workload", "split", "default", 3, "-o", folder, "--suffix", ".xyz")
    assert code == 2
    assert ".swf.gz" in err
    assert "give 1 to 8, its number of jobs" in forebay("workload", "split", "table1", 1000, "-o", folder).err
    assert not folder.exists()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("KTH-SP2-1996-2.1-cln", "8: run time not positive"),
        ("KTH-SP2-1996-2.1-cln", "1: no processors"),
        ("NASA-iPSC-1993-3.1-cln", "173: run time not positive"),
    ],
)
def test_info_of_real_traces_names_what_was_dropped(forebay, data, name, why):
    assert why in forebay("workload", "info", data / "swf" / f"{name}.swf.gz").out


def test_convert_attaches_a_sidecar(forebay, tmp_path):
    side = tmp_path / "side.csv"
    side.write_text("id,burst_buffer\n1,4000\n99,5\n")
    code, out, _ = forebay("workload", "convert", "table1", tmp_path / "a.json", "--sidecar", side)
    assert code == 0
    assert "burst_buffer of 1 job from side.csv" in out
    assert read(tmp_path / "a.json").jobs["burst_buffer"][0] == 4000
    side.write_text("id,burst_buffer\n1,lots\n")
    code, _, err = forebay("workload", "convert", "table1", tmp_path / "b.json", "--sidecar", side)
    assert (code, "side.csv: line 2: burst_buffer is 'lots'" in err) == (2, True)


def swf(job, submit, wait, run, nodes=1, status=1, user=1):
    return f"{job} {submit} {wait} {run} {nodes} -1 -1 {nodes} 60 -1 {status} {user} 1 -1 1 -1 -1 -1"


@pytest.fixture
def odd(tmp_path):
    """A trace for 4 nodes: a sound job, a cancelled one, one too wide, and one without run time."""
    path = tmp_path / "secretlab.swf"
    records = [swf(101, 0, 5, 30, user=4711), swf(102, 1, 20, -1, status=5), swf(103, 2, 5, 30, 9), swf(104, 3, 5, 0)]
    path.write_text("\n".join(["; MaxProcs: 4", "; UnixStartTime: 1700000000", *records]))
    return path


def test_convert_keeps_cancelled_jobs_if_asked(forebay, odd, tmp_path):
    assert "1 record: cancelled before it started" in forebay("workload", "convert", odd, tmp_path / "a.json").out
    code, out, _ = forebay("workload", "convert", odd, tmp_path / "b.json", "--keep-cancelled", "--join", odd)
    assert code == 0
    assert "1 job cancelled before it started is kept" in out
    assert read(tmp_path / "a.json").jobs["cancel"].is_infinite().all()
    assert sorted(read(tmp_path / "b.json").jobs["cancel"])[:3] == [20, 20, float("inf")]


def test_info_shows_what_is_odd_and_how_to_mend_it(forebay, odd):
    text = forebay("workload", "info", odd).out
    assert "1 record cancelled before it started is left out: to keep such, `convert --keep-cancelled`" in text
    assert "1 job wider than the machine's 4 nodes" in text


def test_info_tells_a_thing_once(forebay, tmp_path):
    path = tmp_path / "late.swf"
    path.write_text("\n".join([swf(1, 9, 0, 60), swf(2, 5, 0, 30)]))
    text = forebay("workload", "info", path).out
    assert text.count("put in order of submission") == 1
    assert "50 % of jobs ask for just their run time" in text


def test_convert_cleans(forebay, odd, tmp_path):
    code, out, _ = forebay("workload", "convert", odd, tmp_path / "a.swf", "--clean")
    assert code == 0
    assert "cleaned: dropped 1 job wider than the machine's 4 nodes" in out
    assert read(tmp_path / "a.swf").jobs["id"].to_list() == [101]
    assert "cleaned: nothing to do" in forebay("workload", "convert", tmp_path / "a.swf", odd, "--clean").out


def test_convert_cleans_the_whole_before_it_slices(forebay, odd, tmp_path):
    out = forebay("workload", "convert", odd, tmp_path / "a.swf", "--first", 1, "--clean").out
    steps = [line.split()[1] for line in out.splitlines() if line.startswith("from")]
    assert steps == ["read", "cleaned:", "first"]


def test_convert_anonymises(forebay, odd, tmp_path):
    target = tmp_path / "shared.swf"
    code, out, _ = forebay("workload", "convert", odd, target, "--model", "burst-buffer", "--anonymise", "--seed", 3)
    assert code == 0
    assert out.count("from ") == 1
    text = target.read_text()
    assert not any(word in text for word in ("secretlab", "4711", "101", "17000", "seed"))
    assert read(target).jobs["id"].to_list() == [1, 2]
    assert read(target).epoch == 0


@pytest.mark.parametrize("name", ["../ESCAPED/evil", "/tmp/ESCAPED/evil", "..", "a\nb"])
def test_parts_stay_in_their_folder_whatever_the_workload_is_called(forebay, tmp_path, name):
    write(dataclasses.replace(read("table1"), name=name), tmp_path / "evil.parquet.zip")
    assert read(tmp_path / "evil.parquet.zip").name == plain(name)
    assert forebay("workload", "split", tmp_path / "evil.parquet.zip", 2, "-o", tmp_path / "parts").code == 0
    assert len(list((tmp_path / "parts").iterdir())) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evil.parquet.zip", "parts"]
