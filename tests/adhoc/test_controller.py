"""The controller on throughputs made up and solved by hand: when it grows and shrinks, by how much, when it rests."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.adhoc import Controller, Verdict, steady_throughput, trajectory
from forebay.errors import InputError

pytestmark = pytest.mark.small


def controller(**changed):
    return Controller(**{"recommended": 100.0, "tolerance": 10.0, "window": 3, "most": 16} | changed)


@pytest.mark.parametrize(
    ("measured", "distance", "verdict"),
    [
        ([100, 100, 100], 0, Verdict.NEAR),
        ([90, 90, 90], -10, Verdict.NEAR),  # the tolerance is part of what is near
        ([110, 110, 110], 10, Verdict.NEAR),
        ([90, 90, 89.7], -10.1, Verdict.BELOW),
        ([110, 110, 110.3], 10.1, Verdict.ABOVE),
        ([0, 0, 100, 100, 100], 0, Verdict.NEAR),  # older ones are out of the window
        ([40, 100, 160], 0, Verdict.NEAR),  # the mean counts
    ],
)
def test_verdicts(measured, distance, verdict):
    assert controller().distance(measured) == pytest.approx(distance)
    assert controller().verdict(measured) is verdict


def test_it_rests_until_its_window_is_full():
    assert controller().distance([1, 1]) is None
    assert controller().verdict([1, 1]) is Verdict.NEAR
    assert controller()([1, 1], 4) == 4


@pytest.mark.parametrize(
    ("mean", "servers", "wanted"),
    [
        (40, 2, 5),  # 60 short at 20 a server: 3 more
        (41, 2, 5),  # 59 / 20.5 = 2.9: 3 more
        (80, 8, 10),  # 20 / 10: 2 more
        (10, 1, 10),
        (5, 1, 16),  # 19 more, but 16 is the most
        (0, 3, 16),  # nothing came through
        (95, 5, 5),
        (150, 3, 2),  # 50 too much at 50 a server: 1 fewer
        (149, 3, 3),  # 49 / 49.7: one fewer would be below what is recommended
        (400, 8, 2),  # 300 / 50: 6 fewer
        (4000, 8, 1),  # 3900 / 500 = 7.8: 7 fewer
    ],
)
def test_how_many_servers_by_hand(mean, servers, wanted):
    assert controller()([mean] * 3, servers) == wanted


def test_it_keeps_to_its_bounds():
    assert controller(least=4)([4000] * 3, 8) == 4
    assert controller(most=6)([10] * 3, 2) == 6
    assert controller(most=6)([10] * 3, 9) == 9, "growing is no reason to shrink"
    assert controller(least=4)([4000] * 3, 2) == 2, "nor shrinking to grow"
    assert controller(recommended=0.0)([0, 0, 0], 3) == 3


def test_a_trajectory_by_hand():
    """20 a server up to 4, then 5: two give 40, so 3 more; five give 85, 17 each: 1 more; six give 90, that is near."""
    curve = {2: 40, 5: 85, 6: 90}
    met = trajectory(controller(), lambda servers, _: curve[servers], 2, 12)
    assert met.tolist() == [2] * 3 + [5] * 3 + [6] * 6


def test_a_trajectory_that_follows_the_load():
    """From operation 6 on servers give 60 each, not 20.

    The window of 5 servers then holds 100, 100, 300: 66.7 too much at 33.3 a server, so 2 go. Three servers give 180:
    80 too much at 60 a server, so 1 goes. Two give 120: 20 too much at 60 a server, so none goes.
    """
    met = trajectory(controller(), lambda servers, i: servers * (20 if i < 6 else 60), 2, 12)
    assert met.tolist() == [2] * 3 + [5] * 4 + [3] * 3 + [2] * 2


def test_any_function_is_a_controller():
    met = trajectory(lambda measured, servers: servers + 1 if len(measured) == 2 else servers, lambda s, i: 1.0, 1, 7)
    assert met.tolist() == [1, 1, 2, 2, 3, 3, 4]


def turns(met):
    steps = np.sign(np.diff(met))
    return len(set(steps[steps != 0].tolist())) > 1


@given(
    gains=st.lists(st.floats(0.0, 1.0), min_size=32, max_size=32),
    recommended=st.floats(0.01, 40.0),
    tolerance=st.floats(0.0, 5.0),
    servers=st.integers(1, 32),
)
def test_it_never_turns_round_under_a_constant_load(gains, recommended, tolerance, servers):
    """Whatever each further server adds, as long as it is no more than the one before."""
    curve = 0.05 + np.cumsum(sorted(gains, reverse=True))
    heuristic = Controller(recommended, tolerance, window=2, most=32)
    met = trajectory(heuristic, lambda n, _: float(curve[n - 1]), servers, 100)
    assert not turns(met)
    assert len(set(met[-2:].tolist())) == 1, "and comes to rest"


def test_turning_round_would_be_seen():
    assert turns([2, 3, 2])
    assert not turns([2, 3, 3, 5])


@pytest.mark.parametrize("start", [1, 2, 7, 32])
def test_it_meets_what_is_recommended_on_the_model(start):
    curve = steady_throughput(16, range(1, 33), 1_000_000)
    heuristic = Controller(recommended=2.5e9, tolerance=1e8, window=5, most=32)
    met = trajectory(heuristic, lambda n, _: float(curve[n - 1]), start, 200)
    assert not turns(met)
    assert curve[met[-1] - 1] >= 2.4e9


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"recommended": -1.0}, "the recommended throughput is -1; give a finite number from 0 up"),
        ({"tolerance": -1.0}, "the tolerance is -1; give a finite number from 0 up"),
        ({"tolerance": float("nan")}, "the tolerance is nan"),
        ({"window": 0}, "the window is 0; give a number from 1 up"),
        ({"window": 2.5}, "the window is 2.5, of type float; give a whole number"),
        ({"most": 0}, "a file system cannot have 0 servers"),
        ({"least": 17}, "least is 17; give at most 16, which is most"),
    ],
)
def test_mistakes_get_one_message(changed, message):
    with pytest.raises(InputError) as refused:
        controller(**changed)
    assert message in str(refused.value)


def test_mistakes_on_the_way_get_one_message():
    with pytest.raises(InputError, match="negative or not finite"):
        controller()([1, float("nan"), 1], 2)
    with pytest.raises(InputError, match="the controller is 3"):
        trajectory(3, lambda n, i: 1.0, 1, 1)
    with pytest.raises(InputError, match="cannot have 0 servers"):
        trajectory(lambda measured, n: 0, lambda n, i: 1.0, 1, 1)
    with pytest.raises(InputError, match="the throughput of operation 1 is -1"):
        trajectory(controller(), lambda n, i: float(1 - 2 * i), 1, 3)
