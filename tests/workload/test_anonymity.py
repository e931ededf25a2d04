"""Anonymised workloads: nothing tells whose, when and where; all that a run depends on is as it was."""

import math
import zipfile
from dataclasses import replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import forebay as fb
from forebay._plugins import names
from forebay.core.schemas import LEG_SCHEMA, PHASE_SCHEMA
from forebay.errors import InputError
from forebay.workload.anonymity import anonymise
from forebay.workload.workload import Workload, job_table

pytestmark = pytest.mark.small

READ_ONLY = ["philly", "slurm-events", "wfcommons"]
SUFFIXES = {"swf": ".swf", "sacct": ".sacct", "batsim": ".json", "parquet": ".parquet.zip"}
N = 40
FACTS = ("submit", "walltime", "run_time", "flop", "communication", "nodes", "priority", "cancel", "burst_buffer")


@pytest.fixture
def w():
    """Jobs with numbers that occur nowhere else."""
    columns = {
        "id": [70_000_001 + 13 * ((k * 7) % N) for k in range(N)],
        "submit": [float(10 * (k // 2)) for k in range(N)],
        "walltime": [60.0] * N,
        "run_time": [30.0 + k for k in range(N)],
        "nodes": [1 + k % 4 for k in range(N)],
        "user": [81_000 + k % 9 for k in range(N - 1)] + [-1],
        "group": [82_000 + k % 5 for k in range(N)],
        "queue": [83_000 + k % 3 for k in range(N)],
        "cancel": [math.inf] * (N - 1) + [5.0],
        "burst_buffer": [(1 + k % 4) * (k % 3) for k in range(N)],
    }
    return Workload(
        "secretlab",
        job_table(columns).sort("submit", "id"),
        epoch=1_700_000_000.0,
        platform="flat:nodes=8,burst_buffer=100B",
        records=N + 2,
        dropped={"no processors": 2},
        notes=("secretlab says so",),
        provenance=("read /home/ann/secretlab.swf", "burst_buffer of 40 jobs from bob.csv"),
        sha256="ab" * 32,
    )


def content(path):
    """All text and all numbers of a written file."""
    if path.suffix != ".zip":
        return path.read_text()
    with zipfile.ZipFile(path) as file:
        tables = [pl.read_parquet(file.open(name)) for name in file.namelist() if name.endswith(".parquet")]
        raw = b"".join(file.read(name) for name in file.namelist()).decode("latin-1")
    return raw + " ".join(table.write_csv() for table in tables)


def test_every_format_is_known_here():
    assert sorted([*SUFFIXES, *READ_ONLY]) == names("workload.formats")


@pytest.mark.parametrize("form", SUFFIXES)
def test_written_files_tell_nothing_of_their_origin(w, tmp_path, form):
    path = tmp_path / f"x{SUFFIXES[form]}"
    fb.write(w, path)
    before = content(path)
    fb.write(anonymise(w), path)
    after = content(path)
    for word in ("7000", "8100", "8200", "8300"):
        assert word in before
        assert word not in after
    for word in ("secretlab", "ann", "bob", "abab", "17000000", "processors"):
        assert word not in after.replace("anonym", "")
    assert "anonymised" in after or form == "sacct"  # which has no place for it


def test_jobs_are_as_they_were_but_for_their_names(w):
    hidden = anonymise(w)
    assert_frame_equal(hidden.jobs.select(FACTS), w.jobs.select(FACTS), check_exact=True)
    assert hidden.jobs["id"].to_list() == list(range(1, N + 1))
    assert hidden.platform == w.platform
    facts = (hidden.name, hidden.epoch, hidden.sha256, hidden.records, hidden.dropped, hidden.notes)
    assert facts == ("anonymous", 0.0, "", N, {}, ())
    assert len(hidden.provenance) == 1


@pytest.mark.parametrize("who", ["user", "group", "queue"])
def test_who_is_who_is_told_apart_but_not_named(w, who):
    pairs = pl.DataFrame({"old": w.jobs[who], "new": anonymise(w).jobs[who]}).unique()
    known = pairs.filter(pl.col("old") >= 0)
    assert pairs.filter(pl.col("old") < 0)["new"].to_list() == [-1] * (who == "user")
    assert sorted(known["new"]) == list(range(1, len(known) + 1))
    assert known["old"].n_unique() == len(known)


def test_the_order_is_random_and_hangs_on_what_was_taken_away(w):
    def users(w, seed=0):
        return anonymise(w, seed).jobs["user"].to_list()

    assert users(w) == users(w)
    assert users(w) != users(w, seed=1)
    other = replace(w, jobs=w.jobs.with_columns(pl.col("user") + 1000))
    assert users(w) != users(other)  # the seed alone does not undo it
    with pytest.raises(InputError, match="the seed is -1"):
        anonymise(w, -1)


def test_steps_follow_their_jobs_and_their_order_tells_nothing(w):
    ids = sorted(w.jobs["id"])
    legs = pl.DataFrame([(job, 0, float(job), 1, "") for job in ids], LEG_SCHEMA, orient="row")
    phases = pl.DataFrame(
        [(job, 0, "compute", float(job) + part, 0.0, 0.0, 0.0, None) for job in ids for part in (0, 1)],
        PHASE_SCHEMA,
        orient="row",
    )
    hidden = anonymise(replace(w, legs=legs, phases=phases))
    old = dict(zip(hidden.jobs["id"], w.jobs["id"], strict=True))
    assert hidden.legs["job"].to_list() == list(range(1, N + 1))
    assert hidden.legs["walltime"].to_list() == [old[job] for job in range(1, N + 1)]
    assert hidden.phases["seconds"].to_list() == [old[job] + part for job in range(1, N + 1) for part in (0, 1)]


def test_platforms_in_files_lose_their_names_and_resources_are_told_of(w):
    for platform in ("secretlab.toml", "/site/secretlab.toml:nodes=8", "C:\\lab.toml"):
        hidden = anonymise(replace(w, platform=platform))
        assert (hidden.platform, hidden.notes) == (None, ("the platform is a file: its name is taken away",))
    assert anonymise(replace(w, platform="dragonfly-96")).platform == "dragonfly-96"
    named = replace(w, jobs=w.jobs.with_columns(license_foo=pl.lit(1, pl.Int64)), platform=None)
    assert anonymise(named).notes == ("names of resources are kept: license_foo",)
