"""Times beyond 10^10 s are refused by name wherever users give them; no limit at all is still written as such."""

import math

import pytest

import forebay as fb
from forebay import platforms, policies
from forebay._support.input_limits import LONGEST
from forebay.core.limits import Limits
from forebay.core.units import parse_period, parse_seconds
from forebay.errors import InputError
from forebay.platforms import failures
from forebay.slurm.sources import values
from forebay.workload.formats import _sacct_values as sacct

pytestmark = pytest.mark.small

NINES = "9" * 400
LONG = ["1e15", "10000000001", "200000 d", NINES, f"{NINES} h", "9" * 5000]
RESERVED = 'nodes = 4\n[[reservations]]\nname = "service"\n'


def refused(make, *words):
    with pytest.raises(InputError) as caught:
        make()
    for word in (*words, "longer than 1e+10 s (317 years)"):
        assert word in str(caught.value)
    assert len(str(caught.value)) < 300


def toml(folder, text):
    path = folder / "site.toml"
    path.write_text(text)
    return platforms.load(path)


def test_the_longest_is_taken():
    assert parse_seconds("1e10") == parse_seconds("10000000000 s") == LONGEST
    assert values.seconds("115740-00:00:00", "slurm.conf", "MaxTime") == 115740 * 86400


@pytest.mark.parametrize("text", LONG)
def test_texts(text):
    refused(lambda: parse_seconds(text))
    refused(lambda: parse_period(f"{text}:", "--window"), "--window")
    refused(lambda: failures.load(f"mtbf={text}"), "failures: mtbf")
    refused(lambda: policies.load(f"slurm:bf_interval={text}"), "bf_interval")


@pytest.mark.parametrize("text", ["1e15", NINES, "200000 d"])
@pytest.mark.parametrize(
    ("key", "rest"),
    [("duration", "start = 0"), ("start", 'duration = "1 h"'), ("end", "start = 0")],
)
def test_reservations(tmp_path, text, key, rest):
    refused(lambda: toml(tmp_path, f'{RESERVED}{rest}\n{key} = "{text}"\n'), "site.toml", key)


@pytest.mark.parametrize("number", ["1e15", "10000000001", "-1e15"])
def test_numbers_in_files(tmp_path, number):
    refused(lambda: toml(tmp_path, f'{RESERVED}duration = "1 h"\nstart = {number}\n'), "start")


@pytest.mark.parametrize("text", [f"{NINES}-00:00:00", f"{NINES}:00", f"1-{NINES}:00:00", f"{'9' * 5000}:00:00"])
def test_clocks_of_slurm(tmp_path, text):
    refused(lambda: values.seconds(text, "slurm.conf: line 3", "MaxTime"), "slurm.conf: line 3: MaxTime: ")
    limit = f'nodes = 4\n[[limits]]\nuser = "*"\nMaxWall = "{text}"\n'
    refused(lambda: toml(tmp_path, limit), "site.toml", "max_wall")
    with pytest.raises(InputError, match=r"over 1e\+10 s; is it in seconds"):
        sacct.duration(text)


def test_no_limit_is_no_length(tmp_path):
    assert values.seconds("UNLIMITED", "slurm.conf", "MaxTime") == math.inf
    assert sacct.time_limit("UNLIMITED") == math.inf
    assert failures.load("mtbf=1h,downtime=inf").downtime == math.inf
    assert Limits(run_time=math.inf).run_time == math.inf
    assert toml(tmp_path, 'nodes = 4\n[[limits]]\nuser = "*"\nMaxWall = "UNLIMITED"\nMaxJobs = 4\n').nodes == 4


def test_numbers_of_python():
    refused(lambda: failures.load(platforms.Failures(mtbf=3600, downtime=1e15)), "failures: downtime")
    refused(lambda: Limits(run_time=1e15), "run_time")
    refused(lambda: platforms.Reservation(name="service", start=0, duration=1e15), "duration")
    refused(lambda: platforms.Reservation(name="service", start=10**400, duration=1), "start")
    refused(lambda: policies.load("slurm:bf_window=1e9"), "bf_window")
    refused(lambda: policies.load("slurm:bf_interval=1e400"), "bf_interval")


@pytest.mark.parametrize(("column", "says"), [("walltime", "1e+10 at most"), ("run_time", "from 0 to 1e+10")])
def test_jobs(tmp_path, column, says):
    times = {"walltime": 60, "run_time": 50} | {column: 10**12}
    path = tmp_path / "jobs.swf"
    path.write_text(f"1 0 -1 {times['run_time']} 1 -1 -1 1 {times['walltime']} -1 1 1 1 -1 -1 -1 -1 -1\n")
    with pytest.raises(InputError) as caught:
        fb.read(path)
    assert f"jobs.swf: job 1: {column} is 1000000000000.0; it must be seconds" in str(caught.value)
    assert says in str(caught.value)
