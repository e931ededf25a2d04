"""Nodes chosen by where they stand: against slow versions on sets, on random idle nodes."""

import numpy as np
import pytest

from forebay.algorithms.nodes.choice import Rule, choose
from forebay.core.limits import PLACES
from forebay.engine.placing.tables import make_placing
from twins.choice import choose as slow
from twins.choice import runs

pytestmark = pytest.mark.small

PIECE = np.dtype([("low", "i8"), ("high", "i8"), ("next", "i8")])


def fast(rule, idle, group, count, draws=None):
    pieces = np.zeros(len(idle) + 1, PIECE)
    intervals = runs(idle)[::-1]
    for row, run in zip(pieces, intervals, strict=False):
        row["low"], row["high"] = run[0], run[-1]
    tables = make_placing(rule, np.array(group))
    tables = tables if draws is None else tables._replace(draws=draws)
    choose(pieces, len(intervals), count, tables)
    return {node for node in range(len(group)) if tables.words[node >> 5] >> (node & 31) & 1}


def test_names_and_rules_are_the_same():
    assert [name.replace("-", "_").upper() for name in PLACES] == [rule.name for rule in Rule]


def test_by_hand():
    """Groups 0 (ids 0 to 3), 1 (4 to 7) and 2 (8 to 11); idle are 1, 4, 5, 8, 9 and 10."""
    group, idle = [0] * 4 + [1] * 4 + [2] * 4, [1, 4, 5, 8, 9, 10]
    found = {rule.name: fast(rule, idle, group, 2) for rule in Rule if rule != Rule.RANDOM}
    two = {4, 5}
    assert found == {"IDS": {1, 4}, "CONTIGUOUS": two, "ONE_GROUP": two, "FEWEST_GROUPS": two, "SPREAD": {8, 4}}
    assert fast(Rule.FEWEST_GROUPS, idle, group, 4) == {8, 9, 10, 1}
    assert fast(Rule.ONE_GROUP, idle, group, 4) == {1, 4, 5, 8}


def test_every_rule_is_the_slow_one():
    rng = np.random.default_rng(3)
    for _ in range(60):
        n, n_groups = int(rng.integers(3, 70)), int(rng.integers(1, 5))
        group = sorted(rng.integers(0, n_groups, n).tolist())
        idle = rng.permutation(n)[: int(rng.integers(1, n + 1))].tolist()
        count = int(rng.integers(0, len(idle) + 1))
        for rule in (Rule.CONTIGUOUS, Rule.ONE_GROUP, Rule.FEWEST_GROUPS, Rule.SPREAD):
            assert fast(rule, idle, group, count) == slow(rule, idle, group, count), rule
        chosen = fast(Rule.RANDOM, idle, group, count, rng.random(512))
        assert len(chosen) == count
        assert chosen <= set(idle)


def test_all_sets_are_as_likely():
    """3 of 5 nodes: each in 0.6 of 4,000 draws, within four standard deviations (0.031)."""
    rng, idle = np.random.default_rng(1), [0, 2, 3, 7, 8]
    drawn = [fast(Rule.RANDOM, idle, [0] * 9, 3, rng.random(16)) for _ in range(4000)]
    shares = [sum(node in some for some in drawn) / 4000 for node in idle]
    assert np.abs(np.array(shares) - 0.6).max() < 0.031
