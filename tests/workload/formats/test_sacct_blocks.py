"""Listings read in whole columns: a plain reader, row by row, finds the same jobs; blocks and bad lines."""

import math
from random import Random

import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.workload.formats import _sacct_values as values
from forebay.workload.formats import sacct

small = pytest.mark.small

COLUMNS = (
    "JobID|User|Partition|Submit|Eligible|Start|End|Elapsed|Timelimit|NNodes|AllocNodes|NCPUS|ReqMem|ReqTRES|AllocTRES|"
    "State"
)
HEAD = "JobID|Submit|Start|End|ElapsedRaw|Timelimit|NNodes|State"


def lines(rng, count):
    """Rows with every way to write a value that Slurm has; times in order, so that jobs can be compared by place."""
    for k in range(1, count + 1):
        submit = 1_700_000_000 + 10 * k
        start = submit + rng.randrange(1000)
        run = rng.choice([0, 59, 3600, 86400 * 3 + 7])
        clock = f"{run // 3600:02d}:{run // 60 % 60:02d}:{run % 60:02d}" if run < 86400 else "3-00:00:07"
        state = rng.choice(["COMPLETED", "CANCELLED by 7", "OUT_OF_ME+", "RUNNING", "PENDING", "FAILED", ""])
        yield "|".join(
            [
                rng.choice([str(k), f"{k}.batch", f"{k}_3", f"{k}+1"]),
                rng.choice(["ann", "bob", ""]),
                rng.choice(["long", "", "gpu"]),
                str(submit),
                rng.choice(["Unknown", "", str(submit), "0"]),
                rng.choice(["None", str(start), str(start)]),
                rng.choice(["Unknown", str(start + run)]),
                rng.choice([clock, clock, ""]),
                rng.choice(["UNLIMITED", "", "30", "1-12", "01:02:03", "30:30", "2-03:04:05"]),
                rng.choice(["", "0", "2", "1K"]),
                rng.choice(["", "3"]),
                rng.choice(["", "4", "72"]),
                rng.choice(["", "4Gn", "512", "1.5G"]),
                rng.choice(["", "cpu=2,mem=1G,node=1", "node=2,bb/x=7G,license/a=1"]),
                rng.choice(["", "cpu=5,node=3,gres/gpu:a100=2", "cpu=5,mem=3Gn,node=3"]),
                state,
            ]
        )


def plainly(rows, columns=COLUMNS):
    """Jobs by their submit time, one row after the other, as the reference describes each column."""
    found = {}
    for words in rows:
        row = dict(zip(columns.split("|"), words.split("|"), strict=True))
        state = row["State"].split(" ")[0].rstrip("+")
        if "." in row["JobID"] or state == "PENDING":
            continue
        time = {name: values.moment("" if row[name] == "0" else row[name]) for name in ("Eligible", "Start", "End")}
        submit = time["Eligible"][0] if time["Eligible"] else float(row["Submit"])
        start, end = (time[name] and time[name][0] for name in ("Start", "End"))
        run = values.duration(row["Elapsed"]) if row["Elapsed"] else end - start if start and end else 0
        limit = values.time_limit(row["Timelimit"])
        if state == "RUNNING":
            run = max(run, limit) if math.isfinite(limit) else run
        if start is None or run <= 0:
            continue
        need = values.tres(row["ReqTRES"], row["AllocTRES"])
        cpus = values.count(row["NCPUS"]) or need.cpus
        nodes = values.count(row["NNodes"]) or values.count(row["AllocNodes"]) or need.nodes or cpus
        if not nodes:
            continue
        size, each = need.memory or values.memory(row["ReqMem"])
        memory = size * {"": 1, "n": nodes, "c": cpus}[each]
        amounts = tuple(need.amounts[name] for name in ("burst_buffer", "license_a"))
        found[submit] = (
            run,
            limit,
            nodes,
            start,
            cpus or 0,
            memory,
            need.gpus,
            *amounts,
            row["User"],
            row["Partition"],
        )
    return found


