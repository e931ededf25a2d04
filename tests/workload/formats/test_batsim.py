"""Batsim JSON: what each profile means, what is left out, what is refused and how."""

import gzip
import json
import math

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from forebay.core.schemas import PHASE_SCHEMA
from forebay.errors import InputError
from forebay.workload.formats import batsim
from forebay.workload.workload import job_table

small = pytest.mark.small

DELAY = {"type": "delay", "delay": 10}


def job(number=1, profile="p", **keys):
    return {"id": number, "subtime": 0, "walltime": 60, "res": 2, "profile": profile} | keys


@pytest.fixture
def read(tmp_path):
    """A function that writes jobs and profiles to a file and reads it."""

    def put(*jobs, profiles=None, name="w.json", **keys):
        document = {"nb_res": 4, "jobs": list(jobs), "profiles": {"p": DELAY} if profiles is None else profiles}
        (tmp_path / name).write_text(json.dumps(document | keys))
        return batsim.read(tmp_path / name)

    return put


@small
def test_jobs_and_their_keys(read):
    w = read(
        job(3, subtime=1, user=5, group=6, queue=7, priority=0.5),
        job(4, subtime=2.5, walltime=-1, res=1),
        nb_res=96,
    )
    expected = job_table(
        {
            "id": [3, 4],
            "submit": [0.0, 1.5],
            "walltime": [60.0, math.inf],
            "run_time": [10.0, 10.0],
            "nodes": [2, 1],
            "user": [5, -1],
            "group": [6, -1],
            "queue": [7, -1],
            "priority": [0.5, 0.0],
        }
    )
    assert_frame_equal(w.jobs, expected)
    assert (w.name, w.epoch, w.platform, w.records, w.phases) == ("w", 1.0, "flat:nodes=96", 2, None)
    assert w.provenance == ("read w.json (Batsim JSON, 2 records)",)
    assert len(w.sha256) == 64


@small
def test_no_walltime_is_no_limit(read):
    without = job(1)
    del without["walltime"]
    assert read(without, job(2, walltime=None), job(3, walltime=-1)).jobs["walltime"].to_list() == [math.inf] * 3


@small
@pytest.mark.parametrize(
    ("profile", "run_time", "flop", "communication"),
    [
        ({"type": "delay", "delay": 2.5}, 2.5, 0, 0),
        ({"type": "parallel_homogeneous", "cpu": 1e9, "com": 7}, 0, 1e9, 7),
        ({"type": "parallel_homogeneous", "cpu": 1e9}, 0, 1e9, 0),
        # 12 flop over 3 nodes; 30 bytes over the 6 ordered pairs of them
        ({"type": "parallel_homogeneous_total", "cpu": 12, "com": 30}, 0, 4, 5),
        ({"type": "parallel", "cpu": [8, 8, 8], "com": [0, 5, 5, 5, 0, 5, 5, 5, 0]}, 0, 8, 5),
        # the diagonal is no traffic: the same job
        ({"type": "parallel", "cpu": [8, 8, 8], "com": [5] * 9}, 0, 8, 5),
        ({"type": "parallel", "cpu": [8, 8, 8]}, 0, 8, 0),
    ],
)
def test_what_a_profile_asks_of_three_nodes(read, profile, run_time, flop, communication):
    w = read(job(res=3), profiles={"p": profile})
    assert w.jobs.select("run_time", "flop", "communication").row(0) == (run_time, flop, communication)
    assert (w.notes, w.phases) == ((), None)


@small
def test_unequal_nodes_are_averaged_and_noted(read):
    """The busiest node's 9 flop; (1 + 2 + 3 + 0 + 0 + 0) / 6 bytes over the pairs, 100 on the diagonal not counted."""
    uneven = {"type": "parallel", "cpu": [3, 9, 3], "com": [100, 1, 2, 3, 0, 0, 0, 0, 0]}
    w = read(job(res=3), profiles={"p": uneven})
    assert w.jobs.select("flop", "communication").row(0) == (9, 1)
    assert w.notes == ("1 job has unequal nodes: all compute as the busiest does and send the mean over pairs",)


@small
def test_one_node_sends_nothing(read):
    total = {"type": "parallel_homogeneous_total", "cpu": 12, "com": 30}
    w = read(
        job(1, "t", res=1), job(2, "v", res=1), profiles={"t": total, "v": {"type": "parallel", "cpu": [3], "com": [9]}}
    )
    assert w.jobs["communication"].to_list() == [0, 0]
    assert w.jobs["flop"].to_list() == [12, 3]


