"""Whatever a command is given, it answers or refuses: see `commands` for what holds of all, and `kinds` for the inputs.

A case is a kind and a number, nothing more: `run_case("site", 17, arena)` repeats it anywhere.
"""

from collections import Counter

import pytest

from fuzz.commands import Arena, BreachError, harness
from fuzz.kinds import KINDS, run_case

MANY, PIECE = 7_800, 650
"""Inputs of each kind in the full run, and how many of them are one test. With those of readers, see test_fuzz, all
come to 100,000."""


def run_cases(kind, numbers, folder):
    """How many commands ended with each exit code."""
    arena, codes = Arena(folder.resolve()), Counter()
    with harness():
        for number in numbers:
            try:
                codes[run_case(kind, number, arena)] += 1
            except BreachError as breach:
                raise AssertionError(f"run_case({kind!r}, {number}, arena): {breach}") from None
    return codes


@pytest.mark.parametrize("kind", KINDS)
def test_commands_answer_or_refuse(kind, tmp_path):
    codes = run_cases(kind, range(12), tmp_path)
    assert codes.total() == 12


@pytest.mark.full
@pytest.mark.parametrize("first", range(1_000, 1_000 + MANY, PIECE))
@pytest.mark.parametrize("kind", KINDS)
def test_very_many_do(kind, first, tmp_path):
    codes = run_cases(kind, range(first, first + PIECE), tmp_path)
    assert codes[0]  # else inputs are too wild to reach beyond the first checks
    assert codes[2]


def test_a_breach_is_found(tmp_path, monkeypatch):
    """A check that cannot fail checks nothing."""
    arena = Arena(tmp_path.resolve())
    arena.fresh()
    with harness():
        assert arena.run("formats") == 0
        assert arena.run("run", "nowhere.swf") == 2
        arena.out.mkdir()
        for broken, says in (
            (lambda *_: 1 / 0, "another exit code"),
            (lambda *_: arena.given.joinpath("x").write_text("x"), "wrote outside"),
            (lambda *_: arena.elsewhere.joinpath("kept.txt").unlink(), "wrote outside"),
        ):
            monkeypatch.setattr("forebay.cli.main._guarded", lambda words, broken=broken: _guarded(broken))
            with pytest.raises(BreachError, match=says):
                arena.run("formats")


def _guarded(broken):
    try:
        broken()
    except ZeroDivisionError:
        return 1
    return 0
