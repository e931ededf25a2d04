"""How studies judge: by hand."""

import pytest

from forebay.experiments.statistics import spread
from forebay.studies import _judged as judged
from forebay.studies._expected import Published
from forebay.studies._tables import Cell, beside

pytestmark = pytest.mark.small

# Of three values the half interval is 4.303 deviations / sqrt(3): 2.484 of [9, 10, 11], 24.84 of [0, 10, 20].
NARROW, WIDE = spread([9.0, 10.0, 11.0]), spread([0.0, 10.0, 20.0])


@pytest.mark.parametrize(
    ("one", "bound", "above", "below"),
    [
        (NARROW, 7.5, "yes", "no"),
        (NARROW, 7.6, "undecided", "undecided"),
        (NARROW, 12.4, "undecided", "undecided"),
        (NARROW, 12.5, "no", "yes"),
        (WIDE, 7.5, "undecided", "undecided"),
        (WIDE, -15.0, "yes", "no"),
        (spread([10.0]), 0.0, "undecided", "undecided"),  # a single draw decides nothing
        (spread([1.0, 1.0]), 0.0, "yes", "no"),
        (spread([0.0, 0.0]), 0.0, "undecided", "undecided"),
    ],
)
def test_a_bound_inside_the_interval_leaves_it_undecided(one, bound, above, below):
    assert (judged.above(one, bound), judged.below(one, bound)) == (above, below)


def test_a_ratio_with_a_wide_interval_is_below_nobody_for_sure():
    """0.931 is below 1; with an interval of 0.257 to each side that is no finding."""
    ratios = spread([0.931 - 0.1, 0.931, 0.931 + 0.1])
    assert ratios.mean == pytest.approx(0.931)
    assert ratios.half > 1 - 0.931
    assert judged.below(ratios, 1.0) == "undecided"


@pytest.mark.parametrize(
    ("words", "all_"),
    [
        (["yes", "yes"], "yes"),
        (["yes", "undecided"], "undecided"),
        (["undecided", "no", "yes"], "no"),
        ([], "yes"),
    ],
)
def test_several_claims_at_once(words, all_):
    assert judged.both(words) == all_


@pytest.mark.parametrize(
    ("value", "tolerance", "held"),
    [
        (-9.6, 0.0, "yes"),  # our draws go from -10.5 to -4.6
        (-4.6, 0.0, "yes"),
        (-11.0, 0.0, "no: more"),
        (-11.0, 0.1, "yes"),
        (-4.0, 0.1, "no: less"),
    ],
)
def test_a_number_of_one_draw_is_held_against_the_range_of_ours(value, tolerance, held):
    ours = spread([-10.5, -6.6, -4.6])
    assert judged.as_published(ours, Published(value, tolerance, "the text")) == held
    row = beside(Cell({}, [-10.5, -6.6, -4.6], []), Published(value, tolerance, "the text"))
    assert row["within"] == (held == "yes")


def test_texts():
    assert judged.text(NARROW, 2, " min") == "10.00 ± 2.48 min"
    assert judged.text(spread([0.5]), 1, " %", 100, "+") == "+50.0 %"
    assert judged.counted(["yes", "undecided", "yes"]) == "yes in 2, undecided in 1"
