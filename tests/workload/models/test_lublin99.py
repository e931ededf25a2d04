"""Draws against the constants of the model, each within four standard errors unless said otherwise."""

import math

import numpy as np
import pytest

from forebay.errors import InputError
from forebay.workload import models
from forebay.workload.info import describe
from forebay.workload.models import lublin99

pytestmark = pytest.mark.small

N = 40_000
KINDS = sorted(lublin99.KINDS)


def near(share, n=N):
    return pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / n))


def power_of_two(size):
    return size & (size - 1) == 0


def size_shares(kind, most):
    """The exact probability of each size: what the two-stage uniform puts into the range that rounds to it."""

    def below(u):
        first, second = (u - kind.low) / (kind.middle - kind.low), (u - kind.middle) / (kind.high - kind.middle)
        return kind.first_stage * np.clip(first, 0, 1) + (1 - kind.first_stage) * np.clip(second, 0, 1)

    n = np.arange(1, most + 1)
    shares = (1 - kind.serial - kind.power_of_two) * (below(np.log2(n + 0.5)) - below(np.log2(n - 0.5)))
    for exponent in range(8):
        if 2**exponent <= most:
            shares[2**exponent - 1] += kind.power_of_two * (below(exponent + 0.5) - below(exponent - 0.5))
    shares[0] += kind.serial
    return shares


@pytest.mark.parametrize("name", KINDS)
def test_every_size_has_its_share(name):
    """All within 4.5 standard errors, and the shares of serial jobs and of powers of two within 4."""
    kind = lublin99.KINDS[name]
    size = lublin99.sizes(np.random.default_rng(1), N, kind, 128)
    shares = size_shares(kind, 128)
    assert shares.sum() == pytest.approx(1)
    seen = np.bincount(size, minlength=129)[1:] / N
    assert (np.abs(seen - shares) <= 4.5 * np.sqrt(shares * (1 - shares) / N) + 1.5 / N).all()
    assert seen[0] == near(shares[0])
    assert shares[0] == pytest.approx(kind.serial, abs=0.001)  # hardly any parallel job rounds to one node
    assert power_of_two(size).mean() == near(shares[[2**k - 1 for k in range(8)]].sum())
    assert size.max() <= round(2**kind.high)


def test_powers_of_two_follow_the_two_stages_by_hand():
    """Batch: u rounds to 4 from [3.5, 4.5) of [1.2, 5], chance 0.875 / 3.8 = 0.2303 of the parallel powers of two.

    It rounds to 7 from [6.5, 7] of [5, 7], chance 0.125 x 0.25 = 0.03125. The other parallel jobs, 4 % of all, get
    there by chance: less than 0.001 of all jobs for either.
    """
    kind = lublin99.KINDS["batch"]
    shares = size_shares(kind, 128)
    assert shares[15] == pytest.approx(0.6686 * 0.875 / 3.8, abs=0.001)
    assert shares[127] == pytest.approx(0.6686 * 0.03125, abs=0.001)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("nodes", [1, 16, 64])
def test_log_run_time_has_the_mean_of_its_gammas(name, nodes):
    """Without a cap: p a1 b1 + (1 - p) a2 b2 with p = slope x nodes + intercept, and its spread likewise."""
    kind = lublin99.KINDS[name]
    a1, b1, a2, b2 = kind.run
    p = kind.slope * nodes + kind.intercept
    mean = p * a1 * b1 + (1 - p) * a2 * b2
    square = p * (a1 * b1**2 + (a1 * b1) ** 2) + (1 - p) * (a2 * b2**2 + (a2 * b2) ** 2)
    run = lublin99.run_times(np.random.default_rng(4), np.full(N, nodes), kind, math.exp(100))
    error = math.sqrt((square - mean**2) / N)
    # Cut to whole seconds: half a second off on average, which counts for the shortest of interactive jobs.
    assert np.log(run + 0.5).mean() == pytest.approx(mean, abs=4 * error + 0.02)


def gamma_mix(log, *parts):
    """The chance of at most `log` under gammas, each given as its share, shape and scale."""
    return sum(share * gamma_below(log / scale, shape) for share, shape, scale in parts)


def gamma_below(x, shape):
    """By adding up the density: the model's own function is for the small shapes of its days."""
    t = np.linspace(0, x, 4001)[1:]
    density = np.exp((shape - 1) * np.log(t) - t - math.lgamma(shape))
    return float(density.sum() - density[-1] / 2) * x / 4000


def quantile(share, *parts):
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if gamma_mix(middle, *parts) < share else (low, middle)
    return low


@pytest.mark.parametrize("share", [0.05, 0.25, 0.5, 0.75, 0.95])
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("nodes", [1, 16, 64])
def test_quantiles_of_run_times_are_those_of_the_gammas(name, nodes, share):
    """As many draws are below a quantile as its share says. Cut to whole seconds, e^x is below k just if it was."""
    kind = lublin99.KINDS[name]
    a1, b1, a2, b2 = kind.run
    p = kind.slope * nodes + kind.intercept
    parts = (p, a1, b1), (1 - p, a2, b2)
    k = math.ceil(math.exp(quantile(share, *parts)))
    run = lublin99.run_times(np.random.default_rng(11), np.full(N, nodes), kind, math.exp(100))
    assert (run < k).mean() == near(gamma_mix(math.log(k), *parts))


