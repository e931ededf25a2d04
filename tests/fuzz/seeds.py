"""Valid input of every kind that forebay reads, small and with every feature in it: what mutations start from."""

import gzip
import io
import json
import math
import tempfile
from functools import cache
from pathlib import Path

import polars as pl

from forebay.core.schemas import LEG_SCHEMA, PHASE_SCHEMA
from forebay.results import JOBS_CSV
from forebay.workload import write
from forebay.workload.workload import Workload, job_table

SWF = b"""; Version: 2.2
; Computer: K\xc3\xb8benhavn
; UnixStartTime: 844079881
; MaxProcs: 100 (96 before May)
; Note: five jobs

1 0 5 10.5 4 -1 -1 8 60 -1 1 3 2 7 1 -1 -1 -1
2 7 -1 100 -1 -1 -1 16 3600 -1 0 -1 -1 -1 -1 -1 1 5
3 7 0 30 2 20.5 1024 -1 -1 -1 5 4 2 -1 2 1 -1 -1
5 12 -1 0 1 -1 -1 1 60 -1 5 3 2 -1 1 -1 -1 -1
4 9 -1 1e2 1 -1 -1 1 60 -1 1 3 2 -1 1 -1 -1 -1
"""

SWF_RESOURCES = b"""; MaxProcs: 64
; BurstBuffer: 500, 20
1 0 -1 10 4 -1 -1 8 60 -1 1 1 1 -1 -1 -1 -1 -1 300 7
2 5 -1 20 4 -1 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1 -1 20
3 6 -1 30 2 -1 -1 2 60 -1 1 2 1 -1 -1 -1 -1 -1 0 0
"""

BATSIM = {
    "description": "every type of profile",
    "nb_res": 8,
    "epoch": 1000,
    "jobs": [
        {"id": 1, "subtime": 0, "walltime": 60, "res": 2, "profile": "d", "user": 3, "priority": 0.5},
        {"id": "w0!2", "subtime": 1.5, "walltime": -1, "res": 2, "profile": "v"},
        {"id": 3, "subtime": 2, "res": 3, "profile": "h", "group": 1, "queue": 2, "smt": True},
        {"id": 4, "subtime": 2, "walltime": 100, "res": 4, "profile": "t"},
        {"id": 5, "subtime": 9, "walltime": 100, "res": 2, "profile": "c"},
        {"id": 6, "subtime": 9, "walltime": 100, "res": 0, "profile": "d"},
    ],
    "profiles": {
        "d": {"type": "delay", "delay": 10, "bb": 7},
        "v": {"type": "parallel", "cpu": [3, 9], "com": [0, 5, 6, 0]},
        "h": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 7},
        "t": {"type": "parallel_homogeneous_total", "cpu": 12, "com": 30},
        "c": {"type": "composed", "repeat": 3, "seq": ["d", "h", "i"], "bb": 5},
        "i": {"type": "composed", "nb": 2, "seq": ["v"]},
    },
}

WFFORMAT = {
    "name": "every field that is read",
    "schemaVersion": "1.5",
    "workflow": {
        "specification": {
            "tasks": [
                {"name": "split", "id": "a", "parents": [], "children": ["b", "c"], "outputFiles": ["f", "g"]},
                {"name": "left", "id": "b", "parents": ["a"], "children": [], "inputFiles": ["f"]},
                {"name": "right", "id": "c", "parents": ["a", "b"], "children": [], "inputFiles": ["f", "g"]},
            ],
            "files": [{"id": "f", "sizeInBytes": 4096}, {"id": "g", "sizeInBytes": 0}],
        },
        "execution": {
            "makespanInSeconds": 60,
            "executedAt": "2025-01-01T00:00:00Z",
            "tasks": [
                {"id": "a", "runtimeInSeconds": 10.5, "coreCount": 2, "memoryInBytes": 2048, "priority": 1},
                {"id": "b", "runtimeInSeconds": 0},
                {"id": "c", "runtimeInSeconds": 7, "coreCount": 1},
            ],
            "machines": [{"nodeName": "n1", "cpu": {"coreCount": 4}}, {"nodeName": "n2", "cpu": {"coreCount": 4}}],
        },
    },
}

