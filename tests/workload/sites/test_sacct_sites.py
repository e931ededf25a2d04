"""Twenty listings in the shapes that sites have, all columns of them: read by hand, or refused with line and cure.

Columns and their forms are those of sacct's manual; jobs are made up.
"""

import math
import re
from dataclasses import dataclass, field

import pytest

import forebay as fb
from forebay.errors import InputError

pytestmark = pytest.mark.small

MIB, GIB = 2**20, 2**30
COLUMNS = ("id", "submit", "run_time", "walltime", "nodes", "cores")


@dataclass
class Site:
    """A file; the jobs in it, by COLUMNS; more of their columns; what is left out; a note."""

    text: str | bytes
    jobs: list[tuple[float, ...]]
    more: dict[str, list[float]] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    note: str = ""


def rows(head, *lines, delimiter="|"):
    return "\n".join([head, *lines]).replace("|", delimiter) + "\n"


DAY, HOUR = 86400, 3600
FULL = (
    "JobID|JobIDRaw|UID|User|GID|Group|Account|Partition|QOS|Priority|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|"
    "NNodes|NCPUS|ReqMem|ReqTRES|AllocTRES|Constraints|Reason|State"
)
"""As the command of the pages lists."""
ANN = "1001|ann|1001|phys|phys|std|normal|4500"
BOB = "1002|bob|1002|chem|chem|gpu|long|20"
OLD = "JobID|User|Partition|Submit|Start|End|Elapsed|Timelimit|NNodes|NCPUS|ReqMem|State"
"""Slurm before 21.08: memory of a node or a core."""
LONG = (
    "Account|AllocCPUS|Cluster|Elapsed|ElapsedRaw|Eligible|End|ExitCode|JobID|JobIDRaw|JobName|MaxRSS|NCPUS|NNodes|"
    "NodeList|Partition|QOS|ReqMem|Start|State|Submit|SubmitLine|Timelimit|TimelimitRaw|User|WorkDir"
)
"""In the order of the alphabet, as from `--format=ALL`, some of it."""

