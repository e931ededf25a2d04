"""Verdicts on the policies of a study, from numbers made by hand."""

from types import SimpleNamespace

import pytest

from forebay.experiments.conditions import parse_condition
from forebay.studies._frame import Report
from forebay.studies._verdicts import add, holding, verdict_rows


def run(wait, **tags):
    summary = {
        "mean_wait": wait,
        "mean_waiting_time": wait,
        "p95_waiting_time": 3 * wait,
        "mean_bounded_slowdown_10min": None,
    }
    return SimpleNamespace(tags=tags), SimpleNamespace(summary=summary)


def by_wait(finished):
    return [row for row in verdict_rows(finished) if row["metric"] == "mean_waiting_time"]


def test_policies_are_paired_by_their_draws():
    waits = {"mine": (81.0, 90.0, 99.0), "fcfs-easy": (90.0, 100.0, 110.0)}
    finished = [
        run(wait, section="a", policy=policy, draw=draw)
        for policy, all_ in waits.items()
        for draw, wait in enumerate(all_)
    ]
    [row] = by_wait(finished)
    assert (row["policy"], row["reference"], row["section"], row["n"]) == ("mine", "fcfs-easy", "a", 3)
    assert row["change"] == pytest.approx(-0.1)
    assert row["verdict"] == "better"


def test_seeds_of_a_policy_that_draws_are_averaged_where_the_reference_has_one():
    finished = [run(100.0, policy="fcfs-easy", draw=draw, seed=0) for draw in (1, 2, 3)]
    finished += [
        run(wait, policy="annealed", draw=draw, seed=seed) for draw in (1, 2, 3) for seed, wait in enumerate((40, 60))
    ]
    [row] = by_wait(finished)
    assert row["n"] == 3
    assert row["change"] == pytest.approx(-0.5)


def test_circumstances_are_kept_apart_and_the_first_policy_is_the_reference_else():
    finished = [
        run(10.0 * k + draw, policy=policy, k=k, workload=draw)
        for k in (1, 2)
        for policy in ("a", "b")
        for draw in (0, 1, 2)
    ]
    rows = by_wait(finished)
    assert [(row["k"], row["policy"], row["reference"]) for row in rows] == [(1, "b", "a"), (2, "b", "a")]
    assert all(row["change"] == 0 for row in rows)


def test_nothing_is_judged_by_a_single_draw_or_without_policies():
    assert verdict_rows([run(1.0, policy="a", draw=0), run(2.0, policy="b", draw=0)]) == []
    assert verdict_rows([run(1.0, case="a", draw=0), run(2.0, case="b", draw=0)]) == []
    report = Report()
    add(report, [run(1.0, policy="a", draw=0)])
    assert not report.frames
    assert not report.detailed


def test_a_report_has_them_as_csv_and_in_words():
    report = Report()
    add(report, [run(wait + draw, policy=p, draw=draw) for p, wait in (("a", 100), ("b", 150)) for draw in range(5)])
    assert report.frames["verdicts"].height == 2  # by two metrics; the third has no number
    [table] = report.detailed
    assert table.columns == ("policy", "reference", "verdict", "change", "95 % interval", "draws")
    assert table.rows[0][:3] == ("b", "a", "worse")


@pytest.fixture
def finished():
    waits = {"fcfs-easy": (90.0, 100.0, 110.0), "mine": (135.0, 150.0, 165.0), "noisy": (50.0, 150.0, 220.0)}
    return [
        run(wait, section=section, policy=policy, draw=draw)
        for section in ("a", "b")
        for policy, all_ in waits.items()
        for draw, wait in enumerate(all_)
    ]


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("mean_wait > +20%", ["mine, section a", "mine, section b"]),  # the whole interval is above
        ("mean_wait > +60%", []),
        ("mean_wait < +20%", []),
        ("mean_wait > 145s", ["mine, section a", "mine, section b"]),  # means over draws: 100, 150 and 140 s
        ("mean_wait < 120s", ["fcfs-easy, section a", "fcfs-easy, section b"]),
        ("bounded_slowdown > 1", []),  # a number that no run has
    ],
)
def test_conditions_hold_for_policies_under_their_circumstances(finished, text, held):
    told = holding([parse_condition(text)], finished)
    assert [line.removeprefix(f"{text}: ").partition(" has ")[0] for line in told] == held


def test_a_change_cannot_be_told_of_one_draw():
    alone = [run(100.0, policy="fcfs-easy", draw=0), run(200.0, policy="mine", draw=0)]
    assert holding([parse_condition("mean_wait > +5%")], alone) == []
    assert len(holding([parse_condition("mean_wait > 150s")], alone)) == 1