WFFORMAT_OLD = {
    "name": "with all in one place",
    "schemaVersion": "1.4",
    "workflow": {
        "tasks": [
            {"name": "a", "parents": [], "runtimeInSeconds": 3, "files": [{"link": "output", "name": "f", "size": 5}]},
            {"name": "b", "parents": ["a"], "runtimeInSeconds": 4, "cores": 2, "memoryInBytes": 100},
        ],
        "machines": [{"nodeName": "n1", "cpu": {"count": 4}}],
    },
}

BATSIM_5 = {
    "nb_res": 4,
    "jobs": [
        {"id": str(k), "subtime": k, "walltime": 50, "res": 2, "profile": name}
        for k, name in enumerate(("p", "q", "r", "s", "m", "io"), 1)
    ],
    "profiles": {
        "p": {"type": "ptask", "cpu": [4, 4], "com": [0, 3, 3, 0]},
        "q": {"type": "ptask_homogeneous", "cpu": 4, "com": 3},
        "r": {
            "type": "ptask_homogeneous",
            "generation_strategy": "defined_amount_spread_uniformly",
            "cpu": 4,
            "com": 3,
        },
        "s": {"type": "sequential_composition", "repeat": 2, "seq": ["p", "q"]},
        "m": {"type": "msg_par_hg_tot", "cpu": 4, "com": 3},
        "f": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 70, "bytes_to_write": 7, "storage": "nfs"},
        "g": {
            "type": "ptask_on_storage_homogeneous",
            "bytes_to_write": 9,
            "generation_strategy": "defined_amount_spread_uniformly",
        },
        "i": {"type": "data_staging", "nb_bytes": 8, "from": "pfs", "to": "bb"},
        "o": {"type": "ptask_data_staging_between_storages", "nb_bytes": 6, "from": "bb", "to": "pfs"},
        "io": {"type": "composed", "seq": ["i", "f", "q", "g", "o"], "bb": 5},
    },
}

# sacct lists dates in full; here each is short of its day.
SACCT = b"""JobID|JobIDRaw|User|Account|Partition|Submit|Eligible|Start|End|\
Elapsed|Timelimit|NNodes|NCPUS|ReqMem|ReqTRES|Constraints|State
10|10|ann|phys|long|@10:00:00|@10:00:00|@10:05:00|@11:05:00|01:00:00|1-00:00:00|4|144|60Gn|node=4,bb/x=9G|ib&ssd|COMPLETED
10.batch|10.batch||phys||@10:05:00|@10:05:00|@10:05:00|@11:05:00|01:00:00||1|36||||COMPLETED
11_1|12|bob|phys|long|@10:01:00|Unknown|@10:06:00|@10:36:00|00:30:00|UNLIMITED|1|36|2000Mc|||TIMEOUT
11_2|11|bob|phys|long|@10:01:00|@10:01:30|@10:06:00|@10:36:00|00:30:00|30:00|1|36|2000Mc|||NODE_FAIL
20+0|20|eve|chem|short|@10:02:00|@10:02:00|@10:07:00|@10:08:00|00:01:00|90|2|72||gres/gpu:v100=8,license/foo=2,node=2||OUT_OF_ME+
20+1|21|eve|chem|short|@10:02:00|@10:02:00|@10:07:00|@10:08:00|00:01:00|1-12|1|36|4G|||COMPLETED
10|10|ann|phys|long|@12:00:00|@12:00:00|@12:05:00|@13:05:00|01:00:00|Partition_Limit|4|144|||ib&ssd|PREEMPTED
30|30|ann|phys|long|@12:00:00|@12:00:00|Unknown|Unknown|00:00:00|10|4|144|||ib&ssd|PENDING
31|31|ann|phys|long|@12:00:00|@12:00:00|None|@12:01:00|00:00:00|10|4|144|||ib&ssd|CANCELLED by 1000
32|32|ann|phys|long|@12:00:00|@12:00:00|@12:05:00|Unknown|00:10:00|10|4|144|||ib&ssd|RUNNING
""".replace(b"@", b"2024-01-31T")

