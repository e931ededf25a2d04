"""From a rule's name to the tables of a run."""

import numpy as np

from forebay.core.limits import PLACES
from forebay.engine.placing.tables import Placing, make_placing
from forebay.errors import InputError
from forebay.platforms.platform import Platform


def placing_of(place: str, platform: Platform) -> tuple[Placing, list[str]]:
    """The tables for a rule on a machine, and a note where it makes no difference there."""
    if place == PLACES[0]:
        return make_placing(), []
    if platform.topology.sites == 1:
        return make_placing(), [f"place={place} makes no difference: the network of {platform.name} has no groups"]
    unlike = {
        "classes or partitions of nodes": platform.divided,
        "nodes that jobs share": platform.sharing,
        "nodes of two kinds": platform.kinds is not None,
        "reservations": bool(platform.reservations),
    }
    for what, there in unlike.items():
        if there:
            raise InputError(
                f"place is {place!r}, which takes all idle nodes to be alike, and {platform.name} has {what}; leave "
                "place out, or them in the platform"
            )
    site = np.asarray(platform.fabric().site)
    group = np.asarray(platform.topology.groups_of_sites)[site].astype(np.int64)
    return make_placing(PLACES.index(place), group), []


def draw(placing: Placing, seed: int) -> None:
    """Random numbers for a run; they are the same for every policy."""
    if len(placing.draws):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(3,)))
        placing.draws[:] = rng.random(len(placing.draws))
