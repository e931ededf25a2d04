"""The page of a watch and its numbers: what users wrote is shown and never obeyed, and nothing else is served."""

import html.parser
import http.client
import json
import re
import socket
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from _live.acted import START
from _live.test_reading import JOB, _site
from cases.chunks import examples
from forebay._live.jobs import from_json
from forebay._live.snapshot import moment_of
from forebay._live.watch import exposition, page
from forebay._live.watch.forecast import Forecast
from forebay._live.watch.scores import Guess, Reliability, Score, Scores, reliability
from forebay._live.watch.serving import Server, address
from forebay._live.watch.state import Standing
from forebay.errors import InputError

NASTY = (
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</style><b>", "&lt;", "a\x1b[31mb", "\u202eevil",
    "' onmouseover='x", "]]>", "<!--", "\n# HELP x\nforebay_up 7", "\\", '"} 9',
)  # fmt: skip
SITE = _site()


def _standing(text):
    """A queue in which a user chose all words."""
    row = JOB | {"job_id": 2, "job_state": "PENDING", "priority": 8, "name": text, "user_name": text, "partition": text}
    found = moment_of(SITE, from_json(json.dumps({"jobs": [row]})), START)
    found.notes.append(text)
    hours = {"seconds": np.arange(25) * 3600.0}
    hours |= {f"{what}_{part}": np.ones(25) for what in ("waiting", "in_use") for part in ("low", "middle", "high")}
    waits = pl.DataFrame([{"queue": text, "jobs": 2.0, "low": 0.0, "middle": 60.0, "high": 3600.0}])
    bands = np.array([[0.0, 1.0, 60.0, 120.0, 600.0, 3600.0, 90000.0]])
    ahead = Forecast(["2"], bands, bands, pl.DataFrame(hours), waits)
    good = [Reliability(text, 3, {0.5: 0.6, 0.8: 0.8, 0.9: 1.0}, 60.0, 2, 30.0, 90.0)]
    return Standing(found, ahead, {"2": 600.0}, good, 1)


def _replay(text):
    row = {"policy": text, "metric": "mean_wait", "value": 60.0, "reference_value": 90.0, "change": -1 / 3}
    row |= {"low": -0.4, "high": -0.2, "verdict": "better"}
    return {"rows": [row], "jobs": 40, "since": START, "until": START, "reference": text, "failed": {text: text}}


class _Seen(html.parser.HTMLParser):
    """Elements, their attributes, and text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text = set(), set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text.append(data)


PLAIN = _Seen(page.document(_standing("plain"), _replay("plain"), START, 60, "plain"))


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=examples(25))
@given(st.one_of(st.sampled_from(NASTY), st.text(max_size=40)))
def test_markup_of_users_is_text(text):
    """Whatever they write, the page has the same elements and attributes, and shows their words."""
    seen = _Seen(page.document(_standing(text), _replay(text), START, 60, text))
    assert (seen.tags, seen.attributes) == (PLAIN.tags, PLAIN.attributes)
    assert not seen.tags & {"script", "img", "iframe", "object", "link", "form", "a"}
    assert not any(name.startswith("on") or name in ("src", "href") for name in seen.attributes)
    shown = "".join(seen.text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", shown)


@settings(deadline=None, max_examples=examples(25))
@given(st.one_of(st.sampled_from(NASTY), st.text(max_size=40)))
def test_labels_cannot_make_numbers(text):
    """Each line is a comment or a sample of ours, and labels read back as they were written."""
    lines = exposition.text(_standing(text), 3, 12, False).split("\n")
    assert lines.pop() == ""
    sample = re.compile(r'forebay_\w+(?:\{(?:\w+="(?:[^"\\\n]|\\["\\n])*",?)+\})? -?[\d.e+-]+(?:inf|nan)?')
    words = re.compile(r"# (?:HELP|TYPE) forebay_\w+ [\w ,.'-]+")
    assert [line for line in lines if not (sample.fullmatch(line) or words.fullmatch(line))] == []


def test_numbers_for_prometheus(tmp_path):
    exposition.write(tmp_path / "forebay.prom", _standing("main"), 3, 12, True)
    text = (tmp_path / "forebay.prom").read_text()
    for line in (
        "forebay_up 0", "forebay_calls_total 12", 'forebay_jobs{state="waiting"} 1', 'forebay_nodes{state="down"} 1',
        'forebay_expected_wait_seconds{partition="main",quantile="0.9"} 3600',
        'forebay_coverage_ratio{partition="main",band="0.9"} 1',
        'forebay_median_error_seconds{partition="main",by="squeue"} 90',
    ):  # fmt: skip
        assert f"{line}\n" in text
    assert oct((tmp_path / "forebay.prom").stat().st_mode)[-3:] == "644"


def test_reliability_by_partition():
    """By hand: three waits of 100 s; Slurm said something of two."""
    bands = np.array([50, 60, 80, 90, 110, 120, 130.0])
    scores = Scores()
    for name, partition, said in (("1", "a", 300.0), ("2", "a", None), ("3", "b", 100.0)):
        scores.open[name] = Guess(START, partition, np.array([90.0, 110.0]), bands)
        if said is not None:
            scores.hear(START + 40, {name: said}, {name: 70.0})
    job = SimpleNamespace(waits=False, start=START + 100, state="RUNNING", end=0, tasks="", array=0)
    cancelled = SimpleNamespace(waits=False, start=START + 9, state="CANCELLED", end=START + 9, tasks="", array=0)
    scores.open["4"] = Guess(START, "a", np.array([90.0]), bands)
    jobs = [SimpleNamespace(**vars(job), called=name) for name in "123"]
    scores.settle([*jobs, SimpleNamespace(**vars(cancelled), called="4")])
    assert scores.lost == 1
    both, a, b = reliability(scores.done)
    assert (both.partition, both.jobs, both.coverage[0.9], both.error) == ("all", 3, 1.0, 10.0)
    assert (both.both, both.ours, both.slurm) == (2, 10.0, 140.0)  # 60 s were left: 70 and 300, 70 and 100 said
    assert (a.partition, a.jobs, b.slurm) == ("a", 2, 40.0)
    assert isinstance(scores.done[0], Score)


@pytest.fixture
def server(tmp_path):
    (tmp_path / "status.html").write_text("<p>all is well</p>")
    (tmp_path / "secret").write_text("no")
    made = Server(tmp_path / "status.html", "127.0.0.1", 0)
    made.begin()
    yield made
    made.shutdown()
    made.server_close()


def _asked(server, method, path="/", host=None, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
    headers = {} if host is None else {"Host": host}
    connection.request(method, path, body, headers)
    found = connection.getresponse()
    return found.status, found.read(), dict(found.getheaders())


def test_it_serves_the_page_and_nothing_else(server):
    code, body, headers = _asked(server, "GET")
    assert (code, body) == (200, b"<p>all is well</p>")
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert _asked(server, "HEAD")[:2] == (200, b"")
    for path in ("/secret", "/../secret", "/%2e%2e/secret", "/status.html/..", "/?x=1"):
        assert _asked(server, "GET", path)[0] == 404, path
    assert _asked(server, "GET", "http://evil/")[0] == 421
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT"):
        assert _asked(server, method, body=b"x" if method == "POST" else None)[0] == 405, method
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", "127.0.0.1:1", ""):
        assert _asked(server, "GET", host=host)[0] == 421, host
    assert _asked(server, "GET", host=f"localhost:{server.port}")[0] == 200
    server.file.unlink()
    assert _asked(server, "GET")[0] == 503


def test_it_survives_what_is_no_request(server):
    for sent in (
        b"\x00\xff\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    ):
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as one:
            one.sendall(sent)
            answer = one.recv(4096)
        assert b"200" not in answer[:20]
    assert _asked(server, "GET")[0] == 200


@pytest.mark.parametrize("given", ["0.0.0.0:80", "8080", "example.org:80", "127.0.0.1:99999", "127.0.0.2:80", "::1:80"])
def test_only_on_this_machine(given):
    with pytest.raises(InputError, match="not an address of this machine alone"):
        address(given)
    assert address("[::1]:80") == ("::1", 80)