@small
def test_composed_profiles_unroll_into_phases_and_sums(read):
    profiles = {
        "out": {"type": "composed", "repeat": 2, "seq": ["in", "d"]},
        "in": {"type": "composed", "nb": 2, "seq": ["f"]},
        "f": {"type": "parallel_homogeneous", "cpu": 100, "com": 3},
        "d": {"type": "delay", "delay": 5},
    }
    w = read(job(1, "out"), job(2, "d"), profiles=profiles)
    f, d = (1, 0, "compute", 0.0, 100.0, 3.0, 0.0, None), (1, 0, "compute", 5.0, 0.0, 0.0, 0.0, None)
    assert_frame_equal(w.phases, pl.DataFrame([f, f, d, f, f, d], PHASE_SCHEMA, orient="row"))
    assert w.jobs.select("run_time", "flop", "communication").rows() == [(10.0, 400.0, 12.0), (5.0, 0.0, 0.0)]


@small
def test_burst_buffer_is_the_total_over_the_nodes(read):
    profiles = {
        "p": DELAY | {"bb": 7},
        "q": DELAY,
        "c": {"type": "composed", "seq": ["p", "q"], "bb": 5},
    }
    w = read(job(1, "p", res=3), job(2, "q"), job(3, "c", res=2), profiles=profiles)
    assert w.resources == ("burst_buffer",)
    assert w.jobs["burst_buffer"].to_list() == [21, 0, 14]
    assert w.jobs.schema["burst_buffer"] == pl.Int64
    assert w.platform == "flat:nodes=4"
    assert read(job(2, "q"), profiles=profiles).resources == ()


@small
def test_jobs_without_nodes_or_work_are_dropped_and_counted(read):
    profiles = {"p": DELAY, "none": {"type": "delay", "delay": 0}, "neg": {"type": "parallel_homogeneous", "cpu": -1}}
    w = read(job(1, res=0), job(2, "none"), job(3, "neg"), job(4, res=-3), job(5, subtime=8), profiles=profiles)
    assert w.jobs["id"].to_list() == [5]
    assert w.dropped == {"no nodes": 2, "no work": 2}
    assert (w.records, w.epoch) == (5, 8.0)


@small
@pytest.mark.parametrize(
    ("ids", "expected", "noted"),
    [
        (["w0!12", "7", 3], [12, 7, 3], False),
        (["w0!1", "w1!1", "w1!2"], [1, 2, 3], True),
        (["a", 5, "7"], [1, 2, 3], True),
        (["99999999999999999999", 1, 2], [1, 2, 3], True),
    ],
)
def test_ids_are_numbers_where_they_can_be(read, ids, expected, noted):
    w = read(*(job(own, subtime=k) for k, own in enumerate(ids)))
    assert w.jobs["id"].to_list() == expected
    assert bool(w.notes) == noted
    assert all("numbered 1, 2, ..." in note for note in w.notes)


@small
def test_jobs_are_put_in_order_and_unread_keys_are_noted(read):
    w = read(job(1, subtime=9), job(2, subtime=-1), job(3, subtime=9, smt=True), nb_res=None)
    assert w.jobs["id"].to_list() == [2, 1, 3]
    assert (w.epoch, w.platform) == (-1.0, None)
    assert w.notes == (
        "keys of jobs that are not read: smt",
        "1 job is listed after one submitted later: put in order of submission",
    )


@small
def test_a_job_may_be_cancelled_by_its_user(read):
    assert read(job(1, cancel=7.5), job(2), job(3, cancel=None)).jobs["cancel"].to_list() == [7.5, math.inf, math.inf]


def without(key, **keys):
    entry = job(**keys)
    del entry[key]
    return entry


def profile(**keys):
    return {"profiles": {"p": keys}}


BIG = 10**400


