"""Bad input, item by item and format by format: what is read all the same, and what each refusal says.

Cases that only one format knows are beside that format's own tests.
"""

import gzip
import io
import json
import os
import signal
from dataclasses import replace
from random import Random

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from forebay import platforms
from forebay.cli.main import main
from forebay.errors import InputError
from forebay.workload import _sidecar, read, write
from forebay.workload.info import describe
from forebay.workload.operations import attach_table
from fuzz import mutate, seeds
from fuzz.check import check_message

pytestmark = pytest.mark.small

SWF_LINE = "1 0 -1 10 4 -1 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1"
SACCT = "JobID|Submit|Start|End|ElapsedRaw|NNodes|State\n1|100|110|170|60|2|COMPLETED\n2|105|170|200|30|1|COMPLETED\n"
BATSIM = seeds.json_file(seeds.BATSIM)

TEXTS = {
    "swf": ("w.swf", seeds.SWF),
    "swf-resources": ("w.swf", seeds.SWF_RESOURCES),
    "batsim": ("w.json", BATSIM),
    "batsim-5": ("w.json", seeds.json_file(seeds.BATSIM_5)),
    "sacct": ("w.sacct", seeds.SACCT),
    "sacct-csv": ("w.csv", seeds.SACCT_CSV),
    "sidecar": ("side.csv", seeds.SIDECAR),
    "platform": ("mine.toml", seeds.PLATFORM),
}
LAYOUTS = {
    "BOM": lambda data: mutate.BOM + data,
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "BOM and CRLF": lambda data: mutate.BOM + data.replace(b"\n", b"\r\n"),
    "no last line end": lambda data: data.rstrip(b"\n"),
}


