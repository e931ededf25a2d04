"""Small files that would fill the memory are refused with a line that says what to do."""

import gzip
import json
import tracemalloc
import zipfile

import pytest

from forebay.errors import InputError
from forebay.workload import read
from forebay.workload._sidecar import load as load_sidecar
from forebay.workload.operations import split

pytestmark = pytest.mark.small

LINE = "1 0 5 10 4 -1 -1 8 60 -1 1 3 2 7 1 -1 -1 -1\n"
BLANKS = b" " * 2**20


def bomb(pieces=70):
    """A gzip file of so many MiB of blanks: a thousandth of them."""
    return gzip.compress(BLANKS) * pieces


@pytest.mark.parametrize("name", ["w.swf.gz", "w.json.gz", "w.sacct", "w.parquet.zip", "w"])
def test_packed_blanks(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(bomb())
    with pytest.raises(InputError, match=r"unpacks to more than 67 MB.*FOREBAY_MAX_BYTES|neither name nor content"):
        read(path)
    with pytest.raises(InputError, match="unpacks to more than 67 MB"):
        load_sidecar(path)


def test_they_are_unpacked_no_further_than_that(tmp_path):
    path = tmp_path / "w.swf.gz"
    path.write_bytes(bomb(400))
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="unpacks to more"):
            read(path)
        assert tracemalloc.get_traced_memory()[1] < 200 * 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["workload.json", "jobs.parquet"])
def test_blanks_in_a_zip(tmp_path, name):
    path = tmp_path / "w.parquet.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, 70 * BLANKS)
    with pytest.raises(InputError, match=r"w\.parquet\.zip: unpacks to more than 67 MB"):
        read(path)


def test_all_members_of_a_zip_count_together(tmp_path):
    path = tmp_path / "w.parquet.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name in ("workload.json", "jobs.parquet"):
            file.writestr(name, 40 * BLANKS)
    with pytest.raises(InputError, match="unpacks to more than 67 MB"):
        read(path)


def test_whoever_means_it_sets_the_variable(tmp_path, monkeypatch):
    path = tmp_path / "w.swf.gz"
    path.write_bytes(gzip.compress((LINE + ";\n" * 5000).encode()))
    assert len(read(path)) == 1
    monkeypatch.setenv("FOREBAY_MAX_BYTES", "5000")
    with pytest.raises(InputError, match="unpacks to more"):
        read(path)


def test_profiles_that_repeat_one_another(tmp_path):
    profiles = {"d": {"type": "delay", "delay": 1}, "p0": {"type": "composed", "repeat": 90_000, "seq": ["d"]}}
    profiles |= {f"p{k}": {"type": "composed", "seq": [f"p{k - 1}"]} for k in range(1, 30)}
    jobs = [{"id": 1, "subtime": 0, "res": 1, "profile": "p29"}]
    (tmp_path / "w.json").write_text(json.dumps({"nb_res": 1, "jobs": jobs, "profiles": profiles}))
    with pytest.raises(InputError, match=r"unroll to over 1,000,000 steps in all; lower 'repeat', or set .*MAX_STEPS"):
        read(tmp_path / "w.json")


def test_jobs_that_repeat_a_profile(tmp_path, monkeypatch):
    profiles = {"d": {"type": "delay", "delay": 1}, "p": {"type": "composed", "repeat": 90_000, "seq": ["d"]}}
    jobs = [{"id": k, "subtime": 0, "res": 1, "profile": "p"} for k in range(12)]
    (tmp_path / "w.json").write_text(json.dumps({"nb_res": 1, "jobs": jobs, "profiles": profiles}))
    monkeypatch.setenv("FOREBAY_MAX_STEPS", "200_000")
    with pytest.raises(InputError, match="unroll to over 200,000 steps"):
        read(tmp_path / "w.json")


def test_a_header_of_very_many_resources(tmp_path):
    header = f"; BurstBuffer: {', '.join(['5'] * 51)}\n"
    (tmp_path / "w.swf").write_text(header + LINE.replace("\n", " 1" * 51 + "\n"))
    with pytest.raises(InputError, match="line 1: the header BurstBuffer lists 51 resources; 50 at most are read"):
        read(tmp_path / "w.swf")


def test_more_parts_than_jobs():
    with pytest.raises(InputError, match="cannot be split into 1,000,000,000,000 parts; give 1 to 8"):
        split(read("table1"), 10**12)


def test_memory_beyond_all_numbers(tmp_path, recwarn):
    (tmp_path / "w.swf").write_text(LINE.replace("60 -1 1", "60 1e308 1"))
    with pytest.raises(InputError, match="line 1: the memory asked for in all, in bytes, is inf; it must be a whole"):
        read(tmp_path / "w.swf")
    assert not recwarn.list
