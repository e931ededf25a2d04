"""How nodes fail, as users write it: specs, traces, platform files; and what is said of mistakes."""

import hashlib
import json
import math
import pickle

import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.platforms import Failures
from forebay.platforms._declared.outages import MOST
from forebay.platforms.failures import check, load

pytestmark = pytest.mark.small

DOWN, BACK = "machine_unavailable", "machine_available"


def event(time, kind, nodes):
    return {"timestamp": time, "type": kind, "resources": nodes}


@pytest.fixture
def outages(tmp_path):
    """(node, down, up) of a trace: text, bytes, or events, one a line."""

    def read(trace):
        path = tmp_path / "trace"
        if isinstance(trace, list):
            trace = "\n".join(map(json.dumps, trace))
        path.write_bytes(trace if isinstance(trace, bytes) else trace.encode())
        found = load(path).outages
        assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
        assert [column.dtype.kind for column in (found.node, found.down, found.up)] == ["i", "f", "f"]
        return list(zip(found.node, found.down, found.up, strict=True))

    return read


@pytest.fixture
def complaint(outages, tmp_path):
    def complaint(trace):
        with pytest.raises(InputError) as caught:
            outages(trace)
        text = str(caught.value)
        assert text.startswith(f"{tmp_path / 'trace'}: ")
        return text.removeprefix(f"{tmp_path / 'trace'}: ")

    return complaint


# Specs


def test_a_spec():
    wanted = Failures(mtbf=5400, downtime=60, shape=0.7, checkpoint_bytes=10**9, known=False, seed=3)
    spec = "mtbf=1h 30min, downtime=60,shape=0.7,checkpoint_bytes=1GB,known=no,seed=3"
    assert load(spec) == wanted
    assert load(wanted) is wanted


def test_a_table():
    table = {"node_mtbf": "100 d", "checkpoint": 300, "period": 7200.0, "known": False, "max_attempts": 5}
    assert load(table) == Failures(node_mtbf=8.64e6, checkpoint=300, period=7200, known=False, max_attempts=5)


def test_a_trace_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a,b=c.csv").write_text("node,down,up\n1,2,3\n")
    (tmp_path / "trace.csv").write_text("node,down,up\n1,2,3\n")
    assert load("a,b=c.csv").outages.name == "a,b=c.csv"
    for spec in ("trace.csv", tmp_path / "trace.csv", "trace=trace.csv", {"trace": "trace.csv"}):
        assert load(spec).outages.name == "trace.csv"
    for spec in ("trace.csv,checkpoint=300s,period=4h", "period=4h,trace=trace.csv,checkpoint=300s"):
        found = load(spec)
        assert (found.checkpoint, found.period, len(found.outages.node)) == (300, 14400, 1)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("", "names none; write mtbf=1h"),
        ("mtfb=1h", "failures has no parameter 'mtfb': did you mean 'mtbf'?"),
        ("outages=trace.csv", "has no parameter 'outages'"),
        ("mtbf=1h,mtbf=2h", "'mtbf' is given twice; keep one"),
        ("mtbf=1h,downtime", "'downtime' is not key=value; write mtbf=1h,downtime=1h"),
        ("mtbf=1 week", "'week' is not a unit of time"),
        ("mtbf=-5", "mtbf is -5; give a time above 0"),
        ("checkpoint_bytes=1Gb,mtbf=1h", "reads as bits"),
        ("known=perhaps", "is not true or false"),
        ("1h", "1h: no such file; check the path, or write failures as key=value"),
        ("trace=nowhere.csv", "nowhere.csv: no such file"),
        ({"max_attempts": 1.5}, "max_attempts='1.5' is not a whole number"),
        ({"known": 3}, "known='3' is not true or false"),
        (3, "failures is 3, of type int; give text such as"),
    ],
)
def test_bad_specs(spec, words):
    with pytest.raises(InputError) as caught:
        load(spec)
    assert words in str(caught.value)


def test_a_folder_is_no_trace(tmp_path):
    with pytest.raises(InputError, match="is a folder; name a trace inside it"):
        load(tmp_path)


# CSV


def test_csv(outages):
    assert outages("node,down,up\n0,0,5\n3,2.5,\n0,2.5,1e3\n") == [(0, 0, 5), (3, 2.5, math.inf), (0, 2.5, 1000)]


