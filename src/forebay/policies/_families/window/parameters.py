"""The parameters that window policies share. A policy of the family is a few of them: see its own file."""

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from forebay.core.atoms import set_apart
from forebay.core.kinds import large_of, waste_of
from forebay.errors import InputError, nearest
from forebay.policies._base import Policy, lay, one_of
from forebay.policies._families.window.own_rule import Choice, check_rule, chosen_by, rule_on
from forebay.policies._orders import ALL

if TYPE_CHECKING:
    from forebay.core.actions import Actions
    from forebay.core.tables import State
    from forebay.core.view import View

LARGEST = 62  # a choice is the bits of a 64-bit number
ORDERS = ("fcfs", "sjf", "wfp")
METHODS = ("exact", "genetic", "in-order", "packing")
CHOOSING = ("exact", "genetic")
RULES = ("trade-off", "coded", "weights")
DEPTHS = {"easy": 1, "conservative": ALL, "none": 0}
TRIED_BY_CQSIM = 10  # up to so many jobs the authors' program tries all choices


class Param(IntEnum):
    """What the kernel reads, by place; behind them a weight for each resource.

    Only the rule `weights` needs these to differ from 0 and 1: resources of weight 0 are no objectives. Where nodes are
    of two kinds, the last one, that of large nodes, has the weight of what is wasted in its place.
    """

    SIZE = 0
    BOUND = 1
    ORDER = 2
    METHOD = 3
    LIMIT = 4
    RULE = 5
    FACTOR = 6
    DEPTH = 7
    EXHAUSTIVE = 8
    GENERATIONS = 9  # from here on, what the genetic algorithm reads: see algorithms.search.genetic
    POPULATION = 10
    PAIRS = 11
    MUTATION = 12
    MIDDLE = 13
    FLIPS = 14
    CODED_SIZES = 15


