"""plan-best with run times learned from jobs that have ended; walltimes remain the limit.

Plans as in Kopański & Rządca (2021); after Tsafrir, Etsion & Feitelson (2007) run times are predicted."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from forebay.learn import load
from forebay.policies._families.learned import RECENT, Learning
from forebay.policies._families.predicted import Predicting
from forebay.policies.plan_best import PlanBest

if TYPE_CHECKING:
    from forebay.core.actions import Actions
    from forebay.core.view import View


@dataclass(frozen=True)
class PlanPredict(Predicting, PlanBest):
    """By an estimator of `forebay.learn`; or by jobs of one shape, the last eight and the walltime."""

    blocks: ClassVar[tuple[str, ...]] = ("plan_with",)
    """What it builds on; the names in its code would lead to more."""

    estimator: str = "survival"  # whose mean is expected; "recent" = that of the last ones, by the parameters before

    def __post_init__(self) -> None:
        """Refuse what makes no sense. A policy that learns is not compiled as a whole, but for the plans it makes."""
        super().__post_init__()
        if self.estimator != RECENT:
            load(self.estimator)
            object.__setattr__(self, "compiled", "")

    def setup(self, view: "View") -> None:
        """Nothing is learned yet."""
        object.__setattr__(self, "_numbers", self.params_on(view.resources))
        object.__setattr__(self, "_learning", Learning(self.estimator, view._state, self.ends == "predicted"))
        shape, _ = PlanBest.memory(self, len(view.jobs), len(view.resources))
        object.__setattr__(self, "_ranks", np.zeros(shape, np.int64))

    def decide(self, view: "View", act: "Actions") -> None:
        """Learn, and plan by what is expected."""
        learning: Learning = vars(self)["_learning"]
        learning.update(view._state)
        view._kernels().plan_with(vars(self)["_numbers"], (vars(self)["_ranks"], learning.seconds), view.rng)
