"""`sacct --json`: both layouts say what `sacct -P` says of the same jobs; what is refused, and where."""

import json
import math
from pathlib import Path
from random import Random

import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.workload.formats import sacct

pytestmark = pytest.mark.small

GIB = 2**30


def tres(**counts):
    """A list as Slurm writes it: `gres_gpu` stands for gres/gpu."""
    found = []
    for name, count in counts.items():
        kind, _, which = name.partition("_")
        found.append({"type": kind, "name": which.replace("__", ":"), "id": 1, "count": count})
    return found


def wrapped(number, infinite=False):
    return {"set": number is not None, "infinite": infinite, "number": number or 0}


def older(number=7, **changes):
    """A record of data parser 0.0.37: plain numbers, one state, null for what is not there."""
    record = {
        "account": "phys",
        "allocation_nodes": 2,
        "array": {"job_id": 0, "limits": {"max": {"running": {"tasks": 0}}}, "task": None, "task_id": None},
        "association": {"account": "phys", "cluster": "c", "partition": None, "user": "ann"},
        "constraints": None,
        "time": {
            **{"elapsed": 60, "eligible": 100, "end": 170, "start": 110, "submission": 100, "suspended": 0},
            "limit": 2,
        },
        "group": "staff",
        "het": {"job_id": 0, "job_offset": None},
        "job_id": number,
        "partition": "long",
        "priority": 5,
        "qos": "normal",
        "required": {"CPUs": 8, "memory": 1024},
        "state": {"current": "COMPLETED", "reason": "None"},
        "steps": [{"step": {"job_id": number, "id": "batch"}}],
        "tres": {"allocated": tres(cpu=8, mem=2048, node=2, billing=8, gres_gpu=4, gres_gpu__a100=4), "requested": []},
        "user": "ann",
    }
    return record | changes


def newer(number=7, **changes):
    """A record of data parser 0.0.40: numbers that may be unset or infinite, a list of states."""
    record = older(number)
    record |= {
        "array": {"job_id": 0, "task_id": wrapped(None), "task": ""},
        "time": record["time"] | {"limit": wrapped(2)},
        "het": {"job_id": 0, "job_offset": wrapped(None)},
        "priority": wrapped(5),
        "required": {"CPUs": 8, "memory_per_cpu": wrapped(None), "memory_per_node": wrapped(1024)},
        "state": {"current": ["COMPLETED"], "reason": "None"},
        "constraints": "",
        "submit_line": "sbatch x.sh",
    }
    return record | changes


@pytest.fixture
def read(tmp_path):
    def put(*records, name="jobs.json", **more):
        path = tmp_path / name
        path.write_text(json.dumps({"jobs": list(records), "meta": {"slurm": {"cluster": "c"}}, "errors": []}))
        return fb.read(path, **more)

    return put


@pytest.mark.parametrize("record", [older, newer])
def test_both_layouts_say_what_the_listing_says(read, tmp_path, record):
    listing = tmp_path / "jobs.sacct"
    listing.write_text(
        "JobID|User|Group|Account|Partition|QOS|Priority|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|NNodes|"
        "AllocTRES|State\n"
        "7|ann|staff|phys|long|normal|5|100|100|110|170|60|2|2|cpu=8,mem=2G,node=2,gres/gpu=4,gres/gpu:a100=4|COMPLETED\n"
    )
    plain, found = fb.read(listing), read(record())
    assert found.jobs.equals(plain.jobs)
    assert (found.names, found.epoch, found.platform) == (plain.names, plain.epoch, plain.platform)
    assert found.provenance == ("read jobs.json (sacct, 1 record)",)


@pytest.mark.parametrize("record", [older, newer])
def test_arrays_and_components(read, record):
    task = (lambda number: number) if record is older else wrapped
    w = read(
        record(10, array={"job_id": 9, "task_id": task(1)}),
        record(11, array={"job_id": 9, "task_id": task(0)}),
        record(12, het={"job_id": 12, "job_offset": task(0)}),
        record(13, het={"job_id": 12, "job_offset": task(1)}),
    )
    columns = ["id", "array", "array_task", "het", "het_offset"]
    assert w.jobs.select(columns).rows() == [
        (10, 9, 1, -1, -1),
        (11, 9, 0, -1, -1),
        (12, -1, -1, 12, 0),
        (13, -1, -1, 12, 1),
    ]


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [(None, math.inf), (2, 120), (wrapped(None), math.inf), (wrapped(None, True), math.inf), (2**32 - 1, math.inf)],
)
def test_limits_may_be_unset_or_infinite(read, limit, seconds):
    record = newer()
    record["time"] |= {"limit": limit}
    assert read(record).jobs["walltime"].to_list() == [seconds]


@pytest.mark.parametrize(
    ("required", "memory"),
    [
        ({"CPUs": 8, "memory_per_cpu": wrapped(512), "memory_per_node": wrapped(None)}, 4 * GIB),
        ({"CPUs": 8, "memory_per_cpu": wrapped(None), "memory_per_node": wrapped(512)}, GIB),
        ({"CPUs": 8, "memory": 512}, GIB),
        ({"CPUs": 8, "memory": 512 + 2**63}, 4 * GIB),  # the bit for "of each CPU"
    ],
)
def test_memory_required_where_none_is_allocated(read, required, memory):
    w = read(newer(required=required, tres={"allocated": tres(cpu=8, node=2), "requested": []}))
    assert w.jobs["memory"].to_list() == [memory]


