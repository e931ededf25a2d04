"""Pages of sweeps, searches for a capacity and studies, and commands that repeat what a page shows."""

import json
import shlex

import pytest

import forebay as fb
from cli.conftest import compiled, forebay  # noqa: F401 - fixtures
from forebay.errors import InputError
from forebay.report import write
from forebay.report._document import FORMAT
from report.test_page import HOSTILE, Reader

SPEC = 'workloads = ["table1"]\npolicies = ["fcfs-easy", "fcfs", "filler"]\nseeds = 3\n'
CURVE = {
    "workload": "four, 4 jobs",
    "platform": {"name": "flat", "text": "8 nodes"},
    "replicas": {"number": 2, "text": "2 replicas"},
    "vary": [{"name": "burst_buffer", "unit": "bytes", "each": False, "low": 1e11, "high": 1e12}],
    "target": {"number": "mean_wait", "limit": 1800.0, "unit": "s", "text": "mean wait <= 30 min"},
    "precision": 0.05,
    "prices": {},
    "cheapest": None,
    "notes": [],
    "answers": [
        {
            "policy": "fcfs-bb",
            "beside": {},
            "reached": True,
            "capacity": 2e11,
            "interval": [1.5e11, 2.5e11],
            "text": "burst buffer >= 200 GB for mean wait <= 30 min under fcfs-bb",
            "points": [
                {"policy": "fcfs-bb", "burst_buffer": 5e10, "mean": None, "half_ci95": None, "rejected": 4,
                 "meets": False, "cost": None},
                {"policy": "fcfs-bb", "burst_buffer": 1e11, "mean": 5400.0, "half_ci95": 600.0, "rejected": 0,
                 "meets": False, "cost": None},
                {"policy": "fcfs-bb", "burst_buffer": 2e11, "mean": 1800.0, "half_ci95": 0.0, "rejected": 0,
                 "meets": True, "cost": None},
            ],
        }
    ],
}  # fmt: skip
STUDY = {
    "format": FORMAT,
    "study": "kopanski2021",
    "title": "A study",
    "sections": ["parts"],
    "notes": ["a note"],
    "shown": [{"title": "Claims", "columns": ["claim", "ours"], "rows": [["A < B", "yes"]], "words": 1}],
    "detailed": [{"title": "Part 3", "columns": ["policy", "wait"], "rows": [["fcfs", "3"]], "words": 1}],
    "figures": ["one.svg", "gone.svg"],
    "command": ["forebay", "study", "kopanski2021", "--quick"],
}
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def read(path):
    return Reader(path.read_text(encoding="utf-8"))


def words_of(path):
    return " ".join(" ".join(read(path).words).split())


def saved(folder, name, document):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(document), encoding="utf-8")
    return folder


@pytest.fixture
def study(tmp_path):
    (tmp_path / "study" / "figures").mkdir(parents=True)
    (tmp_path / "study" / "figures" / "one.svg").write_text(PICTURE)
    return saved(tmp_path / "study", "study.json", STUDY)


@pytest.fixture
def swept(forebay, runs_here, tmp_path):  # noqa: F811
    (tmp_path / "mine.toml").write_text(SPEC)
    assert forebay("sweep", tmp_path / "mine.toml", "-o", tmp_path / "swept", "--jobs", 1).code == 0
    return tmp_path / "swept"


def command_on(path):
    """The words of the command that a page shows."""
    found = read(path).words
    after = found[found.index("Make it again") :]
    return shlex.split(next(text for text in after if text.startswith("forebay ")))[1:]


def test_a_sweep(swept, tmp_path):
    page = swept / "report.html"
    words = words_of(page)
    order = [words.index(title) for title in ("reference", "What to run", "Make it again")]
    assert order == sorted(order)
    assert "5 min 45 s" in words  # the mean wait of fcfs-easy on table1
    assert 'policies = ["fcfs-easy", "fcfs", "filler"]' in words
    assert command_on(page) == ["sweep", str(tmp_path / "mine.toml")]
    before = page.read_text(encoding="utf-8")
    page.unlink()
    assert len(write(swept).read_text(encoding="utf-8")) == pytest.approx(len(before), rel=0.01)


def test_without_a_page(forebay, swept, tmp_path):  # noqa: F811
    """An earlier page would tell of an earlier answer."""
    out = forebay("sweep", tmp_path / "mine.toml", "-o", swept, "--no-report", "--jobs", 1)
    assert out.code == 0
    assert "report.html" not in out.out
    assert not (swept / "report.html").exists()
    assert (swept / "sweep.json").is_file()


def test_a_capacity(tmp_path):
    words = words_of(write(saved(tmp_path / "c", "capacity.json", CURVE | {"command": ["forebay", "capacity", "a b"]})))
    assert words.index("burst buffer >= 200 GB for mean wait") < words.rindex("Curve") < words.rindex("All that was")
    assert "1 h 30 min" in words
    assert "forebay capacity 'a b'" in words
    assert "Cost" not in words


def test_a_capacity_whose_interval_has_no_end(tmp_path):
    """Bokeh takes no null for the edge of a band: the page had no figure at all."""
    answer = CURVE["answers"][0]
    told = CURVE | {"answers": [answer | {"interval": [answer["interval"][0], None]}]}
    page = write(saved(tmp_path / "c", "capacity.json", told)).read_text(encoding="utf-8")
    assert '"BoxAnnotation"' in page
    assert '"right":null' not in page


