"""sjf-bb with run times predicted from each user's finished jobs; walltimes remain the limit.

By the last two of a user, after Tsafrir, Etsion & Feitelson (2007); theirs is weight=0, ends=predicted."""

from dataclasses import dataclass

from forebay.policies._families.predicted import Predicting
from forebay.policies.sjf_bb import SjfBb


@dataclass(frozen=True)
class SjfPredict(Predicting, SjfBb):
    """All jobs of a user, the last two and the walltime."""

    like: str = "user"
    window: int = 2