EVENTS = b"""\
-dt 10.5 -e submit_batch_job | -sim-walltime 60.0 --uid=ann -N 2 -n 8 -t 01:00:00 -q normal -p main --mem=4G x.job
-dt 11 -e submit_batch_job | -sim-walltime 9 --uid=bob -n 1 -t 30 -A phys --gres=gpu:v100:2 --mem-per-cpu=1G x.job
-dt 12 -e submit_batch_job | -sim-walltime 0 --uid=ann -N 1 --exclusive --constraint="a&b" x.job
"""
SACCT_CSV = b"""JobID,Submit,Start,End,ElapsedRaw,TimelimitRaw,AllocTRES,UID,GID,"State"
1,100,110,170,60,2,"cpu=4,mem=1G,node=2",1000,100,COMPLETED
2,105,170,200,30.5,,"cpu=4,node=1",1001,100,"CANCELLED by 0"
3,105,0,0,0,5,"cpu=4,node=1",1001,100,FAILED
"""

_NUMBER = {"set": True, "infinite": False, "number": 3}
SACCT_JSON_OLD = {
    "meta": {"Slurm": {"release": "21.08.8"}},
    "jobs": [
        {
            "account": "phys",
            "allocation_nodes": 2,
            "array": {"job_id": 9, "task": None, "task_id": 4},
            "association": {"account": "phys", "user": "ann"},
            "constraints": "ib&ssd",
            "time": {"elapsed": 60, "eligible": 100, "end": 170, "start": 110, "submission": 100, "limit": 2},
            "het": {"job_id": 0, "job_offset": None},
            "job_id": 10 + k,
            "partition": "long",
            "priority": 5,
            "required": {"CPUs": 8, "memory": 1024},
            "state": {"current": state},
            "tres": {"allocated": [{"type": "cpu", "name": None, "count": 8}, {"type": "node", "count": 2}]},
            "user": "ann",
        }
        for k, state in enumerate(("COMPLETED", "TIMEOUT", "RUNNING"))
    ],
}

SACCT_JSON = {
    "jobs": [
        {
            "account": "chem",
            "allocation_nodes": 2,
            "array": {"job_id": 0, "task_id": _NUMBER | {"set": False}, "task": ""},
            "time": {"elapsed": 60, "eligible": 100, "end": 170, "start": 110, "submission": 100, "limit": _NUMBER},
            "group": "staff",
            "het": {"job_id": 20, "job_offset": _NUMBER},
            "job_id": 23 + k,
            "partition": "gpu",
            "priority": _NUMBER,
            "required": {"CPUs": 8, "memory_per_cpu": _NUMBER, "memory_per_node": _NUMBER | {"set": False}},
            "state": {"current": [state]},
            "submit_line": "sbatch --exclusive x.sh",
            "tres": {
                "allocated": [
                    {"type": "mem", "name": "", "count": 4096},
                    {"type": "gres", "name": "gpu", "count": 2},
                    {"type": "gres", "name": "gpu:a100", "count": 2},
                    {"type": "bb", "name": "datawarp", "count": 7},
                ],
                "requested": [{"type": "cpu", "name": "", "count": 8}],
            },
            "user": "eve",
        }
        for k, state in enumerate(("COMPLETED", "CANCELLED"))
    ],
    "meta": {"slurm": {"release": "23.11.4"}},
    "errors": [],
}

SIDECAR = b"""id,burst_buffer,priority,walltime
1,40,3,100
2,9007199254740993,1.5,200
4,0,0,300
99,7,0,100
"""