def test_run_times_keep_to_the_cap_even_where_it_is_out_of_reach():
    kind = lublin99.KINDS["batch"]
    run = lublin99.run_times(np.random.default_rng(5), np.full(2000, 10_000), kind, 60.0)
    assert run.max() <= 60
    assert run.min() >= 1


@pytest.mark.parametrize("name", KINDS)
def test_gaps_have_the_mean_of_their_gamma(name):
    """The points between arrivals are e^x; x has mean shape x ratio x scale, but for the few above 13."""
    kind = lublin99.KINDS[name]
    shape, scale, ratio = kind.gap
    log = np.log(np.diff(lublin99._arrivals(np.random.default_rng(6), N, kind)))
    mean, error = shape * ratio * scale, math.sqrt(shape * ratio * scale**2 / N)
    free = np.random.default_rng(7).gamma(shape * ratio, scale, 400_000)
    assert log.mean() == pytest.approx(free[free <= 13].mean(), abs=4.5 * error)
    assert log.mean() == pytest.approx(mean, abs=0.08)
    assert log.max() <= 13


@pytest.mark.parametrize("share", [0.05, 0.25, 0.5, 0.75, 0.95])
@pytest.mark.parametrize("name", KINDS)
def test_quantiles_of_gaps_are_those_of_their_gamma(name, share):
    """The same of ln(gap), of which those above 13 are drawn again."""
    shape, scale, ratio = lublin99.KINDS[name].gap
    kept = gamma_mix(13.0, (1, shape * ratio, scale))
    log = np.log(np.diff(lublin99._arrivals(np.random.default_rng(12), N, lublin99.KINDS[name])))
    assert (log <= quantile(share, (1 / kept, shape * ratio, scale))).mean() == near(share)


@pytest.mark.parametrize("name", KINDS)
def test_a_day_has_its_cycle(name):
    """Over many days the half hours get jobs as their weights say: busiest in the afternoon, quietest before dawn."""
    kind = lublin99.KINDS[name]
    weights = lublin99.day_weights(kind)
    assert weights.mean() == pytest.approx(1)
    assert 24 <= weights.argmax() <= 30
    assert 8 <= weights.argmin() <= 11
    even = np.random.default_rng(8).random(200_000) * 86400 * 1000
    times = lublin99._times(np.zeros(len(even), np.int64), even, [kind])
    seen = np.bincount((times % 86400 // 1800).astype(int), minlength=48) / len(even)
    assert seen == pytest.approx(weights / 48, abs=4 * math.sqrt(0.04 / len(even)))


def test_paying_bucket_by_bucket_gives_the_same_times():
    """The slow way: walk through the half hours, paying each its weight."""
    kind = lublin99.KINDS["untyped"]
    weights = lublin99.day_weights(kind)
    points = np.cumsum(np.random.default_rng(9).exponential(5000, 200))
    quick = lublin99._times(np.zeros(200, np.int64), points, [kind])
    for want, have in zip(points, quick, strict=True):
        left, bucket = want / 1800, 0
        while left > weights[bucket % 48]:
            left -= weights[bucket % 48]
            bucket += 1
        assert have == pytest.approx(1800 * (bucket + left / weights[bucket % 48]), abs=1e-3)


def test_the_gamma_function_is_right():
    """Whole shapes have a closed form: 1 - e^-x sum x^k / k!."""
    for shape in (1, 3, 8):
        for x in (0.3, 2.0, 9.0, 20.0):
            tail = math.exp(-x) * sum(x**k / math.factorial(k) for k in range(shape))
            assert lublin99._gamma_cdf(x, shape) == pytest.approx(1 - tail, rel=1e-9)


@pytest.mark.parametrize("kind", [*KINDS, "mixed"])
def test_load_is_met(kind):
    w = models.generate(f"lublin99:kind={kind},load=0.75,jobs=2000", 3)
    assert describe(w)["offered_load"] == pytest.approx(0.75, rel=1e-3)


def test_gap_factor_slows_arrivals():
    spans = [models.generate(f"lublin99:gap_factor={f}", 3).jobs["submit"].max() for f in (1, 3)]
    assert spans[1] / spans[0] == pytest.approx(3, rel=0.05)


def test_mixed_jobs_say_what_they_are():
    queue = models.generate("lublin99:kind=mixed,jobs=5000", 4).jobs["queue"]
    assert set(queue) == {0, 1}
    assert (queue == 0).mean() > 0.7


@pytest.mark.parametrize("nodes", [8, 9, 96, 100, 1000, 10_000])
@pytest.mark.parametrize("kind", KINDS)
def test_other_machines_are_used_up_to_their_size(nodes, kind):
    size = lublin99.sizes(np.random.default_rng(10), N, lublin99.KINDS[kind], nodes)
    assert size.min() >= 1
    assert size.max() <= nodes
    most = nodes if kind != "interactive" else nodes / 2**1.5
    assert size.max() >= 0.85 * most
    assert power_of_two(size).mean() > 0.7


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"jobs": 0}, "jobs is 0"),
        ({"nodes": 4}, "nodes is 4; give a number from 8 up"),
        ({"kind": "serial"}, "one of untyped, batch, interactive, mixed"),
        ({"load": -1.0}, "load is -1"),
        ({"longest": 1.0}, "longest is 1"),
        ({"gap_factor": 0.0}, "gap_factor is 0"),
    ],
)
def test_bad_parameters_are_named(given, says):
    with pytest.raises(InputError, match=says):
        lublin99.generate(np.random.default_rng(0), **given)
