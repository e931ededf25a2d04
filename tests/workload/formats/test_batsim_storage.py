"""Batsim's profiles that move data: what phases they become, and what is refused."""

import json

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import forebay as fb
from forebay.core.schemas import PHASE_SCHEMA
from forebay.errors import InputError
from forebay.workload.formats import batsim
from forebay.workload.formats._batsim_profiles import is_buffer

pytestmark = pytest.mark.small

PFS, PFS_5 = "parallel_homogeneous_pfs", "ptask_on_storage_homogeneous"
STAGING = {"type": "data_staging", "nb_bytes": 500, "from": "pfs", "to": "bb"}
FLOP = {"type": "parallel_homogeneous", "cpu": 100, "com": 3}
EACH, SPREAD = "defined_amount_used_for_each_value", "defined_amount_spread_uniformly"


def put(path, jobs, profiles):
    """Jobs of three nodes, one for each name of a profile."""
    entries = [{"id": k, "subtime": 0, "walltime": 60, "res": 3, "profile": name} for k, name in enumerate(jobs, 1)]
    path.write_text(json.dumps({"nb_res": 4, "jobs": entries, "profiles": profiles}))
    return path


@pytest.fixture
def read(tmp_path):
    """A function that reads a workload whose only job has the profile given."""
    return lambda **profile: batsim.read(put(tmp_path / "w.json", ["p"], {"p": profile}))


def moved(w):
    return w.phases.select("kind", "bytes").rows()


def table(*rows):
    """Phases of one leg that give nothing back."""
    return pl.DataFrame([(job, 0, *rest, None) for job, *rest in rows], PHASE_SCHEMA, orient="row")


@pytest.mark.parametrize(
    ("profile", "phases"),
    [
        # each of three nodes
        ({"type": PFS, "bytes_to_read": 10, "bytes_to_write": 0, "storage": "pfs"}, [("read", 30)]),
        ({"type": PFS, "bytes_to_read": 10}, [("read", 30)]),
        ({"type": PFS, "bytes_to_write": 2.5}, [("write", 7.5)]),
        ({"type": PFS, "bytes_to_write": 4, "host": "nfs"}, [("write", 12)]),
        ({"type": "msg_par_hg_pfs", "bytes_to_read": 10}, [("read", 30)]),
        ({"type": PFS_5, "bytes_to_read": 10}, [("read", 30)]),
        ({"type": PFS_5, "bytes_to_read": 10, "generation_strategy": EACH}, [("read", 30)]),
        # all three together
        ({"type": PFS_5, "bytes_to_read": 10, "generation_strategy": SPREAD}, [("read", 10)]),
        (
            {
                "type": "ParallelTaskOnStorageHomogeneousProfile",
                "bytes_to_write": 10,
                "generation_strategy": "DefinedAmountsSpreadUniformly",
            },
            [("write", 10)],
        ),
        # Batsim 4 knows no strategies
        ({"type": PFS, "bytes_to_read": 10, "generation_strategy": SPREAD}, [("read", 30)]),
        ({"type": PFS, "bytes_to_read": 1, "bytes_to_write": 2}, [("read", 3), ("write", 6)]),
        ({"type": PFS, "bytes_to_read": 1, "bytes_to_write": 2, "storage": "bb"}, [("fetch", 3), ("checkpoint", 6)]),
        # between storages, of the whole job
        (STAGING, [("stage_in", 500)]),
        (STAGING | {"type": "ptask_data_staging_between_storages"}, [("stage_in", 500)]),
        (STAGING | {"type": "ParallelTaskDataStagingBetweenStoragesProfile"}, [("stage_in", 500)]),
        (STAGING | {"from": "burst_buffer", "to": "lustre"}, [("stage_out", 500)]),
        (STAGING | {"from": "burst_buffer", "to": "lustre", "beside": False}, [("stage_out", 500)]),
        (STAGING | {"from": "burst_buffer", "to": "lustre", "beside": True}, [("drain", 500)]),
    ],
)
def test_what_profiles_move(read, profile, phases):
    w = read(**profile)
    assert moved(w) == phases
    assert w.jobs.select("run_time", "flop", "communication").row(0) == (0, 0, 0)


@pytest.mark.parametrize(
    "name", ["bb", "BB", "bb0", "bb_1", "my-bb", "burst_buffer", "burst-buffers", "BurstBuffer2", "hpst"]
)
def test_names_of_burst_buffers(name):
    assert is_buffer(name)


@pytest.mark.parametrize("name", ["pfs", "nfs", "lcst", "bbc", "abb", "buffer", "outburst_buffered", "burst"])
def test_names_of_other_storages(name):
    assert not is_buffer(name)