def test_csv_as_others_write_it(outages):
    text = '\ufeffup, why ,node,"down"\r\n\r\n2h,"power, and cooling",12,1h\r\n,,7, 4000\r\n\r\n'
    assert outages(text) == [(12, 3600, 7200), (7, 4000, math.inf)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty; write a header node,down,up"),
        (" \n\n", "is empty"),
        ("node,down,up\n", "no node is ever down in it"),
        (b"node,down,up\n1,2,3\n\xff,4,5\n", "line 3: not text in UTF-8"),
        (
            "node,down\n1,2\n",
            "line 1: the column up is missing; begin the file with node,down,up (columns: node, down)",
        ),
        ("0,1,2\n", "line 1: the column node is missing"),
        ("node;down;up\n", "line 1: the column node is missing"),
        ("node,up,down,up\n", "line 1: the column up is there twice; keep one"),
        ("node,down,up\n1,2\n", "line 2: 2 fields, and the header names 3"),
        ("node,down,up\n\n1,2,2\n", "line 3: up is 2, not after down, 2; correct it, or leave it empty"),
        ("node,down,up\n1,5,2\n", "line 2: up is 2, not after down, 5"),
        (
            "node,down,up\n1,5,6\n2,7,8\n1,6.5,9\n",
            "line 4: down is 6.5, before the 7 of line 3; sort the lines by down",
        ),
        ("node,down,up\n-1,5,6\n", "line 2: node is '-1'; it must be the number of a node, from 0 up"),
        ("node,down,up\n1.5,5,6\n", "line 2: node is '1.5'"),
        ("node,down,up\nnid01,5,6\n", "line 2: node is 'nid01'"),
        ("node,down,up\n1,-5,6\n", "line 2: down is '-5'; it must be a time from 0 up, in seconds"),
        ("node,down,up\n1,,6\n", "line 2: down is ''"),
        ("node,down,up\n1,nan,6\n", "line 2: down is 'nan'"),
        ("node,down,up\n1,1e16,\n", "line 2: down is '1e16'"),
        (
            "node,down,up\n1,5,inf\n",
            "line 2: up is 'inf'; it must be a time from 0 up, in seconds, 1e+10 at most, or empty if",
        ),
    ],
)
def test_bad_csv(complaint, text, words):
    assert complaint(text).startswith(words)


# Batsim's events

EVENTS = [
    event(0, DOWN, "0"),
    event(10, BACK, "0"),
    event(20, DOWN, "0-1 3"),
    event(250, BACK, "0 1"),
    event(300, BACK, "3"),
]
TIMES = [(0, 0, 10), (0, 20, 250), (1, 20, 250), (3, 20, 300)]


def test_events(outages):
    assert outages(EVENTS) == TIMES
    assert outages(json.dumps(EVENTS, indent=2)) == TIMES


def test_events_need_no_order(outages):
    assert outages(EVENTS[::-1]) == TIMES


def test_generic_events(outages):
    """As Batsim 5 has them: the event is text in another one."""
    wrapped = [{"timestamp": one["timestamp"], "type": "generic", "data": json.dumps(one)} for one in EVENTS]
    assert outages(wrapped) == TIMES


def test_nodes_that_never_come_back(outages):
    assert outages([event(5, DOWN, "1-2"), event(7.5, BACK, "1")]) == [(1, 5, 7.5), (2, 5, math.inf)]


def test_a_node_that_is_down_is_not_taken_twice(outages):
    events = [event(5, DOWN, "1 1-2 0-1"), event(6, DOWN, "2-3"), event(8, BACK, "0-3")]
    assert outages(events) == [(0, 5, 8), (1, 5, 8), (2, 5, 8), (3, 6, 8)]


def test_a_node_may_come_back_and_go_at_once(outages):
    assert outages([event(1, DOWN, "4"), event(2, BACK, "4"), event(2, DOWN, "4")]) == [(4, 1, 2), (4, 2, math.inf)]


