"""plan-best with run times predicted from each user's finished jobs; walltimes remain the limit.

Plans as in Kopański & Rządca (2021), predictions after Tsafrir, Etsion & Feitelson (2007)."""

from dataclasses import dataclass

from forebay.policies._families.predicted import Predicting
from forebay.policies.plan_best import PlanBest


@dataclass(frozen=True)
class PlanPredict(Predicting, PlanBest):
    """Jobs of one shape, the last eight and the walltime."""
