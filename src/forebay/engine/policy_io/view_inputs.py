"""What a policy in plain Python sees of a run, and what whoever runs it hands in."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from forebay.core.outlook import Blocks
from forebay.core.running import NO_LABELS, Labels
from forebay.core.tables import State
from forebay.core.view import View
from forebay.core.views.topology import Topology
from forebay.engine.contention.tables import Network
from forebay.engine.policy_io.relatives import Kin
from forebay.engine.truth import Truth


class Handed(NamedTuple):
    """What whoever runs a policy in plain Python hands to its view."""

    blocks: Callable[[State], Blocks] | None = None  # makes the building blocks
    labels: Labels = NO_LABELS
    topology: Callable[[], Topology | None] = lambda: None


NOTHING_HANDED = Handed()


def view_of(state: State, truth: Truth, resources: tuple[str, ...], rng: np.random.Generator, handed: Handed) -> View:
    """What a policy in plain Python sees of a run."""
    rates = partial(link_rates, truth.network, len(handed.labels.links))
    blocks = handed.blocks(state) if handed.blocks else None
    family = Kin(state, truth) if len(truth.dependencies.jobs) else None
    return View(state, resources, rng, rates, blocks, handed.labels, family, handed.topology)


def link_rates(net: Network, n_links: int) -> np.ndarray:
    """Bytes/s over each link. What has begun in this instant has no rate yet; a link carries no more than it can.

    A run in which nothing will move has no network, which a policy must not see.
    """
    rates = np.zeros(n_links)
    for k, first in enumerate(net.links["entry"][:n_links].tolist()):
        e = first
        while e >= 0:
            entry = net.entries[e]
            route = net.routes[entry["route"]]
            rates[k] += entry["unit"] * (route["weight"] + route["rest"]) * route["rate"]
            e = int(entry["after"])
    there = min(n_links, len(net.links))
    rates[:there] = np.minimum(rates[:there], net.links["capacity"][:there])
    return rates
