"""TOML and JSON that Python's parsers give up on, by numbers of thousands of digits or lists without a bottom."""

import json
import sys

import pytest

import forebay as fb

pytestmark = pytest.mark.small

SPEC = 'workloads = ["table1"]\npolicies = ["fcfs"]\n'
DIGITS = "9" * 5000
DEEP = "[" * 3000 + "]" * 3000


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (f"seeds = {DIGITS}", "a number has thousands of digits"),
        (f"seeds = [{DIGITS}]", "a number has thousands of digits"),
        (f"seeds = {'9' * 4000}", ""),
        (f"seeds = [{'9' * 4000}]", ""),
        (f"seeds = 0x{DIGITS}", ""),
        (f"seeds = [0x{DIGITS}]", ""),
        (f"seeds = {DEEP}", "nest too deep"),
        (f"[parameters]\nx = {DEEP}", "nest too deep"),
        (f"[parameters]\nx = [0x{DIGITS}]", ""),
        (f"[{'a.' * 3000}a]", ""),
        (f"{'a.' * 3000}a = 1", ""),
        (f"window = {'9' * 4000}", ""),
    ],
)
def test_a_sweep_that_no_parser_takes(forebay, tmp_path, more, says):
    (tmp_path / "s.toml").write_text(SPEC + more + "\n")
    done = forebay("sweep", tmp_path / "s.toml", "-o", tmp_path / "out")
    assert done.code == 2, done.err[-400:]
    assert f"{tmp_path / 's.toml'}" in done.err
    assert says in done.err
    assert len(done.err) < 1000


@pytest.mark.parametrize("digits", ["9" * 4000, f"0x{DIGITS}"])
def test_a_parameter_that_nothing_takes(forebay, tmp_path, digits):
    text = SPEC.replace('"fcfs"', '"fcfs-easy:depth={x}"') + f"[parameters]\nx = [{digits}]\n"
    (tmp_path / "s.toml").write_text(text)
    done = forebay("sweep", tmp_path / "s.toml", "-o", tmp_path / "out")
    assert done.code == 2, done.err[-400:]
    assert "parameters.x: has a number that does not fit 64 bits" in done.err


@pytest.mark.parametrize(
    "text",
    [
        f"nodes = {DIGITS}",
        f"nodes = {'9' * 4000}",
        f"nodes = 0x{DIGITS}",
        f"nodes = {DEEP}",
        f"{'a.' * 3000}a = 1",
        f"nodes = 4\n[tiers.bb]\nkind = 'shared'\ncapacity = 0x{DIGITS}",
    ],
)
def test_a_platform_that_no_parser_takes(forebay, tmp_path, text):
    (tmp_path / "p.toml").write_text(text + "\n")
    done = forebay("run", "table1", "--platform", tmp_path / "p.toml")
    assert done.code == 2, done.err[-400:]
    assert f"{tmp_path / 'p.toml'}" in done.err
    assert len(done.err) < 1000


@pytest.mark.parametrize("text", [DIGITS, DEEP, '{"a":' * 3000 + "1" + "}" * 3000])
@pytest.mark.parametrize("name", ["run.json", "compare.json", "manifest.json", "figures.json", "sweep.json"])
def test_json_that_no_parser_takes(forebay, tmp_path, name, text):
    out = tmp_path / "out"
    fb.simulate("table1").save(out)
    (tmp_path / "s.toml").write_text(SPEC)
    (out / name).write_text(f'{{"format": 1, "x": {text}}}')
    words = {
        "run.json": ("report", out),
        "sweep.json": ("report", out),
        "figures.json": ("run", "table1", "-o", out),
        "manifest.json": ("sweep", tmp_path / "s.toml", "-o", out),
        "compare.json": ("compare", "table1", "--policies", "fcfs,fcfs-easy", "-o", out),
    }
    done = forebay(*words[name])
    assert done.code == 2, done.err[-400:]
    assert len(done.err) < 1000


@pytest.mark.parametrize("text", [DIGITS, DEEP])
@pytest.mark.parametrize("name", ["w.json", "f.json"])
def test_json_of_others(forebay, tmp_path, name, text):
    (tmp_path / name).write_text(f'{{"jobs": {text}}}' if name == "w.json" else f"[{text}]")
    words = {"w.json": ("run", tmp_path / name), "f.json": ("run", "table1", "--failures", f"trace={tmp_path / name}")}
    done = forebay(*words[name])
    assert done.code == 2, done.err[-400:]
    assert len(done.err) < 1000


def test_limits_are_those_of_this_python():
    """Else the numbers above would be read."""
    assert sys.get_int_max_str_digits() < len(DIGITS)
    with pytest.raises(RecursionError):
        json.loads(DEEP)