PLATFORM = b"""name = "mine"
nodes = 12
speed = "2 Gflop/s"
[topology]
kind = "dragonfly"
groups = 2
chassis = 1
routers = 4
ports = 2
storage = 2
bandwidth = "10 Gbit/s"
routing = "minimal"
[tiers.burst_buffer]
kind = "shared_bb"
capacity = "10 TB"
placement = "chunked"
servers = 4
bandwidth = "5 GB/s"
[tiers.pfs]
kind = "pfs"
read = "5 GB/s"
write = "2.5 GB/s"
through_ports = true
[tiers.local]
kind = "node_local"
capacity = "64 GiB"
[tiers.licences]
kind = "pool"
capacity = 12
"""

FLAT_PLATFORM = b"""nodes = 100
topology = { kind = "flat", bandwidth = "10 Gbit/s" }
[tiers.burst_buffer]
kind = "shared-bb"
capacity = "auto"
[tiers.pfs]
kind = "pfs"
bandwidth = "5 GB/s"
"""

SPECS = {
    "platform": (
        "flat:nodes=100,burst_buffer=10TB,pfs=5GB/s,port=10Gbit/s,speed=1Gflop/s,pools=5000/200",
        "dragonfly-96:burst_buffer=auto",
        "table1",
        "nowhere.toml:nodes=4",
    ),
    "model": ("lublin99:jobs=20,nodes=64,kind=mixed,longest=2h,load=0.8", "feitelson96:jobs=20,nodes=64"),
    "policy": ("fcfs-bb:depth=3,max_backfill=all", "conservative-bb", "slurm-bb", "mine.py:Mine:patience=3"),
    "period": ("1d:8d", "3600:", ":2 h 30 min", "0.5h:7200"),
    "condition": ("nodes<=64", " run_time > 1e1", "burst_buffer!=0", "id == 9"),
    "bytes": ("10 TB", "1.5 GiB", "7 B"),
    "rate": ("5 GB/s", "10 Gbit / s"),
    "flops": ("1 Gflop/s", "2.5 Tflops"),
    "seconds": ("1 h 30 min", "600", "2 d"),
}


def trace() -> Workload:
    """A workload to attach tables to: some of the ids that `SIDECAR` names."""
    return Workload(
        "trace",
        job_table(
            {
                "id": [1, 2, 3, 4],
                "submit": [0.0, 5.0, 9.0, 9.0],
                "walltime": [60.0] * 4,
                "run_time": [30.0] * 4,
                "nodes": [1, 2, 4, 4],
            }
        ),
        epoch=100.0,
        platform="flat:nodes=8",
    )


def staged() -> Workload:
    """A workload with legs, phases, demands and every field set."""
    jobs = {
        "id": [7, 9, 2**62],
        "submit": [0.0, 0.1, 3600.0],
        "walltime": [math.inf, 60.0, 1e6],
        "run_time": [1 / 3, 5e-324, 100.0],
        "flop": [1e12, 0.0, 0.0],
        "communication": [5.0, 0.0, 0.0],
        "nodes": [3, 4, 1],
        "user": [3, -1, 4],
        "group": [1, 1, -1],
        "queue": [0, 0, 1],
        "priority": [-0.5, 2.0, 0.0],
        "cancel": [math.inf, 30.0, math.inf],
        "burst_buffer": [2**62, 0, 5],
        "licences": [1, 2, 0],
    }
    legs = pl.DataFrame(
        [(7, 0, 1.0, 0, ""), (7, 1, 2.0, 3, "burst_buffer"), (7, 2, 9.0, 0, "burst_buffer")], LEG_SCHEMA, orient="row"
    ).with_columns(burst_buffer=pl.Series([5, 0, 5]))
    rows = [
        (7, 0, "stage_in", 0.0, 0.0, 0.0, 1e9, None),
        (7, 1, "compute", 1.5, 2.0, 3.0, 0.0, None),
        (7, 1, "checkpoint", 0.0, 0.0, 0.0, 1e8, None),
        (7, 2, "stage_out", 0.0, 0.0, 0.0, 1e9, "burst_buffer"),
        (9, 0, "compute", 5.0, 0.0, 0.0, 0.0, None),
    ]
    return Workload(
        name="fülle, 1",
        jobs=job_table(jobs),
        legs=legs,
        phases=pl.DataFrame(rows, PHASE_SCHEMA, orient="row"),
        epoch=1700000000.1,
        platform="flat:nodes=9,burst_buffer=10TB,pools=1/2",
        records=5,
        dropped={"no nodes": 2},
        notes=("a note", "another"),
        provenance=("read x", "first 2"),
        sha256="ab" * 32,
    )


