"""read and write: which source and which format a name stands for."""

import gzip
import json
import subprocess
import sys

import pytest
from polars.testing import assert_frame_equal

from forebay import workload
from forebay._plugins import load, names
from forebay.errors import InputError

pytestmark = pytest.mark.small

SWF = "1 0 -1 10 4 -1 -1 4 60 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
BATSIM = json.dumps(
    {
        "jobs": [{"id": 1, "subtime": 0, "walltime": 60, "res": 4, "profile": "p"}],
        "profiles": {"p": {"type": "delay", "delay": 10}},
    }
)


def test_the_public_names():
    functions = ["Workload", "closed_loop", "dependency_table", "job_table", "read", "write"]
    assert workload.__all__ == ["JOB_SCHEMA", "LEG_SCHEMA", "PHASE_SCHEMA", *functions]


@pytest.mark.parametrize(
    ("name", "text", "stem"),
    [
        ("a.b.swf", SWF, "a.b"),
        ("A.SWF", SWF, "A"),
        ("a.swf.gz", SWF, "a"),
        ("a.json", BATSIM, "a"),
        ("a.json.gz", BATSIM, "a"),
        ("a.txt", SWF, "a.txt"),
        ("trace", "\n; Version: 2.2\n" + SWF, "trace"),
        ("a.gz", SWF, "a.gz"),
        ("b.gz", " " + BATSIM, "b.gz"),
    ],
)
def test_the_suffix_tells_the_format_else_the_content(tmp_path, name, text, stem):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode(), mtime=0) if name.endswith(".gz") else text.encode())
    for source in (path, str(path)):
        w = workload.read(source)
        assert (w.name, w.jobs["nodes"].to_list(), w.jobs["run_time"].to_list()) == (stem, [4], [10.0])


@pytest.mark.parametrize("size", [0, 1, 2, 5, 12, 40, 60])
@pytest.mark.parametrize("name", ["a.csv.gz", "A.GZ"])
def test_a_packed_file_that_is_cut_off_is_told_as_such(tmp_path, name, size):
    """Another name would not help, though so little of it tells no format."""
    whole = gzip.compress(b"JobID|Submit|Start|End|NNodes|State\n1|100|110|170|2|COMPLETED\n", mtime=0)
    assert len(whole) > size
    (tmp_path / name).write_bytes(whole[:size])
    with pytest.raises(InputError, match=rf"{name}: the gzip data is cut short.*fetch the file again"):
        workload.read(tmp_path / name)


@pytest.mark.parametrize("content", [b"hello world", b"", b"\x1f\x8bnot gzip", b"1 2 3\n"])
def test_content_of_no_format_is_refused(tmp_path, content):
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(InputError, match=r"a\.txt: neither name nor content.*\.json, .*\.sacct, .*\.swf\.gz"):
        workload.read(tmp_path / "a.txt")


def test_a_file_wins_over_an_embedded_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(workload.read("table1")) == 8
    (tmp_path / "table1").write_text(SWF)
    assert len(workload.read("table1")) == 1
    assert len(workload.read("./table1")) == 1


def test_a_folder_hides_no_embedded_name_but_is_no_workload(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "default").mkdir()
    (tmp_path / "other").mkdir()
    assert len(workload.read("default")) == 3000
    with pytest.raises(InputError, match="other: is a folder"):
        workload.read("other")


def test_unknown_names_get_a_suggestion(tmp_path):
    with pytest.raises(InputError, match="tabel1: no such file, nor an embedded workload; did you mean 'table1'"):
        workload.read("tabel1")
    with pytest.raises(InputError, match=r"lublin99:nodes=8: a model, not a workload; .*models\.generate"):
        workload.read("lublin99:nodes=8")
    with pytest.raises(InputError, match=r"x\.swf: no such file, nor an embedded workload"):
        workload.read(tmp_path / "x.swf")


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b"])
def test_text_that_can_name_no_file(name):
    with pytest.raises(InputError, match="no such file, nor an embedded workload"):
        workload.read(name)


@pytest.mark.parametrize("name", ["w.swf", "w.swf.gz", "w.json", "W.JSON.GZ"])
def test_write_takes_the_suffix_and_reads_back(tmp_path, name):
    w = workload.read("table1")
    notes = workload.write(w, str(tmp_path / name))
    assert any("burst_buffer of 8 jobs" in note for note in notes) == ("swf" in name)
    back = workload.read(tmp_path / name)
    kept = w.jobs.drop("burst_buffer") if "swf" in name else w.jobs
    if "swf" not in name:  # 8 TB over 3 nodes
        assert any("burst buffer of 2 jobs does not divide" in note for note in notes)
        kept, back_jobs = kept.drop("burst_buffer"), back.jobs.drop("burst_buffer")
    else:
        back_jobs = back.jobs
    assert_frame_equal(back_jobs, kept)


def test_an_unknown_suffix_is_refused_on_write(tmp_path):
    with pytest.raises(InputError, match=r"w\.csv: no format.*\.json, .*\.sacct, .*\.swf\.gz"):
        workload.write(workload.read("table1"), tmp_path / "w.csv")
    assert list(tmp_path.iterdir()) == []


def test_every_format_and_embedded_workload_keeps_the_contract():
    assert names("workload.formats") == ["batsim", "parquet", "philly", "sacct", "slurm-events", "swf", "wfcommons"]
    for name in names("workload.formats"):
        module = load("workload.formats", name, "format")
        assert module.DESCRIPTION
        assert "\n" not in module.DESCRIPTION
        assert all(suffix.startswith(".") for suffix in module.SUFFIXES)
    for name in names("workload.embedded"):
        module = load("workload.embedded", name, "workload")
        assert module.DESCRIPTION
        assert module.make().name == name


def test_converting_files_does_not_load_the_compiler():
    code = (
        "import sys; from forebay import workload; import forebay.workload.operations, forebay.workload.info;"
        "workload.read('table1'); sys.exit('numba' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], check=False, env={"PYTHONPATH": ":".join(sys.path)}).returncode
        == 0
    )