def test_steps_of_a_composed_profile_stay_in_order(tmp_path):
    """Computing and moving in turn; the job's sums are of its computing alone; a job without I/O has no phases."""
    profiles = {
        "app": {"type": "composed", "seq": ["in", "load", "loop", "out"], "bb": 7},
        "loop": {"type": "composed", "repeat": 2, "seq": ["f", "save"]},
        "in": STAGING,
        "load": {"type": PFS, "bytes_to_read": 10},
        "save": {"type": PFS, "bytes_to_write": 5},
        "out": STAGING | {"from": "bb", "to": "pfs"},
        "f": FLOP,
    }
    w = batsim.read(put(tmp_path / "w.json", ["app", "f"], profiles))
    turn = [(1, "compute", 0.0, 100.0, 3.0, 0.0), (1, "write", 0.0, 0.0, 0.0, 15.0)]
    begin = [(1, "stage_in", 0.0, 0.0, 0.0, 500.0), (1, "read", 0.0, 0.0, 0.0, 30.0)]
    assert_frame_equal(w.phases, table(*begin, *turn, *turn, (1, "stage_out", 0.0, 0.0, 0.0, 500.0)))
    assert w.jobs.select("flop", "communication", "burst_buffer").rows() == [(200.0, 6.0, 21), (100.0, 3.0, 0)]
    assert (w.notes, w.dropped) == ((), {})


def test_the_machine_decides_how_long_it_takes(read):
    """30 bytes a node on three nodes, at 10 bytes a second for all: 9 s."""
    result = fb.simulate(read(type=PFS, bytes_to_read=30), "flat:nodes=4,pfs=10B/s", "fcfs")
    assert result.jobs["finish_time"].to_list() == [9.0]


@pytest.mark.parametrize("profile", [{"type": PFS, "bytes_to_read": 0, "bytes_to_write": 0}, STAGING | {"nb_bytes": 0}])
def test_nothing_to_move_is_no_work(tmp_path, profile):
    w = batsim.read(put(tmp_path / "w.json", ["none", "f", "both"], {
        "none": profile, "f": FLOP, "both": {"type": "composed", "seq": ["none", "f"]}
    }))  # fmt: skip
    assert w.dropped == {"no work": 1}
    assert w.phases.select("job", "kind").rows() == [(3, "compute")]


@pytest.mark.parametrize(
    ("profiles", "note"),
    [
        (
            [{"type": PFS, "bytes_to_read": 1, "bytes_to_write": 1}],
            "1 job reads and writes a storage at once: here reading comes first, then writing",
        ),
        (
            [{"type": PFS, "bytes_to_read": 1, "storage": "nvme"}],
            "storage: nvme is taken as the machine's one file system",
        ),
        (
            [{"type": PFS, "bytes_to_read": 1}, STAGING | {"from": "nfs", "bb": 1}],
            "storage: nfs, pfs are all taken as the machine's one file system",
        ),
        ([STAGING], "1 job uses a burst buffer that no profile of theirs asks for: give the profiles 'bb'"),
    ],
)
def test_what_is_not_as_in_batsim_is_noted(tmp_path, profiles, note):
    named = {f"p{k}": profile for k, profile in enumerate(profiles)}
    assert batsim.read(put(tmp_path / "w.json", named, named)).notes == (note,)


def without(key):
    return {name: value for name, value in STAGING.items() if name != key}


@pytest.mark.parametrize(
    ("profile", "message"),
    [
        ({"type": PFS}, "has neither 'bytes_to_read' nor 'bytes_to_write'; add one or both"),
        ({"type": PFS_5, "storage": "pfs"}, "has neither 'bytes_to_read' nor 'bytes_to_write'; add one or both"),
        ({"type": PFS, "bytes_to_read": -1}, "'bytes_to_read' is -1; bytes cannot be negative"),
        ({"type": PFS, "bytes_to_write": "1GB"}, "'bytes_to_write' is '1GB'; it must be a number"),
        ({"type": PFS, "bytes_to_write": 1, "storage": 3}, "'storage' is 3; it must be text"),
        ({"type": PFS, "bytes_to_write": 1, "storage": " "}, "'storage' is ' '; name a storage, such as 'pfs'"),
        (
            {"type": PFS_5, "bytes_to_read": 1, "generation_strategy": "uniform"},
            "unknown 'generation_strategy' 'uniform'; known: DefinedAmountsSpreadUniformly, "
            f"DefinedAmountsUsedForEachValue, {SPREAD}, {EACH}",
        ),
        (without("nb_bytes"), "'nb_bytes' is missing; add it"),
        (without("from"), "'from' is missing; add it"),
        (without("to"), "'to' is missing; add it"),
        (STAGING | {"nb_bytes": -5}, "'nb_bytes' is -5; bytes cannot be negative"),
        (STAGING | {"from": None}, "'from' is None; it must be text"),
        (
            STAGING | {"beside": True},
            "'beside' is True; write true or false, true only from the burst buffer to the file system",
        ),
        (
            STAGING | {"to": "nfs"},
            "stages data from 'pfs' to 'nfs', and neither is a burst buffer by its name; data is staged between file "
            "system and burst buffer only: name the burst buffer 'burst_buffer', or take the profile out",
        ),
        (
            STAGING | {"from": "bb1"},
            "stages data from 'bb1' to 'bb', and both are burst buffers by their names; data is staged between file "
            "system and burst buffer only: name the file system 'pfs', or take the profile out",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(read, tmp_path, profile, message):
    with pytest.raises(InputError) as caught:
        read(**profile)
    assert str(caught.value) == f"{tmp_path / 'w.json'}: profile 'p': {message}"


def test_bytes_beyond_all_numbers_are_refused(read):
    with pytest.raises(InputError, match=r"w\.json: phase of job 1: bytes is inf; it must be a finite number"):
        read(type=PFS, bytes_to_read=1e308)