@dataclass(frozen=True)
class Windowed(Policy):
    """Jobs to start are chosen among the first of the queue, then the queue is backfilled."""

    compiled: ClassVar[str] = "window.choose_window"
    blocks: ClassVar[tuple[str, ...]] = ("window_points", "window_starts")
    """What it builds on where the rule is a site's own."""
    orders: ClassVar[tuple[str, ...]] = ORDERS

    window: int = 20  # how many jobs are looked at
    bound: int = 50  # rounds in the window after which a job holds a reservation, and goes first
    order: str = "fcfs"  # how the site ranks jobs: "fcfs", "sjf", or "wfp", (wait / walltime)^3 x nodes
    method: str = (
        "genetic"  # how choices are found: "exact", "genetic", "packing"; "in-order" leaves the queue as it is
    )
    rule: str = "trade-off"  # which choice counts: "trade-off", "coded" or "weights"; a formula, or FILE.py:function
    factor: float = 2.0  # of the trade-off: how much more of the rest must be gained than is lost of nodes
    objectives: str = "all"  # resources that count, such as nodes/burst_buffer; nodes are always first
    weights: str = "equal"  # of the rule weights, one for each objective, such as 80/20
    backfill: str = "easy"  # how the rest is backfilled: "easy", "conservative" or "none"
    limit: int = (
        1_000_000  # steps that an exact search may take, about 10 ns each; beyond, it is left to the genetic one
    )
    generations: int = 500
    population: int = 20
    mutation: float = 0.0005  # probability of each gene
    preset: str = "paper"  # or "cqsim": sizes, crossover and mutation of the authors' program

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        if not 1 <= self.window <= LARGEST:
            raise InputError(f"window is {self.window}; give a count from 1 to {LARGEST}")
        for name in ("bound", "limit", "generations"):
            if getattr(self, name) < 0:
                raise InputError(f"{name} is {getattr(self, name)}; give a count from 0 up")
        if not 2 <= self.population <= 1000:
            raise InputError(f"population is {self.population}; give a count from 2 to 1000")
        if not 0 <= self.mutation <= 1:
            raise InputError(f"mutation is {self.mutation:g}; give a probability from 0 to 1")
        if not self.factor >= 0:
            raise InputError(f"factor is {self.factor:g}; give a number from 0 up")
        one_of(self, order=self.orders, method=METHODS, backfill=DEPTHS, preset=("paper", "cqsim"))
        self._given_weights()
        if self.has_own_rule:
            check_rule(self.rule)
            if self.method not in CHOOSING:
                raise InputError(
                    f"rule says nothing with method={self.method}, which makes no Pareto set; leave it out"
                )
            object.__setattr__(self, "compiled", "")  # decided in Python, around compiled parts

    @property
    def has_own_rule(self) -> bool:
        """Whether the rule is a site's own."""
        return self.rule not in RULES

    def _given_weights(self) -> list[float]:
        """The weights as numbers; none where all are equal."""
        if self.weights == "equal":
            return []
        try:
            values = [float(word) for word in self.weights.split("/")]
        except ValueError:
            raise InputError(f"weights is {self.weights!r}; give numbers such as 80/20, or equal") from None
        if not (min(values) >= 0 and 0 < sum(values) < float("inf")):
            raise InputError(f"weights is {self.weights!r}; give numbers from 0 up, one of them above 0")
        return values

    def check_on(self, resources: tuple[str, ...]) -> None:
        """Refuse a rule that names what a machine with these resources does not have."""
        if self.has_own_rule:
            rule_on(self.rule, list(self._objectives_on(resources)), RULES)

    def _objectives_on(self, resources: tuple[str, ...]) -> dict[str, int]:
        """The objectives by name, and their places among the machine's resources."""
        weights = self._weights_on(resources)
        return {name: at for at, name in enumerate(_known_on(resources)) if weights[at] > 0}

    def _weights_on(self, resources: tuple[str, ...]) -> list[float]:
        """A weight for each of the machine's resources; 0 where it is no objective.

        Large nodes are none: the weight in their place is that of what is wasted of the devices in nodes.
        """
        known = _known_on(resources)
        names = known if self.objectives == "all" else self.objectives.split("/")
        for name in names:
            if name not in known:
                raise InputError(f"objectives names {name!r}, which this machine does not have: {nearest(name, known)}")
        given = self._given_weights() or [1.0] * len(names)
        if len(given) != len(names):
            raise InputError(
                f"weights is {self.weights!r}: {len(given)} numbers for {len(names)} objectives ({', '.join(names)})"
            )
        found = dict(zip(names, given, strict=True))
        return [found.get(name, 0.0) / sum(given) for name in known]

    def params_on(self, resources: tuple[str, ...]) -> np.ndarray:
        """The row of numbers that the kernel reads."""
        coded = self.preset == "cqsim"
        own = lay(
            Param,
            size=self.window,
            bound=self.bound,
            order=ORDERS.index(self.order) if self.order in ORDERS else 0,
            method=METHODS.index(self.method),
            limit=self.limit,
            rule=0 if self.has_own_rule else RULES.index(self.rule),
            factor=self.factor,
            depth=DEPTHS[self.backfill],
            exhaustive=TRIED_BY_CQSIM if coded else 0,
            generations=self.generations,
            population=self.population,
            pairs=0.5 if coded else 1.0,
            mutation=0.0 if coded else self.mutation,
            middle=coded,
            flips=0.05 if coded else 0.0,
            coded_sizes=coded,
        )
        return np.append(own, self._weights_on(resources))

    def memory(self, n_jobs: int, n_resources: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Rounds that each job has been in the window; how many choices were made, and how many not as asked."""
        return (2, max(n_jobs, 2)), (0, 0)

    def remarks(self, memory: tuple[np.ndarray, np.ndarray]) -> list[str]:
        """Whether exact search gave up anywhere."""
        return self._gave_up(*(int(count) for count in memory[0][1, :2]))

    def _gave_up(self, decisions: int, fallbacks: int) -> list[str]:
        if not fallbacks:
            return []
        return [f"{fallbacks:,} of {decisions:,} choices took over {self.limit:,} steps: left to the genetic solver"]

    def setup(self, view: "View") -> None:
        """Nothing is remembered yet."""
        objectives = self._objectives_on(view.resources)
        own = {
            "_numbers": self.params_on(view.resources),
            "_tables": _blank(self, view._state),
            "_objectives": objectives,
            "_rule": rule_on(self.rule, list(objectives), RULES),
        }
        vars(self).update(own)

    def decide(self, view: "View", act: "Actions") -> None:
        """Have the Pareto set found, choose by the site's own rule, and have the rest backfilled."""
        own, kernels = vars(self), view._kernels()
        numbers, tables = own["_numbers"], own["_tables"]
        jobs, sets, uses = kernels.window_points(self.blocks[0], numbers, tables, view.rng)
        chosen = np.zeros(0, np.int64)
        if len(sets):
            choices = [
                Choice(
                    tuple(int(job) for k, job in enumerate(jobs) if int(bits) >> k & 1),
                    {name: float(use[at]) for name, at in own["_objectives"].items()},
                )
                for bits, use in zip(sets, uses, strict=True)
            ]
            chosen = np.array(chosen_by(own["_rule"], self.rule, choices, view).jobs, np.int64)
        kernels.window_starts(self.blocks[1], chosen, numbers, tables)

    def said(self) -> list[str]:
        """What the run should know of it, where the rule is a site's own."""
        return self.remarks(vars(self)["_tables"])


def _known_on(resources: tuple[str, ...]) -> list[str]:
    """What can be an objective."""
    waste = waste_of(resources)
    return [*resources[: set_apart(resources)]] if waste is None else [*resources[: large_of(resources)], waste]


def _blank(policy: Policy, state: "State") -> tuple[np.ndarray, np.ndarray]:
    """What kernels remember, before a run."""
    integers, numbers = policy.memory_on(state)
    return np.zeros(integers, np.int64), np.zeros(numbers)