@cache
def packed_workloads() -> tuple[bytes, ...]:
    """`.parquet.zip` files: one with everything, one of a plain trace."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.parquet.zip"
        made = []
        for workload in (staged(), trace()):
            write(workload, path)
            made.append(path.read_bytes())
        return tuple(made)


def _parquet(frame: pl.DataFrame) -> bytes:
    data = io.BytesIO()
    frame.write_parquet(data)
    return data.getvalue()


@cache
def sidecar_parquet() -> bytes:
    """What `SIDECAR` says, as Parquet."""
    frame = pl.DataFrame(
        {"job": [1, 2, 99], "burst_buffer": [40, 2**60 + 1, 7], "priority": [3.0, 1.5, 0.0], "user": [1, 2, 3]}
    )
    return _parquet(frame)


@cache
def run_folder() -> dict[str, bytes]:
    """The files of a saved run of two jobs, as `forebay run -o` leaves them."""
    words: dict[str, list[object]] = {
        "workload_name": ["w", "w"],
        "profile": ["1", "2"],
        "final_state": ["COMPLETED_SUCCESSFULLY", "REJECTED"],
        "allocated_resources": ["0-3", ""],
        "metadata": ["", ""],
    }
    whole = {"job_id": [1, 2], "requested_number_of_resources": [4, 99], "success": [1, 0]}
    jobs = pl.DataFrame({name: words.get(name) or whole.get(name) or [1.0, None] for name in JOBS_CSV})
    jobs = jobs.with_columns(
        *(
            pl.Series(name, values)
            for name, values in (
                ("submission_time", [0.0, 5.0]),
                ("requested_time", [60.0, -1.0]),
                ("consumed_energy", [-1.0, -1.0]),
            )
        ),
        *(pl.Series(name, [0, 0]) for name in ("user", "group", "queue", "burst_buffer")),
        total_wait=pl.Series([1.0, None]),
        n_legs=pl.Series([1, 1]),
        priority=pl.Series([0.0, 0.0]),
    )
    log = pl.DataFrame(
        {
            "time": [0.0, 1.0, 2.0, 5.0, 5.0],
            "job": [1, 1, 1, 2, 2],
            "kind": pl.Series(
                ["submit", "start", "end", "submit", "reject"], dtype=pl.Enum(["submit", "start", "end", "reject"])
            ),
            "leg": [0, 0, 0, 0, 0],
            "resource": [None, "nodes", "nodes", None, None],
            "amount": [0, 4, 4, 0, 0],
            "reason": ["none", "in_order", "completed", "none", "too_large"],
        }
    )
    document = {
        "format": 1,
        "seed": 0,
        "policy": "fcfs",
        "notes": ["a note"],
        "window": None,
        "resources": {"nodes": 4, "burst_buffer": 10**13},
        "summary": {"mean_wait": 1.0},
        "tables": {"jobs": 2, "log": 5, "links": 2},
    }
    return {
        "jobs.parquet": _parquet(jobs),
        "log.parquet": _parquet(log),
        "run.json": json.dumps(document, indent=2).encode(),
        "links.csv": b"link,capacity,bytes\npfs read,5000000000.0,12.5\npfs write,5000000000.0,0.0\n",
        "jobs.csv": jobs.select(JOBS_CSV).write_csv().encode(),
    }


def gz(data: bytes) -> bytes:
    """Packed, without a date."""
    return gzip.compress(data, 6, mtime=0)


def json_file(document: object) -> bytes:
    """A document as its users write it."""
    return json.dumps(document, indent=1).encode()
