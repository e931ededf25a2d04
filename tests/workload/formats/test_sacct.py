"""sacct listings: what each column becomes, which records are left out, what is refused and where; the real sample."""

import math
from dataclasses import replace

import polars as pl
import pytest

import forebay as fb
from cases import specs
from forebay.core.schemas import PHASE_SCHEMA
from forebay.errors import InputError
from forebay.workload.formats import sacct
from forebay.workload.info import describe
from forebay.workload.operations import attach_table, first
from forebay.workload.workload import Workload, job_table

small = pytest.mark.small

HEAD = "JobID|Submit|Start|End|ElapsedRaw|Timelimit|NNodes|State"
GIB = 2**30


@pytest.fixture
def file(tmp_path):
    def put(content, name="jobs.sacct"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


@pytest.fixture
def read(file):
    return lambda *lines: sacct.read(file("\n".join(lines) + "\n"))


def job(name="1", submit="100", start="110", end="170", elapsed="60", limit="00:02:00", nodes="2", state="COMPLETED"):
    return "|".join([name, submit, start, end, elapsed, limit, nodes, state])


def one(read, column, value):
    """The only job of a file with one more column."""
    return read(f"{HEAD}|{column}", f"{job()}|{value}").jobs.row(0, named=True)


@small
def test_every_column_comes_from_its_own(read):
    w = read(f"{HEAD}|User|Account|Partition|Priority", job("7") + "|ann|phys|long|5", job("8", "105") + "|bob|phys||")
    assert w.jobs.select("id", "submit", "run_time", "walltime", "nodes").rows() == [
        (7, 0, 60, 120, 2),
        (8, 5, 60, 120, 2),
    ]
    assert w.jobs.select("user", "group", "queue", "priority").rows() == [(1, 1, 1, 5), (2, 1, -1, 0)]
    assert (w.epoch, w.records, w.dropped, w.name) == (100.0, 2, {}, "jobs")
    assert w.platform == "flat:nodes=4"
    assert w.provenance == ("read jobs.sacct (sacct, 2 records)",)


@small
def test_the_machine_is_what_was_in_use_at_once_and_an_end_frees_for_a_start_of_that_second(read):
    w = read(HEAD, job("1", nodes="3"), job("2", start="170", end="230", nodes="5"), job("3", start="120", nodes="1"))
    assert w.platform == "flat:nodes=6"  # 3 + 1 until 170; then 5 + 1, until 180
    assert any("most nodes in use at once, 6" in note for note in w.notes)


@small
@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1-02:03:04", 93784),
        ("02:03:04", 7384),
        ("90", 5400),
        ("1-12", 129600),
        ("30:30", 1830),
        ("UNLIMITED", math.inf),
        ("Partition_Limit", math.inf),
        ("", math.inf),
        ("00:00:00", math.inf),
    ],
)
def test_time_limits(read, text, seconds):
    assert read(HEAD, job(limit=text)).jobs["walltime"][0] == seconds


@small
def test_jobs_without_a_time_limit_are_noted_by_what_stood_there(read):
    w = read(HEAD, job("1", limit="UNLIMITED"), job("2", limit=""), job("3", limit="UNLIMITED"), job("4"))
    assert w.notes[0] == "3 jobs without a time limit (2 UNLIMITED, 1 none given): the walltime is infinite"
    w = read("JobID|Submit|ElapsedRaw|NNodes", "1|5|6|7")
    assert "no column Timelimit" in w.notes[0]
    assert w.platform is None


@small
def test_raw_limits_are_minutes(read):
    w = read("JobID,Submit,Elapsed,NNodes,TimelimitRaw", "1,5,00:00:30,7,2")
    assert w.jobs.select("run_time", "walltime").row(0) == (30, 120)


