"""Which distribution describes the requests of a trace: fits compared by cross-validated Kolmogorov-Smirnov distances.

Kopański & Rządca (2021) chose their log-normal so, among five candidates. A distribution is fitted on all folds but
one, and its distance D to the values of that one is taken: the largest gap between the two cumulative curves.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay.errors import InputError
from forebay.workload.workload import Workload

_Floats = NDArray[np.float64]
_Params = dict[str, float]

_FEWEST = 10  # values a fold


@dataclass(frozen=True)
class Candidate:
    """A family of distributions: how to fit it, and its cumulative curve."""

    fit: Callable[[_Floats], _Params]
    below: Callable[[_Floats, _Params], _Floats]


def requests(w: Workload, column: str = "") -> tuple[str, _Floats]:
    """What jobs ask for per node, in bytes, where it is above 0: `memory`, else `burst_buffer`, else as named."""
    found = column or next((name for name in ("memory", "burst_buffer") if name in w.jobs.columns), "")
    if found not in w.resources:
        known = ", ".join(w.resources) or "none"
        raise InputError(f"{w.name}: no column {found or 'memory or burst_buffer'!r} of requests; it has: {known}")
    values = w.jobs[found].to_numpy() / w.jobs["nodes"].to_numpy()
    return found, values[values > 0]


def compare(values: _Floats, rng: np.random.Generator, folds: int = 5) -> list[dict[str, Any]]:
    """Every candidate, best first: its mean distance over the folds, their spread, and the fit to all values."""
    if folds < 2:
        raise InputError(f"{folds} folds cannot be compared; give at least 2")
    if len(values) < folds * _FEWEST:
        raise InputError(f"{len(values):,} values are too few for {folds} folds; {folds * _FEWEST} are needed")
    if np.ptp(values) == 0:
        raise InputError(f"all values are {values[0]:g}: there is nothing to fit")
    unit = float(np.median(values))  # keeps every fit near 1
    parts = np.array_split(rng.permutation(values) / unit, folds)
    found = []
    for name, one in CANDIDATES.items():
        distances = []
        for k, part in enumerate(parts):
            params = one.fit(np.concatenate([other for j, other in enumerate(parts) if j != k]))
            distances.append(distance(part, one, params))
        whole = {key: value * (unit if key in ("loc", "scale") else 1) for key, value in one.fit(values / unit).items()}
        found.append(
            {"name": name, "distance": float(np.mean(distances)), "spread": float(np.std(distances)), "fit": whole}
        )
    return sorted(found, key=lambda one: one["distance"])


def distance(values: _Floats, candidate: Candidate, params: _Params) -> float:
    """Kolmogorov-Smirnov D of a sample to a fitted distribution."""
    ordered = np.sort(values)
    curve = candidate.below(ordered, params)
    steps = np.arange(len(ordered) + 1) / len(ordered)
    return float(max((steps[1:] - curve).max(), (curve - steps[:-1]).max()))


def _normal_below(z: _Floats) -> _Floats:
    result: _Floats = 0.5 * np.vectorize(math.erfc, otypes=[np.float64])(-z / math.sqrt(2))
    return result


def _fit_lognormal(x: _Floats) -> _Params:
    """Maximum likelihood: for a given loc, ln(x - loc) is normal; loc is the best inner one of a fine grid.

    Towards the least value the likelihood grows without bound, so that the end of the grid does not count.
    """
    room = max(float(np.median(x) - x.min()), 1e-9)
    offsets = room * np.geomspace(1e-3, 10, 80)
    logs = [np.log(x - x.min() + offset) for offset in offsets]
    likelihood = np.array([-log.mean() - math.log(max(float(log.std()), 1e-12)) for log in logs])
    inner = [k for k in range(1, 79) if likelihood[k] >= max(likelihood[k - 1], likelihood[k + 1])]
    best = max(inner, key=lambda k: likelihood[k]) if inner else 40
    mean, sigma = float(logs[best].mean()), max(float(logs[best].std()), 1e-12)
    return {"sigma": sigma, "loc": float(x.min() - offsets[best]), "scale": math.exp(mean)}


def _lognormal_below(x: _Floats, p: _Params) -> _Floats:
    return _normal_below(np.log(np.maximum(x - p["loc"], 1e-300) / p["scale"]) / p["sigma"])


def _fit_exponential(x: _Floats) -> _Params:
    return {"loc": float(x.min()), "scale": float(x.mean() - x.min())}


def _exponential_below(x: _Floats, p: _Params) -> _Floats:
    result: _Floats = -np.expm1(-np.maximum(x - p["loc"], 0) / p["scale"])
    return result


def _fit_logistic(x: _Floats) -> _Params:
    """Maximum likelihood: sum tanh(z / 2) = 0 and sum z tanh(z / 2) = n, each in turn."""
    loc, scale = float(x.mean()), float(x.std()) * math.sqrt(3) / math.pi
    for _ in range(200):
        half = np.tanh((x - loc) / (2 * scale))
        step = 2 * scale * float(half.mean() / (1 - half**2).mean())
        loc += max(-scale, min(scale, step))
        wanted = float(((x - loc) * np.tanh((x - loc) / (2 * scale))).mean())
        if abs(step) < 1e-9 * scale and abs(wanted - scale) < 1e-9 * scale:
            break
        scale = wanted
    return {"loc": loc, "scale": scale}


def _logistic_below(x: _Floats, p: _Params) -> _Floats:
    result: _Floats = 0.5 * (1 + np.tanh((x - p["loc"]) / (2 * p["scale"])))
    return result


def _fit_half_logistic(x: _Floats) -> _Params:
    """Maximum likelihood: the scale s is the mean of y tanh(y / 2s), with y counted from the least value."""
    y = x - x.min()
    scale = float(y.mean()) / math.log(4)
    for _ in range(200):
        following = float((y * np.tanh(y / (2 * scale))).mean())
        done = abs(following - scale) < 1e-10 * scale
        scale = following
        if done:
            break
    return {"loc": float(x.min()), "scale": scale}


def _half_logistic_below(x: _Floats, p: _Params) -> _Floats:
    result: _Floats = np.tanh(np.maximum(x - p["loc"], 0) / (2 * p["scale"]))
    return result


def _fit_beta(x: _Floats) -> _Params:
    """Moments, over the range of the values and a little more: `b` comes out low where few values are near the end."""
    margin = 1e-6 * float(np.ptp(x))
    loc, scale = float(x.min()) - margin, float(np.ptp(x)) + 2 * margin
    u = (x - loc) / scale
    mean, variance = float(u.mean()), float(u.var())
    total = mean * (1 - mean) / variance - 1
    return {"a": mean * total, "b": (1 - mean) * total, "loc": loc, "scale": scale}


def _beta_below(x: _Floats, p: _Params) -> _Floats:
    """The regularised incomplete beta function, by its continued fraction (Lentz's method)."""
    u = np.clip((x - p["loc"]) / p["scale"], 0.0, 1.0)
    a, b = p["a"], p["b"]
    upper = u > (a + 1) / (a + b + 2)
    result = np.empty(len(u))
    result[~upper] = _beta_fraction(u[~upper], a, b)
    result[upper] = 1 - _beta_fraction(1 - u[upper], b, a)
    return np.clip(result, 0.0, 1.0)


def _beta_fraction(u: _Floats, a: float, b: float) -> _Floats:
    tiny = 1e-300
    front = np.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
        + a * np.log(np.maximum(u, tiny)) + b * np.log1p(-np.minimum(u, 1 - 1e-16))
    )  # fmt: skip
    c = np.ones(len(u))
    d = 1 / _off_zero(1 - (a + b) * u / (a + 1))
    value = d.copy()
    for k in range(1, 300):
        for term in (
            k * (b - k) * u / ((a + 2 * k - 1) * (a + 2 * k)),
            -(a + k) * (a + b + k) * u / ((a + 2 * k) * (a + 2 * k + 1)),
        ):
            d = 1 / _off_zero(1 + term * d)
            c = _off_zero(1 + term / c)
            value = value * (c * d)
        if not len(u) or np.abs(c * d - 1).max() < 1e-13:
            break
    result: _Floats = front * value / a
    return result


def _off_zero(x: _Floats) -> _Floats:
    return np.where(np.abs(x) < 1e-300, 1e-300, x)


CANDIDATES = {
    "lognormal": Candidate(_fit_lognormal, _lognormal_below),
    "exponential": Candidate(_fit_exponential, _exponential_below),
    "logistic": Candidate(_fit_logistic, _logistic_below),
    "half-logistic": Candidate(_fit_half_logistic, _half_logistic_below),
    "beta": Candidate(_fit_beta, _beta_below),
}