def test_what_never_started_or_has_not_ended(read):
    time = older()["time"]
    waiting = newer(8, state={"current": ["PENDING"]}, time=time | {"start": 0, "end": 0, "elapsed": 0})
    gone = newer(9, state={"current": ["CANCELLED"]}, time=time | {"start": 0, "end": 150, "elapsed": 0})
    running = newer(10, state={"current": ["RUNNING"]}, time=time | {"end": 0})
    w = read(newer(7), waiting, gone, running)
    assert w.jobs.select("id", "run_time").rows() == [(7, 60), (10, 120)]
    assert w.dropped == {"still pending": 1, "cancelled before it started": 1}
    assert read(newer(7), gone, cancelled="keep").jobs["cancel"].to_list() == [math.inf, 50]


@pytest.mark.parametrize(
    ("record", "says"),
    [
        (newer(time={"submission": "soon"}), "record 2: 'submission' is 'soon'; it must be a number"),
        (newer(time=5), "record 2: 'time' is 5; it must be an object"),
        (newer(user=7), "record 2: 'user' is 7; it must be text"),
        (newer(tres={"allocated": 3}), "record 2: 'allocated' is 3; it must be a list"),
        (newer(tres={"allocated": [3]}), "record 2: 'allocated' has 3; it must be an object"),
        (17, "record 2: is 17; it must be an object"),
        (newer(None), "record 2: the JobID is empty"),
        (newer(allocation_nodes=1.5), "record 2: NNodes is '1.5'; it must be a whole number"),
        (newer(user="\ud83d"), "record 2: 'user' has half a character"),
    ],
)
def test_a_record_that_cannot_be_read_is_refused_by_its_number_or_left_out(read, record, says):
    with pytest.raises(InputError, match=says):
        read(newer(6), record)
    left = read(newer(6), record, newer(7), skip_bad_lines=True)
    assert left.jobs["id"].to_list() == [6, 7]
    assert left.dropped == {"cannot be read": 1}
    assert left.notes[0].startswith(
        f"1 record is left out, as it cannot be read: {says.split(';')[0].replace(': ', ' (', 1)}"
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"meta": {"slurm": 1}, "jobs": [', r"line 1, column \d+: not JSON"),
        ('{"meta": {"slurm": 1}, "jobs": [{}, ]}', r"not JSON \(a comma before the end\)"),
        ('{"meta": {"slurm": 1}, "jobs": []} x', r"not JSON \(something follows the end\)"),
        ('{"meta": {"slurm": 1}, "jobs" []}', "not JSON .expecting ':'"),
        ('{"meta": {"slurm": 1}}', "has no list 'jobs'"),
        ('{"meta": {"slurm": 1}, "jobs": []}', "holds no job; list jobs"),
        ('{"meta": {"slurm": ' + "[" * 100_000, "nest too deep"),
        ('{"meta": {"slurm": ' + "9" * 10_000 + '}, "jobs": []}', "thousands of digits"),
        (b'{"slurm": "\xff"}', "not text at byte"),
    ],
)
def test_what_is_no_such_document_is_refused(tmp_path, text, says):
    path = tmp_path / "x.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=says):
        fb.read(path)


def test_slurms_json_is_told_from_batsims_by_content(read, tmp_path):
    assert read(newer(), name="jobs").name == "jobs"
    assert read(newer(), name="jobs.sacct").name == "jobs"
    table1 = tmp_path / "table1.json"
    fb.write(fb.read("table1"), table1)
    assert not sacct.claims(table1.read_bytes()[:4096])
    assert len(fb.read(table1)) == 8


def test_blocks_of_records_make_no_difference(read, monkeypatch):
    rng = Random(3)
    records = [
        newer(k, user=rng.choice(["ann", "bob"]), tres={"allocated": tres(cpu=rng.randrange(1, 9), node=2)})
        for k in range(1, 40)
    ]
    whole = read(*records)
    monkeypatch.setattr("forebay.workload.formats._sacct_json._BLOCK", 7)
    told = []
    again = read(*records, progress=lambda done, size: told.append((done, size)))
    assert again.jobs.equals(whole.jobs)
    assert again.names == whole.names
    assert len(told) == 6
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]


def test_what_a_real_slurm_printed_of_the_same_jobs():
    """15 jobs on a throw-away Slurm 22.05, told by `sacct --json` and by `sacct -P`: arrays, components, a job that
    timed out, one still running, one pending, some that never ran. Priorities are in the document alone, and groups
    stand there beside accounts."""
    document, listing = (fb.read(Path(__file__).with_name(f"sacct_22_05.{ending}")) for ending in ("json", "csv"))
    assert document.dropped == listing.dropped
    assert document.records == listing.records == 15
    assert document.epoch == listing.epoch
    assert document.jobs.drop("priority", "group").equals(listing.jobs.drop("priority", "group"))
    for column in ("user", "queue", "account", "qos"):
        assert document.names[column] == listing.names[column]
