"""How much of the exact Pareto front the genetic algorithm finds, over generations, on windows of a workload."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from forebay.experiments.runs import workload_of

if TYPE_CHECKING:
    from forebay.studies.bbsched2019._plan import Scope

WINDOW, POPULATION = 20, 20
_LIMIT, _MOST = 10**9, 4096


@dataclass(frozen=True)
class Front:
    """One window: its jobs, what is free and what there is in all of nodes and buffer, and the loads of its front."""

    demand: NDArray[np.int64]
    room: NDArray[np.int64]
    capacity: NDArray[np.int64]
    exact: NDArray[np.int64]


def windows(scope: "Scope") -> list[Front]:
    """Windows in which there is something to choose: jobs that follow one another, in whatever room is left."""
    from forebay import platforms
    from forebay.algorithms.search.pareto import front
    from forebay.core.stopping import NO_CLOCK

    chosen = scope.settings.fronts
    jobs = workload_of(scope.jobs(chosen.requests, 0)).jobs
    demand = jobs.select("nodes", "burst_buffer").to_numpy().astype(np.int64)
    capacity = np.array(platforms.load(scope.settings.workloads.platform).capacities)
    rng = np.random.default_rng(1)
    found: list[Front] = []
    loads, sets = np.empty((_MOST, 2), np.int64), np.empty(_MOST, np.int64)
    while len(found) < chosen.windows:
        first = int(rng.integers(0, len(demand) - WINDOW + 1))
        window = np.ascontiguousarray(demand[first : first + WINDOW])
        room = (capacity * rng.uniform(0.1, 1.0, 2)).astype(np.int64)
        n = front(window, room, _LIMIT, loads, sets, NO_CLOCK)
        if n > 1:
            found.append(Front(window, room, capacity, loads[:n].copy()))
    return found


def spread(one: Front) -> float:
    """How much there is to choose between: the area that the front spans."""
    shares = one.exact / one.room
    return float(np.prod(shares.max(axis=0) - shares.min(axis=0)))


def covered(points: NDArray[np.int64], room: NDArray[np.int64]) -> float:
    """The share of the room's area that points dominate: their hypervolume."""
    from forebay.algorithms.search.pareto import hypervolume

    return float(hypervolume(points / room, np.zeros(2)))


def quality(scope: "Scope", fronts: list[Front], mutation: float) -> NDArray[np.float64]:
    """[window x seed, generation]: the hypervolume that the genetic algorithm finds, over that of the exact front."""
    from forebay.algorithms.search.genetic import evolve
    from forebay.core.stopping import NO_CLOCK

    chosen = scope.settings.fronts
    marks = np.array(chosen.generations)
    settings = np.array([marks.max(), POPULATION, 1.0, mutation, 0.0, 0.0, 0.0])
    nothing = np.empty(0, np.int64)
    loads, sets = np.empty((_MOST, 2), np.int64), np.empty(_MOST, np.int64)
    trace, counts = np.empty((len(marks), _MOST, 2), np.int64), np.empty(len(marks), np.int64)
    rows = []
    for k, one in enumerate(fronts):
        whole = covered(one.exact, one.room)
        for seed in range(chosen.seeds):
            rng = np.random.default_rng([k, seed])
            more = (NO_CLOCK, marks, trace, counts)
            evolve(one.demand, one.room, nothing, nothing, 0, 0, settings, rng, loads, sets, *more)
            rows.append([covered(trace[g, : counts[g]], one.room) / whole for g in range(len(marks))])
    return np.array(rows)