@small
@pytest.mark.parametrize("seed", range(6))
def test_a_plain_reader_finds_the_same_jobs(tmp_path, seed, monkeypatch):
    monkeypatch.setattr("forebay.workload.formats._sacct_rows._BLOCK", 3000)  # some 30 rows
    rows = list(lines(Random(seed), 300))
    path = tmp_path / "x.sacct"
    path.write_text("\n".join([COLUMNS, *rows]) + "\n")
    w = fb.read(path)
    expected = plainly(rows)
    assert len(w) == len(expected) > 50
    assert len(w) + sum(w.dropped.values()) == w.records == 300
    who = [[w.names[name].get(number, "") for number in w.jobs[name]] for name in ("user", "queue")]
    columns = [
        "run_time",
        "walltime",
        "nodes",
        "recorded_start",
        "cores",
        "memory",
        "gpus",
        "burst_buffer",
        "license_a",
    ]
    jobs = w.jobs.with_columns(w.jobs["recorded_start"] + w.epoch).select(columns).rows()
    for submit, job, user, queue in zip(w.jobs["submit"] + w.epoch, jobs, *who, strict=True):
        assert (*job, user, queue) == expected[submit]


@small
def test_the_first_line_that_cannot_be_read_is_named_whatever_is_wrong_with_later_ones(tmp_path):
    rows = ["1|100|110|170|60|2|few|COMPLETED", "2|soon|110|170|60|2|2|COMPLETED", "3|100"]
    for order, says in ((rows, "line 2: NNodes"), (rows[::-1], "line 2: 2 fields"), (rows[1:], "line 2: Submit")):
        (tmp_path / "x.sacct").write_text("\n".join([HEAD, *order]))
        with pytest.raises(InputError, match=says):
            sacct.read(tmp_path / "x.sacct")


@small
def test_bad_lines_of_a_listing_are_left_out_counted_and_named(tmp_path):
    good = "|100|110|170|60|2|2|COMPLETED"
    rows = [f"1{good}", "2|soon|110|170|60|2|2|COMPLETED", "3|2024-01-01T00:00:00|110|170|60|2|2|x", "4|7", f"5{good}"]
    path = tmp_path / "x.sacct"
    path.write_bytes("\n".join([HEAD, *rows, ""]).encode() + b"\xff|1\n6" + good.encode())
    w = fb.read(path, skip_bad_lines=True)
    assert w.jobs["id"].to_list() == [1, 5, 6]
    assert (w.records, w.dropped) == (7, {"cannot be read": 4})
    assert w.notes[0] == (
        "4 lines are left out, as they cannot be read: line 3 (Submit is 'soon'), line 4 (Submit is a calendar date, "
        "but times from line 2 on were seconds since 1970), line 5 (2 fields, and the header names 8), and 1 more"
    )
    with pytest.raises(InputError, match="line 3: Submit is 'soon'"):
        fb.read(path)


@small
def test_bad_lines_of_swf_are_left_out_counted_and_named(tmp_path):
    rest = "-1 10 4 -1 -1 4 60 -1 1 1 1 -1 1 -1 -1 -1"
    rows = [f"1 0 {rest}", "2 5 x", f"3 six {rest}", f"1 7 {rest}", f"4.5 8 {rest}", f"5 9 {rest}"]
    path = tmp_path / "x.swf"
    path.write_text("\n".join(rows) + "\n")
    w = fb.read(path, skip_bad_lines=True)
    assert w.jobs.select("id", "submit").rows() == [(1, 0), (5, 9)]
    assert (w.records, w.dropped) == (6, {"cannot be read": 4})
    assert w.notes[0].startswith(
        "4 lines are left out, as they cannot be read: line 2 (3 fields, and SWF has 18), line 3 ("
    )
    with pytest.raises(InputError, match="line 2: 3 fields, and SWF has 18"):
        fb.read(path)


@small
def test_a_file_of_bad_lines_alone_holds_no_job(tmp_path):
    (tmp_path / "x.sacct").write_text(f"{HEAD}\n1|2\n")
    with pytest.raises(InputError, match=r"holds no job: 1 record left out \(1 cannot be read\)"):
        fb.read(tmp_path / "x.sacct", skip_bad_lines=True)