@small
@pytest.mark.parametrize(
    ("jobs", "keys", "parts"),
    [
        ([], {}, ["holds no job"]),
        ([job(res=0)], {}, ["holds no job", "all 1 entries", "1 no nodes"]),
        ([job(17, "q")], {}, ["job 17", "no existing profile: 'q'", "known: p"]),
        ([job("w!2", "delai")], {"profiles": {"delay": DELAY}}, ["job 'w!2'", "did you mean 'delay'?"]),
        ([job(profile=3)], {}, ["job 1", "'profile' is 3", "name of a profile"]),
        ([job()], profile(type="delai", delay=1), ["profile 'p'", "type 'delai' is not supported", " delay,"]),
        (
            [job()],
            profile(type="smpi"),
            ["type 'smpi' is not supported", "these are: composed, data_staging, delay, parallel,"],
        ),
        ([job()], profile(type=["x"]), ["type ['x'] is not supported"]),
        ([job()], profile(delay=1), ["profile 'p'", "'type' is missing"]),
        ([job()], {"profiles": {"p": 3}}, ["profile 'p' is 3", "object"]),
        ([without("id")], {}, ["entry 1 of 'jobs'", "'id' is missing"]),
        ([without("subtime")], {}, ["job 1", "'subtime' is missing"]),
        ([without("res")], {}, ["job 1", "'res' is missing"]),
        ([without("profile")], {}, ["job 1", "'profile' is missing"]),
        ([job(), "x"], {}, ["entry 2 of 'jobs' is 'x'", "object"]),
        ([job(), job()], {}, ["entry 2", "id 1 is taken by entry 1"]),
        ([job(), job("1")], {}, ["entry 2", "id '1' is taken by entry 1"]),
        ([job(True)], {}, ["'id' is True"]),
        ([job(1.5)], {}, ["'id' is 1.5"]),
        ([job(subtime="0")], {}, ["job 1", "'subtime' is '0'", "number"]),
        ([job(subtime=True)], {}, ["'subtime' is True"]),
        ([job(subtime=math.nan)], {}, ["'subtime' is nan", "finite"]),
        ([job(subtime=BIG)], {}, ["'subtime' is 1000", "finite"]),
        ([job(walltime=math.inf)], {}, ["'walltime' is inf", "finite"]),
        ([job(walltime=0)], {}, ["'walltime' is 0", "-1 for no limit"]),
        ([job(res=1.5)], {}, ["'res' is 1.5", "whole number"]),
        ([job(res=2**63)], {}, ["'res' is 9223372036854775808", "64 bits"]),
        ([job(user="bob")], {}, ["job 1", "'user' is 'bob'"]),
        ([job(priority=None)], {}, ["job 1", "'priority' is None"]),
        ([job(cancel=0)], {}, ["job 1", "'cancel' is 0", "after its submission"]),
        ([job(cancel=math.inf)], {}, ["job 1", "'cancel' is inf", "finite"]),
        ([job()], profile(type="delay"), ["profile 'p'", "'delay' is missing"]),
        ([job()], profile(type="delay", delay=False), ["'delay' is False"]),
        ([job()], profile(type="parallel_homogeneous", cpu=1, com=-1), ["'com' is -1", "negative"]),
        ([job()], profile(type="parallel_homogeneous", cpu=math.nan), ["'cpu' is nan"]),
        ([job()], profile(type="parallel", cpu=[1]), ["for a job of 2 nodes", "2 and 'com' 4"]),
        ([job()], profile(type="parallel", cpu=[1, "x"]), ["'cpu[1]' is 'x'"]),
        ([job()], profile(type="parallel", cpu=[1, 1], com=[0, 1, None, 0]), ["'com[2]' is None"]),
        ([job()], profile(type="delay", delay=1, bb=-5), ["profile 'p'", "'bb' is -5", "negative"]),
        ([job()], profile(type="delay", delay=1, bb=0.5), ["'bb' is 0.5", "whole"]),
        ([job(res=4)], profile(type="delay", delay=1, bb=2**62), ["job 1", "'bb times res'", "64 bits"]),
        ([job()], profile(type="composed", seq=[]), ["profile 'p'", "'seq' is []", "at least one"]),
        ([job()], profile(type="composed", seq="p"), ["'seq' is 'p'"]),
        ([job()], profile(type="composed"), ["'seq' is missing"]),
        ([job()], profile(type="composed", repeat=0, seq=["p"]), ["'repeat' is 0", "at least 1"]),
        ([job()], profile(type="composed", seq=["q"]), ["profile 'p'", "no existing profile: 'q'"]),
        ([job()], profile(type="composed", seq=["p"]), ["profile 'p' contains itself (p -> p)"]),
        (
            [job()],
            {"profiles": {"p": {"type": "composed", "repeat": 10**6, "seq": ["d"]}, "d": DELAY}},
            ["profile 'p'", "1,000,000 steps", "lower 'repeat'"],
        ),
        (
            [job()],
            {"profiles": {c: {"type": "composed", "seq": [d]} for c, d in ("pq", "qr", "rq")}},
            ["profile 'q' contains itself (q -> r -> q)"],
        ),
        ([job()], {"nb_res": 0}, ["'nb_res' is 0", "at least one node"]),
        ([job()], {"nb_res": "96"}, ["'nb_res' is '96'"]),
        ([job()], {"profiles": []}, ["'profiles' is []", "an object"]),
        ([], {"jobs": {}}, ["'jobs' is {}", "a list"]),
        (
            [job()],
            {"profiles": {"p": {"type": "composed", "seq": ["d"] * 2}, "d": DELAY | {"delay": 1e308}}},
            ["run_time is inf"],
        ),
        ([job(subtime=-1e308), job(2, subtime=1e308)], {}, ["job 2: submit is inf", "in seconds?"]),
        ([job()], {"epoch": 1e300}, ["its first job arrives 1e+300 s after 1970"]),
        ([job(res=10**12)], {}, ["job 1: nodes is 1000000000000", "from 1 to 1,000,000,000"]),
        ([job("x" * 300), job("x" * 300)], {}, ["id 'xxx", "...", "is taken by entry 1"]),
        ([job(profile="q\u2028")], {}, ["no existing profile: 'q\\u2028'"]),
        ([job(17, "q")], {"profiles": {"\u2028": DELAY}}, ["known: \\u2028"]),
        ([job(17, "q" * 300)], {"profiles": {"q" * 301: DELAY}}, ["did you mean 'qqq"]),
        ([job("\ud800")], {}, ["half a character", "write whole ones"]),
        ([job(subtime=[[[[[[1]]]]]])], {}, ["'subtime' is [[[[[...]]]]]"]),
    ],
)
def test_what_cannot_be_used_is_named(read, tmp_path, jobs, keys, parts):
    with pytest.raises(InputError) as caught:
        read(*jobs, **keys)
    for part in [str(tmp_path / "w.json"), *parts]:
        assert part in str(caught.value)