READ = {
    "the command of the pages": Site(
        rows(
            FULL,
            f"101|101|{ANN}|1700000000|1700000000|1700000060|1700003660|3600|02:00:00|2|64|8G|"
            "billing=64,cpu=64,mem=16G,node=2|billing=64,cpu=64,mem=16G,node=2|ib|None|COMPLETED",
            f"102|102|{BOB}|1700000010|1700000020|1700000100|1700000130|30|1-00:00:00|1|16|0|"
            "billing=16,cpu=8,gres/gpu=4,mem=100G,node=1|billing=16,cpu=16,gres/gpu:a100=4,gres/gpu=4,mem=100G,node=1|"
            "a100&ib|QOSMaxGRESPerUser|TIMEOUT",
        ),
        [(101, 0, 3600, 7200, 2, 64), (102, 20, 30, DAY, 1, 16)],
        {"memory": [16 * GIB, 100 * GIB], "gpus": [0, 4]},
    ),
    "before 21.08, memory of nodes and of cores": Site(
        rows(
            OLD,
            "7|ann|std|2020-02-28T23:59:50|2020-02-29T00:00:00|2020-03-01T01:01:01|1-01:01:01|2-00:00:00|3|12|4Gn|"
            "COMPLETED",
            "7.batch|||2020-02-29T00:00:00|2020-02-29T00:00:00|2020-03-01T01:01:01|1-01:01:01||1|4|4Gn|COMPLETED",
            "7.extern|||2020-02-29T00:00:00|2020-02-29T00:00:00|2020-03-01T01:01:01|1-01:01:01||3|12|4Gn|COMPLETED",
            "8|bob|std|2020-02-29T00:00:10|2020-02-29T00:00:10|2020-02-29T00:10:10|00:10:00|UNLIMITED|1|6|2500Mc|"
            "OUT_OF_MEMORY",
        ),
        [(7, 0, DAY + 3661, 2 * DAY, 3, 12), (8, 20, 600, math.inf, 1, 6)],
        {"memory": [12 * GIB, 15000 * MIB]},
        {"job step": 2},
    ),
    "all columns, names with bars and blanks": Site(
        rows(
            LONG,
            'phys|64|brook|01:00:00|3600|100|3700|0:0|5|5|a|b "x" |c||64|2|cn[001-002]|std|normal|8G|100|COMPLETED|90|'
            "sbatch --wrap=cat a | wc|02:00:00|120|ann|/home/ann",
            "chem|1|brook|00:00:07|7|95|107|1:0|6|6|plain||1|1|cn003|std|normal|8G|100|FAILED|95|sbatch run.sh|"
            "00:10:00|10|bob|/home/bob/a b",
        ),
        [(6, 0, 7, 600, 1, 1), (5, 5, 3600, 7200, 2, 64)],
        note="1 row was put together again (line 2)",
    ),
    "names over several lines": Site(
        rows(
            "JobID|JobName|User|Submit|Start|End|ElapsedRaw|TimelimitRaw|NNodes|NCPUS|State",
            "11|first\nand | second\n|ann|10|10|20|10|5|1|4|COMPLETED",
            "12|\n\n|bob|11|15|20|5|5|1|4|COMPLETED",
        ),
        [(11, 0, 10, 300, 1, 4), (12, 1, 5, 300, 1, 4)],
        note="2 rows were put together again (line 2, 5)",
    ),
    "a spreadsheet, semicolons and the ends of lines of Windows": Site(
        b"\xef\xbb\xbf"
        + rows(
            "JobID|JobName|Submit|Start|Elapsed|Timelimit|NNodes|NCPUS|State",
            '21|"run; again ""now"""|2024-01-01 00:00:00|2024-01-01 00:00:05|00:00:10|00:01:00|1|2|COMPLETED',
            "22|plain|2024-01-01 00:00:01|2024-01-01 00:00:05|00:00:10|00:01:00|1|2|COMPLETED",
            delimiter=";",
        )
        .replace("\n", "\r\n")
        .encode(),
        [(21, 0, 10, 60, 1, 2), (22, 1, 10, 60, 1, 2)],
    ),
    "pandas, with its own first column": Site(
        rows(
            "|JobID|NodeList|Submit|Start|ElapsedRaw|Timelimit|NNodes|NCPUS|AllocTRES",
            '0|31|"cn[01,03]"|5|6|10|00:01:00|2|8|"cpu=8,mem=1G,node=2"',
            "1|32|cn02|7|8|9|00:01:00|1|4|",
            delimiter=",",
        ),
        [(31, 0, 10, 60, 2, 8), (32, 2, 9, 60, 1, 4)],
    ),
    "commas that nothing quotes": Site(
        "JobID,JobName,NodeList,Submit,Start,ElapsedRaw,Timelimit,NNodes,NCPUS,State\n"
        "41,a,cn[01,03-05],5,6,10,00:01:00,4,8,COMPLETED\n42,b, c,cn02,7,8,9,00:01:00,1,4,CANCELLED by 1001\n",
        [(41, 0, 10, 60, 4, 8), (42, 2, 9, 60, 1, 4)],
        note="2 rows were put together again",
    ),
    "another delimiter": Site(
        rows(FULL, f"51|51|{ANN}|5|5|6|16|10|1|1|2|1G||cpu=2,node=1||None|COMPLETED", delimiter="\x1f"),
        [(51, 0, 10, 60, 1, 2)],
    ),
    "an array, and tasks of it that never ran": Site(
        rows(
            "JobID|JobIDRaw|User|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|NNodes|NCPUS|State",
            "60_1|61|ann|100|100|110|120|10|00:05:00|1|1|COMPLETED",
            "60_2|62|ann|100|100|111|131|20|00:05:00|1|1|FAILED",
            "60_3.batch|63.batch|ann|120|120|120|131|11||1|1|COMPLETED",
            "60_[4-9,12%2]|60|ann|100|100|Unknown|150|0|00:05:00|1|1|CANCELLED by 1001",
            "60_[13-14]|64|ann|100|100|Unknown|Unknown|0|00:05:00|1|1|PENDING",
        ),
        [(61, 0, 10, 300, 1, 1), (62, 0, 20, 300, 1, 1)],
        {"array": [60, 60], "array_task": [1, 2], "array_limit": [2, 2]},
        {"job step": 1, "cancelled before it started": 7, "still pending": 2},
    ),
    "a heterogeneous job": Site(
        rows(
            "JobID|JobIDRaw|User|Submit|Start|ElapsedRaw|Timelimit|NNodes|NCPUS|State",
            "70+0|70|ann|100|110|60|00:05:00|1|8|COMPLETED",
            "70+0.batch|70.batch|ann|110|110|60||1|8|COMPLETED",
            "70+1|71|ann|100|110|60|00:05:00|4|128|COMPLETED",
            "70+1.0|71.0|ann|110|110|60||4|128|COMPLETED",
        ),
        [(70, 0, 60, 300, 1, 8), (71, 0, 60, 300, 4, 128)],
        {"het": [70, 70], "het_offset": [0, 1]},
        {"job step": 2},
        "2 components of heterogeneous jobs are jobs of their own",
    ),
    "requeued twice, listed with -D": Site(
        rows(
            "JobID|User|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|NNodes|NCPUS|State",
            "80|ann|100|100|110|170|60|00:05:00|2|8|NODE_FAIL",
            "80|ann|170|290|300|330|30|00:05:00|2|8|PREEMPTED",
            "80|ann|330|450|460|560|100|00:05:00|2|8|COMPLETED",
        ),
        [(80, 0, 60, 300, 2, 8), (81, 190, 30, 300, 2, 8), (82, 350, 100, 300, 2, 8)],
        note="2 requeued jobs, the later run: renumbered, from 81 on",
    ),
    "a federation": Site(
        rows(
            "JobID|Cluster|User|Submit|Start|End|ElapsedRaw|Timelimit|NNodes|NCPUS|State",
            "67108865|north|ann|100|110|120|10|00:05:00|1|1|COMPLETED",
            "67108865|south|ann|100|Unknown|110|0|00:05:00|1|1|REVOKED",
            "134217729|south|ann|101|110|130|20|00:05:00|1|1|COMPLETED",
        ),
        [(67108865, 0, 10, 300, 1, 1), (134217729, 1, 20, 300, 1, 1)],
        {},
        {"never started": 1},
        "jobs of 2 clusters (north, south)",
    ),
    "two months, joined: header and a long job twice": Site(
        rows(
            OLD,
            "91|ann|std|100|110|Unknown|00:00:30|00:02:00|1|1|1Gn|RUNNING",
            "92|bob|std|105|106|116|00:00:10|00:02:00|1|1|1Gn|COMPLETED",
        )
        + rows(
            OLD,
            "91|ann|std|100|110|210|00:01:40|00:02:00|1|1|1Gn|COMPLETED",
            "93|bob|std|205|206|216|00:00:10|00:02:00|1|1|1Gn|FAILED",
        ),
        [(91, 0, 100, 120, 1, 1), (92, 5, 10, 120, 1, 1), (93, 105, 10, 120, 1, 1)],
        {},
        {"listed again": 1},
    ),
    "dates with their zone, over a change to summer time": Site(
        rows(
            "JobID|Submit|Start|Elapsed|Timelimit|NNodes|NCPUS",
            "1|2024-03-31T01:59:50+0100|2024-03-31T03:00:00+0200|00:00:10|00:01:00|1|1",
            "2|2024-03-31T03:00:10+0200|2024-03-31T03:00:20+0200|00:00:10|00:01:00|1|1",
        ),
        [(1, 0, 10, 60, 1, 1), (2, 20, 10, 60, 1, 1)],
        {"recorded_start": [10, 30]},
    ),
    "names that were cut within a letter": Site(
        rows(
            "JobID|JobName|User|Submit|Start|ElapsedRaw|Timelimit|NNodes|NCPUS",
            "1|Gr@|j@rg|5|6|10|1|1|1",
            "2|x|jrg|5|6|10|1|1|1",
        )
        .encode()
        .replace(b"@", b"\xc3"),
        [(1, 0, 10, 60, 1, 1), (2, 0, 10, 60, 1, 1)],
        {"user": [1, 2]},
    ),
    "states with causes, and what did not run": Site(
        rows(
            "JobID|User|Submit|Start|End|ElapsedRaw|Timelimit|NNodes|NCPUS|State",
            "1|ann|100|110|120|10|Partition_Limit|1|1|CANCELLED by 0",
            "2|ann|100|None|120|0|00:01:00|1|1|CANCELLED by 1001",
            "3|ann|100|120|120|0|00:01:00|1|1|CANCELLED by 1001",
            "4|ann|100|120|120|0|00:01:00|1|1|FAILED",
            "5|ann|100|Unknown|Unknown|0|00:01:00|1|1|PENDING",
            "6|ann|101|120|140|20|1-02|1|1|DEADLINE",
        ),
        [(1, 0, 10, math.inf, 1, 1), (6, 1, 20, 26 * HOUR, 1, 1)],
        {},
        {"cancelled before it started": 2, "run time not positive": 1, "still pending": 1},
    ),
}  # fmt: skip