@pytest.fixture
def put(tmp_path):
    """A function that puts text or bytes in a file and gives its path."""

    def put(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


@pytest.fixture
def forebay(capsys, monkeypatch):
    """A command run in this process, as tests of the command line do it, but without the compiler."""
    monkeypatch.delenv("COLUMNS", raising=False)
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}

    def command(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return left.value.code, out, err

    yield command
    for number, handler in before.items():
        signal.signal(number, handler)


def load(path):
    """Whatever is in a file of that name; a sidecar as what it makes of a workload."""
    if path.suffix == ".toml":
        return platforms.load(path)
    if path.name.startswith("side"):
        return attach_table(seeds.trace(), _sidecar.load(path), path.name)
    return read(path)


def refusal(path):
    with pytest.raises(InputError) as caught:
        load(path)
    check_message(caught.value, (path.name,))
    return str(caught.value)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", TEXTS)
def test_byte_order_marks_and_line_ends_do_not_matter(put, kind, layout):
    name, data = TEXTS[kind]
    plain, found = load(put(name, data)), load(put(name, LAYOUTS[layout](data)))
    if kind == "platform":
        assert found == plain
        return
    assert_frame_equal(found.jobs, plain.jobs, check_exact=True)
    assert (found.epoch, found.platform, found.notes, found.dropped) == (
        plain.epoch,
        plain.platform,
        plain.notes,
        plain.dropped,
    )
    if plain.phases is not None:
        assert_frame_equal(found.phases, plain.phases, check_exact=True)


EMPTY = {
    "w.swf": "holds no job; an SWF file has a line of 18 numbers for each job",
    "w.json": "line 1, column 1: not JSON",
    "w.sacct": "is empty; list jobs with `sacct -P`",
    "w.parquet.zip": "not a zip that can be read; is the file whole?",
    "side.csv": "is empty; a sidecar has a header such as 'id,burst_buffer'",
    "mine.toml": "nodes: missing; write nodes = 100",
}


@pytest.mark.parametrize("content", [b"", mutate.BOM, b"\n", b"\r\n\r\n"], ids=["nothing", "BOM", "line", "lines"])
@pytest.mark.parametrize("name", EMPTY)
def test_empty_files(put, name, content):
    if name == "w.json" and content.strip() == b"":
        assert "not JSON" in refusal(put(name, content))
    else:
        assert EMPTY[name] in refusal(put(name, content))


@pytest.mark.parametrize("name", ["w.swf.gz", "w.json.gz", "w.sacct.gz", "side.csv"])
def test_packed_files_that_are_cut_short(put, name):
    packed = gzip.compress(seeds.SWF * 20, mtime=0)
    for keep in (len(packed) - 9, len(packed) // 2, 12, 3):
        assert "the gzip data is cut short or damaged" in refusal(put(name, packed[:keep]))


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("w.swf", f"; MaxProcs: 4\n{SWF_LINE}\n{SWF_LINE[:20]}", "line 3: 8 fields, and SWF has 18; write -1 for what"),
        ("w.json", BATSIM[:-30], "not JSON"),
        ("w.json", BATSIM[:300], "is the file whole?"),
        ("w.sacct", SACCT[:-25], "line 3: 2 fields, and the header names 7; is the file cut short?"),
        ("w.sacct", SACCT.splitlines()[0], "holds no job; list jobs that have started"),
        ("w.parquet.zip", seeds.packed_workloads()[0][:-40], "not a zip that can be read; is the file whole?"),
        ("side.csv", "id,burst_buffer\n1,5\n2", "line 3: 1 fields, and the header names 2; is the file cut short?"),
        ("side.parquet", seeds.sidecar_parquet()[:-20], "not Parquet that can be read; is the file whole?"),
        ("mine.toml", seeds.PLATFORM[:40], "not valid TOML"),
    ],
)
def test_files_that_are_cut_short(put, name, content, says):
    assert says in refusal(put(name, content))


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("w.swf", SWF_LINE.replace(" ", ","), "line 1: fields are divided by ','; SWF divides them by blanks"),
        ("w.swf", f"; c\n{SWF_LINE.replace(' ', ';')}", "line 2: fields are divided by ';'"),
        ("w.json", BATSIM.replace(b",", b";"), ": not JSON (Expecting ',' delimiter)"),
        ("w.sacct", SACCT.replace("|", "  "), "line 1: columns are padded with blanks, and what is long is cut"),
        ("side.csv", "id;burst_buffer\n1;5", "line 1: columns are divided by ';'; a sidecar divides them by ','"),
        ("side.csv", "id|burst_buffer\n1|5", "line 1: columns are divided by '|'"),
        ("mine.toml", "nodes: 4", "mine.toml:1: not valid TOML: Expected '=' after a key"),
    ],
)
def test_wrong_delimiters_are_named_with_the_right_one(put, name, content, says):
    assert says in refusal(put(name, content))


def without(document, where, key):
    """A copy of a Batsim document in which the first of its jobs or profiles lacks a key."""
    document = json.loads(json.dumps(document))
    part = document[where]
    del (part[0] if isinstance(part, list) else next(iter(part.values())))[key]
    return seeds.json_file(document)


def tables(**columns):
    """A `.parquet.zip` whose job table has other columns; None takes one away."""
    parts = mutate.parts_of(seeds.packed_workloads()[1])
    jobs = pl.read_parquet(io.BytesIO(parts["jobs.parquet"])).drop(
        [name for name, values in columns.items() if values is None]
    )
    jobs = jobs.with_columns(pl.Series(name, values) for name, values in columns.items() if values is not None)
    return mutate.zipped(Random(1), parts | {"jobs.parquet": mutate.table_bytes(Random(1), jobs)})


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("w.swf", SWF_LINE.rsplit(" ", 1)[0], "line 1: 17 fields, and SWF has 18"),
        (
            "w.swf",
            f"; BurstBuffer: 5, 6\n{SWF_LINE} 1",
            "line 2: 19 fields, and SWF has 18 and the header BurstBuffer adds 2",
        ),
        *(
            ("w.json", without(seeds.BATSIM, "jobs", key), f"{key!r} is missing; add it")
            for key in ("id", "subtime", "res")
        ),
        ("w.json", without(seeds.BATSIM, "jobs", "profile"), "job 1: 'profile' is missing; add it"),
        ("w.json", without(seeds.BATSIM, "profiles", "type"), "profile 'd': 'type' is missing; add it"),
        ("w.json", without(seeds.BATSIM, "profiles", "delay"), "profile 'd': 'delay' is missing; add it"),
        ("w.sacct", SACCT.replace("JobID", "Name"), "line 1: no column JobID; add it to `sacct -P --format=...`"),
        ("w.sacct", SACCT.replace("Submit", "Name"), "line 1: no column Submit (or Eligible); add it"),
        (
            "w.sacct",
            SACCT.replace("ElapsedRaw", "x").replace("End", "y"),
            "no column ElapsedRaw (or Elapsed, or Start and End)",
        ),
        ("w.sacct", SACCT.replace("NNodes", "Name"), "no column NNodes (or AllocTRES, ReqTRES, NCPUS)"),
        *(
            ("w.parquet.zip", tables(**{column: None}), f"jobs.parquet: the job table lacks {column}")
            for column in ("id", "submit", "walltime", "run_time", "nodes", "priority")
        ),
        ("side.csv", "burst_buffer\n5", "line 1: no column of job numbers; name it 'id' (columns: burst_buffer)"),
        ("mine.toml", "speed = '1 Gflop/s'", "nodes: missing; write nodes = 100"),
    ],
)
def test_the_missing_column_is_named(put, name, content, says):
    assert says in refusal(put(name, content))


