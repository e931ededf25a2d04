"""Names out of files never steer a terminal, a spreadsheet or a picture, and nothing is written beside its folder."""

import json
import re
import zipfile
from dataclasses import replace
from xml.etree import ElementTree

import polars as pl
import pytest

from forebay._support.text import plain
from forebay.workload import read, write
from forebay.workload.operations import first
from forebay.workload.workload import Workload

NAMES = (
    "\x1b[31mred\x07\x9b2J\u202e\x7f\r\nx",
    "../../../up/and/away",
    "=HYPERLINK(0)",
    "@SUM(1)",
    r"$\frac{",
    "<script>alert(1)</script>&amp;",
    "-name",
)
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture
def hostile(tmp_path):
    """A workload file whose name, from inside it, and whose notes are as given."""

    def make(name):
        path = tmp_path / "in" / "w.parquet.zip"
        path.parent.mkdir(exist_ok=True)
        write(replace(read("table1"), notes=("n",)), path)
        with zipfile.ZipFile(path) as file:
            parts = {one: file.read(one) for one in file.namelist()}
        facts = json.loads(parts["workload.json"]) | {
            "name": name,
            "notes": [name],
            "provenance": [name],
            "dropped": {name: 1},
            "records": 9,
        }
        with zipfile.ZipFile(path, "w") as file:
            for one, data in (parts | {"workload.json": json.dumps(facts).encode()}).items():
                file.writestr(one, data)
        return path

    return make


