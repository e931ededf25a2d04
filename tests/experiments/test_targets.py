"""Targets and prices as users write them."""

import math

import pytest

from forebay.errors import InputError
from forebay.experiments.targets import parse_prices, parse_target
from forebay.platforms import load
from forebay.platforms.variation import quantity

pytestmark = pytest.mark.small


@pytest.mark.parametrize(
    ("text", "name", "limit"),
    [
        ("p95_wait <= 2h", "p95_wait", 7200),
        ("mean_wait<=90", "mean_wait", 90),
        ("max-wait <= 1 d 2 h".replace("-", "_"), "max_wait", 93600),
        ("bounded_slowdown <= 5", "mean_bounded_slowdown_10min", 5),
        ("mean_flow <= 10 min", "mean_turnaround_time", 600),
        ("utilisation >= 80%", "utilisation_nodes", 0.8),
        ("utilisation_burst_buffer >= 0.5", "utilisation_burst_buffer", 0.5),
        ("p99_slowdown <= 12.5", "p99_slowdown", 12.5),
        ("makespan <= 3 d", "makespan", 259200),
    ],
)
def test_targets(text, name, limit):
    target = parse_target(text)
    assert (target.name, target.limit, target.at_least) == (name, limit, ">=" in text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("p95_wait", "write NAME <= VALUE"),
        ("p95_wiat <= 2h", "did you mean 'p95_wait'"),
        ("mean_wating_time <= 2h", "did you mean 'mean_waiting_time'"),
        ("p95_wait < 2h", "'<' is not <= or >="),
        ("p95_wait <= 2 weeks", "unit of time"),
        ("p95_wait <= ", "not a time"),
        ("bounded_slowdown <= five", "not a number"),
        ("bounded_slowdown <= 5%", "not a number"),
        ("utilisation >= nan", "not a number"),
    ],
)
def test_targets_that_make_no_sense(text, told):
    with pytest.raises(InputError, match=f"--target .*{told}"):
        parse_target(text)


def test_what_a_run_lacks_is_named():
    target = parse_target("utilisation_burst_bufer >= 0.5")
    with pytest.raises(InputError, match="did you mean 'utilisation_burst_buffer'"):
        target.loss({"utilisation_burst_buffer": 0.4})


def test_larger_is_better_where_a_target_says_at_least():
    target = parse_target("utilisation >= 80%")
    assert (
        target.loss({"utilisation_nodes": 0.9}) < target.sign * target.limit < target.loss({"utilisation_nodes": 0.7})
    )
    assert target.loss({"utilisation_nodes": None}) == math.inf


@pytest.fixture
def varied():
    machine = load("flat:nodes=8,burst_buffer=1TB,pfs=5GB/s")
    return {name: quantity(machine, name) for name in ("nodes", "burst-buffer", "pfs")}


def test_prices_of_one_unit(varied):
    prices = parse_prices("burst_buffer=120EUR/TB,nodes=8000 EUR/node,pfs=900EUR/GB/s", varied)
    assert {name: price.each for name, price in prices.items()} == pytest.approx(
        {"burst_buffer": 120e-12, "nodes": 8000, "pfs.bandwidth": 900e-9}
    )
    assert {price.currency for price in prices.values()} == {"EUR"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nodes", "not NAME=PRICE"),
        ("nodes=8000,burst-buffer=1/TB", "pfs is varied and has no price"),
        ("fast=1/TB", "'fast' is not varied"),
        ("nodes=1,nodes=2", "two prices"),
        ("nodes=cheap", "not a price of nodes"),
        ("burst-buffer=120", "does not say of how much"),
        ("burst-buffer=120/node", "not a unit of size"),
        ("nodes=5/TB", "are counted"),
        ("nodes=1EUR,burst-buffer=1USD/TB,pfs=1EUR/GB/s", "do not add up"),
    ],
)
def test_prices_that_make_no_sense(varied, text, told):
    with pytest.raises(InputError, match=told):
        parse_prices(text, varied)


def test_where_jobs_share_nodes_the_use_of_the_machine_is_that_of_its_cores():
    target = parse_target("utilisation >= 80%")
    assert target.loss({"utilisation_cores": 0.9}) == -0.9
    assert target.loss({"utilisation_nodes": 0.7, "utilisation_cores": 0.9}) == -0.7
    with pytest.raises(InputError, match="have no number 'utilisation_nodes'"):
        target.loss({"utilisation_gpus_a": 0.9})