REFUSED = {
    "columns for the eye": (
        "JobID           JobName    Submit      Start    Elapsed     NNodes \n"
        "------------ ---------- ---------- ---------- ---------- -------- \n"
        "1                 train 2024-01-0+ 2024-01-0+   00:01:00        1 \n",
        r"line 1: .*list with sacct -P",
    ),
    "dates for the eye": (
        rows("JobID|Submit|Start|ElapsedRaw|NNodes", "1|5 Jan 10:00|5 Jan 10:01|60|1"),
        r"line 2: Submit is '5 Jan 10:00'; .*list again with SLURM_TIME_FORMAT=standard, or =%s",
    ),
    "clocks of two kinds": (
        rows("JobID|Submit|Start|ElapsedRaw|NNodes", "1|2024-01-01T00:00:00|2024-01-01T00:00:09|60|1")
        + "2|2024-01-01T00:00:00+0100|2024-01-01T00:00:09+0100|60|1\n",
        r"line 3: Submit is a date with its time zone, but .* line 2 on were a calendar date; write all in one way",
    ),
    "what sacct says of a lost connection": (
        "sacct: error: slurm_persist_conn_open_without_init: failed\n"
        + rows("JobID|Submit|Start|ElapsedRaw|NNodes", "1|5|6|7|1"),
        r"line 1: is not the header, which is line 2; remove what stands before it",
    ),
}  # fmt: skip


def test_there_are_twenty():
    assert len(READ) + len(REFUSED) == 20


@pytest.mark.parametrize("shape", READ)
def test_what_sites_list_is_read(tmp_path, shape):
    site = READ[shape]
    path = tmp_path / "site.sacct"
    path.write_bytes(site.text if isinstance(site.text, bytes) else site.text.encode())
    w = fb.read(path)
    assert w.jobs.select(COLUMNS).rows() == site.jobs
    assert {column: w.jobs[column].to_list() for column in site.more} == site.more
    assert w.dropped == site.dropped
    assert any(site.note in note for note in w.notes)


@pytest.mark.parametrize("shape", REFUSED)
def test_what_cannot_be_read_is_refused_with_line_and_cure(tmp_path, shape):
    text, says = REFUSED[shape]
    path = tmp_path / "site.sacct"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"^{re.escape(str(path))}: {says}"):
        fb.read(path)