DATE = "2024-01-31T23:59:00"


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        (
            "w.swf",
            f"{SWF_LINE}\n2 {DATE}{SWF_LINE[3:]}",
            f"line 2: field 2 (submit time) is '{DATE}'; it must be a finite number",
        ),
        (
            "w.swf",
            f"{SWF_LINE}\n2 1706745540000000000{SWF_LINE[3:]}",
            "job 2: submit is 1.70674554e+18; it must be within 1e+10 s",
        ),
        ("w.swf", SWF_LINE.replace(" 10 ", " 00:10:00 "), "line 1: field 4 (run time) is '00:10:00'"),
        (
            "w.json",
            BATSIM.replace(b'"subtime": 9', f'"subtime": "{DATE}"'.encode()),
            f"job 5: 'subtime' is '{DATE}'; it must be a",
        ),
        (
            "w.sacct",
            SACCT.replace("|105|", f"|{DATE}|"),
            "line 3: Submit is a calendar date, but times from line 2 on were seconds",
        ),
        ("w.sacct", SACCT.replace("|200|", f"|{DATE}|"), "write all in one way (SLURM_TIME_FORMAT)"),
        (
            "w.sacct",
            SACCT.replace("|105|", "|1706745540000000000|"),
            "line 3: Submit is '1706745540000000000', over 1e+10 s; is it",
        ),
        (
            "w.sacct",
            SACCT.replace("|105|", "|31/01/2024|"),
            "line 3: Submit is '31/01/2024'; write a date such as 2024-01-31T",
        ),
        ("w.parquet.zip", tables(submit=[DATE] * 4), "jobs.parquet: the job table must have submit as Float64"),
        (
            "side.csv",
            f"id,submit\n1,5\n2,{DATE}",
            f"line 3: submit is '{DATE}'; it must be a number; seconds may have a unit",
        ),
    ],
)
def test_times_written_in_several_ways(put, name, content, says):
    assert says in refusal(put(name, content))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("w.swf", f"; UnixStartTime: -1000\n{SWF_LINE}"),
        ("w.swf", SWF_LINE.replace("1 0 ", "1 -1000 ")),
        ("w.json", BATSIM.replace(b'"epoch": 1000', b'"epoch": -1000')),
    ],
)
def test_times_before_1970_are_kept_where_a_format_has_no_dates(put, tmp_path, name, content):
    found = read(put(name, content))
    assert (found.epoch, found.jobs["submit"][0]) == (-1000.0, 0.0)
    assert describe(found)["epoch_iso"] == "1969-12-31T23:43:20+00:00"
    write(found, tmp_path / "again.parquet.zip")
    assert read(tmp_path / "again.parquet.zip").epoch == -1000.0
    if name == "w.swf":
        with pytest.raises(InputError, match=r"arrive before 1970, which sacct cannot say; write \.swf instead"):
            write(found, tmp_path / "again.sacct")