def check_files(folder):
    """Every text file below a folder: nothing in it is obeyed, no cell is a formula, and pictures are pictures."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    assert found
    for path in found:
        if path.suffix in (".parquet", ".zip", ".png"):
            continue
        text = path.read_text(encoding="utf-8")
        assert not OBEYED.search(text), path
        if path.suffix == ".csv":
            cells = [cell.strip('"') for line in text.split("\n") for cell in line.split(",")]
            assert not [cell for cell in cells if re.match(r"[=@]|[+-](?![\d.]|inf|$)", cell)], path
        if path.suffix == ".svg":
            tree = ElementTree.fromstring(text)
            assert not [element.tag for element in tree.iter() if element.tag.lower().endswith("script")]
    return found


def outside(tmp_path):
    return {path for path in tmp_path.rglob("*") if path.is_file() and tmp_path / "out" not in path.parents}


@pytest.mark.parametrize("name", NAMES)
def test_everything_that_is_written_of_a_run(forebay, hostile, tmp_path, name):
    source = hostile(name)
    before = outside(tmp_path)
    for command in (
        ("run", source, "-o", tmp_path / "out" / "run"),
        ("plot", tmp_path / "out" / "run", "-o", tmp_path / "out" / "plot"),
        ("workload", "info", source),
        ("workload", "split", source, "2", "-o", tmp_path / "out" / "split", "--suffix", ".swf"),
        ("workload", "split", source, "2", "-o", tmp_path / "out" / "split", "--suffix", ".json"),
    ):
        code, out, err = forebay(*command)
        assert code == 0, err
        assert not OBEYED.search(out + err)
    check_files(tmp_path / "out")
    assert outside(tmp_path) == before


def test_a_comparison(forebay, hostile, tmp_path):
    source = hostile(NAMES[0])
    code, out, err = forebay("compare", source, "--policies", "fcfs,fcfs-easy", "-o", tmp_path / "out")
    assert code == 0, err
    assert not OBEYED.search(out + err)
    check_files(tmp_path / "out")


@pytest.mark.parametrize("ending", ["swf", "json", "sacct", "parquet.zip"])
@pytest.mark.parametrize("name", NAMES)
def test_every_format(tmp_path, name, ending):
    source = read("table1")
    made = Workload(name, source.jobs, platform="flat:nodes=4", notes=(name,), provenance=(name, name))
    path = tmp_path / f"w.{ending}"
    for note in write(made, path):
        assert plain(note) == note
    again = read(path)
    assert plain(again.name) == again.name
    if ending != "parquet.zip":
        assert not OBEYED.search(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", ["svg", pytest.param("png", marks=pytest.mark.full)])
def test_labels_of_figures(tmp_path, kind):
    """As text, and as pixels, where nothing is left to be obeyed: all of them at once."""
    import forebay as fb
    from forebay import figures

    runs = {label: fb.simulate(read("table1"), policy="fcfs") for label in NAMES}
    runs["fcfs"] = fb.simulate(read("table1"), policy="fcfs-easy")
    for name in figures.names():
        figures.draw(name, runs, tmp_path / f"{name}.{kind}")
    check_files(tmp_path)


@pytest.mark.parametrize(
    "command",
    [
        ("run", "\x1b[31mx.swf"),
        ("run", "table1", "--policy", "\x1b[31mx"),
        ("run", "table1", "--policy", "mine\x9b.py:X"),
        ("run", "table1", "--platform", "flat:nodes=\x1b4"),
        ("run", "table1", "--job-model", "\u202ex"),
        ("run", "table1", "--window", "\x1b:"),
        ("run", "table1", "--\x1b[31mx"),
        ("workload", "convert", "table1", "x\x1b.abc"),
        ("\x1b[31m",),
    ],
)
def test_messages_that_quote_what_was_typed(forebay, command):
    code, out, err = forebay(*command)
    assert code == 2
    assert not OBEYED.search(out + err)
    assert "forebay:" in err


def test_messages_of_forebay_keep_their_lines(forebay, tmp_path):
    (tmp_path / "m.toml").write_text("nodes = -1\nspeed = 3\n")
    _, _, err = forebay("platforms", tmp_path / "m.toml")
    assert err.count("\n") == 3


def test_a_suffix_is_no_path(forebay, tmp_path):
    code, _, err = forebay("workload", "split", "table1", "2", "-o", tmp_path / "out", "--suffix", "/../../x.swf")
    assert code == 2
    assert "--suffix '/../../x.swf'" in err
    assert list(tmp_path.iterdir()) == []


def test_a_policy_named_like_a_formula_is_none_in_the_table(forebay, policies, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "@x.py").write_text(policies.read_text())
    assert forebay("compare", "table1", "--policies", "fcfs,@x.py:InOrder", "-o", "out", "--no-plots").code == 0
    rows = (tmp_path / "out" / "compare.csv").read_text().splitlines()
    assert sorted(row.split(",")[0] for row in rows) == ["'@x.py:InOrder", "fcfs", "policy"]


def test_users_queues_and_accounts_named_like_formulas(forebay, tmp_path):
    """In every table that has their names, of whatever command."""
    whole = read("default")
    kinds = {name: dict(enumerate(NAMES[1:], 1)) for name in ("user", "group", "queue")}
    numbers = [pl.Series(name, [1 + k % (len(NAMES) - 1) for k in range(len(whole))]) for name in kinds]
    jobs = whole.jobs.with_columns(*(one.cast(whole.jobs[one.name].dtype) for one in numbers))
    jobs = jobs.with_columns(recorded_start=pl.col("submit") + 5.0)
    write(first(replace(whole, jobs=jobs, names=kinds), 60), tmp_path / "w.parquet.zip")
    out = tmp_path / "out"
    for command in (
        ("run", tmp_path / "w.parquet.zip", "-o", out / "run"),
        ("compare", tmp_path / "w.parquet.zip", "--policies", "fcfs,fcfs-easy", "-o", out / "compare", "--no-plots"),
        ("fidelity", tmp_path / "w.parquet.zip", "-o", out / "fidelity"),
    ):
        code, _, err = forebay(*command)
        assert code == 0, err
    assert "'=HYPERLINK(0)" in (out / "compare" / "groups.csv").read_text()
    assert "'=HYPERLINK(0)" in (out / "fidelity" / "groups.csv").read_text()
    check_files(out)