def test_a_capacity_with_prices(tmp_path):
    answers = [CURVE["answers"][0] | {"points": [point | {"cost": 7.0} for point in CURVE["answers"][0]["points"]]}]
    told = CURVE | {"prices": {"burst_buffer": "120EUR/TB"}, "answers": answers}
    words = words_of(write(saved(tmp_path / "c", "capacity.json", told)))
    assert "What machines cost" in words
    assert "120EUR/TB" in words


def test_a_study(study):
    page = write(study)
    words = words_of(page)
    assert words.index("Claims") < words.index("Figures") < words.index("Part 3") < words.index("forebay study")
    text = page.read_text(encoding="utf-8")
    assert text.count("<img ") == 1
    assert "alert(1)" not in text  # a picture is an image, and cannot run anything


@pytest.mark.parametrize(("name", "document"), [("study.json", STUDY), ("capacity.json", CURVE)])
def test_words_of_others_are_shown_and_never_run(tmp_path, name, document):
    told = json.loads(json.dumps(document).replace("fcfs", HOSTILE.replace('"', "'")).replace("a note", "<b>"))
    page = read(write(saved(tmp_path / "out", name, told)))
    assert "b" not in page.tags
    assert not [kind for _, kind, code in page.scripts if "alert(1)" in code and kind != "application/json"]


@pytest.mark.parametrize("name", ["sweep.json", "capacity.json", "study.json"])
@pytest.mark.parametrize("text", ["[]", "{", "{}", '{"answers": 3, "shown": [1], "combinations": [[]]}'])
def test_a_document_that_tells_nothing_is_refused(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=name):
        write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_numbers_of_a_document_beyond_all_floats_are_refused(tmp_path):
    found = fb.sweep(workloads=["table1"], policies=["fcfs"])
    document = found.document() | {"metrics": ["mean_wait"], "name": "mine", "spec": ""}
    (tmp_path / "sweep.json").write_text(json.dumps(document))
    write(tmp_path)
    document["combinations"][0]["mean_wait"] = 10**400
    (tmp_path / "sweep.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"sweep\.json: does not tell of an answer"):
        write(tmp_path)


@pytest.mark.parametrize(
    "given",
    [
        ("--policies", "fcfs,fcfs-bb", "--seed", 3, "--window", "0:1d", "--reference", "fcfs"),
        ("--policies", "fcfs-bb:depth=3,fcfs", "--platform", "flat:nodes=8,burst_buffer=20TB"),
    ],
)
def test_the_command_of_a_comparison_repeats_it(forebay, tmp_path, given):  # noqa: F811
    more = ("--no-plots", "--jobs", 1, "-o")
    assert forebay("compare", "table1", *given, *more, tmp_path / "one").code == 0
    again = command_on(tmp_path / "one" / "report.html")
    assert again == ["compare", "table1", *map(str, given)]
    assert forebay(*again, *more, tmp_path / "two").code == 0
    same = [path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("log.parquet")]
    assert len(same) == 2
    assert all((tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes() for name in same)


def test_the_command_of_a_run_repeats_it(forebay, tmp_path):  # noqa: F811
    path = tmp_path / "some jobs.swf"
    assert forebay("workload", "convert", "table1", path).code == 0
    given = ("--platform", "flat:nodes=4", "--policy", "fcfs", "--failures", "mtbf=2h,downtime=10min", "--seed", "2")
    assert forebay("run", path, *given, "-o", tmp_path / "one").code == 0
    again = command_on(write(tmp_path / "one"))
    assert again[:2] == ["run", str(path)]
    assert forebay(*again, "-o", tmp_path / "two").code == 0
    one, two = (json.loads((tmp_path / name / "run.json").read_text())["log_sha256"] for name in ("one", "two"))
    assert one == two


@pytest.mark.usefixtures("runs_here")
@pytest.mark.small
def test_a_sweep_in_python_writes_the_page_that_the_command_writes(tmp_path):
    """By keys and by a file; what differs is how it was asked. Without a page's inputs, the folder says what to do."""
    (tmp_path / "three.toml").write_text(SPEC)
    folder = tmp_path / "runs"
    found = fb.sweep(tmp_path / "three.toml", jobs=1, output=folder)
    page = found.report(tmp_path / "page.html").read_text()
    assert "three: a sweep" in page
    assert "seeds = 3" in page
    keys = {"workloads": [fb.read("table1")], "policies": ["fcfs-easy", "fcfs", "filler"], "seeds": 3}
    by_keys = fb.sweep(**keys, jobs=1).report(tmp_path / "keys.html").read_text()
    assert "workloads = [&quot;table1&quot;]" in by_keys
    assert "<h1>A sweep</h1>" in by_keys
    (folder / "sweep.json").write_text(json.dumps({**found.document(), "name": "three", "spec": SPEC, "metrics": []}))
    assert "three: a sweep" in write(folder).read_text()
    (folder / "sweep.json").unlink()
    with pytest.raises(InputError, match=r"found\.report"):
        write(folder)
    with pytest.raises(InputError, match="holds no results; name a folder that forebay compare, sweep"):
        write(tmp_path)