@small
def test_the_run_time_is_the_first_of_elapsedraw_elapsed_and_end_less_start(read):
    assert read("JobID|Submit|Elapsed|NNodes", "1|5|1-00:00:01|7").jobs["run_time"][0] == 86401
    assert read("JobID|Submit|Start|End|NNodes", "1|5|10|25|7").jobs["run_time"][0] == 15


@small
def test_eligible_is_the_arrival_where_known(read):
    w = read(f"{HEAD}|Eligible", job("1", "100") + "|105", job("2", "101") + "|Unknown")
    assert w.jobs.select("id", "submit").rows() == [(2, 0), (1, 4)]
    assert w.epoch == 101


@small
@pytest.mark.parametrize("zone", ["", "+01:00", "-0500"])
def test_dates_are_utc_unless_they_say_otherwise(read, zone):
    head, at = "JobID|Submit|Elapsed|NNodes", {"": "00:00", "+01:00": "01:00", "-0500": "19:00"}[zone]
    day = "2023-12-31" if zone == "-0500" else "2024-01-01"
    w = read(head, f"1|{day}T{at}:00{zone}|00:01:00|1", f"2|{day}T{at}:10{zone}|00:01:00|1")
    assert w.epoch == 1704067200
    assert w.jobs["submit"].to_list() == [0, 10]
    assert any("UTC" in note for note in w.notes) == (zone == "")
    with pytest.raises(InputError, match=r"line 3: Submit is a .*, but times from line 2 on were a .*one way"):
        read(head, "1|2024-01-01T00:00:00|00:01:00|1", f"2|2024-01-01T00:00:00{zone or 'Z'}|00:01:00|1")


@small
def test_records_that_are_no_job_that_ran_are_left_out_by_reason(read):
    w = read(
        HEAD,
        job("1"),
        job("1.batch"),
        job("1.0"),
        job("2", start="None", elapsed="0", state="CANCELLED by 1000"),
        job("3", start="Unknown", end="Unknown", elapsed="0", state="PENDING"),
        job("4_[5-9%2]", start="Unknown", end="Unknown", elapsed="0", state="PENDING"),
        job("5", end="Unknown", state="RUNNING"),
        job("6", elapsed="0", state="FAILED"),
        job("7", nodes="0"),
        job("8", state="CANCELLED by 1000"),
        job("9", start="None", elapsed="0", state="BOOT_FAIL"),
    )
    assert w.jobs["id"].to_list() == [1, 5, 8]
    assert w.dropped == {
        "job step": 2,
        "cancelled before it started": 1,
        "still pending": 6,  # five of them in one record
        "run time not positive": 1,
        "no nodes": 1,
        "never started": 1,
    }


@small
def test_arrays_components_and_requeues_are_numbered_beyond_the_largest(read):
    w = read(HEAD, job("20"), job("10_1"), job("10_2"), job("11+0"), job("11+1"), job("20", "300"))
    assert w.jobs["id"].to_list() == [20, 21, 22, 23, 24, 25]
    assert w.notes[:3] == (
        "2 array tasks: renumbered, from 21 on; each is a job of its own",
        "2 components of heterogeneous jobs: renumbered, from 21 on; each is a job of its own",
        "1 requeued job, the later run: renumbered, from 21 on; each is a job of its own",
    )


@small
def test_new_numbers_are_not_those_of_records_left_out(read):
    """Else a table keyed by Slurm's numbers would be taken for other jobs."""
    pending = job("31", state="PENDING")
    w = read(HEAD, job("30"), job("30", "300"), pending, "32.batch" + job("")[0:], job("10_1"))
    assert w.jobs["id"].to_list() == [30, 34, 33]


@small
def test_raw_ids_are_taken_where_listed(read):
    w = read(f"{HEAD}|JobIDRaw", job("10_1") + "|12", job("10_2") + "|10")
    assert w.jobs["id"].to_list() == [10, 12]


