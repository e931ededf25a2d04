"""Listings as sites have them: each is read as what it lists, or refused with the line and the cure."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forebay as fb
from cases.chunks import examples
from forebay.engine.build.program import resource_notes
from forebay.errors import InputError
from forebay.workload.formats import sacct

pytestmark = pytest.mark.small

PLAIN = """\
JobID|JobName|User|Partition|Submit|Start|ElapsedRaw|NNodes|State
101|train|ann|gpu|100|110|60|2|COMPLETED
102|test|bob|cpu|105|120|30|1|FAILED
"""
JOBS = [(101, 0, 60, 2), (102, 5, 30, 1)]  # id, submit, run time, nodes


def swapped(new: str, text: str = PLAIN, delimiter: str = "|") -> str:
    return text.replace(delimiter, new)


@dataclass
class Read:
    """A file that is read: the jobs in it, and what a note tells."""

    text: str
    jobs: list[tuple[int, int, int, int]]
    note: str = ""


READ = {
    "bars": Read(PLAIN, JOBS),
    "commas": Read(swapped(","), JOBS),
    "semicolons": Read(swapped(";"), JOBS),
    "tabs": Read(swapped("\t"), JOBS),
    "carets": Read(swapped("^"), JOBS),
    "tildes": Read(swapped("~"), JOBS),
    "colons": Read(swapped(":"), JOBS),
    "blanks": Read(swapped(" "), JOBS),
    "unit separators": Read(swapped("\x1f"), JOBS),
    "broken bars": Read(swapped("¦"), JOBS),
    "a bar at each end": Read(PLAIN.replace("\n", "|\n"), JOBS),
    "a spreadsheet's quotes": Read(
        swapped(";").replace("train", '"train; again"').replace("test", '"te""st\nof two lines"'), JOBS
    ),
    "bars in a name": Read(
        PLAIN.replace("train", "a|b||c").replace("test", "|"), JOBS, "2 rows were put together again (line 2, 3): "
    ),
    "commas in a list of tasks and of nodes": Read(
        "JobID,JobName,NodeList,Submit,Start,End,ElapsedRaw,NNodes,AllocTRES,State\n"
        "7_[1,3,5-9],sweep, with a comma,,90,Unknown,100,0,1,,CANCELLED by 1000\n"
        "101,train,cn[01-02,07],100,110,170,60,2,cpu=8,mem=4G,node=2,COMPLETED\n"
        "102,test,cn[1,3],gn9,105,120,150,30,1,cpu=1,node=1,FAILED\n",
        JOBS,
        "3 rows were put together again (line 2, 3, 4): ",
    ),
    "line breaks in names": Read(
        PLAIN.replace("train", "tr\n\nain").replace("test", "te|\nst\n"), JOBS, "2 rows were put together again"
    ),
    "line breaks in the last column": Read(
        "JobID|Submit|Start|ElapsedRaw|NNodes|Comment\n101|100|110|60|2|first\nsecond | third\n\n"
        "102|105|120|30|1|\nfourth",
        JOBS,
        "2 rows were put together again (line 2, 5): ",
    ),
    "an array": Read(
        "JobID|JobIDRaw|Submit|Start|ElapsedRaw|NNodes|State\n"
        "100_1|101|100|110|60|2|COMPLETED\n100_2|102|105|120|30|1|FAILED\n100_[3-9%2]|100|100|Unknown|0|1|PENDING\n",
        JOBS,
    ),
    "a heterogeneous job and its steps": Read(
        "JobID|JobIDRaw|Submit|Start|ElapsedRaw|NNodes|State\n"
        "101+0|101|100|110|60|2|COMPLETED\n101+0.batch|101.batch|110|110|60|1|COMPLETED\n"
        "101+0.0|101.0|110|110|60|2|COMPLETED\n101+1|102|105|120|30|1|COMPLETED\n",
        JOBS,
        "2 components of heterogeneous jobs",
    ),
    "requeued": Read(
        "JobID|Submit|Start|ElapsedRaw|NNodes|State\n101|100|110|60|2|NODE_FAIL\n101|170|200|30|2|COMPLETED\n",
        [(101, 0, 60, 2), (102, 70, 30, 2)],
        "1 requeued job, the later run: renumbered, from 102 on",
    ),
    "of a federation": Read(
        "JobID|Cluster|Submit|Start|ElapsedRaw|NNodes|State\n67108865|a|100|110|60|2|COMPLETED\n"
        "67108865|b|100|Unknown|0|2|REVOKED\n134217730|b|105|120|30|1|COMPLETED\n",
        [(67108865, 0, 60, 2), (134217730, 5, 30, 1)],
        "jobs of 2 clusters (a, b)",
    ),
}

REFUSED = {
    "two ways": (
        "JobID|Comment|SubmitLine|Submit|ElapsedRaw|NNodes\n1|x|sbatch a|sbatch b|5|6|7\n2|x||5|6|7\n",
        "line 2: 7 fields, and the header names 6.*List again without Comment and SubmitLine",
    ),
    "cut short": (PLAIN[:-20], "line 3: 5 fields, and the header names 9; is the file cut short"),
    "a row begun twice": (PLAIN + "103|a|ann\n104|b|ann|gpu|1|2|3|4|FAILED\n", "line 4: 3 fields"),
    "padded": (
        "       JobID    JobName     Submit\n------------ ---------- ----------\n101   train  100\n",
        "padded with blanks, and what is long is cut; list with sacct -P",
    ),
    "a bar in a state": (PLAIN.replace("COMP", "COMP|"), "line 2: 10 fields.*List again without JobName"),
    "without names": (swapped(";", PLAIN.split("\n", 1)[1]), "line 1: is a job, not the names of the columns"),
    "an open quote": (swapped(",").replace("train", '"train'), "line 2: cannot be read"),
}


def write(tmp_path, text, name="jobs.csv"):
    (tmp_path / name).write_text(text)
    return tmp_path / name


@pytest.mark.parametrize("shape", READ)
@pytest.mark.parametrize("name", ["jobs.csv", "jobs.sacct", "dump.txt"])
def test_what_sites_have_is_read(tmp_path, shape, name):
    one = READ[shape]
    w = fb.read(write(tmp_path, one.text, name))
    assert w.jobs.select("id", "submit", "run_time", "nodes").rows() == one.jobs
    assert any(one.note in note for note in w.notes)
    assert ("put together" in one.note) == any("put together" in note for note in w.notes)


@pytest.mark.parametrize("shape", REFUSED)
def test_what_has_no_single_reading_is_refused(tmp_path, shape):
    text, says = REFUSED[shape]
    with pytest.raises(InputError, match=says):
        fb.read(write(tmp_path, text))
    if "line 1:" not in says and "cannot be read" not in says and "padded" not in says:
        assert fb.read(write(tmp_path, text), skip_bad_lines=True).dropped["cannot be read"] == 1


def test_words_of_a_row_that_was_put_together_stand_in_their_columns(tmp_path):
    text = PLAIN.replace("train", "a|b").replace("test", "c\nd|e")
    w = fb.read(write(tmp_path, text))
    assert w.names["user"] == {1: "ann", 2: "bob"}
    assert w.names["queue"] == {1: "gpu", 2: "cpu"}


def test_rows_broken_where_blocks_meet_are_put_together(tmp_path, monkeypatch):
    from forebay.workload.formats import _sacct_rows

    text = PLAIN + "".join(f"{k}|na\nme {k}\n|ann|gpu|{k}|{k + 9}|5|1|COMPLETED\n" for k in range(200, 230))
    whole = fb.read(write(tmp_path, text))
    for size in (1, 7, 64, 1000):
        monkeypatch.setattr(_sacct_rows, "_BLOCK", size)
        assert fb.read(write(tmp_path, text)).jobs.equals(whole.jobs)
    assert len(whole) == 32


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.text("ab|;,\n \t'1_", max_size=8), min_size=2, max_size=2), st.sampled_from("|;,\t"))
def test_names_of_any_text_change_no_other_column(tmp_path_factory, names, delimiter):
    """Read as with plain names, or refused; never as something else."""
    text = PLAIN.replace("|", delimiter).replace("train", names[0]).replace("test", names[1])
    try:
        w = fb.read(write(tmp_path_factory.mktemp("any"), text))
    except InputError:
        return
    assert w.jobs.select("id", "submit", "run_time", "nodes").rows() == JOBS
    assert w.names["user"] == {1: "ann", 2: "bob"}


PAGES = ("reference/formats/sacct.md", "tutorial/five-minutes.md", "guides/for-operators.md")


@pytest.mark.parametrize("page", PAGES)
def test_pages_list_jobs_by_one_command(page):
    text = (Path(__file__).parents[3] / "docs" / page).read_text()
    listings = [block for block in re.findall(r"```\w*\n(.*?)```", text, re.DOTALL) if "--format=" in block]
    assert [block for block in listings if "sacct -" in block and "bad.sacct" not in block] == [sacct.COMMAND]


def test_the_command_lists_what_is_read(tmp_path):
    names = "".join(sacct.COMMAND.split("--format=")[1].split(" >")[0].split("\\\n"))
    values = {"JobID": "1", "Submit": "5", "Start": "6", "ElapsedRaw": "7", "NNodes": "2", "NCPUS": "8"}
    values |= {"AllocTRES": "cpu=8,node=2,gres/gpu=4", "Account": "phys", "QOS": "normal", "Constraints": "ib"}
    row = "|".join(values.get(name, "") for name in names.split(","))
    w = fb.read(write(tmp_path, f"{names.replace(',', '|')}\n{row}\n"))
    assert w.jobs.select("id", "run_time", "nodes", "cores", "gpus").rows() == [(1, 7, 2, 8, 4)]
    assert w.names.keys() == {"group", "account", "qos", "features"}


def test_a_machine_with_gpus_asks_for_those_of_the_trace(tmp_path):
    machine = "flat:nodes=2,cores=4,gpus=2,sharing=true"
    text = PLAIN.replace("NNodes", "NNodes|NCPUS|AllocTRES").replace("|2|C", "|2|4|%s|C").replace("|1|F", "|1|2||F")
    told = "has 4 GPUs, and no job asks for any"
    for tres, expected in (("node=2", True), ("gres/gpu=2", False)):
        notes = resource_notes(fb.read(write(tmp_path, text % tres)), fb.platforms.load(machine))
        assert any(told in note for note in notes) == expected
