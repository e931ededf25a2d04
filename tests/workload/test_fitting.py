"""Fits against draws whose parameters are known, curves against closed forms, distances by hand."""

import dataclasses
import math

import numpy as np
import pytest

from forebay.errors import InputError
from forebay.workload import fitting, models, read
from forebay.workload.fitting import CANDIDATES, compare, distance

pytestmark = pytest.mark.small

N = 20_000


def rng():
    return np.random.default_rng(1)


def below(name, x, **params):
    return CANDIDATES[name].below(np.atleast_1d(np.asarray(x, float)), params)


def test_curves_have_their_known_values():
    assert below("lognormal", [5.0, 4 + math.e], sigma=1.0, loc=4.0, scale=1.0) == pytest.approx([0.5, 0.841344746])
    assert below("exponential", [1.0, 3.0], loc=1.0, scale=2.0) == pytest.approx([0, 1 - math.exp(-1)])
    assert below("logistic", [2.0, 2 + math.log(3)], loc=2.0, scale=1.0) == pytest.approx([0.5, 0.75])
    assert below("half-logistic", math.log(3), loc=0.0, scale=1.0) == pytest.approx(0.5)


@pytest.mark.parametrize("u", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_the_beta_curve_has_closed_forms(u):
    """Beta(a, 1) is u^a, Beta(1, b) is 1 - (1 - u)^b, and Beta(2, 2) is 3u^2 - 2u^3."""
    for a, b, want in ((3.5, 1, u**3.5), (1, 0.4, 1 - (1 - u) ** 0.4), (2, 2, 3 * u**2 - 2 * u**3)):
        assert below("beta", u, a=a, b=b, loc=0.0, scale=1.0) == pytest.approx(want, abs=1e-9)


@pytest.mark.parametrize("name", CANDIDATES)
def test_curves_rise_from_0_to_1(name):
    params = CANDIDATES[name].fit(rng().gamma(2.0, 1.0, 500))
    curve = CANDIDATES[name].below(np.linspace(-5, 60, 500), params)
    assert (np.diff(curve) >= 0).all()
    assert curve.min() >= 0
    assert curve[-1] == pytest.approx(1, abs=1e-3)


def test_distance_by_hand():
    """Values 1, 2, 3, 4 and a curve of x / 4, as a beta of 1 and 1: the steps end on it, and begin 1/4 below."""
    uniform = {"a": 1.0, "b": 1.0, "loc": 0.0, "scale": 4.0}
    assert distance(np.array([3.0, 1.0, 2.0, 4.0]), CANDIDATES["beta"], uniform) == pytest.approx(0.25)
    assert distance(np.array([4.0, 4.0]), CANDIDATES["beta"], uniform) == pytest.approx(1)


DRAWS = {
    "lognormal": (lambda r: 3 + 5 * np.exp(0.8 * r.standard_normal(N)), {"sigma": 0.8, "loc": 3, "scale": 5}),
    "exponential": (lambda r: 2 + r.exponential(4, N), {"loc": 2, "scale": 4}),
    "logistic": (lambda r: r.logistic(30, 2, N), {"loc": 30, "scale": 2}),
    "half-logistic": (lambda r: 1 + np.abs(r.logistic(0, 2, N)), {"loc": 1, "scale": 2}),
    "beta": (lambda r: r.beta(0.7, 1.5, N), {"a": 0.7, "b": 1.5}),  # values reach both ends: its range is not fitted
}


@pytest.mark.parametrize("name", DRAWS)
def test_each_family_is_told_from_the_others_and_its_parameters_found(name):
    draw, true = DRAWS[name]
    best = compare(draw(rng()), rng())[0]
    assert best["name"] == name
    assert best["distance"] < 0.0215  # the 5 % point of one fold, 1.36 / sqrt(4000); this is the mean of five
    for key, value in true.items():
        assert best["fit"][key] == pytest.approx(value, rel=0.1, abs=0.1)


def test_requests_of_the_model_come_back_as_a_log_normal():
    spec = "burst-buffer:least=1,most=1000TB,short_request=0"
    w = models.attach(models.generate("lublin99:jobs=20000", 1), [spec], 1)
    name, values = fitting.requests(w)
    best = compare(values, rng())[0]
    assert (name, best["name"]) == ("burst_buffer", "lognormal")
    assert best["fit"]["sigma"] == pytest.approx(1.0973, rel=0.03)
    assert best["fit"]["scale"] / 1024 == pytest.approx(2_714_116, rel=0.04)


def test_requests_are_per_node_and_memory_comes_first():
    w = models.generate("lublin99:jobs=100", 1)
    with_memory = w.jobs.with_columns(memory=w.jobs["nodes"] * 7, burst_buffer=w.jobs["nodes"] * 3)
    both = dataclasses.replace(w, jobs=with_memory)
    assert fitting.requests(both)[0] == "memory"
    assert set(fitting.requests(both)[1]) == {7.0}
    assert set(fitting.requests(both, "burst_buffer")[1]) == {3.0}


def test_what_cannot_be_fitted_is_refused():
    with pytest.raises(InputError, match="no column 'memory or burst_buffer'"):
        fitting.requests(models.generate("lublin99:jobs=10", 1))
    with pytest.raises(InputError, match="it has: burst_buffer"):
        fitting.requests(read("default"), "memory")
    with pytest.raises(InputError, match="too few"):
        compare(np.arange(1.0, 40), rng())
    with pytest.raises(InputError, match="at least 2"):
        compare(np.arange(1.0, 100), rng(), folds=1)
    with pytest.raises(InputError, match="all values are 3"):
        compare(np.full(100, 3.0), rng())
