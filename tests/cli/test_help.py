"""Help is quick, complete and has something to type."""

import json
import re
import subprocess
import sys

import pytest

COMMANDS = (
    "run",
    "compare",
    "capacity",
    "plot",
    "study",
    "elastisim",
    "workload",
    "workload info",
    "workload convert",
    "workload split",
    "workload list",
    "workload generate",
    "workload models",
    "workload fit-bb",
    "workload io",
    "policies",
    "platforms",
    "job-models",
    "formats",
    "check-policy",
    "warmup",
)

LOADED = """
import json, sys
from forebay.cli.main import _guarded
for words in json.load(sys.stdin):
    code = _guarded(words)
    heavy = [name for name in ("numpy", "polars", "numba", "matplotlib") if name in sys.modules]
    print("\\nloaded", json.dumps([code, heavy]))
"""


def loaded(commands):
    """Of commands one after the other in a process: their exit codes, and which of the slow packages are there then."""
    words = json.dumps([[str(word) for word in command] for command in commands])
    done = subprocess.run([sys.executable, "-c", LOADED], input=words, capture_output=True, text=True, check=True)
    return [json.loads(line[7:]) for line in done.stdout.splitlines() if line.startswith("loaded ")]


def test_alone_it_shows_its_help(forebay):
    code, out, err = forebay()
    assert (code, err) == (0, "")
    assert out == forebay("--help").out
    assert forebay("workload").out == forebay("workload", "--help").out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help_with_an_example(forebay, command):
    code, out, _ = forebay(*command.split(), "-h")
    assert code == 0
    assert "Example" in out
    assert f"\n    forebay {command.split()[0]}" in out


TYPES = r"\b(TEXT|PATH|INTEGER|FLOAT|BOOLEAN|DIRECTORY|FILENAME|RANGE|UUID)\b|<\w|list\[|\bx[<>]=?\d|\d<=?x\b"


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_speaks_no_python(forebay, command):
    out = forebay(*command.split(), "--help").out
    assert not re.search(TYPES, out.partition("Example")[0]), out
    assert "{" not in out.partition("\n")[0]


def test_no_line_of_the_list_of_commands_is_cut(shell):
    assert "..." not in shell("--help", COLUMNS="80").out.replace("[ARGS]...", "")


def test_help_imports_nothing_slow():
    assert loaded([["--help"], ["run", "--help"], ["--version"], []]) == 4 * [[0, []]]


def test_file_commands_do_without_the_compiler(tmp_path):
    commands = (
        ["workload", "convert", "table1", tmp_path / "a.swf"],
        ["workload", "info", "table1"],
        ["workload", "split", "default", 2, "-o", tmp_path / "parts"],
        ["workload", "list"],
        ["formats"],
        ["platforms", "table1"],
        ["policies"],
        ["policies", "fcfs-bb"],
    )
    for arguments, (code, heavy) in zip(commands, loaded(commands), strict=True):
        assert code == 0
        assert "numba" not in heavy, arguments


def test_version(forebay):
    assert forebay("--version").out.startswith("forebay 0.")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["polices"], "no such command 'polices': did you mean `forebay policies`?"),
        (["info", "trace.swf"], "no such command 'info': did you mean `forebay workload info`?"),
        (["workload", "comapre"], "did you mean `forebay compare`?"),
        (["models"], "did you mean `forebay workload models` or `forebay job-models`?"),
        (["help"], "did you mean `forebay --help`?"),
        (["simulate"], "no such command 'simulate': see forebay --help"),
        (["workload", "zzz"], "no such command 'zzz': see forebay workload --help"),
        (["run"], "Missing argument 'WORKLOAD'; see forebay run --help"),
        (["run", "table1", "--polcy", "fcfs"], "--policy"),
        (["run", "table1", "--seed", "-1"], "--seed"),
        (["run", "table1", "--format", "yaml"], "--format"),
        (["workload", "split", "table1", "0", "-o", "x"], "'N'"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(forebay, arguments, words):
    code, out, err = forebay(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("forebay: ")
    assert words in err
    assert err.count("\n") == 1