@pytest.mark.parametrize(
    ("trace", "words"),
    [
        ("[]", "no node is ever down in it"),
        ([event(1, BACK, "4")], "line 1: node 4 becomes available, but was not unavailable; add a machine_unavailable"),
        ([event(1, DOWN, "4"), event(2, BACK, "4-5")], "line 2: node 5 becomes available, but was not"),
        (json.dumps([event(1, DOWN, "4"), event(2, BACK, "5")]), "event 2: node 5 becomes available, but was not"),
        ([event(1, DOWN, "4"), event(1, BACK, "4")], "line 2: node 4 becomes available in the instant in which"),
        ([event(-1, DOWN, "4")], "line 1: 'timestamp' is -1; it must be a time from 0 up"),
        ([event(None, DOWN, "4")], "line 1: 'timestamp' is None"),
        ([event(True, DOWN, "4")], "line 1: 'timestamp' is True"),
        ([event(math.nan, DOWN, "4")], "line 1: 'timestamp' is nan"),
        ([event(math.inf, DOWN, "4")], "line 1: 'timestamp' is inf"),
        ([{"type": DOWN, "resources": "4"}], "line 1: 'timestamp' is None"),
        ([event(1, "machine_up", "4")], "line 1: 'type' is 'machine_up'; it must be machine_unavailable or"),
        ([{"timestamp": 1, "type": "generic", "data": "4"}], "line 1: 'type' is 'generic'; it must be"),
        ([{"timestamp": 1, "type": "generic", "data": "some data"}], "line 1: 'type' is 'generic'"),
        ([event(1, DOWN, "4;5")], "line 1: 'resources' is '4;5'; it must name nodes, such as \"0-3 7\""),
        ([event(1, DOWN, "5-4")], "line 1: 'resources' is '5-4'"),
        ([event(1, DOWN, "")], "line 1: 'resources' is ''"),
        ([event(1, DOWN, 4)], "line 1: 'resources' is 4"),
        ([event(1, DOWN, f"0-{MOST}")], "line 1: more than 5,000,000 outages; name fewer nodes"),
        ([event(1, DOWN, "0-999999999999999999")], "line 1: more than 5,000,000 outages"),
        ([event(1, DOWN, "4"), 4], "line 2: 4 is no event; write an object"),
        ('{"timestamp": 1,\n"type": 2}', "line 1: not JSON"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_bad_events(complaint, trace, words):
    assert complaint(trace).startswith(words)


# Machines


def test_nodes_must_exist(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("node,down,up\n3,5,6\n4,7.5,8\n5,9,10\n")
    failures = load(path)
    check(failures, 6)
    check(load("mtbf=1h"), 1)
    with pytest.raises(
        InputError, match=r"^trace\.csv: node 4, down at 7\.5 s, does not exist: the machine has 4 nodes"
    ):
        check(failures, 4)


FILE = '[failures]\ntrace = "trace.csv"\ncheckpoint = "5 min"\nperiod = 3600\n'


@pytest.fixture
def machine(tmp_path):
    """A platform file in a folder of its own, with a trace beside it."""
    folder = tmp_path / "machines"
    folder.mkdir()
    (folder / "trace.csv").write_text("node,down,up\n3,5,6\n")

    def read(text, overrides=""):
        (folder / "mine.toml").write_text(f"nodes = 4\n{text}")
        return fb.platform(f"{folder / 'mine.toml'}{overrides}")

    return read


def test_a_platform_file(machine):
    made = machine(FILE)
    assert (made.failures.checkpoint, made.failures.period) == (300, 3600)
    assert made.failures.outages.node.tolist() == [3]
    assert machine('[failures]\nmtbf = "2 h"\nknown = false\n').failures == Failures(mtbf=7200, known=False)
    assert machine("").failures is None


def test_a_machine_keeps_its_failures(machine):
    made = machine(f'{FILE}[tiers.bb]\nkind = "shared_bb"\ncapacity = "auto"\n')
    sized = made.sized_for({"bb": 1e9})
    assert sized.failures is made.failures
    assert sized.describe()["failures"] == made.failures.describe()
    assert "failures: 1 outage of trace.csv, checkpoints of 5 min every 1 h" in str(made)
    assert "1 outage of trace.csv" in made._repr_html_()
    copied = pickle.loads(pickle.dumps(sized))
    assert copied == sized
    assert copied.failures.outages.down.tolist() == [5]
    assert made != made.model_copy(update={"failures": None})


def test_machines_without_failures_are_described_as_ever():
    assert "failures" not in fb.platform("table1").describe()


def test_a_machine_of_python():
    assert fb.Platform(name="mine", nodes=4, failures="mtbf=1h").failures == Failures(mtbf=3600)
    assert fb.Platform(name="mine", nodes=4, failures=Failures(mtbf=60)).failures == Failures(mtbf=60)
    with pytest.raises(InputError, match=r"^Platform: failures: mtbf is 0; give a time above 0"):
        fb.Platform(name="mine", nodes=4, failures={"mtbf": 0})


@pytest.mark.parametrize(
    ("text", "overrides", "words"),
    [
        ("[failures]\nmtbf = 0\n", "", "mine.toml: failures: mtbf is 0; give a time above 0"),
        ('[failures]\nmtfb = "1 h"\n', "", "mine.toml: failures: has no parameter 'mtfb': did you mean 'mtbf'?"),
        ('failures = "mtbf=1h"\n', "", "mine.toml: failures: must be a table: write [failures]"),
        ('[failures]\ntrace = "nowhere.csv"\n', "", "nowhere.csv: no such file"),
        (FILE, ":nodes=3", "mine.toml: failures: trace.csv: node 3, down at 5 s, does not exist"),
    ],
)
def test_bad_platform_files(machine, text, overrides, words):
    with pytest.raises(InputError) as caught:
        machine(text, overrides)
    assert words in str(caught.value)


def test_all_that_is_wrong_with_a_file_is_told_at_once(machine):
    with pytest.raises(InputError, match="2 problems") as caught:
        machine("speed = 3\n[failures]\nmtbf = 0\n")
    assert "failures: mtbf is 0" in str(caught.value)