@small
def test_all_steps_together_have_a_limit(read, monkeypatch):
    monkeypatch.setenv("FOREBAY_MAX_STEPS", "15")  # those of its profiles count, and those of its jobs
    profiles = {"p": {"type": "composed", "repeat": 6, "seq": ["d"]}, "d": DELAY}
    assert len(read(job(), profiles=profiles).phases) == 6
    with pytest.raises(InputError, match=r"w\.json: its profiles unroll to over 15 steps in all; lower 'repeat'"):
        read(job(), job(2), profiles=profiles)


@small
def test_odd_keys_can_be_shown_and_written(read, tmp_path):
    w = read(job(**{"a\x1b[31m": 1, "\u2028": 2}))
    assert w.notes == (r"keys of jobs that are not read: a\x1b[31m, \u2028",)


@small
def test_nesting_has_a_limit(read):
    deep = {f"c{k}": {"type": "composed", "seq": [f"c{k + 1}"]} for k in range(60)} | {"c60": DELAY}
    with pytest.raises(InputError, match="profile 'c0' nests deeper than 50"):
        read(job(1, "c0"), profiles=deep)


@small
@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (b'{"jobs": [\n1, }', ["line 2, column 4", "not JSON"]),
        (b"", ["line 1, column 1", "not JSON"]),
        (b"[1]", ["must be an object with 'jobs' and 'profiles'", "[1]"]),
        (b'{"jobs": []}', ["'profiles' is missing"]),
        (b'{"profiles": {}}', ["'jobs' is missing"]),
        (b"\xff\xfe{", ["not text at byte 0", "UTF-8"]),
        (b"[" * 100_000, ["not JSON that can be used: lists or objects nest too deep"]),
        (b'{"jobs": ' + b"9" * 5000, ["not JSON that can be used: a number has thousands of digits"]),
        (gzip.compress(b'{"jobs": [], "profiles": {}}', mtime=0)[:-9], ["gzip", "fetch the file again"]),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(tmp_path, content, parts):
    path = tmp_path / "w.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        batsim.read(path)
    for part in [str(path), *parts]:
        assert part in str(caught.value)


# Jobs, first and last id: the `description` of each file says the same.
PARTS = {3: (1745, 4535, 6280), 10: (2940, 17077, 20016), 13: (1691, 24157, 25849), 15: (1336, 27154, 28490)}


@pytest.mark.parametrize("model", ["alloc-only", "io-aware"])
@pytest.mark.parametrize("part", PARTS)
def test_parts_of_kopanski_and_rzadca(data, tmp_path, model, part):
    n_jobs, first, last = PARTS[part]
    w = batsim.read(data / "kopanski" / model / f"part-{part}.json.gz")
    assert (len(w), w.records, w.dropped, w.notes) == (n_jobs, n_jobs, {}, ())
    assert (w.jobs["id"][0], w.jobs["id"][-1]) == (first, last)
    assert (w.epoch, w.platform, w.resources) == (1.0, "flat:nodes=96", ("burst_buffer",))
    assert (w.jobs["flop"] > 0).all()
    assert (w.jobs["burst_buffer"] % w.jobs["nodes"] == 0).all()
    assert batsim.write(w, tmp_path / "again.json.gz") == []
    assert_frame_equal(batsim.read(tmp_path / "again.json.gz").jobs, w.jobs, check_exact=True)