@small
def test_tres_give_nodes_and_demands(read):
    w = read(
        "JobID|Submit|ElapsedRaw|ReqTRES|AllocTRES",
        "1|5|6|cpu=1,mem=1G|cpu=36,mem=60G,node=3,billing=36,license/foo=2,bb/datawarp=100G,gres/gpu=4,gres/gpu:a=4",
        "2|5|6|cpu=8,mem=512M,node=2|",
    )
    assert w.jobs["nodes"].to_list() == [3, 2]
    assert w.resources == ("cores", "memory", "gpus", "license_foo", "burst_buffer")
    assert w.jobs.select(w.resources).rows() == [(36, 60 * GIB, 4, 2, 100 * GIB), (8, GIB // 2, 0, 0, 0)]
    assert (w.jobs["gpu"].to_list(), w.names["gpu"]) == ([1, -1], {1: "a"})
    assert any(note.startswith("memory is a demand") for note in w.notes)


@small
@pytest.mark.parametrize(
    ("text", "size"), [("4Gn", 8 * GIB), ("1Gc", 5 * GIB), ("3G", 3 * GIB), ("2048", 2 * GIB), ("", 0)]
)
def test_requested_memory_is_a_job_total(read, text, size):
    w = read(f"{HEAD}|NCPUS|ReqMem", f"{job()}|5|{text}", f"{job('2')}|5|1G")
    assert w.jobs["memory"][0] == size


@small
@pytest.mark.parametrize(
    ("tres", "gpus", "model"),
    [
        ("gres/gpu=4,gres/gpu:a100=4", 4, "a100"),
        ("gres/gpu:a100=2", 2, "a100"),
        ("gres/gpu=4", 4, None),
        ("gres/gpu=4,gres/gpu:a100=2", 4, None),  # the others are of any type
        ("gres/gpu:a100=2,gres/gpu:v100=1", 3, None),
    ],
)
def test_gpus_keep_their_type(read, tres, gpus, model):
    w = read(f"{HEAD}|AllocTRES", f"{job()}|node=2,{tres}")
    assert w.jobs["gpus"].to_list() == [gpus]
    assert w.names.get("gpu", {}) == ({1: model} if model else {})
    assert any("GPUs of several types" in note for note in w.notes) == ("v100" in tres)


@small
def test_cores_features_and_exclusive_nodes(read):
    w = read(
        f"{HEAD}|NCPUS|Constraints|SubmitLine",
        f"{job('1')}|72|ib&ssd|sbatch --exclusive -N 2 x.sh",
        f"{job('2')}|3|(null)|sbatch --exclusive=user x.sh",
        f"{job('3')}|4|ssd|",
    )
    assert w.jobs.select("cores", "exclusive", "features").rows() == [(72, 1, 1), (3, -1, -1), (4, -1, 2)]
    assert w.names["features"] == {1: "ib&ssd", 2: "ssd"}
    shared = read(f"{HEAD}|OverSubscribe", f"{job('1')}|NO", f"{job('2')}|OK", f"{job('3')}|")
    assert shared.jobs["exclusive"].to_list() == [1, 0, -1]


@small
def test_jobs_still_running_are_kept_with_their_limits(read):
    running = {"end": "Unknown", "state": "RUNNING"}
    w = read(
        HEAD,
        job("1", **running),
        job("2", elapsed="500", **running),  # beyond its limit already
        job("3", limit="UNLIMITED", **running),
        job("4", limit="UNLIMITED", elapsed="0", **running),
    )
    assert w.jobs.select("id", "run_time", "walltime").rows() == [(1, 120, 120), (2, 500, 120), (3, 60, math.inf)]
    assert w.dropped == {"still running, and nothing tells how long": 1}
    assert any(note.startswith("3 jobs were still running: taken to run as long as the walltime") for note in w.notes)


@small
def test_arrays_and_components_are_known_with_raw_numbers_too(read):
    w = read(f"{HEAD}|JobIDRaw", job("10_1") + "|12", job("10_2") + "|10", job("20+0") + "|20", job("20+1") + "|21")
    assert w.jobs.select("id", "array", "array_task", "het", "het_offset").rows() == [
        (10, 10, 2, -1, -1),
        (12, 10, 1, -1, -1),
        (20, -1, -1, 20, 0),
        (21, -1, -1, 20, 1),
    ]
    assert any("2 components of heterogeneous jobs are jobs of their own" in note for note in w.notes)


@small
def test_tasks_of_an_array_do_not_look_like_one_job_twice(read):
    head = f"{HEAD}|User"
    alone = read(head, job("1") + "|ann", job("2") + "|ann")
    array = read(head, job("1_1") + "|ann", job("1_2") + "|ann")
    assert any("equals an earlier one" in text for text in describe(alone)["findings"])
    assert not any("equals an earlier one" in text for text in describe(array)["findings"])


@small
def test_a_sidecar_may_name_tasks_and_components_as_slurm_does(read):
    w = read(HEAD, job("10_1"), job("10_2"), job("11+0"), job("12"))
    table = pl.DataFrame({"JobID": ["10_2", "11+0", "12", "99_1"], "burst_buffer": ["1GB", "2GB", "3GB", "4GB"]})
    attached = attach_table(w, table, "side.csv")
    given = dict(attached.jobs.select(pl.format("{}_{}+{}", "array_task", "het_offset", "id"), "burst_buffer").rows())
    assert [size for _, size in sorted(given.items())] == [3e9, 2e9, 0, 1e9]
    assert "1 row of side.csv is for a job not in the workload: not used" in attached.notes


@small
def test_jobs_that_share_nodes_are_told_by_their_cores(read):
    """Three jobs of 2 cores at once, later one of 8 on 2 nodes: in nodes the most is 3, in cores 2 nodes of 4."""
    w = read(f"{HEAD}|NCPUS", *(f"{job(str(k), nodes='1')}|2" for k in range(3)), f"{job('9', start='500')}|8")
    assert w.platform == "flat:nodes=3"
    assert any("8 cores were in use at once, 2 nodes of 4" in note for note in w.notes)


def test_cirrus_used_348_nodes_worth_of_cores_and_not_557(data):
    """12,534 cores are 348.2 nodes of 36."""
    w = fb.read(data / "slurm" / "cirrus_2024Q1_sacct_subset.csv.gz")
    assert any("12,534 cores were in use at once, 349 nodes of 36" in note for note in w.notes)


@small
def test_what_a_site_records_is_written_and_read_back(read, tmp_path):
    w = read(
        f"{HEAD}|JobIDRaw|NCPUS|AllocTRES|Constraints|OverSubscribe|User",
        f"{job('10_1')}|12|8|mem=1.5G,node=2,bb/x=2T,gres/gpu:a100=2,license/foo=3|ib&ssd|NO|ann",
        f"{job('11')}|11|4|mem=3,node=1,gres/gpu=1||OK|bob",
    )
    assert [note for note in fb.write(w, tmp_path / "x.sacct") if "platform" not in note] == []
    again = fb.read(tmp_path / "x.sacct")
    assert again.jobs.select(sorted(w.jobs.columns)).equals(w.jobs.select(sorted(w.jobs.columns)))
    assert again.names == w.names
    notes = fb.write(w, tmp_path / "x.swf")
    for lost in ("cores of 2 jobs", "gpus of 2 jobs", "gpu of 1 job", "features of 1 job", "exclusive of 2 jobs"):
        assert any(note.startswith(f"{lost} is not written") for note in notes), lost


@small
def test_cpus_stand_in_for_nodes_with_a_note(read):
    w = read("JobID|Submit|ElapsedRaw|NCPUS", "1|5|6|4K")
    assert w.jobs["nodes"][0] == 4096
    assert any("each CPU is taken as a node" in note for note in w.notes)


@small
def test_csv_bytes_order_marks_line_ends_and_trailing_delimiters_do_not_matter(file):
    plain = sacct.read(file(f"{HEAD}\n{job()}\n")).jobs
    assert sacct.read(file(b"\xef\xbb\xbf" + f"{HEAD}\r\n{job()}\r\n\r\n".encode())).jobs.equals(plain)
    assert sacct.read(file(f"{HEAD}|\n{job()}|\n")).jobs.equals(plain)
    commas = f"{HEAD}\n{job()}\n".replace("|", ",")
    assert fb.read(file(commas, "jobs.csv")).jobs.equals(plain)
    assert fb.read(file(commas.replace("State", '"State"').replace("COMPLETED", '"a,b"'), "j.txt")).jobs.equals(plain)


@small
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        (f"{HEAD}\n", "holds no job; list jobs that have started"),
        (f"{HEAD}\n{job(start='', state='RUNNING')}", r"holds no job: 1 record left out \(1 still running\)"),
        ("17_4|ann|100|110|60|2|COMPLETED\n", r"line 1: is a job, not the names.*; list again without -n"),
        ("17,ann,main,2025-03-01T00:00:00,60,2\n", r"line 1: is a job, not the names.*; list again without -n"),
        (f"{HEAD}\n{job()}\n2|100|11", "line 3: 3 fields, and the header names 8; is the file cut short"),
        (f"{HEAD}\n{job()}|x", "line 2: 9 fields, and the header names 8; does a value hold the delimiter"),
        (HEAD.replace("|", ";"), "holds no job"),
        (HEAD.replace("|", "  "), "line 1: columns are padded with blanks, and what is long is cut"),
        ("1 2 3", "line 1: is no header that names JobID"),
        (
            "JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n1 a b c R 1:00 1 n1",
            "line 1: is the header of squeue",
        ),
        (
            "   JOBID PARTITION     NAME  ST  TIME NODELIST(REASON)\n1 a b R 1:00 n1",
            "read what `scontrol show job` prints",
        ),
        ("JOBID|SUBMIT_TIME|TIME_LIMIT\n1|2024-01-31T08:00:00|1:00", "is the header of squeue, .*, or list with sacct"),
        ("JobID|State\n1|x", r"line 1: no column Submit \(or Eligible\), ElapsedRaw .*, NNodes"),
        ("JobID|Submit|jobid|Elapsed|NNodes\n", "line 1: the column JobID occurs twice"),
        (
            f"{HEAD}\n{job()}\n{job('2', '2024-01-01T00:00:00')}",
            "line 3: Submit is a calendar date, but times from line 2",
        ),
        (f"{HEAD}\n{job(submit='-5')}", "line 2: Submit is '-5', before 1970"),
        (f"{HEAD}\n{job(submit='1960-01-01T00:00:00')}", "line 2: Submit is '1960-01-01T00:00:00', before 1970"),
        (f"{HEAD}\n{job(submit='soon')}", "line 2: Submit is 'soon'; write a date"),
        (f"{HEAD}\n{job(submit='Mi 31 Jan 23:59')}", "line 2: Submit .*: list again with SLURM_TIME_FORMAT=standard"),
        (f"{HEAD}\n{job(submit='Unknown')}", "line 2: job 1 ran, but its Submit time is not known"),
        (f"{HEAD}\n{job(limit='long')}", "line 2: Timelimit is 'long'"),
        (f"{HEAD}\n{job(nodes='few')}", "line 2: NNodes is 'few'"),
        (f"{HEAD}\n{job(elapsed='x')}", "line 2: ElapsedRaw is 'x'"),
        (f"{HEAD}\n{job(name='')}", "line 2: the JobID is empty"),
        (f"{HEAD}|ReqMem\n{job()}|much", "line 2: ReqMem is 'much'"),
        (f"{HEAD}|ReqMem\n{job()}|1Gc", "line 2: ReqMem is '1Gc', for each CPU"),
        (f"{HEAD}|ReqTRES\n{job()}|cpu", "line 2: ReqTRES has 'cpu'"),
        (f"{HEAD}|Priority\n{job()}|high", "line 2: Priority is 'high'"),
        (f"{HEAD}\n".encode() + b"\xff\xfe", "line 2: 1 fields, and the header names"),
        ('JobID,Submit,Elapsed,NNodes\n1,"5', "line 2: cannot be read"),
        ('"JobID"x,Submit,Elapsed,NNodes\n1,5,6,7', "line 1: cannot be read .*is a quote too many"),
        ('JobID,Submit,Elapsed,"NNodes\n1,5,6,7', "line 1: cannot be read"),
        (f"{HEAD}\n{job(submit='9' * 400)}", r"line 2: Submit is '999.*\.\.\., over 1e\+10 s; is it in seconds"),
        (f"{HEAD}\n{job(elapsed='1e300')}", r"line 2: ElapsedRaw is '1e300', over 1e\+10 s"),
        (f"{HEAD}\n{job(limit='9' * 400)}", r"line 2: Timelimit is '999.*\.\.\., over 1e\+10 s"),
        (f"{HEAD}\n{job(limit='٣:00')}", "line 2: Timelimit is '٣:00'; write"),
        (f"{HEAD}\n{job(nodes='9' * 30)}", "line 2: NNodes is '9{30}'; it must be a whole number of 15 digits at most"),
        (f"{HEAD}\n{job(nodes='999999999999999G')}", r"line 2: job 1 has \d+ nodes, 1,000,000,000 at most"),
        (f"{HEAD}|ReqMem\n{job()}|{'9' * 400}E", "line 2: ReqMem is '999"),
        (f"{HEAD}|ReqMem\n{job()}|99999999E", "line 2: memory is more than can be counted in 64 bits"),
        (f"{HEAD}|ReqTRES\n{job()}|bb/a=5E,bb/b=5E", "line 2: burst_buffer is more than can be counted in 64 bits"),
        (f"{HEAD}|ReqTRES\n{job()}|license/a=999999999999999G", "line 2: license_a is more than can be counted"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(file, text, says):
    with pytest.raises(InputError, match=says):
        sacct.read(file(text))


@small
def test_written_files_read_back(tmp_path):
    default = fb.read("default")
    notes = fb.write(default, tmp_path / "x.sacct.gz")
    again = fb.read(tmp_path / "x.sacct.gz")
    kept = ["id", "submit", "run_time", "walltime", "nodes", "user", "group", "queue", "priority"]
    for name in kept:
        assert again.jobs[name].to_list() == pytest.approx(default.jobs[name].to_list(), abs=1e-6), name
    assert again.epoch == default.epoch
    assert again.jobs["burst_buffer"].to_list() == default.jobs["burst_buffer"].to_list()
    assert notes == [
        "communication of 2,231 jobs is not written",
        "the platform 'dragonfly-96' is not kept: name it again when you simulate",
    ]


def odd_job(**columns):
    base = {"id": [7], "submit": [0.0], "walltime": [9.0], "run_time": [5.0], "nodes": [2]}
    return Workload("w", job_table(base | columns), epoch=10.0)


@small
@pytest.mark.parametrize(
    ("w", "says"),
    [
        (odd_job(run_time=[0.0], flop=[1e9]), "job 7 has no run time in seconds; write .json"),
        (odd_job(run_time=[math.inf]), "job 7 has no run time in seconds"),
        (odd_job(run_time=[math.nan]), "job 7 has no run time in seconds"),
        (odd_job(submit=[math.inf]), "job 7 has no run time in seconds"),
        (replace(odd_job(), epoch=-1.0), "jobs arrive before 1970, which sacct cannot say; write .swf"),
    ],
)
def test_what_sacct_cannot_say_is_refused_and_nothing_is_written(tmp_path, w, says):
    with pytest.raises(InputError, match=says):
        sacct.write(w, tmp_path / "x.sacct")
    assert list(tmp_path.iterdir()) == []


@small
def test_what_sacct_cannot_hold_is_noted(tmp_path):
    w = odd_job(flop=[1.0], communication=[2.0], licences=[4], nothing=[0], tasks=[3])
    phases = pl.DataFrame([(7, 0, "compute", 5.0, 0.0, 0.0, 0.0, None)], PHASE_SCHEMA, orient="row")
    assert sacct.write(replace(w, phases=phases, platform="table1"), tmp_path / "x.sacct") == [
        "flop of 1 job is not written",
        "communication of 1 job is not written",
        "licences of 1 job is not written",
        "tasks of 1 job is not written",
        "legs and phases are not written: sacct has jobs only",
        "the platform 'table1' is not kept: name it again when you simulate",
    ]
    assert sacct.write(odd_job(walltime=[math.inf]), tmp_path / "y.sacct") == []
    assert (tmp_path / "y.sacct").read_text().splitlines()[1] == "7|10|5|UNLIMITED|2||||0"


@small
def test_bare_amounts_of_memory_burst_buffer_and_gpu_memory_are_in_megabytes(read):
    """As Slurm's own formatting of TRES takes them; it prints K, M, G, ... of 1024 otherwise."""
    w = read("JobID|Submit|ElapsedRaw|AllocTRES", "1|5|6|node=1,mem=3,bb/lua=2,gres/gpumem=4,gres/x=5")
    assert w.jobs.select("memory", "burst_buffer", "gres_gpumem", "gres_x").row(0) == (3 << 20, 2 << 20, 4 << 20, 5)
    w = read("JobID|Submit|ElapsedRaw|AllocTRES", "1|5|6|node=1,mem=1.50G,bb/lua=2T,gres/gpumem=31.50G")
    assert w.jobs.select("memory", "burst_buffer", "gres_gpumem").row(0) == (3 << 29, 2 << 40, 63 << 29)


@pytest.mark.parametrize("n_jobs", [300, pytest.param(11_434, marks=pytest.mark.full)])
def test_the_real_sample_runs_under_every_policy(data, n_jobs):
    w = fb.read(data / "slurm" / "cirrus_2024Q1_sacct_subset.csv.gz")
    assert (w.records, len(w)) == (11_635, 11_434)
    assert w.dropped == {"cancelled before it started": 199, "run time not positive": 2}
    for name in specs.WITHOUT_TIMES:  # its jobs have no applications
        jobs = fb.simulate(first(w, n_jobs), policy=name).jobs
        assert len(jobs) == n_jobs
        assert (jobs["starting_time"] >= jobs["submission_time"]).all(), name


def test_the_note_on_an_inferred_machine_is_of_runs_on_it_alone(read):
    w = read(HEAD, job("1", nodes="3"))
    inferred = [note for note in w.notes if "the machine's size is taken as" in note]
    assert len(inferred) == 1
    for platform, noted in ((None, True), ("flat:nodes=3", True), ("flat:nodes=9", False)):
        assert (inferred[0] in fb.simulate(w, platform, "fcfs").facts["notes"]) == noted
    unknown = read("JobID|Submit|ElapsedRaw|NNodes", "1|5|6|7")
    assert any("the machine's size is not known" in note for note in unknown.notes)
    notes = fb.simulate(unknown, "flat:nodes=9", "fcfs").facts["notes"]
    assert not any("the machine's size" in note for note in notes)


def test_a_quoted_list_of_resources_may_have_a_line_break(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text('JobID,Submit,Start,ElapsedRaw,NNodes,AllocTRES\n1,100,110,60,1,"cpu=4,\nnode=1"\n')
    assert fb.read(path).jobs["cores"].to_list() == [4]
