"""What lies behind a link in a folder of results is somebody else's: nothing is written or deleted there."""

import os

import pytest

from forebay import simulate
from forebay.errors import InputError
from forebay.experiments.comparison.workspace import Part, workspace
from forebay.experiments.store import Store
from forebay.studies._frame import Plan, Report
from forebay.studies._write import write_report

pytestmark = pytest.mark.small

SPEC = 'workloads = ["table1"]\npolicies = ["fcfs", "fcfs-easy"]\n'
RUN = "0123456789abcdef01234567.json"


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def theirs(tmp_path):
    """A folder of somebody else, with files that have names such as ours have."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    for name in (RUN, "manifest.json", "jobs.csv", "run.json", "compare.json", ".lock"):
        (folder / name).write_text("theirs")
    return folder


@pytest.fixture
def out(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def linked(out, theirs, name):
    """A link in the folder of results, and what must be so afterwards."""
    (out / name).symlink_to(theirs)
    before = contents(theirs), sorted(os.listdir(out))
    return lambda: (contents(theirs), sorted(os.listdir(out))) == before


def refused(done, link):
    assert done.code == 2
    assert f"{link}: is a link" in done.err
    assert "remove the link" in done.err
    assert done.err.count("forebay:") == 1


@pytest.mark.parametrize("more", [(), ("--fresh",)])
def test_a_sweep(forebay, out, theirs, tmp_path, more):
    (tmp_path / "s.toml").write_text(SPEC)
    untouched = linked(out, theirs, "runs")
    refused(forebay("sweep", tmp_path / "s.toml", "-o", out, "-q", *more), out / "runs")
    assert untouched()


def test_a_store_that_starts_over(out, theirs):
    Store(out)
    (out / "runs" / RUN).symlink_to(theirs / RUN)
    with pytest.raises(InputError, match=f"{RUN}: is a link"):
        Store(out, fresh=True)
    assert (out / "manifest.json").exists()
    assert (theirs / RUN).read_text() == "theirs"


@pytest.mark.parametrize("name", ["unfinished", "fcfs", "compare.json"])
def test_a_comparison(forebay, out, theirs, name):
    untouched = linked(out, theirs / name if name.endswith("json") else theirs, name)
    refused(forebay("compare", "table1", "--policies", "fcfs,fcfs-easy", "-o", out, "-q"), out / name)
    assert untouched()


def test_what_an_earlier_comparison_wrote(out, theirs):
    parts = {"a": Part("a", "1")}
    with workspace(out, "old", parts) as made:
        made.place("a").mkdir()
        for name in ("jobs.csv", "run.json"):
            (made.place("a") / name).write_text("ours")
        made.publish()
    (out / "a").rename(out / "b")
    (out / "a").symlink_to(theirs)
    before = contents(theirs)
    with pytest.raises(InputError, match="a: is a link"), workspace(out, "new", {"c": Part("c", "1")}):
        pass
    assert contents(theirs) == before


@pytest.mark.parametrize("name", ["jobs.csv", "run.json"])
def test_a_run(forebay, out, theirs, name):
    untouched = linked(out, theirs / name, name)
    refused(forebay("run", "table1", "-o", out, "-q"), out / name)
    assert untouched()


@pytest.mark.parametrize("name", ["tables", "figures"])
def test_a_study(out, theirs, name):
    untouched = linked(out, theirs, name)
    report = Report(frames={"t": simulate("table1").jobs}, figures={"f": lambda path: []})
    with pytest.raises(InputError, match=f"{name}: is a link"):
        write_report(Plan("t", (), [], lambda records: report), report, out)
    assert untouched()


def test_a_report(forebay, out, theirs):
    simulate("table1").save(out)
    untouched = linked(out, theirs / "jobs.csv", "report.html")
    refused(forebay("report", out), out / "report.html")
    assert untouched()


def test_a_converted_workload(forebay, out, theirs):
    untouched = linked(out, theirs / "jobs.csv", "w.swf")
    refused(forebay("workload", "convert", "table1", out / "w.swf"), out / "w.swf")
    assert untouched()


def test_links_that_lead_to_each_other(forebay, out, tmp_path):
    (tmp_path / "s.toml").write_text(SPEC)
    (out / "runs").symlink_to(out / "again")
    (out / "again").symlink_to(out / "runs")
    done = forebay("sweep", tmp_path / "s.toml", "-o", out, "-q")
    assert done.code == 2
    assert f"{out / 'runs'}: " in done.err


def test_the_folder_itself_may_be_a_link(forebay, out, tmp_path):
    (tmp_path / "named").symlink_to(out)
    done = forebay("run", "table1", "-o", tmp_path / "named", "-q")
    assert done.code == 0, done.err
    assert (out / "run.json").is_file()


def test_a_link_that_stays_in_the_folder(out):
    (out / "real").mkdir()
    (out / "runs").symlink_to("real")
    Store(out)
    assert (out / "manifest.json").is_file()


def test_links_of_other_names_are_nobodys_business(forebay, out, theirs):
    untouched = contents(theirs)
    (out / "data").symlink_to(theirs)
    assert forebay("run", "table1", "-o", out, "-q").code == 0
    assert contents(theirs) == untouched


def test_parts_of_a_workload(forebay, out, theirs):
    untouched = linked(out, theirs / "jobs.csv", "table1-part-0.swf")
    done = forebay("workload", "split", "table1", 2, "--suffix", ".swf", "-o", out)
    refused(done, out / "table1-part-0.swf")
    assert untouched()