@pytest.mark.parametrize("text", ["-5", "1969-12-31T23:59:59", "0001-01-01T00:00:00", "1960-02-29"])
def test_sacct_knows_no_times_before_1970(put, text):
    assert f"line 2: Submit is '{text}', before 1970; no Slurm ran then" in refusal(
        put("w.sacct", SACCT.replace("|100|", f"|{text}|"))
    )


def test_rows_of_a_sidecar_for_jobs_that_are_not_there_are_counted(put, forebay, tmp_path):
    found = load(put("side.csv", "id,burst_buffer\n1,5\n77,6\n78,7\n"))
    assert "2 rows of side.csv are for jobs not in the workload: not used" in found.notes
    assert "none of its rows is for a job of trace; are these its job numbers?" in refusal(
        put("side.csv", "id,burst_buffer\n77,6\n78,7\n")
    )
    side = put("side.csv", "id,burst_buffer\n1,5\n77,6\n78,7\n")
    code, out, _ = forebay("workload", "convert", put("w.swf", seeds.SWF), tmp_path / "o.json", "--sidecar", side)
    assert code == 0
    assert "2 rows of side.csv are for jobs not in the workload" in " ".join(out.split())


COMMANDS = {
    "w.swf": (f"{SWF_LINE}\n1 2 3\n", "line 2: 3 fields, and SWF has 18"),
    "w.swf.gz": (gzip.compress(seeds.SWF, mtime=0)[:-9], "the gzip data is cut short or damaged"),
    "w.json": (BATSIM[:200], "not JSON"),
    "w.sacct": (SACCT.replace("|105|", "|soon|"), "line 3: Submit is 'soon'"),
    "w.csv": (SACCT.replace("|", ",").replace("JobID", '"JobID"x'), "line 1: cannot be read"),
    "w.parquet.zip": (tables(nodes=[1, 2, 0, 4]), "job 3: nodes is 0; it must be from 1 to 1,000,000,000"),
    "w.txt": (b"hello", "neither name nor content show its format"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_line_says_it_once_and_writes_nothing(put, forebay, tmp_path, monkeypatch, name):
    content, says = COMMANDS[name]
    path = put(name, content)
    monkeypatch.chdir(tmp_path)
    for command in (["info", path], ["convert", path, tmp_path / "out.swf"]):
        code, out, err = forebay("workload", *command)
        assert (code, out) == (2, "")
        assert err.startswith(f"forebay: {path}: ")
        assert says in err
        assert err.count("\n") == 1
        assert "Traceback" not in err
        assert list(tmp_path.iterdir()) == [path]


def test_the_command_line_refuses_a_bad_sidecar_once(put, forebay, tmp_path):
    path, side = put("w.swf", seeds.SWF), put("side.csv", "id,burst_buffer\n1,1.5\n")
    code, out, err = forebay("workload", "convert", path, tmp_path / "out.json", "--sidecar", side)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "side.csv: line 2: burst_buffer is '1.5'" in err
    assert not (tmp_path / "out.json").exists()


def test_names_of_files_may_be_no_text(tmp_path):
    """A name of any bytes is read; what is made of it can be written again."""
    path = tmp_path / os.fsdecode(b"w\xff.swf")
    path.write_bytes(seeds.SWF)
    found = read(path)
    assert found.name == "w\ufffd"
    for name in ("a.swf", "a.json", "a.sacct", "a.parquet.zip"):
        write(found, tmp_path / name)
    assert read(tmp_path / "a.parquet.zip").provenance == ("read w\ufffd.swf (SWF, 5 records)",)


def test_demands_that_only_legs_have_do_not_stop_writers(tmp_path):
    staged = seeds.staged()
    w = replace(staged, legs=staged.legs.with_columns(gpus=pl.Series([0, 2, 0])), jobs=staged.jobs.drop("burst_buffer"))
    assert describe(w)["resources"].keys() == {"licences"}
    for name in ("a.swf", "a.json", "a.sacct", "a.parquet.zip"):
        write(w, tmp_path / name)
